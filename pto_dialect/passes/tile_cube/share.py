"""A product that all blocks of a launch compute becomes one that they share: each computes some of its base tiles.

Source: docs/reference/numerics.md, "Matrix products"; docs/reference/operations.md, "Queries of the launch".
"""

from __future__ import annotations

from xdsl.dialects.arith import AddiOp, CeilDivSIOp, IndexCastOp, MaxSIOp, RemUIOp, SubiOp
from xdsl.dialects.builtin import i64
from xdsl.dialects.func import ReturnOp
from xdsl.dialects.scf import ForOp, YieldOp
from xdsl.ir import Operation, SSAValue

from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.scalar.query import CoreQueryOp, GetBlockIdxOp, GetBlockNumOp
from pto_dialect.passes.instructions.writer import INDEX, Number, Writer, is_handle

from .product import NotTiledError, Product


def check_shared(product: Product, function: Operation) -> None:
    """Checks that blocks can share the product: the function computes nothing else, the same in all blocks, and no
    store adds to what is there. Raises :class:`NotTiledError`."""
    store = product.store
    if "atomicType" in {*store.attributes, *store.properties}:
        raise NotTiledError("each block adds its result to what is there")
    for op in walk(function):
        if isinstance(op, CoreQueryOp):
            raise NotTiledError(f"{op.name} lets blocks compute different parts already")
        if op in product.ops or op is function or isinstance(op, (ForOp, YieldOp, ReturnOp)):
            continue
        if isinstance(op, PtoOp) and not is_handle(op):
            raise NotTiledError(f"{op.name} uses what blocks would not have computed")
        if not is_handle(op):
            raise NotTiledError(f"{op.name} is no part of it")


class Shares:
    """Which base tiles a block computes: every other one, from its own number on."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.block, self.blocks = (
            writer.put(IndexCastOp(writer.pto(cls, {}, result=i64), INDEX)) for cls in (GetBlockIdxOp, GetBlockNumOp)
        )
        self.first: SSAValue = self.block
        self.block.name_hint, self.blocks.name_hint = "block", "blocks"

    def count(self, total: Number) -> SSAValue:
        """Returns how many of ``total`` tiles this block computes."""
        writer = self.writer
        left = writer.put(MaxSIOp(writer.index(writer.sub(total, self.first)), writer.index(0)))
        return writer.put(CeilDivSIOp(left, self.blocks))

    def tile(self, number: Number) -> Number:
        """Returns the number of one of them among all."""
        return self.writer.add(self.writer.mul(number, self.blocks), self.first)

    def go_on(self, total: Number) -> None:
        """Continues with the next block after ``total`` tiles, so that all blocks get equally many."""
        writer = self.writer
        done = writer.put(RemUIOp(writer.index(total), self.blocks))
        ahead = writer.put(SubiOp(self.blocks, done))
        self.first = writer.put(RemUIOp(writer.put(AddiOp(self.first, ahead)), self.blocks))

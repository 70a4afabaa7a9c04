"""``tile-cube``: the matrix products of a plain kernel get the tiles that an expert would choose.

Source: docs/reference/cycles.md, "Products", "Transfers"; docs/reference/targets.md, "Memories".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pto_dialect.analysis.target import profile_of
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.tile.memory import TStoreOp
from pto_dialect.passes.base import PtoPass
from pto_dialect.passes.instructions.writer import Function, is_handle
from pto_dialect.verify.engine.rule import read_rules

from .find import product_of
from .product import BEGINNING, PRODUCTS, NotTiledError, Product
from .shape import Request, Shape, choose, has_edges
from .share import check_shared
from .write import write

_RULES = read_rules("passes")
UNCHANGED = _RULES["tile-cube-unchanged"]

AUTO = "auto"


@dataclass(frozen=True)
class TileCubePass(PtoPass):
    """Replaces matrix products by loops over base tiles of ``rows`` x ``columns`` sums, whose operands come into L1 in
    panels of ``panel`` elements along k; ``auto`` chooses by the cycle model. With more than one of ``blocks``, which
    is how many a launch has, its blocks share the product of a function that computes nothing else. Products that stay
    as they are get a remark with the reason."""

    rows: str = AUTO
    columns: str = AUTO
    panel: str = AUTO
    blocks: str = "1"

    name: ClassVar[str] = "tile-cube"

    def run(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        """Changes ``module``."""
        rows, columns, panel = (0 if size == AUTO else int(size) for size in (self.rows, self.columns, self.panel))
        request = Request(rows, columns, panel, int(self.blocks))
        if not any(isinstance(op, (*PRODUCTS, *BEGINNING)) for op in walk(module)):
            message = "tile-cube changes nothing: there is no matrix product"
            engine.report(UNCHANGED.at(module, message))
        for function in [op for op in walk(module) if has_role(op, Role.FUNCTION) and op.regions[0].blocks]:
            for store in [op for op in walk(function) if _stores_sums(op)]:
                assert isinstance(store, TStoreOp)
                try:
                    product = product_of(store)
                    if request.blocks > 1:
                        check_shared(product, function)
                    shape = choose(product, profile_of(store, self.target), request)
                    if has_edges(product, shape):
                        # Each repetition stores all of its blocks before the next one does.
                        product.without_repeats()
                    if request.blocks == 1 and _is_one(product, shape):
                        raise NotTiledError("it is one base tile")
                except NotTiledError as error:
                    _remark(engine, store, str(error))
                    continue
                written = Function(function)
                write(product, shape, written, shared=request.blocks > 1)
                _remove(product)
                written.sweep()
            for op in walk(function):
                if isinstance(op, BEGINNING) and not _is_stored(op):
                    _remark(engine, op, "no store writes its sums to global memory")


def _stores_sums(op: Operation) -> bool:
    """Returns whether an operation stores an accumulator that a product of :data:`PRODUCTS` writes."""
    if not isinstance(op, TStoreOp) or not isinstance(op.src.type, TileBufType) or op.src.type.loc != "acc":
        return False
    return any(isinstance(use.operation, PRODUCTS) for use in op.src.uses)


def _is_stored(product: PtoOp) -> bool:
    """Returns whether an operation stores the sums of a product, as :func:`_stores_sums` looks for."""
    return any(_stores_sums(use.operation) for sums in operand_groups(product)["dst"] for use in sums.uses)


def _is_one(product: Product, shape: Shape) -> bool:
    """Returns whether the product is one tile in the program too."""
    sizes = ((product.rows, shape.rows), (product.cols, shape.columns), (product.depth, shape.depth))
    return not product.loops and not product.repeats and not product.open and all(size <= tile for size, tile in sizes)


def _remark(engine: DiagnosticEngine, op: Operation, reason: str) -> None:
    engine.report(UNCHANGED.at(op, f"tile-cube leaves this product as it is: {reason}"))


def _remove(product: Product) -> None:
    """Removes the operations of a product, and what only they have used."""
    places = [op for op in product.block.ops if op in product.ops or any(inner in product.ops for inner in walk(op))]
    used: list[Operation] = []
    for op in reversed(places):
        used += _owners(op)
        op.detach()
        op.erase()
    while used:
        op = used.pop()
        if op.parent is not None and is_handle(op) and not any(result.uses for result in op.results):
            used += _owners(op)
            op.detach()
            op.erase()


def _owners(op: Operation) -> Iterable[Operation]:
    """Returns what makes the operands of an operation, outside of it."""
    inside = {*walk(op)}
    owners = (value.owner for inner in inside for value in inner.operands)
    return list(dict.fromkeys(owner for owner in owners if isinstance(owner, Operation) and owner not in inside))

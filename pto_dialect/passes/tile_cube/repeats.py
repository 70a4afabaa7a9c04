"""Loops that compute a product for one part of the arrays after the other, such as the matrices of a batch: they become
a part of the loop over blocks, so that nothing is drained between two products.

Source: docs/reference/core-dialects.md, "Control flow".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xdsl.dialects.builtin import IndexType
from xdsl.dialects.scf import ForOp
from xdsl.ir import Block, Operation, SSAValue

from pto_dialect.analysis.constants import constant_of, constant_trip_count
from pto_dialect.ir.core.base import operand_groups
from pto_dialect.ir.core.location import label_of
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.instructions.writer import is_handle

from .product import NotTiledError, Product, Start


def repeats_around(product: Product, belongs: Callable[[Operation], bool]) -> list[ForOp]:
    """Returns the loops around a product with nothing else in them, the inner one first, which the
    product includes from then on."""
    found: list[ForOp] = []
    while True:
        loop = product.block.parent_op()
        if not isinstance(loop, ForOp) or loop.iter_args or loop.parent is None or not _counts(loop):
            return found
        if any(op is not loop and not belongs(op) and op not in found for op in walk(loop)):
            return found
        if any(
            is_inside(bound, loop) for one in (*found, *product.open.values()) for bound in (one.lb, one.ub, one.step)
        ):
            return found
        found.append(loop)
        product.block, product.place = loop.parent, loop


def is_inside(value: SSAValue, loop: ForOp) -> bool:
    """Returns whether ``value`` may be another one in each iteration of ``loop``."""
    owner = value.owner.parent_op() if isinstance(value.owner, Block) else value.owner
    return owner is not None and loop.is_ancestor(owner)


def _counts(loop: ForOp) -> bool:
    """Returns whether the number of iterations is that of a loop with a positive step."""
    step = constant_of(loop.step)
    if not isinstance(loop.body.block.args[0].type, IndexType):
        return False
    return constant_trip_count(loop) != 0 and not (isinstance(step, int) and step <= 0)


def needed(product: Product) -> list[SSAValue]:
    """Returns the values from which its parts of arrays, and how its sums begin and end, follow."""
    found: list[SSAValue] = []
    for window in product.windows().values():
        found += [*window.row.factors, *window.col.factors, *window.part.offsets[:-2], window.part.source]
    found += [start.when for start in _starts(product.start) if start.when is not None]
    found += operand_groups(product.store).get("preQuantScalar", ())
    found += [loop.ub for loop in product.open.values()]
    return list(dict.fromkeys(found))


def check_outside(product: Product) -> None:
    """Checks that all of these are known before the product, or follow from the loops that repeat it. Raises
    :class:`NotTiledError`."""
    inside = {op for one in (*product.loops, *product.ops) for op in walk(one)}
    for value in needed(product):
        for one in (value, *computed_from(value, inside)):
            owner = one.owner
            place = owner.parent_op() if isinstance(owner, Block) else owner
            follows = place in product.repeats if isinstance(owner, Block) else is_handle(owner) and not owner.regions
            if place in inside and not follows:
                raise NotTiledError(f"{label_of(one, 'an offset')} is computed in its loops")


def computed_from(value: SSAValue, inside: set[Operation]) -> Iterator[SSAValue]:
    """Yields the values that ``value`` is computed from by operations of ``inside``, each after its own operands."""
    op = value.owner
    if isinstance(op, Block) or op not in inside:
        return
    for operand in op.operands:
        yield from computed_from(operand, inside)
        yield operand


def _starts(start: Start) -> Iterator[Start]:
    yield start
    for inner in (start.then, start.other):
        if inner is not None:
            yield from _starts(inner)

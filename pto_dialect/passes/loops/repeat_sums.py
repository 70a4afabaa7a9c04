"""``repeat-sums``: where a product accumulates onto a sum that is live afterwards, the sum is computed twice.

No instruction copies an accumulator to another one, so the second sum repeats the products. Source:
docs/reference/numerics.md, "Matrix products"; docs/reference/layouts.md, "Moves between tiles".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.ir.buffers.views import AllocTileOp
from pto_dialect.ir.core.base import PtoOp, op_spec, operand_groups
from pto_dialect.ir.core.operands import find
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.cube.matmul import PhasedProductOp
from pto_dialect.ir.tile.move import TExtractOp, TMovOp
from pto_dialect.passes.base import PtoPass

from .copies import put
from .sums import InPlace, accumulator_of, is_supported
from .webs import transfer

# ------------------------------------------------------------ definitions of buffers


Last = Mapping[SSAValue, dict[Operation | None, None]]
"""The operations that may have written each buffer last, in the order of the program; ``None`` where none has."""


class Definitions:
    """The definitions of some buffers that reach each operation that uses one of them.

    Raises :class:`~.webs.UnfollowedError` for unsupported control flow.
    """

    def __init__(self, entry: Block, buffers: Collection[SSAValue]) -> None:
        self.buffers = frozenset(buffers)
        self._before: dict[Operation, Last] = {}
        self._forward(entry, {buffer: {None: None} for buffer in buffers})

    def only(self, op: Operation, buffer: SSAValue) -> Operation | None:
        """Returns the unique definition of ``buffer`` that must reach ``op``.

        No other operation writes the buffer in between. All loops around the definition enclose ``op``, and it comes
        first in their bodies, so both are in the same iteration.
        """
        last = self.ends(op, buffer)
        return last[0] if len(last) == 1 else None

    def ends(self, op: Operation, buffer: SSAValue) -> list[Operation | None]:
        """Returns the operations that may have written ``buffer`` last when ``op`` runs, ``None`` for none of them and
        where ``op`` never runs."""
        last = self._before.get(op, {}).get(buffer, {None: None})
        return list(last)

    def _forward(self, block: Block, last: Last) -> Last:
        for op in block.ops:
            if not self.buffers.isdisjoint(op.operands):
                self._before[op] = last
                written = {one for one in _written(op) if one in self.buffers}
                if written:
                    last = {**last, **{buffer: {op: None} for buffer in written}}
            last = transfer(op, last, self._forward, _merged)
        return last


def _written(op: Operation) -> tuple[SSAValue, ...]:
    if not isinstance(op, PtoOp):
        return ()
    groups = operand_groups(op)
    return tuple(value for name in op_spec(type(op)).writes for value in groups.get(name, ()))


def _merged(one: Last, other: Last) -> Last:
    return {buffer: {**writes, **other[buffer]} for buffer, writes in one.items()}


_MOST = 64
"""Maximum numbers of repeated sums in a function, and of consecutive products that are repeated for one of them."""


@dataclass(frozen=True)
class RepeatSumsPass(PtoPass):
    """Computes a sum twice where a product accumulates onto it in another accumulator and the sum itself is live
    afterwards; then products write the accumulators that they add to, as by ``sums-in-place``."""

    name: ClassVar[str] = "repeat-sums"

    def run(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        """Changes ``module``."""
        for op in list(walk(module)):
            if has_role(op, Role.FUNCTION) and op.regions[0].blocks:
                _repeat(op)


def _repeat(function: Operation) -> None:
    for _ in range(_MOST):
        plan = InPlace(function)
        plan.write()
        if plan.webs is None or not any(_repeated(function, op, plan.apart) for op in plan.apart):
            return
    InPlace(function).write()


def _repeated(function: Operation, op: Operation, apart: Sequence[Operation]) -> bool:
    """Gives ``op`` a sum of its own, where that removes one product from ``apart``."""
    start = accumulator_of(op)
    assert start is not None
    spaces = ("acc", "left", "right")
    buffers = [one.results[0] for one in walk(function) if isinstance(one, AllocTileOp) and is_supported(one, *spaces)]
    last = Definitions(function.regions[0].blocks[0], buffers)
    for way in (_here, _beside, _kept):
        copy = Copy(last)
        try:
            own = way(copy, op, start)
        except _NoCopyError:
            copy.undo()
            continue
        numbers = [number for number, value in enumerate(op.operands) if value is start]
        op.operands[numbers[0]] = own
        if set(InPlace(function).apart) < set(apart):
            return True
        op.operands[numbers[0]] = start
        copy.undo()
    return False


class _NoCopyError(Exception):
    """A sum cannot be computed twice in some way."""


@dataclass
class Copy:
    """Operations that make a second sum."""

    last: Definitions
    made: list[Operation] = field(default_factory=list[Operation])
    operands: dict[tuple[Operation, SSAValue], SSAValue] = field(
        default_factory=dict[tuple[Operation, SSAValue], SSAValue]
    )
    """Operands that are kept, by the operation that wrote them and their buffer."""

    def buffer(self, like: SSAValue) -> SSAValue:
        """Returns another buffer of the type of ``like``, allocated after it."""
        if like not in self.last.buffers:
            raise _NoCopyError
        op = like.owner
        assert isinstance(op, AllocTileOp)
        made = put(op.clone(), InsertPoint.after(op), op)
        made.results[0].name_hint = like.name_hint
        self.made.append(made)
        return made.results[0]

    def repeat(self, op: Operation, point: InsertPoint, changed: dict[SSAValue, SSAValue]) -> None:
        """Puts a copy of ``op`` with other operands."""
        if len(self.made) > 2 * _MOST:
            raise _NoCopyError
        made = put(op.clone(), point, op)
        for number, value in enumerate(op.operands):
            made.operands[number] = changed.get(value, value)
        self.made.append(made)

    def undo(self) -> None:
        """Takes all operations out again."""
        for op in reversed(self.made):
            op.detach()
            op.erase()
        self.made.clear()


# ------------------------------------------------------------ the same products once more


def _here(copy: Copy, op: Operation, start: SSAValue) -> SSAValue:
    """Repeats the products of a sum before ``op``, where all operands are still available."""
    return _chained(copy, op, start, keep=False)


def _kept(copy: Copy, op: Operation, start: SSAValue) -> SSAValue:
    """Repeats the products of a sum before ``op``; operands that are overwritten before are loaded twice."""
    return _chained(copy, op, start, keep=True)


def _chained(copy: Copy, op: Operation, start: SSAValue, keep: bool) -> SSAValue:
    own = copy.buffer(start)
    products: list[tuple[Operation, dict[SSAValue, SSAValue]]] = []
    user, sum_ = op, start
    while True:
        product = copy.last.only(user, sum_)
        if product is None or len(products) > _MOST:
            raise _NoCopyError
        before = _sum_before(product)
        changed = {value: _operand(copy, product, value, op, keep) for value in _factors(product)}
        products.append((product, {**changed, sum_: own, **({before: own} if before else {})}))
        if before is None:
            break
        user, sum_ = product, before
    for product, changed in reversed(products):
        copy.repeat(product, InsertPoint.before(op), changed)
    return own


def _operand(copy: Copy, product: Operation, value: SSAValue, op: Operation, keep: bool) -> SSAValue:
    """Returns what holds an operand of ``product`` when ``op`` runs."""
    if not isinstance(value.type, TileBufType):
        return value
    if value not in copy.last.buffers:
        raise _NoCopyError
    written = copy.last.only(product, value)
    if written is None:
        raise _NoCopyError
    if copy.last.only(op, value) is written:
        return value
    if not keep or not _fills(written, value):
        raise _NoCopyError
    if (written, value) not in copy.operands:
        own = copy.operands[written, value] = copy.buffer(value)
        copy.repeat(written, InsertPoint.after(written), {value: own})
    return copy.operands[written, value]


def _fills(op: Operation, buffer: SSAValue) -> bool:
    """Returns whether ``op`` writes all that others read of a tile."""
    if not isinstance(op, TMovOp):
        return isinstance(op, TExtractOp)
    one, other = op.src.type, buffer.type
    assert isinstance(one, TileBufType)
    assert isinstance(other, TileBufType)
    return (one.valid_rows, one.valid_cols) == (other.valid_rows, other.valid_cols)


# ------------------------------------------------------------ a second sum beside the first


def _beside(copy: Copy, op: Operation, start: SSAValue) -> SSAValue:
    """Duplicates each product of the sum of ``op`` next to the original."""
    return _mirrored(copy, op, start, ())


def _mirrored(copy: Copy, op: Operation, start: SSAValue, above: tuple[Operation, ...]) -> SSAValue:
    own = copy.buffer(start)
    ops: dict[Operation, None] = {}
    waiting: list[Operation] = [op]
    while waiting:
        for product in copy.last.ends(waiting.pop(), start):
            if product is None:
                raise _NoCopyError
            if product not in ops:
                ops[product] = None
                if _sum_before(product) is start:
                    waiting.append(product)
    for product in ops:
        before, point = _sum_before(product), InsertPoint.before(product)
        changed = {start: own}
        if before is not None and before is not start:
            if product in above or len(above) > _MOST:
                raise _NoCopyError
            changed[before] = _mirrored(copy, product, before, (*above, product))
        copy.repeat(product, point, changed)
    return own


# ------------------------------------------------------------ products


def _sum_before(op: Operation) -> SSAValue | None:
    """Returns the accumulator operand of a product; raises :class:`_NoCopyError` for other operations."""
    if not isinstance(op, PhasedProductOp):
        raise _NoCopyError
    return accumulator_of(op)


def _factors(op: Operation) -> list[SSAValue]:
    """Returns the operands of a product but for sums."""
    return [value for value in op.operands if value is not find(op, "dst") and value is not accumulator_of(op)]

"""Whether the control of a program, or the addresses that it accesses, depend on the contents of memory.

Values read from memory are followed through scalars and vector registers, but not through memory: what memory holds is
unknown. Source: docs/reference/cycles.md, "Times without contents".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.ir.core.base import Effect, PtoOp, op_spec, operand_groups
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import (
    AlignType,
    MultiTileBufType,
    PtrType,
    ShapedView,
    TileBufType,
    TileType,
    VmiVRegType,
    VRegType,
)
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.core_dialects.structured import is_for
from pto_dialect.ir.scalar.regions import SectionSimtOp

_UNFOLLOWED = Role.LAUNCH | Role.LANE | Role.PEERS | Role.SIGNAL | Role.REPORT | Role.ATOMIC
"""What operations with these roles access, wait for or print depends on contents, or is not followed."""

_POSITIONS = frozenset(("indices", "offsets", "idx", "index", "src0Idx", "src1Idx"))
"""Operands whose contents select the elements that an operation accesses."""

_STATES = frozenset(("ar", "sqzn", "slots", "vms4_sr"))
"""Machine state that operations on contents leave."""

_SILENT = frozenset((Effect.PURE, Effect.HANDLE, Effect.QUERY, Effect.REGION, Effect.SYNC, Effect.CHANNEL))
_HANDLES = (PtrType, ShapedView, TileBufType, MultiTileBufType)
_CONTENTS = (AnyFloat, TileType, VRegType, VmiVRegType)
"""Types of operands that are computed with, and of which no address is made."""

_DIVISIONS = frozenset(("divsi", "divui", "ceildivsi", "ceildivui", "floordivsi", "remsi", "remui"))
_CONTROLLING: dict[str, int] = {"scf.for": 3, "affine.for": 3, "scf.parallel": 0}
"""How many of the first operands control a loop; of other operations with regions the first one, 0 stands for all."""


@dataclass
class Dependence:
    """``operation``: the first operation that depends on contents, if any; ``needed``: arguments of the entry whose
    contents the scalar unit reads, by their values."""

    operation: Operation | None = None
    needed: set[SSAValue] = field(default_factory=set)


def find_dependence(
    functions: Iterable[Operation],
    callee: Callable[[Operation], Operation | None],
    is_constant: Callable[[SSAValue], SSAValue | None],
) -> Dependence:
    """Returns whether ``functions``, a program, depend on contents.

    ``callee`` is the function that a call names, ``is_constant`` the argument of the entry that a pointer or view of
    memory is made from, if the program writes nothing there.
    """
    found = Dependence()
    unknown: set[SSAValue] = set()
    operations = [op for function in functions for op in walk(function)]
    size = -1
    while size != len(unknown):
        size = len(unknown)
        for op in operations:
            _follow(op, unknown, callee, is_constant, found.needed)
    found.operation = next((op for op in operations if _depends(op, unknown)), None)
    return found


def _follow(
    op: Operation,
    unknown: set[SSAValue],
    callee: Callable[[Operation], Operation | None],
    is_constant: Callable[[SSAValue], SSAValue | None],
    needed: set[SSAValue],
) -> None:
    """Adds the values that ``op`` makes of contents."""
    if has_role(op, Role.ELEMENT_LOAD):
        memory = [value for value in op.operands if not _is_number(value.type)]
        arguments = [argument for value in memory if (argument := is_constant(value)) is not None]
        if len(arguments) == len(memory):
            needed.update(arguments)
        else:
            unknown.update(op.results)
        return
    if has_role(op, Role.CALL):
        _call(op, callee(op), unknown)
        return
    if has_role(op, Role.YIELD | Role.CONDITION | Role.BRANCH):
        _pass_on(op, unknown)
        return
    reads = isinstance(op, PtoOp) and _reads(op)
    if reads or any(value in unknown for value in op.operands):
        unknown.update(value for value in op.results if not isinstance(value.type, _HANDLES))
        if op.regions and not reads:
            # Values that a loop carries.
            for region in op.regions:
                for block in region.blocks:
                    unknown.update(block.args[1:] if is_for(op) else block.args)


def _reads(op: PtoOp) -> bool:
    spec = op_spec(type(op))
    return spec.effect not in _SILENT or bool(_STATES.intersection(spec.state_reads))


def _call(op: Operation, callee: Operation | None, unknown: set[SSAValue]) -> None:
    blocks = callee.regions[0].blocks if callee is not None and callee.regions else ()
    if not blocks:
        unknown.update(op.results)
        return
    assert callee is not None
    for value, argument in zip(op.operands, callee.regions[0].blocks[0].args, strict=False):
        if value in unknown:
            unknown.add(argument)
    for inner in walk(callee):
        if has_role(inner, Role.RETURN):
            unknown.update(
                result for value, result in zip(inner.operands, op.results, strict=False) if value in unknown
            )


def _pass_on(op: Operation, unknown: set[SSAValue]) -> None:
    """Handles the end of a region or block: all that it passes on is unknown where a part is."""
    if not any(value in unknown for value in op.operands):
        return
    parent = op.parent_op()
    if parent is None:
        return
    unknown.update(value for value in parent.results if not isinstance(value.type, _HANDLES))
    for region in parent.regions:
        for block in region.blocks:
            unknown.update(block.args[1:] if is_for(parent) else block.args)


# ------------------------------------------------------------ what depends


def _depends(op: Operation, unknown: set[SSAValue]) -> bool:
    if has_role(op, _UNFOLLOWED) or isinstance(op, SectionSimtOp):
        return True
    if isinstance(op, PtoOp):
        return _selects(op, unknown) or _addresses(op, unknown)
    if has_role(op, Role.YIELD | Role.CALL | Role.RETURN):
        return False
    values = [value for value in op.operands if value in unknown]
    if not values:
        return False
    if has_role(op, Role.CONDITION | Role.BRANCH):
        return True
    if op.regions:
        count = _CONTROLLING.get(op.name, 1) or len(op.operands)
        return any(value in unknown for value in op.operands[:count])
    if not has_role(op, Role.SCALAR):
        return True
    if has_role(op, Role.SELECT):
        return any(not _is_number(result.type) for result in op.results)
    _, *others = op.operands or (None,)
    return op.name.rpartition(".")[2] in _DIVISIONS and any(value in unknown for value in others)


def _selects(op: PtoOp, unknown: set[SSAValue]) -> bool:
    """Returns whether contents select the elements that ``op`` accesses."""
    spec = op_spec(type(op))
    if not op.results and _STATES.intersection(spec.state_reads):
        return True
    for name, values in operand_groups(op).items():
        if name in _POSITIONS:
            for value in values:
                if isinstance(value.type, (VRegType, VmiVRegType)):
                    if value in unknown:
                        return True
                elif not _is_number(value.type):
                    return True
    return False


def _addresses(op: PtoOp, unknown: set[SSAValue]) -> bool:
    """Returns whether ``op`` makes an address, a size, a mask or an event of contents."""
    spec = op_spec(type(op))
    values = [value for value in op.operands if value in unknown]
    if not values or spec.effect is Effect.PURE:
        return False
    if spec.effect in _SILENT or spec.effect is Effect.REGION:
        return spec.effect is not Effect.REGION
    return any(not isinstance(value.type, (*_CONTENTS, AlignType)) for value in values)


def _is_number(type_: Attribute) -> bool:
    return isinstance(type_, (AnyFloat, IndexType, IntegerType))

"""What a tile operation does to its tiles, in either form.

Source: docs/reference/language.md, "Level 1 and Level 2".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeGuard

from xdsl.ir import Operation, SSAValue

from pto_dialect.ir.core.base import PtoOp, Shape, op_spec, operand_groups, signature
from pto_dialect.ir.core.facts.operation_form import form_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import TileBufType, TileType

_STYLE = "OP_DPS"


@dataclass(frozen=True)
class Use:
    """A tile operand: its declared name, its position among those of this name, and the value."""

    name: str
    index: int
    value: SSAValue


@dataclass
class Accesses:
    """``reads``: sources; ``scratch``: tiles whose content is lost; ``writes``: destinations in the order of the text,
    for value forms the results; ``old``: the tile that a read-modify-write starts from, in value form."""

    reads: list[Use] = field(default_factory=list)
    scratch: list[Use] = field(default_factory=list)
    writes: list[Use] = field(default_factory=list)
    old: Use | None = None


def is_tile_operation(op: Operation) -> TypeGuard[PtoOp]:
    """Returns whether ``op`` has a destination-passing and a value form."""
    if not isinstance(op, PtoOp):
        return False
    shape = op_spec(type(op)).shape
    return shape.value.startswith(_STYLE) or shape is Shape.INS_ONLY


def is_tile(value: SSAValue) -> bool:
    """Returns whether ``value`` is a tile of Level 1 or of Level 2."""
    return isinstance(value.type, TileType | TileBufType)


def is_value(value: SSAValue) -> bool:
    """Returns whether ``value`` is a tile of Level 1."""
    return isinstance(value.type, TileType)


def destinations(op: PtoOp) -> list[str]:
    """Declared names of the destinations of ``op`` in the order of the text."""
    spec = op_spec(type(op))
    order = spec.text or tuple(slot.name for slot in signature(type(op)).operands)
    return [name for name in order if name in spec.outs]


def accesses(op: PtoOp, arch: str) -> Accesses:
    """Returns what ``op``, a tile operation, does to its tiles on ``arch``."""
    spec = op_spec(type(op))
    result = Accesses()
    form = form_of(op, arch)
    by_name: dict[str, list[Use]] = {}
    for name, values in operand_groups(op).items():
        by_name[name] = [Use(name, i, value) for i, value in enumerate(values) if is_tile(value)]
    for name, uses in by_name.items():
        for use in uses:
            if name in spec.outs:
                if op.results and is_value(use.value):
                    result.old = use
            elif name in form.writes:
                result.scratch.append(use)
            else:
                result.reads.append(use)
    result.writes = [use for name in destinations(op) for use in by_name.get(name, ()) if use is not result.old]
    return result


def accumulator(op: Operation, accesses: Accesses) -> Use | None:
    """Returns the accumulator operand of an accumulating product."""
    if not has_role(op, Role.ACCUMULATES):
        return None
    return accesses.reads[0] if accesses.reads else None

"""Operands of PTO operations by their declared names, where several classes have operands of one name.

Where the class is known, its own attribute does the same (``op.src``).
"""

from __future__ import annotations

from functools import cache

from xdsl.ir import Operation, SSAValue

from .base import PtoOp, operand_groups, signature


@cache
def _place(cls: type[PtoOp], name: str) -> int | None:
    """Position of an operand before which all have one value each; ``None`` for any other operand."""
    for place, slot in enumerate(signature(cls).operands):
        if slot.arity != "1":
            return None
        if slot.name == name:
            return place
    return None


def named(op: Operation, name: str) -> SSAValue:
    """The operand ``name`` of a PTO operation that has it; raises KeyError for a name that is not declared and
    IndexError for an absent operand."""
    assert isinstance(op, PtoOp)
    place = _place(type(op), name)
    return operand_groups(op)[name][0] if place is None else op._operands[place]


def find(op: Operation, name: str) -> SSAValue | None:
    """The operand ``name`` of any operation, sound or not; ``None`` when it has none that can be told apart."""
    if not isinstance(op, PtoOp):
        return None
    try:
        values = operand_groups(op).get(name, ())
    except ValueError:
        return None
    return values[0] if values else None


def group(op: Operation, name: str) -> tuple[SSAValue, ...]:
    """The values of the operand ``name``, which may be absent or repeated, of a sound PTO operation; raises KeyError
    for a name that is not declared."""
    assert isinstance(op, PtoOp)
    return operand_groups(op)[name]

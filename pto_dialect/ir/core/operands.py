"""Operands by the names that their operation declares, where classes of one kind share a name.

Where the class is known, its own attribute does the same (``op.src``).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from xdsl.ir import Operation, SSAValue

from .base import PtoOp, operand_groups, operand_layout, signature


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
    """The one operand of ``op`` that is declared as ``name``; ``op`` has the operands that its class declares.

    Raises ``KeyError`` or ``AttributeError`` for a name that the class does not declare, ``ValueError`` for an optional
    operand that is absent.
    """
    if isinstance(op, PtoOp):
        place = _place(type(op), name)
        if place is not None:
            return op._operands[place]
        (value,) = operand_groups(op)[name]
        return value
    value = getattr(op, name)
    assert isinstance(value, SSAValue)
    return value


def first(op: PtoOp, name: str) -> SSAValue | None:
    """The first operand of ``op`` that is declared as ``name``, ``None`` when there is none; ``op`` is sound."""
    place = _place(type(op), name)
    if place is not None:
        return op._operands[place] if place < len(op._operands) else None
    return _first(op, name)


def _first(op: PtoOp, name: str) -> SSAValue | None:
    for found, start, end in operand_layout(op):
        if found == name:
            # A part of xDSL's own tuple costs ten times as much as one of a plain tuple.
            return next(iter(tuple(op._operands)[start:end]), None)
    return None


def shown(view: Operation) -> SSAValue:
    """The operand of which the result of ``view`` shows bytes: the first one, by what ``Role.VIEW`` means."""
    return view.operands[0]


def listed(op: Operation, name: str) -> Sequence[SSAValue]:
    """The operands of ``op`` declared as ``name``, any number of them; errors as for ``named``."""
    return operand_groups(op)[name] if isinstance(op, PtoOp) else tuple(getattr(op, name))


def find(op: Operation, name: str) -> SSAValue | None:
    """The operand ``name`` of any operation, sound or not; ``None`` when it has none that can be told apart."""
    if not isinstance(op, PtoOp):
        return None
    try:
        return _first(op, name)
    except ValueError:
        return None

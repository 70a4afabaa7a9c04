"""Operands by the names that their operation declares, where classes of one kind share a name.

Where the class is known, its own attribute does the same (``op.src``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from xdsl.ir import Operation, SSAValue

from .base import PtoOp, is_pto, operand_groups, operand_layout, signature

_at: Callable[[tuple[SSAValue, ...], int], SSAValue] = tuple.__getitem__
"""xDSL's own tuple asks what kind of index it is given first."""


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
    if is_pto(op):
        place = _place(type(op), name)
        if place is not None:
            return _at(op._operands, place)
        (value,) = operand_groups(op)[name]
        return value
    value = getattr(op, name)
    assert isinstance(value, SSAValue)
    return value


def first(op: PtoOp, name: str) -> SSAValue | None:
    """The first operand of ``op`` that is declared as ``name``, ``None`` when there is none; ``op`` is sound."""
    place = _place(type(op), name)
    if place is not None:
        return _at(op._operands, place) if place < len(op._operands) else None
    return first_of(op, name)


def first_of(op: PtoOp, name: str) -> SSAValue | None:
    """As ``first``, for operations that need not be sound; raises ``ValueError`` where numbers of operands contradict
    each other."""
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
    if not is_pto(op):
        return None
    try:
        return first_of(op, name)
    except ValueError:
        return None

"""Access to operands by declared name, where classes of one kind share a name.

Where the class is known, its own attribute does the same (``op.src``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from xdsl.ir import Operation, SSAValue

from .base import PtoOp, is_pto, operand_groups, operand_layout, signature

_at: Callable[[tuple[SSAValue, ...], int], SSAValue] = tuple.__getitem__
"""xDSL's own tuple first checks the kind of its index."""


@cache
def _place(cls: type[PtoOp], name: str) -> int | None:
    """Returns the position of an operand when all operands before it have one value each; otherwise ``None``."""
    for place, slot in enumerate(signature(cls).operands):
        if slot.arity != "1":
            return None
        if slot.name == name:
            return place
    return None


def named(op: Operation, name: str) -> SSAValue:
    """Returns the one operand of ``op`` that is declared as ``name``; the operand count of ``op`` must fit its class.

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
    """Returns the first operand of ``op`` that is declared as ``name``, ``None`` when there is none; the operand count
    of ``op`` must fit its class."""
    place = _place(type(op), name)
    if place is not None:
        return _at(op._operands, place) if place < len(op._operands) else None
    return first_of(op, name)


def first_of(op: PtoOp, name: str) -> SSAValue | None:
    """Returns the same as ``first`` for operations that may be invalid; raises ``ValueError`` where operand counts
    contradict each other."""
    for found, start, end in operand_layout(op):
        if found == name:
            # Slicing xDSL's tuple of operands costs ten times as much as slicing a plain tuple.
            return next(iter(tuple(op._operands)[start:end]), None)
    return None


def shown(view: Operation) -> SSAValue:
    """Returns the operand whose bytes the result of ``view`` shares: the first one, by the definition of
    ``Role.VIEW``."""
    return view.operands[0]


def listed(op: Operation, name: str) -> Sequence[SSAValue]:
    """Returns the operands of ``op`` declared as ``name``, any number of them; errors as for ``named``."""
    return operand_groups(op)[name] if isinstance(op, PtoOp) else tuple(getattr(op, name))


def find(op: Operation, name: str) -> SSAValue | None:
    """Returns the operand ``name`` of any operation, valid or not; ``None`` when it has none that can be identified."""
    if not is_pto(op):
        return None
    try:
        return first_of(op, name)
    except ValueError:
        return None

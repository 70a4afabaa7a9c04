"""Unit flags: what an operation does to the mark of the accumulator that it writes or writes back.

Source: docs/reference/execution.md, "Synchronisation".
"""

from __future__ import annotations

from xdsl.ir import Operation

from ..attributes import EnumAttr

STATED = ("unit_flag_mode", "unit_flag_ctrl", "unit_flag")
"""Attributes of micro-instructions whose value is the check itself."""
_PHASES = {
    "accPhase": {"partial": "check_only", "final": "check_and_set"},
    "stPhase": {"partial": "check_only", "final": "check_and_clear"},
}
"""What the phases of tile operations mean."""


def unit_check(op: Operation) -> str:
    """Returns ``check_only``, ``check_and_set`` or ``check_and_clear``, empty where an operation has no unit flag."""
    attributes = op.attributes
    if stated := stated_check(op):
        return stated
    for name, checks in _PHASES.items():
        if name in attributes:
            return checks.get(_word(attributes[name]), "")
    return ""


def stated_check(op: Operation) -> str:
    """Returns the check that an attribute of a micro-instruction states."""
    for name in STATED:
        if name in op.attributes:
            stated = _word(op.attributes[name])
            return stated if stated.startswith("check") else ""
    return ""


def _word(attribute: object) -> str:
    return attribute.data[1] if isinstance(attribute, EnumAttr) else str(getattr(attribute, "data", ""))

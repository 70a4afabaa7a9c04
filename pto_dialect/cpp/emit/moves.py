"""Moves of bytes between memories, below the operations of tiles. Source: docs/reference/layouts.md, "Transfers"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..operations.copies import FORMS
from .buffers import groups_of
from .errors import fail
from .writer import Writer, emits

if TYPE_CHECKING:
    from xdsl.ir import Operation

_ONLY_A5 = "_align_v2"
"""Ending of functions that the compiler of a2a3 does not have."""
_OPERATIONS = sorted({f"pto.{form.operation}" for form in FORMS.values()})


@emits(*_OPERATIONS)
def emit_move(op: Operation, w: Writer) -> None:
    """A move by the function that has the numbers of the operation."""
    groups = {name: values[0] for name, values in groups_of(op).items() if values}
    for name, form in FORMS.items():
        if f"pto.{form.operation}" != op.name or w.shared.target not in form.targets:
            continue
        if name.endswith(_ONLY_A5) and w.shared.target != "a5":
            continue
        if {"source", "destination", *form.numbers} == set(groups):
            operands = [groups[one] for one in ("destination", "source", *form.numbers)]
            w.line(f"{name}({', '.join(w.get(value, op).text for value in operands)});")
            return
    fail(op, f"{op.name} has no function in C++ on {w.shared.target}")


__all__: list[str] = []

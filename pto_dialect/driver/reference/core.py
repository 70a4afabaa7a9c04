"""docs/reference/core-operations.md: what operations of the core dialects take and yield."""

from __future__ import annotations

from itertools import groupby

from pto_dialect.runtime.kernels.registry import find
from pto_dialect.verify.core.table import CORE_NAMES, CoreSlot, constraints_of

from .markdown import WRITTEN_BY, cell, table

_ENDS = frozenset(["cf.br", "cf.cond_br", "cf.switch", "scf.condition", "scf.yield", "scf.reduce", "scf.reduce.return"])
"""Ends of blocks, which run as part of what is around them."""

_ARITY = {"1": "", "?": " (optional)", "*": " (any number)"}


def _slots(slots: tuple[CoreSlot, ...]) -> str:
    return ", ".join(f"`{slot.name}` {cell(slot.kind.label)}{_ARITY[slot.arity]}" for slot in slots) or "–"


def runs(name: str) -> bool:
    """Whether ``pto-run`` executes an operation."""
    # What ends a region runs as a part of the operation around it.
    return name in _ENDS or find(name) is not None


def _row(name: str) -> tuple[str, ...]:
    wanted = constraints_of(name)
    note = "" if runs(name) else " (does not run)"
    return f"`{name}`{note}", _slots(wanted.operands), _slots(wanted.results), _slots(wanted.attributes)


def page() -> str:
    """The whole page."""
    lines = [
        "# Operations of the core dialects",
        "",
        "Constraints of `pto-opt` on single operands, results and attributes;",
        "[core-dialects.md](core-dialects.md) describes their semantics.",
        "",
        WRITTEN_BY,
        "",
    ]
    for dialect, names in groupby(sorted(CORE_NAMES), lambda name: name.partition(".")[0]):
        lines += [f"## {dialect}", ""]
        lines += table(("operation", "operands", "results", "attributes"), map(_row, names))
    return "\n".join(lines).rstrip("\n") + "\n"

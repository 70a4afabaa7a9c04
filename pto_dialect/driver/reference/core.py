"""docs/reference/core-operations.md: what operations of the core dialects take and yield."""

from __future__ import annotations

from itertools import groupby

from pto_dialect.ir.core_dialects.forms import FORMS, forms_of, shown
from pto_dialect.runtime.kernels.registry import find
from pto_dialect.verify.core.table import CORE_NAMES, Constraints, CoreSlot, constraints_of

from .markdown import WRITTEN_BY, cell, table

_PARTS = frozenset(
    (
        *("func.func", "builtin.module", "cf.br", "cf.cond_br", "cf.switch"),
        *("scf.condition", "scf.yield", "scf.reduce", "scf.reduce.return"),
    )
)
"""Ends of blocks and what is around functions: they run as parts of another operation."""

DOCUMENTED = frozenset({*CORE_NAMES, *FORMS})
"""The operations of the core dialects that have a page: those with constraints or a form of their own."""

_ARITY = {"1": "", "?": " (optional)", "*": " (any number)"}


def declared(name: str) -> Constraints:
    """Returns the constraints of an operation; empty ones where its form is all that is declared."""
    return constraints_of(name) if name in CORE_NAMES else Constraints((), (), (), (), False)


def _slots(slots: tuple[CoreSlot, ...]) -> str:
    return ", ".join(f"`{slot.name}` {cell(slot.kind.label)}{_ARITY[slot.arity]}" for slot in slots) or "–"


def runs(name: str) -> bool:
    """Returns whether ``pto-run`` executes an operation."""
    # What ends a region runs as a part of the operation around it.
    return name in _PARTS or find(name) is not None


def _row(name: str) -> tuple[str, ...]:
    wanted = declared(name)
    note = "" if runs(name) else " (does not run)"
    return f"`{name}`{note}", _slots(wanted.operands), _slots(wanted.results), _slots(wanted.attributes)


def _written(names: list[str]) -> list[str]:
    """Returns the forms of operations that have one of their own, as a block of text."""
    texts = [form for name in names for form in map(shown, forms_of(name))]
    return ["Written:", "", "```text", *texts, "```", ""] if texts else []


def page() -> str:
    """Returns the whole page."""
    lines = [
        "# Operations of the core dialects",
        "",
        "Constraints of `pto-opt` on single operands, results and attributes, and how operations are written (`T` and",
        "`U` are types, `..` statements); [core-dialects.md](core-dialects.md) describes their semantics.",
        "",
        WRITTEN_BY,
        "",
    ]
    for dialect, names in groupby(sorted(DOCUMENTED), lambda name: name.partition(".")[0]):
        lines += [f"## {dialect}", ""]
        names = list(names)
        lines += table(("operation", "operands", "results", "attributes"), map(_row, names))
        lines += _written(names)
    return "\n".join(lines).rstrip("\n") + "\n"

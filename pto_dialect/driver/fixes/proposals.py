"""From the remedies of a diagnostic to changes of its text."""

from __future__ import annotations

from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.fix import Fix, OverlapError, edited
from pto_dialect.diagnostics.remedies import (
    characters,
    marks,
    moves,
    names,
    order,
    statements,
    synchronization,
    types,
)
from pto_dialect.diagnostics.remedies.site import REMEDIES, Site

from .values import types_of_values

MODULES = (names, characters, marks, order, types, statements, moves, synchronization)
"""Modules that declare remedies."""

_MOST = 24
"""Proposals for one diagnostic; each of them costs a check of the program."""


def proposals(diagnostic: Diagnostic) -> list[Fix]:
    """The changes of the text that ``diagnostic`` brings or that its remedies make, the likeliest first; not tried."""
    span = diagnostic.span
    if span is None:
        return []
    site = Site(diagnostic, span, types_of_values)
    fixes = list(diagnostic.fixes)
    for name, arguments in diagnostic.remedies:
        fixes += REMEDIES[name](site, *arguments)
    found: dict[str, Fix] = {}
    for fix in fixes:
        try:
            new = edited(site.text, fix.edits)
        except OverlapError:
            continue
        if new != site.text:
            found.setdefault(new, fix)
    return list(found.values())[:_MOST]

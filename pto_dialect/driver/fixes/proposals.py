"""All that might mend a diagnostic."""

from __future__ import annotations

from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.fix import Fix, OverlapError, edited

from . import characters, flags, forms, marks, moves, statements, types, words
from .wrong import ROWS, Wrong

FIXERS = (words, characters, marks, forms, types, statements, moves, flags)
"""Modules that declare fixers, in the order in which their proposals count."""

_MOST = 24
"""Proposals for one diagnostic; each of them costs a check of the program."""


def proposals(diagnostic: Diagnostic) -> list[Fix]:
    """Changes of the text that might mend ``diagnostic``, the likeliest first; not tried yet.

    They are worked out from its message, its help and the text around its place, and are added to those that it brings.
    """
    found: dict[str, Fix] = {}
    span = diagnostic.span
    if span is None:
        return []
    wrong = Wrong(diagnostic, span)
    made = list(diagnostic.fixes)
    for row in ROWS:
        message = row.message.search(diagnostic.message)
        help = row.help.search(diagnostic.help or "")
        if message is not None and help is not None:
            made += row.fixer(wrong, message, help)
    for fix in made:
        try:
            new = edited(wrong.text, fix.edits)
        except OverlapError:
            continue
        if new != wrong.text:
            found.setdefault(new, fix)
    return list(found.values())[:_MOST]

"""From the remedies of a diagnostic to changes of its text."""

from __future__ import annotations

from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.engine import DiagnosticEngine
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
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.ir.core.types import type_text
from pto_dialect.syntax.read.parser import parse_program

MODULES = (names, characters, marks, order, types, statements, moves, synchronization)
"""Modules that declare remedies."""

_MOST = 24
"""Proposals for one diagnostic; each of them costs a check of the program."""


def proposals(diagnostic: Diagnostic) -> list[Fix]:
    """Returns the changes of the text that ``diagnostic`` brings or that its remedies make, the likeliest first; not
    tried."""
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


def types_of_values(source: SourceFile) -> dict[str, str]:
    """Returns the types of values by their names with ``%``; of values of one name those of the last."""
    module = parse_program(source, DiagnosticEngine())
    found: dict[str, str] = {}
    if module is None:
        return found
    for op in module.walk():
        values = [*op.results, *(arg for region in op.regions for block in region.blocks for arg in block.args)]
        for value in values:
            if value.name_hint is not None:
                found[f"%{value.name_hint}"] = type_text(value.type)
    return found

"""Types of the values of a program, as far as it can be read."""

from __future__ import annotations

from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.ir.core.types import type_text
from pto_dialect.syntax.read.parser import parse_program


def types_of_values(source: SourceFile) -> dict[str, str]:
    """The types of values by their names with ``%``; of values of one name those of the last."""
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

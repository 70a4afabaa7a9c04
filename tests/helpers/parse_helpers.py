"""Parses program text for tests."""

from __future__ import annotations

from typing import Any

from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.syntax.read.parser import parse_program


def parsed(text: str, *, schematic: bool = False) -> tuple[Any, list[tuple[str, int, int, str]]]:
    """Module and diagnostics as (rule, line, column, message)."""
    source = SourceFile("t.pto", text)
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    module = parse_program(source, engine, schematic=schematic)
    found = [(d.rule, *(source.line_col(d.span.start) if d.span else (0, 0)), d.message) for d in engine.diagnostics]
    return module, found


def rules(text: str, **options: bool) -> list[str]:
    """Rule ids of the diagnostics, in source order."""
    return [entry[0] for entry in parsed(text, **options)[1]]

"""What is reported about texts that are nearly programs, and how texts are printed and formatted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from snapshots import Block, described, files, renewed

from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.syntax.layout.program import laid_out
from pto_dialect.syntax.print.printer import print_module
from pto_dialect.syntax.read.parser import parse_program


def read_and_printed(block: Block) -> str:
    """Diagnostics, or the printed and the generic form; then the formatted text; each where it is not the program."""
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0, pedantic=True))
    program = SourceFile("program.pto", f"{block.program}\n")
    module = parse_program(program, engine, schematic=block.title.endswith(", schematic"))
    lines = [line for diagnostic in engine.diagnostics for line in described(diagnostic)]
    parts = ["\n".join(lines)] if lines else []
    if module is not None and not engine.has_errors:
        parts += [f"printed:\n{print_module(module)}", f"generic:\n{print_module(module, generic=True)}"]
    parts.append(f"formatted:\n{laid_out(program.text)}")
    shown = [part.rstrip("\n") for part in parts if part.partition(":\n")[2].rstrip("\n") != block.program.rstrip("\n")]
    return "\n".join(shown or ["unchanged"])


@pytest.mark.parametrize("file", files("syntax", "snapshots"), ids=lambda file: file.stem)
def test_outputs_are_those_of_the_snapshot(file: Path, compare: Callable[[Path, str], None]) -> None:
    compare(file, renewed(file, read_and_printed))

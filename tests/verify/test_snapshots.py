"""What the verifier reports about programs that are nearly right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from snapshots import Block, described, files, renewed

from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.verify.verifier import verify_module


def diagnosed(block: Block) -> str:
    """The diagnostics of a program."""
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0, pedantic=True))
    module = parse_program(SourceFile("program.pto", block.program), engine)
    if module is not None:
        verify_module(module, engine)
    lines = [line for diagnostic in engine.diagnostics for line in described(diagnostic)]
    assert not [line for line in lines if line.startswith("- ")], "a diagnostic without a source location"
    return "\n".join(lines or ["accepted"])


@pytest.mark.parametrize("file", files("verify", "snapshots"), ids=lambda file: file.stem)
def test_diagnostics_are_those_of_the_snapshot(file: Path, compare: Callable[[Path, str], None]) -> None:
    compare(file, renewed(file, diagnosed))

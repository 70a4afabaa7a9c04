"""What passes make of programs, and what they report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from snapshots import Block, described, files, renewed

from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.passes.registry import make_pass, parse_pipeline
from pto_dialect.syntax.print.printer import print_module
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.verify.verifier import verify_module


def transformed(block: Block) -> str:
    """What the pipeline in the title reports, and the program that it makes, which verifies."""
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    module = parse_program(SourceFile("program.pto", block.program), engine)
    assert module is not None and not engine.has_errors, engine.diagnostics
    before = print_module(module)
    for call in parse_pipeline(block.title):
        make_pass(call, None).run(module, engine)
        if engine.has_errors:
            break
    after = print_module(module)
    lines = [line for diagnostic in engine.diagnostics for line in described(diagnostic)]
    if after != before and not engine.has_errors:
        verify_module(module, engine)
        assert not engine.has_errors, (engine.diagnostics, after)
    return "\n".join([*lines, "unchanged" if after == before else after.rstrip("\n")])


@pytest.mark.parametrize("file", files("passes", "snapshots"), ids=lambda file: file.stem)
def test_outputs_are_those_of_the_snapshot(file: Path, compare: Callable[[Path, str], None]) -> None:
    compare(file, renewed(file, transformed))

"""Small programs around single statements, and what the verifier says about them."""

from __future__ import annotations

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.verify.engine.example_programs import example_program
from pto_dialect.verify.verifier import verify_module


def tile(
    loc: str,
    element: str,
    shape: tuple[int, int],
    valid: tuple[int | str, int | str] | None = None,
    layout: tuple[str, str, int] | None = None,
) -> str:
    """A tile type in its long form; by default whole, and in the layout that products want at ``loc``."""
    natural = {
        "left": ("col_major", "row_major", 512),
        "right": ("row_major", "col_major", 512),
        "acc": ("col_major", "row_major", 1024),
    }
    blayout, slayout, fractal = layout or natural.get(loc, ("row_major", "none_box", 512))
    rows, cols = valid or shape
    return (
        f"!pto.tile_buf<loc={loc}, dtype={element}, rows={shape[0]}, cols={shape[1]}, v_row={rows}, "
        f"v_col={cols}, blayout={blayout}, slayout={slayout}, fractal={fractal}, pad=0>"
    )


def findings(statements: str, target: str) -> dict[str, Severity]:
    """Rules that a program with ``statements`` breaks on ``target``, with the severity of each.

    Raises AssertionError when the program cannot even be read.
    """
    engine = DiagnosticEngine(DiagnosticOptions(pedantic=True, max_errors=0))
    module = parse_program(SourceFile("case.pto", example_program(statements, target)), engine)
    assert module is not None and not engine.has_errors, [d.message for d in engine.diagnostics]
    verify_module(module, engine)
    found: dict[str, Severity] = {}
    for diagnostic in engine.diagnostics:
        found[diagnostic.rule] = max(diagnostic.severity, found.get(diagnostic.rule, Severity.INFO))
    return found


def errors(statements: str, target: str) -> set[str]:
    """Rules that are broken with an error."""
    return {rule for rule, severity in findings(statements, target).items() if severity is Severity.ERROR}

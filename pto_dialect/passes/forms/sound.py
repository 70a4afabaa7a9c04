"""A program in another form breaks no rule that it kept before."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.verify.verifier import verify_module

from .rebuild import RefusedError


def stay_sound(module: ModuleOp, fresh: ModuleOp, target: str | None) -> None:
    """Raises :class:`RefusedError` for a rule that ``fresh`` violates and ``module`` does not: the other form cannot
    represent the program."""
    broken = _errors(fresh, target)
    if not broken:
        return
    known = {diagnostic.rule for diagnostic in _errors(module, target)}
    for diagnostic in broken:
        if diagnostic.rule not in known:
            raise RefusedError(fresh, f"there, {diagnostic.message} [{diagnostic.rule}]", span=diagnostic.span)


def _errors(module: ModuleOp, target: str | None) -> list[Diagnostic]:
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    verify_module(module, engine, target=target)
    return [diagnostic for diagnostic in engine.diagnostics if diagnostic.severity is Severity.ERROR]

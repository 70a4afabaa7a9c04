"""Every planted hazard of ``hazards`` is reported by a run or from the text, and nothing in the correct twins."""

from functools import cache

from faulty_kernels import HAZARDS, Kernel, correct, faulty
from groups import in_groups
from sanitize_programs import found, instrumented

from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.verify.verifier import verify_module

FAULTY, CORRECT = faulty(HAZARDS), correct(HAZARDS)
NOT_FOUND: dict[str, str] = {
    "carried_three_a2a3-onmiddle": "the result is made of the tile that it replaces, as an accumulator is",
    "carried_three_a5-onmiddle": "the result is made of the tile that it replaces, as an accumulator is",
}
"""Faults that nothing reports, and why."""


def errors_of_text(text: str) -> list[Diagnostic]:
    engine = DiagnosticEngine()
    module = parse_program(SourceFile("k.pto", text), engine)
    assert module is not None
    verify_module(module, engine)
    return [one for one in engine.diagnostics if one.severity is Severity.ERROR]


@cache
def findings(kernel_id: str) -> list[Diagnostic]:
    """Errors of the verifier, or else what a sanitized run, ``check-sync`` and ``check-memory`` report."""
    (kernel,) = (one for one in FAULTY + CORRECT if one.id == kernel_id)
    if refused := errors_of_text(kernel.text):
        return refused
    observer = instrumented(kernel.text)
    observer.run(kernel.values(), kernel.blocks)
    of_run = [finding.diagnostic() for finding in observer.observer.findings.all]
    return of_run + found(kernel.text, ("check-sync", "check-memory"))


@in_groups("kernel", FAULTY, lambda kernel: kernel.id)
def test_planted_hazard_is_reported(kernel: Kernel) -> None:
    wanted = Severity.ERROR if kernel.severity == "error" else Severity.WARNING
    rules = {one.rule for one in findings(kernel.id) if one.severity is wanted}
    assert bool(rules & set(kernel.rules)) is (kernel.id not in NOT_FOUND)


@in_groups("kernel", CORRECT, lambda kernel: kernel.id)
def test_correct_twin_has_no_finding(kernel: Kernel) -> None:
    assert findings(kernel.id) == []


def test_nearly_every_hazard_is_found() -> None:
    assert len(FAULTY) >= 150
    assert len(NOT_FOUND) <= 0.02 * len(FAULTY)

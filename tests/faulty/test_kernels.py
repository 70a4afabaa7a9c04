"""Incorrect kernels are found, and their correct twins are not."""

from functools import cache
from typing import NamedTuple

from faulty_kernels import Kernel, correct, faulty
from groups import in_groups
from sanitize_programs import found, instrumented

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.verify.verifier import verify_module

FAULTY, CORRECT = faulty(), correct()


class Found(NamedTuple):
    """Rules of the findings by severity."""

    errors: frozenset[str]
    others: frozenset[str]


def refused(text: str) -> frozenset[str]:
    """Rules of the errors that the verifier has found already."""
    engine = DiagnosticEngine()
    module = parse_program(SourceFile("k.pto", text), engine)
    assert module is not None
    verify_module(module, engine)
    return frozenset(d.rule for d in engine.diagnostics if d.severity is Severity.ERROR)


@cache
def findings(kernel_id: str) -> Found:
    (kernel,) = (one for one in FAULTY + CORRECT if one.id == kernel_id)
    wrong = refused(kernel.text)
    if wrong:
        return Found(wrong, frozenset())
    observer = instrumented(kernel.text, sync=kernel.launch.get("sync", "auto"))
    observer.run(kernel.values(), kernel.blocks)
    all_ = [finding.diagnostic() for finding in observer.observer.findings.all]
    errors = frozenset(d.rule for d in all_ if d.severity is Severity.ERROR)
    return Found(errors, frozenset(d.rule for d in all_) - errors)


@in_groups("kernel", FAULTY, lambda kernel: kernel.id)
def test_a_fault_is_found(kernel: Kernel):
    result = findings(kernel.id)
    assert set(kernel.rules) & (result.errors if kernel.severity == "error" else result.others)


@in_groups("kernel", CORRECT, lambda kernel: kernel.id)
def test_nothing_is_found_in_a_correct_twin(kernel: Kernel):
    assert findings(kernel.id) == Found(frozenset(), frozenset())
    assert not [d for d in found(kernel.text, ("check-sync", "check-memory")) if d.severity is Severity.ERROR]

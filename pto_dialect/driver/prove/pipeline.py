"""Passes one after the other, each proven. Source: docs/reference/proving.md, "What is compared"."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp

from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.passes.registry import PASS_TABLE
from pto_dialect.passes.run import PassObserver, run_passes

from ..options import PROOF_SECONDS
from .inserted import order_verdicts, own_order
from .proof import Proof


def prove_passes(
    module: ModuleOp,
    calls: Sequence[str],
    engine: DiagnosticEngine,
    target: str | None,
    seconds: float = PROOF_SECONDS,
    allow_open: bool = False,
    observer: PassObserver | None = None,
) -> bool:
    """Runs passes as :func:`run_passes` does, and compares the program after each that changes it with the one before
    the first; True when ``engine`` has no errors. ``seconds`` of the processor are what the proof may take.
    ``observer`` sees the module before and after each pass.

    What is proven is a remark of the rule ``prove-done``; what stays open is an error of ``prove-open``, or a remark
    with ``allow_open``. The order that passes make gets a verdict for all numbers of iterations. Programs with errors,
    and those that no pass changes, are not run.
    """
    first = next((number for number, call in enumerate(calls) if _changes(call)), len(calls))
    if not run_passes(module, calls[:first], engine, target, calls[first:], observer):
        return False
    if first == len(calls):
        return True
    proof = Proof(module, target, engine, seconds, sum(map(_changes, calls)), allow_open=allow_open)
    proof.begin()
    own = own_order(module)
    for number, call in enumerate(calls[first:], first + 1):
        if not run_passes(module, [call], engine, target, calls[number:], observer):
            break
        if _changes(call):
            proof.after(call)
    failed = engine.has_errors
    proof.end()
    if proof.strict and not failed:
        for verdict in order_verdicts(module, target, own):
            engine.report(verdict)
    return not engine.has_errors


def _changes(call: str) -> bool:
    return PASS_TABLE[call.partition("{")[0]].changes

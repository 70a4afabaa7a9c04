"""Micro programs for the sanitizer tests: transfers between global memory and the unified buffer, with flags."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.passes.run import run_passes
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import CHECKS, ON_REQUEST, SanitizeOptions
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.verify.verifier import verify_module

HEAD = """module attributes {pto.target_arch = "a5"} {
  func.func @k(%a: !pto.ptr<f32, gm>, %b: !pto.ptr<f32, gm>) attributes {pto.kernel} {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %c64 = arith.constant 64 : i64
    %i0 = arith.constant 0 : index
    %i1 = arith.constant 1 : index
    %i3 = arith.constant 3 : index
"""
TAIL = "    return\n  }\n}\n"


def program(*lines: str) -> str:
    """A kernel with two buffers %a and %b of 64 elements around ``lines``."""
    return HEAD + "".join(f"    {line}\n" for line in lines) + TAIL


def ub(name: str, address: int) -> str:
    """%name points to a byte address of the unified buffer."""
    return (
        f"%{name}_at = arith.constant {address} : i64\n    %{name} = pto.castptr %{name}_at : i64 -> !pto.ptr<f32, ub>"
    )


def load(target: str, source: str = "%a") -> str:
    """64 bytes of global memory to the unified buffer, on MTE2."""
    return (
        f"pto.mte_gm_ub {source}, {target}, %c0, %c64 nburst(%c1, %c64, %c64) "
        ": !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64"
    )


def store(source: str, target: str = "%b") -> str:
    """64 bytes of the unified buffer to global memory, on MTE3."""
    return (
        f"pto.mte_ub_gm {source}, {target}, %c64 nburst(%c1, %c64, %c64) "
        ": !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64"
    )


def copy(source: str, target: str) -> str:
    """64 bytes inside the unified buffer, on V."""
    return (
        f"pto.mte_ub_ub {source}, {target}, %c2 nburst(%c1, %c0, %c0) "
        ": !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, i64, i64, i64, i64"
    )


def set_flag(source: str, target: str, event: int = 0) -> str:
    return f'pto.set_flag["PIPE_{source}", "PIPE_{target}", "EVENT_ID{event}"]'


def wait_flag(source: str, target: str, event: int = 0) -> str:
    return f'pto.wait_flag["PIPE_{source}", "PIPE_{target}", "EVENT_ID{event}"]'


def barrier(pipe: str) -> str:
    return f"pto.barrier #pto.pipe<PIPE_{pipe}>"


def found(text: str, passes: tuple[str, ...] = ("check-sync",)) -> list[Diagnostic]:
    """What passes that only look find in a program."""
    engine = DiagnosticEngine()
    module = parse_program(SourceFile("k.pto", text), engine)
    assert module is not None and not engine.has_errors, engine.diagnostics
    run_passes(module, passes, engine, None)
    return list(engine.diagnostics)


def instrumented(text: str, **options: Any) -> InstrumentedKernel:
    """The kernel of a program, in instrumented runs; ``verify=False`` runs what the verifier would refuse."""
    engine = DiagnosticEngine()
    module = parse_program(SourceFile("k.pto", text), engine)
    assert module is not None
    if options.pop("verify", True):
        verify_module(module, engine)
    assert not engine.has_errors, engine.diagnostics
    checks = frozenset(options.pop("checks", set(CHECKS) - ON_REQUEST))
    sanitize = SanitizeOptions(checks, options.pop("sync", "auto"))
    return InstrumentedKernel(module, options.pop("entry", None), None, RunOptions(fill="poison"), sanitize)


def diagnostics(text: str, values: list[Any] | None = None, blocks: int = 1, **options: Any) -> list[Diagnostic]:
    """What a run finds; %a counts up, %b is 0."""
    kernel = instrumented(text, **options)
    if values is None:
        values = [np.arange(64, dtype=np.float32), np.zeros(64, np.float32)]
    kernel.run(values, blocks)
    return [finding.diagnostic() for finding in kernel.observer.findings.all]


def rules(text: str, **options: Any) -> Counter[str]:
    """Numbers of findings by rule."""
    return Counter(diagnostic.rule for diagnostic in diagnostics(text, **options))


def errors(text: str, **options: Any) -> list[str]:
    """Rules of the errors, in order."""
    return [found.rule for found in diagnostics(text, **options) if found.severity is Severity.ERROR]

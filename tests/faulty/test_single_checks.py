"""One check at a time: each finds its own faults and says nothing about those of others; results stay what they are."""

from __future__ import annotations

import numpy as np
import pytest
from faulty_kernels import Kernel, correct, faulty
from groups import in_groups
from sanitize_programs import instrumented

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.run.launch import Kernel as Plain
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.options import CHECKS
from pto_dialect.syntax.read.parser import parse_program

RULES = {
    "race": "race-raw race-war race-waw race-inverted race-same-pipe race-cross-core race-cross-block race-simt "
    "l0c-handover sync-membar-missing",
    "deadlock": "sync-deadlock",
    "init": "mem-uninit mad-acc-init",
    "bounds": "mem-oob mem-oob-tile mem-align mem-capacity subview-bounds extract-bounds",
    "overlap": "mem-overlap mem-capacity capacity-dynamic",
    "cache": "cache-lost-update cache-stale-read cache-unflushed-store",
    "sync": "sync-flag-unconsumed sync-flag-depth sync-flag-range sync-buf-range sync-sem-range sync-buf-nesting "
    "sync-unit-flag sync-membar-missing sync-mte3-reorder pipe-slot",
    "numeric": "numeric-nan-inf",
}
"""What each check reports. Source: docs/reference/instrumentation.md, "Findings"."""
TOGETHER = {"sync-membar-missing", "sync-mte3-reorder"}
"""Order inside of a pipe is a matter of races, and these rules of the check ``sync``."""


def found(kernel: Kernel, *checks: str) -> set[str]:
    """Rules of the findings of these checks alone; of a fault that they do not report, that with which the run ends."""
    observer = instrumented(kernel.text, verify=False, checks={*checks}, sync=kernel.launch.get("sync", "auto"))
    try:
        observer.run(kernel.values(), kernel.blocks)
    except ProgramError as error:
        assert not any(error.rule in RULES[check].split() for check in checks), error
    return {finding.diagnostic().rule for finding in observer.observer.findings.all}


@pytest.mark.parametrize("check", CHECKS)
def test_a_check_reports_its_own_rules_only(check: str) -> None:
    others = {kernel.id: rules for kernel in faulty()[::3] if (rules := found(kernel, check) - {*RULES[check].split()})}
    assert others == {}


OWN = {rule: check for check, rules in RULES.items() for rule in rules.split()}


def test_a_check_alone_finds_its_faults() -> None:
    missed: list[tuple[str, str]] = []
    for kernel in faulty():
        (rule, *others) = kernel.rules
        if rule in OWN and not others:
            checks = ("race", "sync") if rule in TOGETHER else (OWN[rule],)
            if rule not in found(kernel, *checks):
                missed.append((kernel.id, rule))
    assert not missed


@in_groups("kernel", correct(), lambda kernel: kernel.id)
def test_instrumentation_changes_no_result(kernel: Kernel) -> None:
    plain, seen = kernel.values(), kernel.values()
    engine = DiagnosticEngine()
    module = parse_program(SourceFile("k.pto", kernel.text), engine)
    assert module is not None and not [d for d in engine.diagnostics if d.severity is Severity.ERROR]
    Plain(module, None, None, RunOptions(fill="poison")).run(plain, kernel.blocks)
    instrumented(kernel.text, sync=kernel.launch.get("sync", "auto")).run(seen, kernel.blocks)
    for one, other in zip(plain, seen, strict=True):
        if isinstance(one, np.ndarray):
            assert one.tobytes() == other.tobytes()

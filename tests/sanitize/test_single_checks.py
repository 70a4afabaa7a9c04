"""Each check by itself finds what is its own, and all the others together do not. Source:
docs/reference/instrumentation.md, "Findings".
"""

from __future__ import annotations

import pytest
from faulty_kernels import Kernel, kernels
from sanitize_programs import instrumented

from pto_dialect.runtime.errors import ProgramError
from pto_dialect.sanitize.options import CHECKS

CHECK_OF = {
    "mem-overlap": "overlap", "mem-uninit": "init", "mad-acc-init": "init", "race-raw": "race", "race-war": "race",
    "race-waw": "race", "race-same-pipe": "race", "race-inverted": "race", "race-simt": "race",
    "race-cross-core": "race",
    "race-cross-block": "race", "l0c-handover": "race", "sync-membar-missing": "race", "sync-deadlock": "deadlock",
    "sync-buf-nesting": "sync", "sync-flag-range": "sync", "sync-flag-unconsumed": "sync", "sync-unit-flag": "sync",
    "mem-oob": "bounds", "mem-oob-tile": "bounds", "mem-align": "bounds",
}  # fmt: skip
"""The check that finds a rule."""

ENDING = ("sync-deadlock", "sync-flag-range", "mem-oob", "mem-oob-tile")
"""What ends a run, whoever looks."""


def example(rule: str) -> Kernel:
    """The shortest kernel with such a fault."""
    return min((kernel for kernel in kernels() if kernel.rules == (rule,)), key=lambda kernel: len(kernel.text))


def told(kernel: Kernel, checks: set[str]) -> tuple[set[str], str]:
    """The rules that a run with ``checks`` finds, and the one that it ends with instead."""
    run = instrumented(kernel.text, checks=checks, sync=kernel.launch.get("sync", "auto"))
    try:
        run.run(kernel.values(), kernel.blocks)
    except ProgramError as error:
        return set(), error.rule
    return {finding.rule for finding in run.observer.findings.all}, ""


@pytest.mark.parametrize("rule", [rule for rule in CHECK_OF if any(k.rules == (rule,) for k in kernels())])
def test_who_finds_it(rule: str) -> None:
    kernel, check = example(rule), CHECK_OF[rule]
    found, ended = told(kernel, {check})
    assert rule in found and not ended
    assert {CHECK_OF.get(other, check) for other in found} == {check}
    others, ended = told(kernel, set(CHECKS) - {check})
    assert rule not in others
    assert ended == (rule if rule in ENDING else "")


def test_rules_without_such_a_kernel() -> None:
    """Those are found beside others."""
    alone = {rule for rule in CHECK_OF if any(kernel.rules == (rule,) for kernel in kernels())}
    assert len(alone) >= 17, CHECK_OF.keys() - alone


def test_two_stores_of_one_pipe_are_a_matter_of_both() -> None:
    """Warnings about the order inside one pipe want the checks ``race`` and ``sync``."""
    (kernel,) = (kernel for kernel in kernels() if kernel.id == "tile_add-stored")
    rule = "sync-mte3-reorder"
    assert rule in told(kernel, {"race", "sync"})[0]
    assert rule not in told(kernel, set(CHECKS) - {"race"})[0] | told(kernel, set(CHECKS) - {"sync"})[0]

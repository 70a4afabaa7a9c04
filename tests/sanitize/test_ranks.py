"""Ranks in instrumented runs: races between them, and signals that nobody sends."""

from __future__ import annotations

import re

import pytest
from rank_programs import NAMES, TELL, WAIT, Ranks, module_of, text_of

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions
from pto_dialect.sanitize.ranks import run_sanitized_ranks
from pto_dialect.sanitize.report.findings import Finding

BARRIER = "pto.barrier <PIPE_ALL>"


def instrumented(name: str, text: str, count: int = 2) -> tuple[list[Finding], InstrumentedKernel, Ranks]:
    """What the watch finds."""
    kernel = InstrumentedKernel(module_of(text), None, "a2a3", RunOptions(fill="poison"), SanitizeOptions())
    ranks = Ranks(name, count, kernel)
    run_sanitized_ranks(ranks.parts, ranks.world)
    return kernel.observer.findings.all, kernel, ranks


@pytest.mark.parametrize("count", [2, 4, 8])
@pytest.mark.parametrize("name", NAMES)
def test_right_programs_have_no_findings(name: str, count: int) -> None:
    findings, kernel, ranks = instrumented(name, text_of(name), count)
    assert not findings and not kernel.stopped
    ranks.check()


@pytest.mark.parametrize("name", ["reduce_scatter", "all_reduce"])
def test_a_wait_that_is_missing_is_a_race(name: str) -> None:
    text = text_of(name).replace(WAIT, "")
    findings, _, _ = instrumented(name, text)
    (found,) = (finding.diagnostic() for finding in findings if finding.rule == "race-cross-rank")
    assert "of gm 'data' of rank" in found.message and "and nothing orders the two" in found.message
    assert found.help is not None and "pto.comm.tnotify" in found.help
    assert "tload" in found.span.text  # pyright: ignore[reportOptionalMemberAccess]


def test_a_wait_for_too_few_is_a_race() -> None:
    fewer = "%less = arith.subi %ranks, %c1 : index\n    %all = arith.muli %less, %round : index"
    text = text_of("all_reduce").replace("%all = arith.muli %ranks, %round : index", fewer)
    assert "race-cross-rank" in {finding.rule for finding in instrumented("all_reduce", text, 4)[0]}


def test_a_notify_waits_for_the_stores_before_it() -> None:
    # Without the barrier after the stores nothing but the notify itself has them done before the peers see it.
    text = text_of("reduce_scatter")
    store = text.index("pto.tstore ins(%sum : !tile) outs(%to : !part)")
    bare = text[:store] + text[store:].replace(BARRIER, "", 1)
    findings, _, ranks = instrumented("reduce_scatter", bare)
    assert "race-cross-rank" not in {finding.rule for finding in findings}
    ranks.check()


def test_a_signal_that_overtakes_the_data_is_a_race() -> None:
    text = text_of("reduce_scatter")
    meet = next(line for line in text.splitlines() if "func.call @meet" in line)
    first = text.index("scf.for %row")
    early = text[:first] + meet.strip() + "\n    " + text[first:].replace(meet, "")
    assert "race-cross-rank" in {finding.rule for finding in instrumented("reduce_scatter", early)[0]}


def test_between_ranks_also_where_the_compiler_orders_pipes() -> None:
    bare = text_of("reduce_scatter").replace(BARRIER, "")
    assert not instrumented("reduce_scatter", bare)[0]
    findings = instrumented("reduce_scatter", bare.replace(WAIT, ""))[0]
    assert {finding.rule for finding in findings} == {"race-cross-rank"}


def test_a_forgotten_notify_is_a_deadlock_with_the_stacks_of_all_ranks() -> None:
    text = text_of("all_reduce").replace(TELL, "")
    findings, kernel, _ = instrumented("all_reduce", text, 3)
    assert kernel.stopped
    (finding,) = findings
    lines = text.splitlines()
    call = next(number for number, line in enumerate(lines, 1) if "func.call @meet" in line)
    assert finding.rule == "sync-deadlock" and "tnotify" in (finding.help or "")
    assert finding.span is not None and finding.span.text.strip().startswith("pto.comm.twait")
    assert [note for note, _ in finding.notes] == [
        f"core of rank {rank}: PIPE_S waits until the signal at byte 0 of gm 'signal' of rank {rank} is at least 3; it "
        f"holds 0 in pto.comm.twait on S of core of rank {rank}, block 0, called at line {call}"
        for rank in range(3)
    ]


def test_a_violation_ends_all_ranks_and_is_found_at_its_location() -> None:
    text = text_of("reduce_scatter")
    lines = text.splitlines()
    line = next(number for number, each in enumerate(lines) if "pto.tload" in each)
    handle = re.search(r"ins\((%\w+) ", lines[line])
    assert handle is not None
    source = next(number for number, each in enumerate(lines) if each.strip().startswith(f"{handle[1]} = "))
    offsets = re.sub(r"offsets = \[%\w+", "offsets = [%far", lines[source])
    assert offsets != lines[source]
    far = "%far = arith.constant 1000000 : index"
    changed = "\n".join([*lines[:source], f"{far}\n{offsets}", *lines[source + 1 :]])
    findings, kernel, _ = instrumented("reduce_scatter", changed)
    _, found = [finding.diagnostic() for finding in findings]
    assert found.rule == "mem-oob" and "are outside gm 'x'" in found.message
    assert kernel.stopped
    assert found.severity is Severity.ERROR and found.span is not None
    assert found.span.source.line_col(found.span.start)[0] == line + 2
    # Without the check for bounds the violation is that of the run.
    races = SanitizeOptions(frozenset(("race",)))
    other = InstrumentedKernel(module_of(changed), None, "a2a3", RunOptions(), races)
    ranks = Ranks("reduce_scatter", 2, other)
    with pytest.raises(ProgramError) as caught:
        run_sanitized_ranks(ranks.parts, ranks.world)
    assert caught.value.rule == "mem-oob"
    assert caught.value.span is not None and caught.value.span.start == found.span.start

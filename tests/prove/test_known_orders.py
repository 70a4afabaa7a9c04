"""Programs with a known order: brute force and sanitized runs agree with the verdict below each of them.

The order model (``tests/helpers/order_*.py``) unrolls a function for all small arguments and looks for paths in the
graph of its operations.  It shares no code with the sanitizer, which is compared with it.
"""

from __future__ import annotations

import pytest
from groups import in_groups
from order_graph import Execution
from order_programs import FOLDER, OrderProgram, all_programs
from order_runs import RULES, SCHEDULES, findings
from sampling import sampled

ALL_PROGRAMS = all_programs()
PROGRAMS = [program for program in ALL_PROGRAMS if not program.is_endless]
REFUTED = [program for program in PROGRAMS if program.kind == "refuted"]
PROVEN = [program for program in PROGRAMS if program.kind == "proven"]
RUN_WITH = (0, 3)
"""What all integer arguments of a proven program are in its runs."""


def test_there_are_many_programs_of_every_kind_of_fault() -> None:
    kinds = {program.verdict.partition(": ")[2].partition(":")[0] for program in REFUTED}
    assert kinds == set(RULES)
    assert len(ALL_PROGRAMS) >= 300
    assert len({program.id for program in ALL_PROGRAMS}) == len(ALL_PROGRAMS)
    assert {path.stem for path in FOLDER.glob("*.pto")} == {program.path.stem for program in ALL_PROGRAMS}


@in_groups("program", sampled(PROGRAMS, 2), lambda program: program.id)
def test_brute_force_finds_the_stated_verdict(program: OrderProgram) -> None:
    assert program.brute_force().text == program.verdict


@in_groups("program", REFUTED, lambda program: program.id)
def test_sanitized_run_shows_the_witness(program: OrderProgram) -> None:
    kinds = {fault.kind for fault in program.judge.faults(program.arguments)}
    rules = set[str]()
    for schedule in SCHEDULES:
        rules |= findings(program.alone, program.name, program.arguments, schedule)
        if any(rules & RULES[kind] for kind in kinds):
            return
    pytest.fail(f"a run shows {rules} only")


@pytest.mark.parametrize("schedule", SCHEDULES[:2])
@in_groups("program", sampled(PROVEN, 2), lambda program: program.id)
def test_sanitized_run_of_a_proven_program_has_no_finding(program: OrderProgram, schedule: str) -> None:
    for value in RUN_WITH if program.judge.parameters else RUN_WITH[:1]:
        arguments = {name: min(value, 1) if kind == "i1" else value for name, kind in program.judge.parameters.items()}
        rules = findings(program.alone, program.name, arguments, schedule)
        # Pipes of other schedules may be ahead of the order of the text, the scalar unit is in all of them.
        assert rules - ({"sync-flag-depth"} if schedule != "text" else set()) == set()


@pytest.mark.parametrize("name", ["loops-primed", "rings-ring_of_3", "overlap-rows_of_one_tile"])
def test_without_one_signal_brute_force_finds_a_fault(name: str) -> None:
    (program,) = (one for one in PROGRAMS if one.id == name)
    events = program.judge.events({"n": 5} if program.judge.parameters else {})
    assert Execution(events, "a5").faults == []
    for index, event in enumerate(events):
        if event.kind in ("set", "wait"):
            assert Execution(events[:index] + events[index + 1 :], "a5").faults

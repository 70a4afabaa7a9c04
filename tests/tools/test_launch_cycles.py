"""``--cycles`` on launch files: the times of each launch, and advice where changes can be tried on copies."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from group_programs import cube, module, vector

PROGRAM = Path(__file__).parent / "programs" / "add.pto"

LAUNCH = """program = "add.pto"
[arguments]
x = "ones:f32:4x8"
y = "ones:f32:4x8"
z = "zeros:f32:4x8"
"""
TWICE = """program = "add.pto"
[buffers]
sum = "zeros:f32:4x8"
[[launch]]
arguments = {x = "ones:f32:4x8", y = "ones:f32:4x8", z = "sum"}
[[launch]]
arguments = {x = "sum", y = "ones:f32:4x8", z = "sum"}
[expect]
sum = 3
"""


@pytest.fixture(autouse=True)
def program(pto_run) -> None:
    shutil.copy(PROGRAM, "add.pto")


def timed(pto_run, text: str, *options: str) -> list[dict[str, Any]]:
    """The timed launches of a file."""
    Path("t.launch.toml").write_text(text)
    outcome = pto_run.raw("t.launch.toml", "--cycles=json", *options)
    assert (outcome.code, outcome.err) == (0, ""), outcome
    return json.loads(outcome.out[outcome.out.index("{") :])["programs"]


def test_the_times_are_those_of_the_program_with_these_arguments(pto_run) -> None:
    [launch] = timed(pto_run, LAUNCH)
    arguments = ("--arg=x=ones:f32:4x8", "--arg=y=ones:f32:4x8", "--arg=z=zeros:f32:4x8")
    alone = pto_run.raw("add.pto", *arguments, "--cycles=json").out
    assert [launch] == json.loads(alone[alone.index("{") :])["programs"]


def test_each_launch_has_its_time_and_shared_buffers_their_contents(pto_run) -> None:
    first, second = timed(pto_run, TWICE, "--quiet")
    assert first["whole"] == second["whole"]
    assert first["untried"] is None
    assert second["untried"] == "two arguments are one buffer, changes are tried on copies"


GROUP = """program = "both.pto"
[buffers]
middle = "zeros:i32:2"
[[group]]
entry = "produce"
arguments = { arg0 = "middle", arg1 = 0, arg2 = 4 }
[[group]]
entry = "consume"
arguments = { arg0 = "middle", arg1 = "zeros:i32:2" }
"""


def test_groups_are_timed_without_advice(pto_run) -> None:
    Path("both.pto").write_text(module(cube() + vector()))
    [launch] = timed(pto_run, GROUP, "--allow", "sync-ffts-base")
    assert launch["untried"] == "several functions start together, changes are tried on one"


def test_quiet_launches_without_expectations_compute_no_numbers(pto_run) -> None:
    Path("t.launch.toml").write_text(LAUNCH)
    loud = timed(pto_run, LAUNCH, "--no-advice")
    assert timed(pto_run, LAUNCH, "--no-advice", "--quiet") == loud
    outcome = pto_run.raw("t.launch.toml", "--cycles", "--quiet", "--no-advice")
    assert outcome.out.startswith("add.pto (a2a3, ")


def test_quiet_launches_are_compared_where_the_file_expects_something(pto_run) -> None:
    Path("t.launch.toml").write_text(LAUNCH + "[expect]\nz = 3\n")
    outcome = pto_run.raw("t.launch.toml", "--cycles", "--quiet")
    assert outcome.code == 1
    assert "z differs from 3: 32 of 32 elements" in outcome.err


TASK = LAUNCH.replace("[arguments]", '[[task]]\nname = "one"\n[task.arguments]')


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (TASK, (), "--cycles does not go with tasks; [[launch]] tables instead run in the order of the file"),
        ("ranks = 2\n" + LAUNCH, (), "--cycles times the run of one rank; it does not go with ranks"),
        (LAUNCH, ("other.launch.toml",), "--cycles goes with a single launch file, and one without a sweep"),
        (LAUNCH, ("add.pto",), "'add.pto' is no launch file"),
        (LAUNCH, ("--cycle-table=none.csv",), "cannot read 'none.csv'"),
    ],
)
def test_launches_that_are_not_timed(pto_run, text: str, options: tuple[str, ...], message: str) -> None:
    for name in ("t", "other"):
        Path(f"{name}.launch.toml").write_text(text)
    outcome = pto_run.raw("t.launch.toml", *options, "--cycles")
    assert outcome.code == 2
    assert message in outcome.err

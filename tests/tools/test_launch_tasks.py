"""``[[task]]``: launches that wait for the memory that others write, in any order otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest
from task_programs import ADD, FILL

TASKS = """order = "random:2"
[buffers]
x = "zeros:f32:1"
y = "zeros:f32:1"
z = "zeros:f32:1"
[[task]]
name = "one"
program = "fill.pto"
arguments = { out = "x", v = 1.0, i = 0 }
[[task]]
name = "double"
program = "add.pto"
arguments = { a = "x", b = "x", out = "y" }
[[task]]
program = "add.pto"
arguments = { a = "x", b = "y", out = "z" }
directions = { a = "in" }
[expect]
z = 3
"""


@pytest.fixture(autouse=True)
def files(pto_run) -> None:
    Path("fill.pto").write_text(FILL)
    Path("add.pto").write_text(ADD)


def launch(pto_run, text: str, *options: str):
    Path("t.launch.toml").write_text(text)
    return pto_run.raw("t.launch.toml", *options)


def test_tasks_run_in_an_order_that_their_memory_allows(pto_run) -> None:
    outcome = launch(pto_run, TASKS)
    assert (outcome.code, outcome.err) == (0, "")
    assert [line for line in outcome.out.splitlines() if "@" in line] == ["one: @fill", "double: @add", "task3: @add"]
    assert launch(pto_run, TASKS, "--sanitize", "--quiet").code == 0


def test_tasks_without_order_are_found(pto_run) -> None:
    text = TASKS.replace('directions = { a = "in" }', 'directions = { b = "none" }')
    outcome = launch(pto_run, text.replace("random:2", "submitted"), "--sanitize", "--quiet")
    assert outcome.code == 3
    first = "t.launch.toml:14:3: error: task task3 reads bytes [0, 4) of gm 'out' that task double writes,"
    assert outcome.err.startswith(first)
    assert "[race-task]" in outcome.err
    assert "add.pto:6:3: note: task double writes them in pto.store_scalar" in outcome.err
    ordered = text.replace('directions = { b = "none" }', 'directions = { b = "none" }\nafter = ["double"]')
    assert launch(pto_run, ordered, "--sanitize", "--quiet").code == 0


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        ('name = "double"', 'name = "one"', "11:1", "there are two tasks called one"),
        ('name = "double"', 'after = ["on"]', "11:1", "no earlier task is called on; there are: one"),
        ('name = "double"', 'after = ["task3"]', "11:1", "no earlier task is called task3; there are: one"),
        ('name = "double"', 'after = "one"', "11:1", "expected an array of strings, found 'one'"),
        ("random:2", "sorted", "1:1", "'sorted' is no order of tasks, expected submitted or random:SEED"),
        ('{ a = "in" }', '{ a = "read" }', "17:16", "unknown a 'read'"),
        ('{ a = "in" }', '{ n = "in" }', "17:16", "@add has no argument n"),
        ('directions = { a = "in" }', "[[launch]]", "1:1", "has [[launch]] or [[task]] tables, not both"),
        ("[[task]]", "[[launch]]", "1:1", "launches run in the order of the file; only [[task]] tables have others"),
    ],
)
def test_located_errors(pto_run, old: str, new: str, place: str, message: str) -> None:
    text = TASKS.replace(old, new) if old == "[[task]]" else TASKS.replace(old, new, 1)
    outcome = launch(pto_run, text)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"t.launch.toml:{place}: error: ")
    assert message in outcome.err

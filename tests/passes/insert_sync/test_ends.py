"""Flags that a loop carries to the first work of a pipe are waited for at the end of the iteration before.

Source: docs/reference/synchronisation.md, "Placement".
"""

from __future__ import annotations

import numpy as np
from lowering_programs import SCHEDULES, add, disorder, kernel, load, lowered, outline, part, results

from pto_dialect import parse

LOOP = "scf.for %i = %c0 to %n step %c1 {"
ROWS = ("%r = arith.muli %i, %c16 : index", part("p", "a", "r"))


def check(text: str) -> None:
    """Runs with no iteration, one and several are in order, and compute what they compute without flags."""
    module, _ = lowered(text)
    a = np.arange(256 * 16, dtype=np.float32).reshape(256, 16)
    for count in (0, 1, 3):
        given = [a, np.zeros_like(a), count]
        expected = results(parse(text), given)
        for schedule in ("text", *SCHEDULES):
            assert results(module, given, schedule) == expected, schedule
        assert disorder(module, given) == []


def test_work_before_a_loop_has_a_flag_of_its_own():
    """What is waited for at the end of iterations says nothing about the work before the first one."""
    text = kernel(add("x", "x", "y"), LOOP, *ROWS, load("p", "x"), add("x", "x", "y"), "}")
    before = ["tadd", "set V>MTE2 0", "wait V>MTE2 0", "for", "tload"]
    assert outline(text)[: len(before)] == before
    check(text)


def test_a_pipe_with_other_work_first_waits_in_the_next_iteration():
    """MTE2 loads %z before it needs %x again."""
    lines = (load("p", "z"), load("p", "x"), add("x", "x", "y"))
    text = kernel(LOOP, *ROWS, *lines, "}")
    words = outline(text)
    assert words[0] == "set V>MTE2 0" and words[-1] == "wait V>MTE2 0"
    assert words[words.index("for") + 1 :][:4] == ["barrier MTE2", "tload", "wait V>MTE2 0", "tload"]
    check(text)


def test_a_loop_beside_other_work_of_its_pipe_waits_at_the_end_as_well():
    """After a loop its flags are waited for in any case, so the load of %z waits no longer."""
    inner = ("scf.for %j = %c0 to %n step %c1 {", load("p", "x"), add("x", "x", "y"), "}")
    text = kernel(LOOP, *ROWS, load("p", "z"), *inner, "}")
    words = outline(text)
    assert words[words.index("for", 1) :][:2] == ["for", "tload"]
    assert words[-4:] == ["set V>MTE2 0", "wait V>MTE2 0", "end", "end"]
    check(text)

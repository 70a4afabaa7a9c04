"""Loops that may run zero times, in the checks of the text; runs with these numbers say what is right."""

from __future__ import annotations

import numpy as np
import pytest
from sanitize_programs import HEAD, TAIL, diagnostics, found, load, set_flag, store, ub, wait_flag

from pto_dialect.diagnostics.diagnostic import Severity

SET, WAIT = set_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3")
BACK = [set_flag("MTE3", "MTE2"), wait_flag("MTE3", "MTE2")]
BODY = [SET, WAIT, store("%x"), *BACK, load("%x"), SET, WAIT]


def program(*lines: str) -> str:
    """A kernel with two buffers and two numbers."""
    head = HEAD.replace("%b: !pto.ptr<f32, gm>)", "%b: !pto.ptr<f32, gm>, %n: index, %m: index)")
    return head + "".join(f"    {line}\n" for line in (ub("x", 0), *lines)) + TAIL


def loop(*body: str, low: str = "%i0", high: str = "%n") -> list[str]:
    return [f"scf.for %i = {low} to {high} step %i1 {{", *body, "}"]


def while_loop(*body: str, condition: str = "arith.cmpi slt, %c, %n : index") -> list[str]:
    """A loop from 0 to %n that queries before each iteration."""
    head = ["%e = scf.while (%c = %i0) : (index) -> index {", f"%go = {condition}", "scf.condition(%go) %c : index"]
    return [
        *head,
        "} do {",
        "^bb0(%i: index):",
        *body,
        "%up = arith.addi %i, %i1 : index",
        "scf.yield %up : index",
        "}",
    ]


def guarded(condition: str, *lines: str) -> list[str]:
    return [f"%p = {condition}", "scf.if %p {", *lines, "}"]


def said(*lines: str) -> list[tuple[str, str]]:
    """Rules and messages; what only some calls meet is no error."""
    reported = found(program(*lines))
    assert all(one.severity is Severity.WARNING for one in reported)
    return [(one.rule, one.message) for one in reported]


def run_is_wrong(n: int, m: int, *lines: str) -> bool:
    values = [np.arange(64, dtype=np.float32), np.zeros(64, np.float32), n, m]
    return bool(diagnostics(program(*lines), values))


FIRST = "%first = arith.cmpi eq, %i, %i0 : index"
FAULTY: dict[str, tuple[list[str], str, str]] = {
    "the only flags are inside": ([load("%x"), *loop(*BODY), store("%x")], "sync-static-hazard", "%n = 0"),
    "set inside, waited for behind": (
        [load("%x"), *loop(FIRST, "scf.if %first {", SET, "}"), WAIT, store("%x")], "sync-path-unmatched", "%n = 0",
    ),
    "set before, waited for inside": (
        [load("%x"), SET, *loop(FIRST, "scf.if %first {", WAIT, store("%x"), "}")], "sync-path-unmatched", "%n = 0",
    ),
    "a while loop with the only flags": ([load("%x"), *while_loop(*BODY), store("%x")], "sync-static-hazard", "%n = 0"),
    "set in a while loop, waited for behind": (
        [load("%x"), *while_loop(FIRST, "scf.if %first {", SET, "}"), WAIT, store("%x")],
        "sync-path-unmatched", "%n = 0",
    ),
    "a loop from one": ([load("%x"), *loop(*BODY, low="%i1"), store("%x")], "sync-static-hazard", "%n = 1"),
    "a computed number": (
        [load("%x"), "%k = arith.ceildivsi %n, %i3 : index", *loop(*BODY, high="%k"), store("%x")],
        "sync-static-hazard", "%n = 0",
    ),
    "one less": (
        [load("%x"), "%k = arith.subi %n, %i1 : index", *loop(*BODY, high="%k"), store("%x")],
        "sync-static-hazard", "%n = 1",
    ),
    "either of two loops": (
        [load("%x"), *loop(*BODY), *loop(*BODY, high="%m"), store("%x")], "sync-static-hazard", "%n = 0 and %m = 0",
    ),
    "a guard of another number": (
        [load("%x"), *loop(*BODY), *guarded("arith.cmpi sgt, %m, %i0 : index", store("%x"))],
        "sync-static-hazard", "%n = 0",
    ),
    "inside of another loop": (
        ["%i2 = arith.constant 2 : index",
         *loop(load("%x"), "scf.for %j = %i0 to %n step %i1 {", SET, WAIT, "}", store("%x"), *BACK, high="%i2")],
        "sync-static-hazard", "%n = 0",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTY)
def test_what_is_wrong_where_a_loop_does_not_run_is_found(name: str) -> None:
    lines, rule, where = FAULTY[name]
    reported = said(*lines)
    assert {each for each, _ in reported} == {rule}
    assert all(f" where {where}" in message for _, message in reported)
    values = {"%n": 2, "%m": 2}
    assert not run_is_wrong(values["%n"], values["%m"], *lines)
    for part in where.split(" and "):
        name, _, value = part.partition(" = ")
        values[name] = int(value)
    assert run_is_wrong(values["%n"], values["%m"], *lines)


CORRECT: dict[str, list[str]] = {
    "flags of its own": [load("%x"), *loop(*BODY), SET, WAIT, store("%x")],
    "handed on": [load("%x"), SET, *loop(WAIT, store("%x"), *BACK, load("%x"), SET), WAIT, store("%x")],
    "flags beside a while loop": [load("%x"), *while_loop(*BODY), SET, WAIT, store("%x")],
    "a while loop in a guard": guarded(
        "arith.cmpi sgt, %n, %i0 : index", load("%x"), *while_loop(*BODY), store("%x")
    ),
    "only what the loop loads": [*loop(load("%x"), SET, WAIT), *loop(store("%x"))],
    "all in a guard": guarded("arith.cmpi sgt, %n, %i0 : index", load("%x"), *loop(*BODY), store("%x")),
    "guarded behind": [load("%x"), *loop(*BODY), *guarded("arith.cmpi ne, %n, %i0 : index", store("%x"))],
    "guarded by another form": [load("%x"), *loop(*BODY), *guarded("arith.cmpi sge, %n, %i1 : index", store("%x"))],
    "at least once": [load("%x"), "%k = arith.maxsi %n, %i1 : index", *loop(*BODY, high="%k"), store("%x")],
    "one more": [
        load("%x"), "%k = arith.addi %n, %i1 : index", *loop(*BODY, high="%k"), store("%x"),
    ],
    "constant bounds": [load("%x"), *loop(*BODY, high="%i3"), store("%x")],
    "equal bounds": [*loop(FIRST, "scf.if %first {", load("%x"), SET, "}"),
                     *loop(FIRST, "scf.if %first {", WAIT, store("%x"), "}")],
}  # fmt: skip


@pytest.mark.parametrize("name", CORRECT)
def test_nothing_is_reported_where_zero_iterations_are_right(name: str) -> None:
    assert said(*CORRECT[name]) == []


def test_the_number_of_blocks_is_never_zero() -> None:
    count = ["%g = pto.get_block_num", "%k = arith.index_cast %g : i64 to index"]
    assert said(load("%x"), *count, *loop(*BODY, high="%k"), store("%x")) == []


def test_an_assumption_moves_no_pointer() -> None:
    """Where the caller passes zero the two locations are one; programs that mean it say so otherwise."""
    far = "%y = pto.addptr %x, %n : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>"
    assert said(far, load("%x"), *loop(SET, WAIT), store("%y")) == []


def test_a_wait_that_never_ends_is_reported_once() -> None:
    (one,) = found(program(wait_flag("V", "MTE3"), *loop(set_flag("MTE2", "V"), wait_flag("MTE2", "V"))))
    assert (one.rule, one.severity) == ("sync-static-deadlock", Severity.ERROR)

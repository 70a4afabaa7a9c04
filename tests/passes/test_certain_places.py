"""What every run comes to is reported as certain, and what only some come to as a possibility, inside of constructs and
after them."""

from __future__ import annotations

import pytest
from sanitize_programs import HEAD, TAIL, found, load, set_flag, store, ub, wait_flag

from pto_dialect.diagnostics.diagnostic import Severity

START = [ub("x", 0), "%block = pto.get_block_idx", "%n = arith.index_cast %block : i64 to index",
         "%yes = arith.constant true", "%no = arith.constant false",
         "%open = arith.cmpi slt, %n, %i3 : index"]  # fmt: skip
PLACE = "<place>"
WHILE = ["%end = scf.while (%w = %n) : (index) -> index {", "%go = arith.cmpi slt, %w, %i3 : index",
         "scf.condition(%go) %w : index", "} do {", "^bb0(%j: index):", PLACE, "%next = arith.addi %j, %i1 : index",
         "scf.yield %next : index", "}"]  # fmt: skip
BEFORE = ["%end = scf.while (%w = %n) : (index) -> index {", PLACE, "%go = arith.cmpi slt, %w, %i3 : index",
          "scf.condition(%go) %w : index", "} do {", "^bb0(%j: index):", "%next = arith.addi %j, %i1 : index",
          "scf.yield %next : index", "}"]  # fmt: skip
INNER = ["scf.for %k = %i0 to %n step %i1 {", PLACE, "}"]

POSSIBLE = {
    "then": ["scf.if %open {", PLACE, "}"],
    "else": ["scf.if %open {", "} else {", PLACE, "}"],
    "case": ["scf.index_switch %n", "case 1 {", PLACE, "scf.yield", "}", "default {", "scf.yield", "}"],
    "default": ["scf.index_switch %n", "case 1 {", "scf.yield", "}", "default {", PLACE, "scf.yield", "}"],
    "loop of unknown length": ["scf.for %i = %i0 to %n step %i1 {", PLACE, "}"],
    "loop from an unknown number": ["scf.for %i = %n to %i3 step %i1 {", PLACE, "}"],
    "loop in a loop": ["scf.for %i = %i0 to %n step %i1 {", *INNER, "}"],
    "loop behind a loop": ["scf.for %i = %i0 to %n step %i1 {", "}", *INNER],
    "body of a while": WHILE,
    "if in a counted loop": ["scf.for %i = %i0 to %i3 step %i1 {", "scf.if %open {", PLACE, "}", "}"],
}
CERTAIN = {
    "nothing": [PLACE],
    "known condition": ["scf.if %yes {", PLACE, "}"],
    "known else": ["scf.if %no {", "} else {", PLACE, "}"],
    "counted loop": ["scf.for %i = %i0 to %i1 step %i1 {", PLACE, "}"],
    "call": ["func.call @callee(%x, %a, %b) : (!pto.ptr<f32, ub>, !pto.ptr<f32, gm>, !pto.ptr<f32, gm>) -> ()"],
}
CALLEE = """  func.func private @callee(%x: !pto.ptr<f32, ub>, %a: !pto.ptr<f32, gm>, %b: !pto.ptr<f32, gm>) {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %c64 = arith.constant 64 : i64
"""


def told(lines: list[str], inside: list[str]) -> list[tuple[str, Severity, bool]]:
    """Rules, severities and whether it holds for some path, of a program with ``inside`` in it."""
    body = [*START, *(part for line in lines for part in (inside if line == PLACE else [line]))]
    text = HEAD + "".join(f"    {line}\n" for line in body) + TAIL
    if lines == CERTAIN["call"]:
        callee = CALLEE + "".join(f"    {line}\n" for line in inside) + "    return\n  }\n"
        text = text.replace("  func.func @k(", f"{callee}  func.func @k(")
    return [(one.rule, one.severity, "on some path" in one.message) for one in found(text)]


DEADLOCK = [wait_flag("MTE2", "MTE3")]
SURE = [("sync-static-deadlock", Severity.ERROR, False)]


@pytest.mark.parametrize("name", CERTAIN)
def test_a_wait_where_every_run_comes(name: str) -> None:
    assert told(CERTAIN[name], DEADLOCK) == SURE


@pytest.mark.parametrize("name", POSSIBLE)
def test_a_wait_where_some_runs_come(name: str) -> None:
    found = told(POSSIBLE[name], DEADLOCK)
    assert found == [("sync-path-unmatched", Severity.WARNING, True)]


@pytest.mark.parametrize("name", [*POSSIBLE, *CERTAIN])
def test_every_run_comes_after_all_of_them(name: str) -> None:
    if name != "call":
        assert told([*{**POSSIBLE, **CERTAIN}[name], *DEADLOCK], []) == SURE


RACE = [set_flag("V", "S"), wait_flag("V", "S"), load("%x"), store("%x")]
HAZARD = "sync-static-hazard"


@pytest.mark.parametrize("name", CERTAIN)
def test_a_race_where_every_run_comes(name: str) -> None:
    assert (HAZARD, Severity.ERROR, False) in told(CERTAIN[name], RACE)


@pytest.mark.parametrize("name", POSSIBLE)
def test_a_race_where_some_runs_come(name: str) -> None:
    assert {one for one in told(POSSIBLE[name], RACE) if one[0] == HAZARD} == {(HAZARD, Severity.WARNING, True)}


TWICE = [set_flag("MTE2", "MTE3"), set_flag("MTE2", "MTE3"), *DEADLOCK, *DEADLOCK]


@pytest.mark.parametrize("name", [*POSSIBLE, *CERTAIN])
def test_a_flag_that_is_set_twice(name: str) -> None:
    lines = {**POSSIBLE, **CERTAIN}[name]
    found = {one for one in told(lines, TWICE) if one[0] == "sync-event-reuse"}
    assert {path for _, _, path in found} == {name in POSSIBLE}

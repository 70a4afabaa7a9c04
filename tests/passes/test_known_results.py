"""Numbers that regions, choices and calls give: the checks of the text know them, so a flag with another number is
reported, and one that only a run knows is not."""

from __future__ import annotations

import pytest
from sanitize_programs import HEAD, TAIL, found, load, store, ub, wait_flag

TEXT = ["%block = pto.get_block_idx", "%n = arith.index_cast %block : i64 to index"]
TEXT += ["%i2 = arith.constant 2 : index", "%yes = arith.constant true", "%no = arith.constant false"]
TEXT += ["%open = arith.cmpi slt, %n, %i3 : index"]

GIVES_3 = {
    "then": ["%r = scf.if %yes -> index {", "scf.yield %i3 : index", "} else {", "scf.yield %i1 : index", "}"],
    "else": ["%r = scf.if %no -> index {", "scf.yield %i1 : index", "} else {", "scf.yield %i3 : index", "}"],
    "both": ["%r = scf.if %open -> index {", "scf.yield %i3 : index", "} else {", "%k = arith.addi %i1, %i2 : index",
             "scf.yield %k : index", "}"],
    "select": ["%r = arith.select %yes, %i3, %i1 : index"],
    "other select": ["%r = arith.select %no, %i1, %i3 : index"],
    "counted": ["%r = scf.for %i = %i0 to %i3 step %i1 iter_args(%u = %i0) -> index {",
                "%k = arith.addi %u, %i1 : index", "scf.yield %k : index", "}"],
    "empty": ["%r = scf.for %i = %i3 to %i0 step %i1 iter_args(%u = %i3) -> index {",
              "scf.yield %i1 : index", "}"],
    "open loop": ["%r = scf.for %i = %i0 to %n step %i1 iter_args(%u = %i3) -> index {", "scf.yield %u : index", "}"],
    "last index": ["%r = scf.for %i = %i1 to %i3 step %i1 iter_args(%u = %i0) -> index {",
                   "%k = arith.addi %i, %i1 : index", "scf.yield %k : index", "}"],
    "while": ["%r = scf.while (%u = %i3) : (index) -> index {", "%go = arith.cmpi slt, %n, %u : index",
              "scf.condition(%go) %u : index", "} do {", "^bb0(%w: index):", "scf.yield %w : index", "}"],
    "while, other value": ["%r = scf.while (%u = %i1) : (index) -> index {", "%go = arith.cmpi slt, %n, %u : index",
                           "%k = arith.addi %i1, %i2 : index", "scf.condition(%go) %k : index", "} do {",
                           "^bb0(%w: index):", "scf.yield %w : index", "}"],
    "switch": ["%r = scf.index_switch %i2 -> index", "case 0 {", "scf.yield %i0 : index", "}", "case 2 {",
               "scf.yield %i3 : index", "}", "default {", "scf.yield %i1 : index", "}"],
    "switch without the case": ["%r = scf.index_switch %i2 -> index", "case 0 {", "scf.yield %i0 : index", "}",
                                "default {", "scf.yield %i3 : index", "}"],
    "call": ["%r = func.call @three(%i2) : (index) -> index"],
    "nested": ["%r = scf.if %open -> index {", "%s = scf.for %i = %i0 to %i3 step %i1 iter_args(%u = %i0) -> index {",
               "%k = arith.addi %u, %i1 : index", "scf.yield %k : index", "}", "scf.yield %s : index", "} else {",
               "%q = func.call @three(%i2) : (index) -> index", "scf.yield %q : index", "}"],
}  # fmt: skip
UNKNOWN = {
    "branches": ["%r = scf.if %open -> index {", "scf.yield %n : index", "} else {", "scf.yield %n : index", "}"],
    "open loop": ["%r = scf.for %i = %i0 to %i3 step %i1 iter_args(%u = %n) -> index {", "scf.yield %u : index", "}"],
    "call": ["%r = func.call @three(%n) : (index) -> index"],
    "block": ["%r = arith.addi %n, %i1 : index"],
    "select": ["%r = arith.select %open, %i3, %i1 : index"],
}  # fmt: skip
THREE = """  func.func private @three(%a: index) -> index {
    %one = arith.constant 1 : index
    %b = arith.addi %a, %one : index
    pto.barrier #pto.pipe<PIPE_V>
    return %b : index
  }
"""


def rules(lines: list[str], wait: str) -> list[str]:
    body = [ub("x", 0), *TEXT, *lines, load("%x"), 'pto.set_flag_dyn["PIPE_MTE2", "PIPE_MTE3", %r]', wait, store("%x")]
    text = HEAD + "".join(f"    {line}\n" for line in body) + TAIL
    return [one.rule for one in found(text.replace("  func.func @k(", THREE + "  func.func @k(", 1))]


@pytest.mark.parametrize("name", GIVES_3)
def test_the_number_is_known(name: str) -> None:
    lines = GIVES_3[name]
    assert rules(lines, wait_flag("MTE2", "MTE3", 3)) == []
    assert rules(lines, 'pto.wait_flag_dyn["PIPE_MTE2", "PIPE_MTE3", %r]') == []
    for other in (0, 1, 2, 4):
        told = {"sync-static-deadlock", "sync-path-unmatched"}
        assert told.intersection(rules(lines, wait_flag("MTE2", "MTE3", other))), other


@pytest.mark.parametrize("name", UNKNOWN)
def test_nothing_is_reported_about_unknown_numbers(name: str) -> None:
    for number in range(4):
        assert rules(UNKNOWN[name], wait_flag("MTE2", "MTE3", number)) == []


def test_branches_that_give_different_numbers_are_followed_both() -> None:
    lines = ["%r = scf.if %open -> index {", "scf.yield %i3 : index", "} else {", "scf.yield %i1 : index", "}"]
    assert rules(lines, 'pto.wait_flag_dyn["PIPE_MTE2", "PIPE_MTE3", %r]') == []
    for value, other, right in (("%i3", "%i1", True), ("%i1", "%i3", False)):
        asked = [line.replace("%r", "%s") for line in lines]
        asked[1], asked[3] = f"scf.yield {value} : index", f"scf.yield {other} : index"
        wait = 'pto.wait_flag_dyn["PIPE_MTE2", "PIPE_MTE3", %s]'
        # The same question has the same answer.
        assert (rules([*lines, *asked], wait) == []) == right
    for wait in (wait_flag("MTE2", "MTE3", 3), wait_flag("MTE2", "MTE3", 1)):
        assert "sync-path-unmatched" in rules(lines, wait)

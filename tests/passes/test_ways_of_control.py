"""Control-flow paths through switches and loops with a condition, and numbers that only a run knows, in the checks of
the text."""

from __future__ import annotations

import pytest
from sanitize_programs import barrier, found, load, program, set_flag, store, ub, wait_flag

X = ub("x", 0)
INDEX = ["%block = pto.get_block_idx", "%n = arith.index_cast %block : i64 to index"]


def rules(*lines: str) -> list[str]:
    return [diagnostic.rule for diagnostic in found(program(X, *lines))]


def switch(first: list[str], second: list[str], other: list[str]) -> list[str]:
    return [
        "scf.index_switch %n", "case 0 {", *first, "scf.yield", "}", "case 3 {", *second, "scf.yield", "}",
        "default {", *other, "scf.yield", "}",
    ]  # fmt: skip


def test_every_case_of_a_switch_sets_the_flag() -> None:
    setting = [load("%x"), set_flag("MTE2", "MTE3")]
    end = [wait_flag("MTE2", "MTE3"), store("%x")]
    assert rules(*INDEX, *switch(setting, setting, setting), *end) == []
    for place in range(3):
        cases = [setting] * 3
        cases[place] = [load("%x")]
        assert "sync-path-unmatched" in rules(*INDEX, *switch(*cases), *end), place


def test_a_switch_gives_results() -> None:
    lines = [*INDEX, "%r = scf.index_switch %n -> index", "case 0 {", "scf.yield %i1 : index", "}", "default {"]
    lines += ["scf.yield %i3 : index", "}"]
    lines += [load("%x"), 'pto.set_flag_dyn["PIPE_MTE2", "PIPE_MTE3", %r]']
    lines += ['pto.wait_flag_dyn["PIPE_MTE2", "PIPE_MTE3", %r]', store("%x")]
    assert rules(*lines) == []


def loop(*body: str) -> list[str]:
    return [
        *INDEX, "%end = scf.while (%i = %n) : (index) -> index {", "%more = arith.cmpi slt, %i, %i3 : index",
        "scf.condition(%more) %i : index", "} do {", "^bb0(%j: index):", *body, "%next = arith.addi %j, %i1 : index",
        "scf.yield %next : index", "}",
    ]  # fmt: skip


def test_a_loop_with_a_condition_runs_any_number_of_times() -> None:
    both = [load("%x"), set_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3"), store("%x")]
    back = [set_flag("MTE3", "MTE2"), wait_flag("MTE3", "MTE2")]
    assert rules(*loop(*both, *back)) == []
    assert "sync-static-hazard" in rules(*loop(*both))
    assert "sync-path-unmatched" in rules(*loop(load("%x"), set_flag("MTE2", "MTE3")), wait_flag("MTE2", "MTE3"))


def test_statements_after_a_loop_are_in_none_of_its_iterations() -> None:
    both = [load("%x"), store("%x")]
    (inside,) = found(program(X, *loop(*both, set_flag("MTE3", "MTE2"), wait_flag("MTE3", "MTE2"))))
    assert any(note.message.startswith("both are in iteration 1 of the loop at line ") for note in inside.notes)
    (behind,) = found(program(X, *loop(set_flag("MTE3", "MTE2"), wait_flag("MTE3", "MTE2")), *both))
    assert [note.message for note in behind.notes] == ["pto.mte_gm_ub on MTE2 writes it"]


def test_what_follows_a_loop_of_open_length_or_many_calls_is_certain_again() -> None:
    """A wait that nothing ends is one on every path, whatever comes before it."""
    stuck = wait_flag("V", "MTE3")
    counted = [*INDEX, "scf.for %i = %i0 to %n step %i1 {", load("%x"), barrier("MTE2"), "}"]
    until = [*INDEX, "%more = arith.cmpi slt, %n, %i3 : index", "scf.while : () -> () {", "scf.condition(%more)"]
    until += ["} do {", load("%x"), barrier("MTE2"), "scf.yield", "}"]
    assert rules(*counted, stuck) == rules(*until, stuck) == rules(stuck) == ["sync-static-deadlock"]
    assert rules(*counted[:-1], stuck, "}") == ["sync-path-unmatched"]
    called = program(X, *["func.call @one() : () -> ()"] * 40, stuck).removesuffix("}\n")
    called += f"  func.func @one() {{\n    {barrier('V')}\n    return\n  }}\n}}\n"
    assert [diagnostic.rule for diagnostic in found(called)] == ["sync-static-deadlock"]


def test_choices_inside_of_a_loop_are_forgotten_after_each_iteration() -> None:
    """Sixteen choices of two are one way again, since nothing that is left of them differs."""
    choice = ["%more = arith.cmpi slt, %n, %i : index", "%r = scf.if %more -> index {", load("%x"),
              "scf.yield %i0 : index", "} else {", load("%x"), "scf.yield %i1 : index", "}"]  # fmt: skip
    lines = [
        "%i16 = arith.constant 16 : index",
        *INDEX,
        "scf.for %i = %i0 to %i16 step %i1 {",
        *choice,
        barrier("MTE2"),
        "}",
    ]
    assert rules(*lines, wait_flag("V", "MTE3")) == ["sync-static-deadlock"]


def test_two_reads_of_an_address_may_give_two_numbers() -> None:
    """The first iteration sets a flag where the number is negative, the second waits for it where it is."""
    tile = "!pto.tile_buf<vec, 16x16xi32>"
    head = [
        "%zero = arith.constant 0 : i32",
        f"%t = pto.alloc_tile addr = %c0 : {tile}",
        "%i2 = arith.constant 2 : index",
    ]
    read = [f"%p = pto.tgetval ins(%t, %i0 : {tile}, index) outs : i32", "%q = arith.cmpi slt, %p, %zero : i32"]
    turns = ["%first = arith.cmpi eq, %i, %i0 : index", "scf.if %q {", "scf.if %first {", set_flag("MTE2", "MTE3"),
             "} else {", wait_flag("MTE2", "MTE3"), "}", "}", "}"]  # fmt: skip
    loop_ = "scf.for %i = %i0 to %i2 step %i1 {"
    assert rules(*head, *read, loop_, *turns) == []
    assert set(rules(*head, loop_, *read, *turns)) == {"sync-path-unmatched"}


NOT = [
    *INDEX, "%true = arith.constant true", "%p = arith.cmpi slt, %n, %i3 : index", "%q = arith.xori %p, %true : i1",
    "%r = arith.xori %true, %q : i1", "%d = arith.cmpi slt, %n, %i0 : index", "%e = arith.cmpi eq, %p, %d : i1",
]  # fmt: skip
"""A truth value, its negation, the negation of that, and whether another one is equal to it."""


def matched(one: str, other: str, *between: str) -> bool:
    """Whether a flag that is set where ``one`` holds and waited for where ``other`` does is balanced."""
    setting = [f"scf.if {one} {{", set_flag("MTE2", "MTE3"), "}"]
    return rules(*NOT, *setting, *between, f"scf.if {other} {{", wait_flag("MTE2", "MTE3"), "}") == []


def test_negations_by_exclusive_or_are_followed() -> None:
    answers = {"%p": True, "%q": False, "%r": True}
    for one in answers:
        for other in answers:
            assert matched(one, other) == (answers[one] == answers[other]), (one, other)
    # Bits that are combined otherwise are another question.
    assert not matched("%p", "%s", "%false = arith.constant false", "%t = arith.cmpi slt, %n, %i1 : index",
                       "%s = arith.xori %t, %false : i1")  # fmt: skip
    assert not matched("%p", "%s", "%t = arith.cmpi slt, %n, %i1 : index", "%s = arith.xori %t, %p : i1")


@pytest.mark.parametrize("first", ["%p", "%r"])
def test_a_result_is_known_as_long_as_its_value_lives_under_another_name(first: str) -> None:
    """What both branches of another condition pass on is the truth value whose negation was queried."""
    other = ["%c = arith.cmpi slt, %n, %i1 : index", "%k = scf.if %c -> i1 {", load("%x"), "scf.yield %p : i1"]
    other += ["} else {", "scf.yield %p : i1", "}", barrier("MTE2")]
    assert matched(first, "%k", *other)
    turned = [*other, "%l = arith.xori %k, %true : i1"]
    assert matched("%q", "%l", *turned)
    assert not matched("%q", "%k", *turned)
    assert matched("%e", "%f", *other, "%f = arith.cmpi eq, %k, %d : i1")


@pytest.mark.parametrize(("low", "step"), [(0, 1), (5, 2)])
@pytest.mark.parametrize(
    ("turn", "wanted"),
    [(0, ["sync-static-deadlock"]), (1, ["sync-path-unmatched"]), (2, ["sync-path-unmatched"]), (3, [])],
)
def test_open_loops_run_one_to_three_times(low: int, step: int, turn: int, wanted: list[str]) -> None:
    lines = [f"%low = arith.constant {low} : index", f"%step = arith.constant {step} : index"]
    lines += [f"%turn = arith.constant {low + step * turn} : index", "scf.for %i = %low to %n step %step {"]
    lines += ["%there = arith.cmpi eq, %i, %turn : index", "scf.if %there {", wait_flag("V", "MTE3"), "}", "}"]
    assert rules(*INDEX, *lines) == wanted


def test_loops_with_equal_bounds_run_equally_often() -> None:
    def both(end: str, step: str) -> set[str]:
        head = [*INDEX, "%m = arith.addi %n, %i1 : index", "scf.for %i = %i0 to %n step %i1 {"]
        lines = [
            set_flag("MTE2", "MTE3"),
            "}",
            f"scf.for %j = %i0 to {end} step {step} {{",
            wait_flag("MTE2", "MTE3"),
            "}",
        ]
        return set(rules(*head, *lines))

    assert both("%n", "%i1") == {"sync-event-reuse"}
    assert "sync-path-unmatched" in both("%m", "%i1")
    assert "sync-path-unmatched" in both("%n", "%i3")


def test_sums_of_truth_values_are_truth_values() -> None:
    for numbers, sets in (
        (("true", "true", "true"), True),
        (("true", "true", "false"), False),
        (("true", "false", "false"), True),
    ):
        head = [*(f"%b{place} = arith.constant {number}" for place, number in enumerate(numbers))]
        lines = [
            "%d = arith.addi %b0, %b1 : i1",
            "%c = arith.addi %d, %b2 : i1",
            "scf.if %c {",
            set_flag("MTE2", "MTE3"),
            "}",
            wait_flag("MTE2", "MTE3"),
        ]
        assert rules(*head, *lines) == ([] if sets else ["sync-static-deadlock"]), numbers


def test_a_question_and_its_negation_have_opposite_answers() -> None:
    setting, waiting = [set_flag("MTE2", "MTE3")], [wait_flag("MTE2", "MTE3")]
    for one, other in (("slt", "sge"), ("sle", "sgt"), ("ult", "uge"), ("ule", "ugt"), ("eq", "ne")):
        head = [*INDEX, f"%p = arith.cmpi {one}, %n, %i3 : index", f"%q = arith.cmpi {other}, %n, %i3 : index"]
        assert rules(*head, "scf.if %p {", *setting, "}", "scf.if %q {", "} else {", *waiting, "}") == []
        assert rules(*head, "scf.if %q {", *setting, "}", "scf.if %p {", "} else {", *waiting, "}") == []
        assert rules(*head, "scf.if %p {", *setting, "}", "scf.if %q {", *waiting, "}") != []


def test_sections_of_the_other_side_are_passed_by() -> None:
    """A flag between pipes is one of its core: the set of the one does not end the wait of the other."""

    def section(side: str, *lines: str) -> list[str]:
        return [f"pto.section.{side} {{", *lines, "}"]

    both = [set_flag("MTE2", "MTE1"), wait_flag("MTE2", "MTE1")]
    assert rules(*section("cube", *both), *section("vector", *both)) == []
    assert rules(*section("cube", both[0]), *section("vector", both[1])) == [
        "sync-path-unmatched",
        "sync-static-deadlock",
    ]


def test_nothing_is_reported_about_flags_whose_number_only_a_run_knows() -> None:
    unknown = 'pto.{}_flag_dyn["PIPE_MTE2", "PIPE_MTE3", %n]'
    lines = [*INDEX, load("%x"), unknown.format("set"), unknown.format("wait"), store("%x")]
    assert rules(*lines) == []
    # Other pipes are checked as before.
    assert "sync-static-deadlock" in rules(*lines, wait_flag("V", "MTE3"))


T = "!pto.tile_buf<vec, 16x16xf32>"
HALF = "!pto.tile_buf<vec, 8x16xf32>"


def places(*lines: str) -> list[str]:
    body = "".join(f"  {line}\n" for line in lines)
    text = f"""func.func @f() {{
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %low = arith.constant 0 : i64
  %mid = arith.constant 512 : i64
  %one = arith.constant 1.0 : f32
{body}  return
}}
"""
    return [diagnostic.rule for diagnostic in found(text, ("check-memory",))]


def fill(name: str, type_: str = T) -> str:
    return f"pto.texpands ins(%one : f32) outs({name} : {type_})"


def test_a_window_belongs_to_the_tile_that_has_all_its_bytes() -> None:
    """A part that is allocated inside of a tile is another tile; a window of the tile is the tile."""
    whole = f"%a = pto.alloc_tile addr = %low : {T}"
    window = f"%w = pto.subview %a[%c8, %c0] sizes [8, 16] : {T} -> {HALF}"
    part = f"%p = pto.alloc_tile addr = %mid : {HALF}"
    use = f"pto.tadd ins(%a, %a : {T}, {T}) outs(%a : {T})"
    assert places(whole, window, fill("%a"), fill("%w", HALF), use) == []
    add = f"pto.tadd ins(%p, %p : {HALF}, {HALF}) outs(%p : {HALF})"
    assert places(whole, part, fill("%a"), fill("%p", HALF), add, use) == ["overlap-tiles"]
    # Marked as a lowered view it is the tile again.
    view = f'%p = pto.alloc_tile addr = %mid {{pto.view_semantics = "subview"}} : {HALF}'
    assert places(whole, view, fill("%a"), fill("%p", HALF), add, use) == []


SMALL = "!pto.tile_buf<vec, 1x16xf32>"
COMPUTED = {
    "addi": (1000, 280, 1280), "subi": (2000, 720, 1280), "muli": (64, 20, 1280), "minsi": (1280, 4096, 1280),
    "maxsi": (1280, -64, 1280), "minui": (1280, 8192, 1280), "maxui": (1280, 64, 1280), "andi": (1791, 1504, 1248),
    "ori": (1024, 256, 1280), "xori": (1296, 16, 1280), "divsi": (-3841, -3, 1280), "divui": (2560, 2, 1280),
    "remsi": (5376, 4096, 1280), "remui": (5376, 4096, 1280), "floordivsi": (2561, 2, 1280),
    "ceildivsi": (2559, 2, 1280), "ceildivui": (2559, 2, 1280),
}  # fmt: skip
"""Two numbers and what an operation makes of them."""


@pytest.mark.parametrize("op", COMPUTED)
def test_addresses_that_the_text_computes(op: str) -> None:
    """A tile of 64 bytes there shares half of them with one 32 bytes after, and none with one 64 bytes after."""
    first, second, result = COMPUTED[op]
    head = [f"%p = arith.constant {first} : i64", f"%q = arith.constant {second} : i64"]
    for distance, wanted in ((32, ["overlap-tiles"]), (-32, ["overlap-tiles"]), (64, []), (-64, [])):
        lines = [
            *head, f"%r = arith.{op} %p, %q : i64", f"%other = arith.constant {result + distance} : i64",
            f"%a = pto.alloc_tile addr = %r : {SMALL}", f"%b = pto.alloc_tile addr = %other : {SMALL}",
            fill("%a", SMALL), fill("%b", SMALL), f"pto.tadd ins(%a, %b : {SMALL}, {SMALL}) outs(%b : {SMALL})",
        ]  # fmt: skip
        assert places(*lines) == wanted, distance

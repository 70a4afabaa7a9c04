"""Order between the cube core and the vector cores, and between blocks, which no compiler makes: it is checked in every
mode. Source: docs/reference/execution.md, "Synchronisation".
"""

from __future__ import annotations

import re

import pytest
from pair_programs import WHOLE, C, diagnostics, double, errors_of, flag, load, product, store, text
from sanitize_programs import found

from pto_dialect.diagnostics.diagnostic import Severity


def sets(pipe: str, number: int) -> str:
    return f"pto.sync.set #pto.pipe<PIPE_{pipe}>, {number} {{ffts_mode = 2 : i32}}"


def waits(pipe: str, number: int) -> str:
    return sets(pipe, number).replace("sync.set", "sync.wait")


def by_hand(lines: list[str], hand: bool) -> list[str]:
    """Without flags the compiler orders the pipes."""
    return lines if hand else [line for line in lines if "_flag" not in line]


def forth_and_back(arch: str, hand: bool, *, first: bool = True, second: bool = True, alone: bool = False) -> str:
    """The cube core stores a product, the vector cores double it, and the cube core multiplies what they have stored.

    ``first`` and ``second`` say whether those wait who read; ``alone`` that one vector core signals.
    """
    again = [*flag("MTE1", "MTE2", 1), *flag("M", "MTE1", 1), *flag("FIX", "M", 1)]
    cube = [*product(by_hand=True), store("acc", "yp", C, WHOLE), sets("FIX", 0), *again]
    cube += [waits("MTE2", 1)] if second else []
    out = "pto.partition_view %xv, offsets = [%c16, %c0], sizes = [%c16, %c16]"
    cube += [f"%wp = {out} : !pto.tensor_view<?x?xf32> -> {WHOLE}"]
    cube += [*product(by_hand=True, source="zp"), store("acc", "wp", C, WHOLE)]
    vector = [waits("MTE2", 0)] if first else []
    vector += [load("yp", "t"), *flag("MTE2", "V"), double("t", "u"), *flag("V", "MTE3"), store("u", "zp")]
    told = sets("MTE3", 1)
    if alone:
        told = f"%is = arith.cmpi eq, %whoi, %c0 : index\n    scf.if %is {{\n    {told}\n    }}"
    return text(arch, by_hand(cube, hand), by_hand([*vector, told], hand))


MODES = [(arch, hand, sync) for arch in ("a2a3", "a5") for hand in (True, False) for sync in ("auto", "strict")
         if hand or sync == "auto"]  # fmt: skip


@pytest.mark.parametrize(("arch", "hand", "sync"), MODES)
def test_cores_that_wait_for_each_other(arch: str, hand: bool, sync: str) -> None:
    assert diagnostics(forth_and_back(arch, hand), sync) == []


@pytest.mark.parametrize(("arch", "hand", "sync"), MODES)
@pytest.mark.parametrize("missing", ["first", "second"])
def test_cores_that_do_not_wait(arch: str, hand: bool, sync: str, missing: str) -> None:
    given = diagnostics(forth_and_back(arch, hand, **{missing: False}), sync)
    races = [one for one in given if one.rule == "race-cross-core"]
    assert races and all(one.severity is Severity.ERROR for one in races)
    assert {one.rule for one in given} <= {"race-cross-core", "sync-flag-unconsumed"}


@pytest.mark.parametrize("hand", [True, False])
def test_the_cube_core_waits_for_both_vector_cores(hand: bool) -> None:
    given = diagnostics(forth_and_back("a2a3", hand, alone=True))
    assert [one.rule for one in given if one.severity is Severity.ERROR] == ["sync-deadlock"]


def unsignalled(hand: bool, *, apart: bool) -> str:
    """The cube core reads what the vector cores write, or something else, and nobody signals anything."""
    cube = [*product(by_hand=True, source="xp" if apart else "zp"), store("acc", "yp", C, WHOLE)]
    vector = [load("xp", "t"), *flag("MTE2", "V"), double("t", "u"), *flag("V", "MTE3"), store("u", "zp")]
    return text("a2a3", by_hand(cube, hand), by_hand(vector, hand))


@pytest.mark.parametrize("hand", [True, False])
def test_a_program_without_any_signal(hand: bool) -> None:
    assert errors_of(unsignalled(hand, apart=False)) == {"race-cross-core"}
    assert diagnostics(unsignalled(hand, apart=True)) == []


@pytest.mark.parametrize("hand", [True, False])
def test_the_text_shows_cores_that_touch_the_same_bytes(hand: bool) -> None:
    """Where constants say so: here the vector core writes the upper rows of what the cube core reads."""
    fixed = unsignalled(hand, apart=False).replace("arith.muli %whoi, %c8", "arith.muli %c0, %c8")
    said = [one for one in found(fixed) if one.rule == "race-cross-core"]
    assert [one.severity for one in said] == [Severity.ERROR]
    assert "the cube core reads what the vector cores write" in said[0].message
    for other in (
        unsignalled(hand, apart=True),
        unsignalled(hand, apart=False),
        fixed.replace("return", sets("FIX", 3) + "\n    return"),
    ):
        assert "race-cross-core" not in {one.rule for one in found(other)}


BLOCKS = """module attributes {{pto.target_arch = "a2a3"}} {{
  func.func @k(%x: !pto.ptr<f32>, %q: !pto.ptr<f32>, %y: !pto.ptr<f32>, %z: !pto.ptr<f32>) attributes {{pto.entry}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %two = arith.constant 2.0 : f32
    %at0 = arith.constant 0 : i64
    %at1 = arith.constant 4096 : i64
    %block = pto.get_block_idx
    %blocki = arith.index_cast %block : i64 to index
    %other = arith.subi %c1, %blocki : index
    %mine = arith.muli %blocki, %c8 : index
    %theirs = arith.muli %other, %c8 : index
    {lines}
    return
  }}
}}
"""


def neighbours(hand: bool, meet: bool, row: str = "%theirs") -> str:
    """Each block stores rows and then reads those of the other one, or its own."""
    view, half, tile = (
        "!pto.tensor_view<?x?xf32>",
        "!pto.partition_tensor_view<8x16xf32>",
        "!pto.tile_buf<vec, 8x16xf32>",
    )
    lines = [
        f"%{name}v = pto.make_tensor_view %{name}, shape = [%c64, %c16], strides = [%c16, %c1] : {view}"
        for name in "xyz"
    ]
    lines += [
        f"%{name}p = pto.partition_view %{name}v, offsets = [%mine, %c0], sizes = [%c8, %c16] : {view} -> {half}"
        for name in "xyz"
    ]
    lines += [
        f"%rp = pto.partition_view %yv, offsets = [{row}, %c0], sizes = [%c8, %c16] : {view} -> {half}",
        f"%t = pto.alloc_tile addr = %at0 : {tile}", f"%u = pto.alloc_tile addr = %at1 : {tile}",
        load("xp", "t"), *flag("MTE2", "MTE3"), store("t", "yp"), *flag("MTE3", "MTE2"),
        "pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<aiv_only>" if meet else "",
        load("rp", "u"), *flag("MTE2", "MTE3", 1), store("u", "zp"),
    ]  # fmt: skip
    return BLOCKS.format(lines="\n    ".join(by_hand(lines, hand)))


@pytest.mark.parametrize("hand", [True, False])
def test_blocks_that_read_what_others_write(hand: bool) -> None:
    assert errors_of(neighbours(hand, False), blocks=2) == {"race-cross-block"}
    assert diagnostics(neighbours(hand, True), blocks=2) == []
    assert diagnostics(neighbours(hand, False, "%mine"), blocks=2) == []


@pytest.mark.parametrize("hand", [True, False])
def test_vector_cores_that_write_the_same(hand: bool) -> None:
    """No result depends on the order: a warning where the program orders its pipes, nothing where it does not."""
    vector = [load("xp", "t"), *flag("MTE2", "MTE3"), store("t", "zp")]
    program = text("a2a3", [], by_hand(vector, hand)).replace("arith.muli %whoi, %c8", "arith.muli %c0, %c8")
    given = diagnostics(program)
    assert [(one.rule, one.severity) for one in given] == [("race-cross-core", Severity.WARNING)] * hand


@pytest.mark.parametrize("hand", [True, False])
def test_vector_cores_that_write_different_numbers_to_one_location(hand: bool) -> None:
    vector = [load("xp", "t"), *flag("MTE2", "MTE3"), store("t", "same")]
    program = text("a2a3", [], by_hand(vector, hand)).replace(
        "pto.tload", "%same = pto.partition_view %zv, offsets = [%c0, %c0], sizes = [%c8, %c16] : "
        "!pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<8x16xf32>\n    pto.tload",
    )  # fmt: skip
    assert errors_of(program) == {"race-cross-core"}


DEADLOCKS = {
    "nobody sends": ([waits("MTE2", 3)], [load("xp", "t")], ["AIV0: no operation of the program sends it",
                                                             "AIV1: no operation of the program sends it"]),
    "both wait first": (
        [waits("MTE2", 1), sets("FIX", 0)], [waits("MTE2", 0), sets("MTE3", 1)],
        ["AIV0: pto.sync.set (line N) sends it, and has not done so",
         "AIV1: pto.sync.set (line N) sends it, and has not done so",
         "AIC: pto.sync.set (line N) sends it, and has not done so"],
    ),
    "sent once": (
        [waits("MTE2", 1), waits("MTE2", 1)], [sets("MTE3", 1)],
        ["AIV0: pto.sync.set (line N) sends it, and has done so once, which was not enough",
         "AIV1: pto.sync.set (line N) sends it, and has done so once, which was not enough"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DEADLOCKS)
def test_a_deadlock_names_the_other_core_and_its_operation(name: str) -> None:
    cube, vector, wanted = DEADLOCKS[name]
    (given,) = (one for one in diagnostics(text("a2a3", cube, vector)) if one.rule == "sync-deadlock")
    notes = [re.sub(r"line \d+", "line N", note.message) for note in given.notes]
    assert list(dict.fromkeys(note for note in notes if "sends it" in note)) == wanted
    assert any("waits for signal" in note and " of AIV0, signal" in note for note in notes)


def test_flags_of_a_core_that_has_ended_are_reported_beside_the_deadlock() -> None:
    """The cube core sets a flag that the vector cores wait for: each core has flags of its own."""
    sets_it, waits_for_it = (f"pto.{one}_flag[<PIPE_MTE2>, <PIPE_S>, <EVENT_ID0>]" for one in ("set", "wait"))
    given = diagnostics(text("a5", [sets_it], [waits_for_it]))
    assert {one.rule: one.span and one.span.text.strip() for one in given} == {
        "sync-deadlock": waits_for_it,
        "sync-flag-unconsumed": sets_it,
    }
    # Where the cube core waits twice for its flag it has not ended.
    given = diagnostics(text("a5", [sets_it, waits_for_it, waits_for_it], [waits_for_it]))
    assert {one.rule for one in given} == {"sync-deadlock"}

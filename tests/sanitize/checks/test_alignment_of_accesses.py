"""Addresses of vector accesses in a run. Source: docs/reference/vectors.md, "Loads and stores"."""

from __future__ import annotations

import pytest
from sanitize_programs import diagnostics, program, ub

V, M, P = "!pto.vreg<64xf32>", "!pto.mask<b32>", "!pto.ptr<f32, ub>"


def scope(*lines: str, times: int = 1) -> str:
    head = [ub("x", 0), ub("y", 1024), "%n = arith.constant 64 : i32", "%i4 = arith.constant 4 : index",
            "%i8 = arith.constant 8 : index", f"%times = arith.constant {times} : index"]  # fmt: skip
    mask = f"%m, %rest = pto.plt_b32 %n : i32 -> {M}, i32"
    loop = ["scf.for %k = %i0 to %times step %i1 {", *lines, "}"]
    return program(*head, "pto.vecscope {", mask, *loop, "}")


def move(load: str, store: str) -> list[str]:
    return [f"%v = pto.vlds %x[%{load}] : {P} -> {V}", f"pto.vsts %v, %y[%{store}], %m : {V}, {P}, {M}"]


def aligned(*lines: str, checks: tuple[str, ...] = ("bounds", "init"), times: int = 1) -> list[tuple[str, int]]:
    """What is reported of addresses, and how often it happened."""
    found = [one for one in diagnostics(scope(*lines, times=times), checks=checks) if one.rule == "mem-align"]
    counts = [int(note.message.split()[2]) for one in found for note in one.notes[-1:] if "happened" in note.message]
    return [(one.message, (counts or [1])[0]) for one in found]


def test_addresses_that_are_right() -> None:
    assert aligned(*move("i0", "i8")) == []


@pytest.mark.parametrize(
    ("lines", "name", "byte"),
    [(move("i4", "i0"), "pto.vlds", 16), (move("i0", "i4"), "pto.vsts", 1024 + 16)],
)
def test_addresses_that_are_wrong(lines: list[str], name: str, byte: int) -> None:
    """Once for each statement, whatever other checks repeat: the register depends on bytes that nothing wrote."""
    expected = f"{name} wants an address that is a multiple of 32; byte {byte} of ub is not"
    assert aligned(*lines) == [(expected, 1)]
    assert aligned(*lines, times=3) == [(expected, 3)]
    assert aligned(*lines, checks=("init",)) == []


@pytest.mark.parametrize(("dist", "element", "right"), [("BRC_B32", "i1", True), ("NORM", "i1", False)])
def test_an_element_is_accepted_where_elements_are(dist: str, element: str, right: bool) -> None:
    line = f'%v = pto.vlds %x[%{element}] {{dist = "{dist}"}} : {P} -> {V}'
    assert (aligned(line) == []) == right


OFFSETS = "!pto.vreg<64xui32>"


@pytest.mark.parametrize(("step", "blocks", "byte"), [(32, 8, None), (16, 8, 16), (16, 1, None), (40, 2, 40)])
def test_gathered_blocks_begin_at_blocks(step: int, blocks: int, byte: int | None) -> None:
    """Of the lanes that are active: block i begins at byte i · ``step``."""
    lines = (
        f"%step = arith.constant {step} : i32",
        f"%count = arith.constant {blocks} : i32",
        "%zero = arith.constant 0 : i32",
        f"%some, %left = pto.plt_b32 %count : i32 -> {M}, i32",
        "%numbers = pto.vci %zero : i32 -> !pto.vreg<64xi32>",
        f"%steps = pto.vmuls %numbers, %step, %m : !pto.vreg<64xi32>, i32, {M} -> !pto.vreg<64xi32>",
        f"%offsets = pto.vbitcast %steps : !pto.vreg<64xi32> -> {OFFSETS}",
        f"%v = pto.vgatherb %x, %offsets, %some : {P}, {OFFSETS}, {M} -> {V}",
    )
    expected = f"pto.vgatherb wants an address that is a multiple of 32; byte {byte} of ub is not"
    assert aligned(*lines) == ([] if byte is None else [(expected, 1)])


@pytest.mark.parametrize(("offset", "right"), [(64, True), (16, False), (8, False)])
def test_blocks_of_tiles_begin_at_blocks(offset: int, right: bool) -> None:
    tile, places = "!pto.tile_buf<vec, 4x16xf32>", "!pto.tile_buf<vec, 4x8xui32>"
    numbers = places.replace("ui32", "i32")
    text = f"""func.func @k() attributes {{pto.kernel}} {{
  %at0 = arith.constant 1024 : i64
  %at1 = arith.constant 2048 : i64
  %at2 = arith.constant 4096 : i64
  %one = arith.constant 1.0 : f32
  %n = arith.constant {offset} : i32
  %a = pto.alloc_tile addr = %at0 : {tile}
  %i = pto.alloc_tile addr = %at1 : {numbers}
  %o = pto.alloc_tile addr = %at1 : {places}
  %d = pto.alloc_tile addr = %at2 : {tile}
  pto.texpands ins(%one : f32) outs(%a : {tile})
  pto.texpands ins(%n : i32) outs(%i : {numbers})
  pto.tgatherb ins(%a, %o : {tile}, {places}) outs(%d : {tile})
  return
}}
"""
    found = [one.message for one in diagnostics(text, []) if one.rule == "mem-align"]
    expected = f"pto.tgatherb wants addresses that are multiples of 32; byte {1024 + offset} of ub, from the offset "
    assert found == ([] if right else [f"{expected}at (0, 0), is not"])

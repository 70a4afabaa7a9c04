"""Instructions between registers and memory that are alone, and sorting, against formulas in plain Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from register_programs import DTYPES, RNG, ZERO, joined, lanes, masked, numbers, ptr, run_registers, vreg
from vmi_programs import run

# --- memory -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dist", "element", "unit"),
    [("DINTLV_B8", "ui8", 1), ("DINTLV_B16", "ui16", 2), ("DINTLV_B32", "f32", 4), ("DINTLV_B32", "ui16", 4),
     ("BDINTLV", "f32", 32)],
)  # fmt: skip
@pytest.mark.parametrize("updated", [False, True])
def test_loads_of_pairs(dist: str, element: str, unit: int, updated: bool) -> None:
    size = np.dtype(DTYPES[element]).itemsize
    source = RNG.integers(0, 256, 2048, np.uint8)
    count = 64 // size
    v, p = vreg(element), ptr(element)
    text = f"%at = arith.constant {count} : index\n"
    text += f'%a, %b{", %next" if updated else ""} = pto.vldsx2 %p[%at], "{dist}" : {p}, index -> {v}, {v}'
    text += f", {p}\n%c = pto.vlds %next[%zero] : {p} -> {v}" if updated else ""
    results = {"a": v, "b": v} | ({"c": v} if updated else {})
    got = run_registers(text, {"p": (p, source.view(DTYPES[element]))}, results)
    data = source[0 if updated else 64 :][:512].tolist()
    units = [data[i : i + unit] for i in range(0, 512, unit)]
    assert [x.view(np.uint8).tolist() for x in got[:2]] == [joined(units[part::2]) for part in (0, 1)]
    if updated:
        assert got[2].view(np.uint8).tolist() == source[64:320].tolist()


@pytest.mark.parametrize(("dist", "element"), [("INTLV_B8", "ui8"), ("INTLV_B16", "f16"), ("INTLV_B32", "f32")])
def test_stores_of_pairs(dist: str, element: str) -> None:
    """Whatever the predicate, and the offset counts elements."""
    size = np.dtype(DTYPES[element]).itemsize
    width = f"b{8 * size}"
    load, argument, _ = masked(width)
    a, b = (RNG.integers(0, 256, 256, np.uint8) for _ in "ab")
    out = np.full(1024, 0xEE, np.uint8)
    v, p = vreg(element), ptr(element)
    text = f"""{load}%at = arith.constant {32 // size} : index
    pto.vstsx2 %a, %b, %o[%at], "{dist}", %m : {v}, {v}, {p}, index, !pto.mask<{width}>"""
    dtype = DTYPES[element]
    run_registers(text, {"a": (v, a.view(dtype)), "b": (v, b.view(dtype)), "o": (p, out.view(dtype))} | argument, {})
    x, y = a.tolist(), b.tolist()
    want = joined(x[i : i + size] + y[i : i + size] for i in range(0, 256, size))
    assert out[32:544].tolist() == want
    assert (out[:32] == 0xEE).all() and (out[544:] == 0xEE).all()


@pytest.mark.parametrize(("stride", "repeat"), [(1, 0), (3, 2), (2, 1)])
@pytest.mark.parametrize("updated", [False, True])
def test_loads_and_stores_of_blocks(stride: int, repeat: int, updated: bool) -> None:
    load, argument, active = masked("b32")
    source, v, p = RNG.integers(0, 256, 2048, np.uint8), vreg("f32"), ptr("f32")
    out = np.full(2048, 0xEE, np.uint8)
    extra = f", {p}" if updated else ""
    tail = f" -> {p}" if updated else ""
    text = f"""{load}%s = arith.constant {stride} : i16
    %k = arith.constant {repeat} : i16
    %r{", %p1" if updated else ""} = pto.vsldb %p, %s, %k, %m : {p}, i16, i16, !pto.mask<b32> -> {v}{extra}
    {"%o1 = " if updated else ""}pto.vsstb %w, %o, %s, %k, %m : {v}, {p}, i16, i16, !pto.mask<b32>{tail}
    """
    if updated:
        text += f"""%q = pto.vlds %p1[%zero] : {p} -> {v}
        %all = pto.pset_b32 "PAT_VL1" : !pto.mask<b32>
        pto.vsts %w, %o1[%zero], %all : {v}, {p}, !pto.mask<b32>\n"""
    w = RNG.integers(0, 256, 256, np.uint8)
    inputs = {"p": (p, source.view(np.float32)), "o": (p, out.view(np.float32)), "w": (v, w.view(np.float32))}
    got = run_registers(text, inputs | argument, {"r": v} | ({"q": v} if updated else {}))
    first = 0 if updated else 32 * repeat
    read, stored = [], np.full(2048, 0xEE, np.uint8)
    for block in range(8):
        at = first + 32 * stride * block
        read += source[at : at + 32].tolist() if active[block] else [0] * 32
        if active[block]:
            stored[at : at + 32] = w[32 * block : 32 * block + 32]
    assert got[0].view(np.uint8).tolist() == read
    if updated:
        assert got[1].view(np.uint8).tolist() == source[32 * repeat : 32 * repeat + 256].tolist()
        stored[32 * repeat : 32 * repeat + 4] = w[:4]
    assert out.tolist() == stored.tolist()


def test_gathered_blocks() -> None:
    load, argument, active = masked("b32")
    source, v, p = RNG.integers(0, 256, 2048, np.uint8), vreg("f16"), ptr("f16")
    starts = (32 * RNG.integers(0, 60, 64)).astype(np.uint32)
    text = f"{load}%r = pto.vgatherb %p, %o, %m : {p}, {vreg('ui32')}, !pto.mask<b32> -> {v}"
    inputs = {"p": (p, source.view(np.float16)), "o": (vreg("ui32"), starts)} | argument
    (got,) = run_registers(text, inputs, {"r": v})
    blocks = (source[start : start + 32].tolist() for start in starts[:8].tolist())
    want = joined(block if on else [0] * 32 for block, on in zip(blocks, active[:8], strict=True))
    assert got.view(np.uint8).tolist() == want


@pytest.mark.parametrize(
    ("op", "element", "index", "result"),
    [("vgather2", "f32", "ui32", "f32"), ("vgather2_bc", "f32", "ui32", "f32"), ("vgather2", "ui8", "ui16", "ui16"),
     ("vgather2", "f16", "ui16", "f16")],
)  # fmt: skip
def test_gathered_elements(op: str, element: str, index: str, result: str) -> None:
    width = f"b{index[2:]}"
    load, argument, active = masked(width)
    source = numbers(element, 15, 500)
    places = RNG.integers(0, 500, lanes(index)).astype(DTYPES[index])
    text = f"{load}%r = pto.{op} %p, %o, %m : {ptr(element)}, {vreg(index)}, !pto.mask<{width}> -> {vreg(result)}"
    inputs = {"p": (ptr(element), source), "o": (vreg(index), places)} | argument
    (got,) = run_registers(text, inputs, {"r": vreg(result)})
    assert got.tolist() == [source[i] if on else 0 for i, on in zip(places.tolist(), active, strict=True)]


def test_an_unaligned_stream_of_loads() -> None:
    source, v, p = numbers("f32", 16, 256), vreg("f32"), ptr("f32")
    text = f"""%three = arith.constant 3 : index
    %at = pto.addptr %p, %three : {p} -> {p}
    %s0 = pto.vldas %at : {p} -> !pto.align
    %a, %s1, %p1 = pto.vldus %at, %s0, %three : {p}, !pto.align, index -> {v}, !pto.align, {p}
    %b, %s2 = pto.vldus %p1, %s1 : {p}, !pto.align -> {v}, !pto.align"""
    got = run_registers(text, {"p": (p, source)}, {"a": v, "b": v})
    assert [x.tolist() for x in got] == [source[3:67].tolist(), source[6:70].tolist()]


def test_an_unaligned_stream_of_stores() -> None:
    """Each store continues after the elements that the one before has taken."""
    a, b, v, p = numbers("f32", 17), numbers("f32", 18), vreg("f32"), ptr("f32")
    out = np.zeros(256, np.float32)
    text = f"""%five = arith.constant 5 : i32
    %nine = arith.constant 9 : i32
    %s0 = pto.init_align : !pto.align
    %s1, %p1 = pto.vstus %s0, %five, %a, %p : !pto.align, i32, {v}, {p} -> !pto.align, {p}
    %s2, %p2 = pto.vstus %s1, %nine, %b, %p1 : !pto.align, i32, {v}, {p} -> !pto.align, {p}
    pto.vstas %s2, %p2, %nine : !pto.align, {p}, i32"""
    run_registers(text, {"a": (v, a), "b": (v, b), "p": (p, out)}, {})
    assert out.tolist() == [*a[:5].tolist(), *b[:9].tolist(), *[0.0] * 242]


@pytest.mark.parametrize("mode", ["POST_UPDATE", "NO_POST_UPDATE"])
def test_a_stream_of_compacted_lanes(mode: str) -> None:
    """SQZN counts the bytes that `vsqz` has kept, AR where the stream stands."""
    load, argument, active = masked("b32")
    a, v, p = numbers("f32", 19), vreg("f32"), ptr("f32")
    out, register = np.zeros(256, np.float32), np.zeros(32, np.uint32)
    text = f"""{load}%eight = arith.constant 8 : i32
    %two = arith.constant 2 : i32
    pto.sprclr "AR"
    %x = pto.vsqz %a, %m : {v}, !pto.mask<b32> -> {v}
    %s0 = pto.init_align : !pto.align
    %s1 = pto.vstur %s0, %x, %p, "{mode}" : !pto.align, {v}, {p} -> !pto.align
    %s2 = pto.vstur %s1, %x, %p, "{mode}" : !pto.align, {v}, {p} -> !pto.align
    pto.vstar %s2, %p : !pto.align, {p}
    pto.sprsti "AR", %w[%two] : {ptr("ui32")}, i32
    pto.sprsts "AR", %w[%eight] : {ptr("ui32")}, i32
    pto.sprclr "AR"
    %w1 = pto.sprsti "AR", %w[%eight] : {ptr("ui32")}, i32 -> {ptr("ui32")}
    pto.sprsti "AR", %w1[%two] : {ptr("ui32")}, i32"""
    inputs = {"a": (v, a), "p": (p, out), "w": (ptr("ui32"), register)} | argument
    run_registers(text, inputs, {})
    kept = [x for x, on in zip(a.tolist(), active, strict=True) if on]
    twice = kept + kept if mode == "POST_UPDATE" else kept
    assert out.tolist() == twice + [0.0] * (256 - len(twice))
    final = 8 * len(kept) if mode == "POST_UPDATE" else 0
    # 2 words and 8 bytes on are the same location; the updated forms access the base itself.
    assert register[2] == final and not np.delete(register, 2).any()


# --- sorting ----------------------------------------------------------------------------------------------


def records(scores: Sequence[float], places: Sequence[int], dtype: Any) -> np.ndarray:
    """Score in the low word, place in the high one."""
    size = np.dtype(dtype).itemsize
    return np.array(
        [int.from_bytes(np.array(s, dtype).tobytes(), "little") | p << 32 for s, p in zip(scores, places, strict=True)],
        np.uint64,
    ).view(dtype).reshape(-1, 8 // size).reshape(-1)  # fmt: skip


@pytest.mark.parametrize(("element", "dtype"), [("f32", np.float32), ("f16", np.float16)])
def test_groups_are_sorted_descending_and_stable(element: str, dtype: Any) -> None:
    scores = RNG.integers(-9, 9, 96).astype(dtype)
    places = RNG.integers(0, 1 << 20, 96).astype(np.uint32)
    out = np.zeros(768 // np.dtype(dtype).itemsize, dtype)
    p = ptr(element)
    text = f"%n = arith.constant 3 : index\npto.vbitsort %d, %s, %i, %n : {p}, {p}, {ptr('ui32')}, index"
    run_registers(text, {"d": (p, out), "s": (p, scores), "i": (ptr("ui32"), places)}, {})
    want: list[int] = []
    for start in (0, 32, 64):
        order = sorted(range(start, start + 32), key=lambda k: -float(scores[k]))
        want += records([scores[k] for k in order], [int(places[k]) for k in order], dtype).view(np.uint64).tolist()
    assert out.view(np.uint64).tolist() == want


@pytest.mark.parametrize(
    ("used", "stop"), [((0, 1, 2, 3), False), ((0, 1, 2), False), ((0, 3), False), ((0, 1, 2, 3), True), ((1, 2), True)]
)
def test_merged_lists(used: tuple[int, ...], stop: bool) -> None:
    """Lists of 4, 5, 6 and 7 records; with `stop` it ends when one of them does. The counts are kept."""
    sizes, v32 = (4, 5, 6, 7), np.float32
    lists = [sorted(RNG.integers(-20, 20, size).tolist(), reverse=True) for size in sizes]
    places = [[100 * number + k for k in range(size)] for number, size in enumerate(sizes)]
    sources = [records(s, i, v32) for s, i in zip(lists, places, strict=True)]
    out, p = np.zeros(64, v32), ptr("f32")
    count = sum(size << 16 * number for number, size in enumerate(sizes))
    config = 1 | sum(1 << 8 + number for number in used) | stop << 12
    text = f"""%count = arith.constant {count} : i64
    %config = arith.constant {config} : i64
    pto.vmrgsort4 %d, %a, %b, %c, %e, %count, %config : {p}, {p}, {p}, {p}, {p}, i64, i64
    %n0, %n1, %n2, %n3 = pto.get_vms4_sr : i16, i16, i16, i16"""
    inputs = {"d": (p, out), **{name: (p, source) for name, source in zip("abce", sources, strict=True)}}
    taken = run(ZERO + text, inputs, {f"n{k}": "i16" for k in range(4)})
    left = {number: list(zip(lists[number], places[number], strict=True)) for number in used}
    want: list[tuple[int, int]] = []
    while any(left.values()) and not (stop and not all(left.values())):
        best = max((number for number in left if left[number]), key=lambda n: (left[n][0][0], -n))
        want.append(left[best].pop(0))
    merged = records([score for score, _ in want], [place for _, place in want], v32)
    assert out.view(np.uint64)[: len(want)].tolist() == merged.view(np.uint64).tolist()
    assert not out.view(np.uint64)[len(want) :].any()
    assert [int(x) for x in taken] == [sizes[n] - len(left[n]) if n in used else 0 for n in range(4)]


# --- channels and pairs of 4-bit numbers ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dist", "element", "step"), [("SPLT4CHN", "ui8", 4), ("SPLT2CHN_B8", "ui8", 2), ("SPLT2CHN_B16", "ui16", 2)]
)
def test_the_first_of_several_channels(dist: str, element: str, step: int) -> None:
    source = numbers(element, 20)
    text = f'%r = pto.vlds %p[%zero] {{dist = "{dist}"}} : {ptr(element)} -> {vreg(element)}'
    (got,) = run_registers(text, {"p": (ptr(element), source)}, {"r": vreg(element)})
    kept = source.tolist()[::step]
    assert got.tolist() == kept + [0] * (lanes(element) - len(kept))


@pytest.mark.parametrize("part", range(4))
def test_pairs_of_small_floats_are_widened(part: int) -> None:
    """Of each four bytes the one that the part names: the low half is the lane with the even number."""
    magnitudes = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
    load, argument, active = masked("b8")
    codes = numbers("ui8", 21)
    kind, result = "!pto.vreg<256x!pto.f4E2M1x2>", vreg("bf16")
    text = f'{load}%r = pto.vcvt %a, %m {{part = "P{part}"}} : {kind}, !pto.mask<b8> -> {result}'
    (got,) = run_registers(text, {"a": (kind, codes)} | argument, {"r": result})

    def value(code: int) -> float:
        return -magnitudes[code & 7] if code & 8 else magnitudes[code & 7]

    want = []
    for place in range(part, 256, 4):
        pair = (int(codes[place]) & 15, int(codes[place]) >> 4)
        want += [value(code) if active[place] else 0.0 for code in pair]
    assert got.astype(np.float64).tolist() == want

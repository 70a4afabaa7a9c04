"""Vector instructions that stand alone, lane by lane against formulas in plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from vmi_programs import run

DTYPES: dict[str, Any] = {
    "f32": np.float32, "f16": np.float16, "i32": np.int32, "si32": np.int32, "ui32": np.uint32, "ui16": np.uint16,
    "i16": np.int16, "ui8": np.uint8, "i8": np.int8, "bf16": ml_dtypes.bfloat16,
}  # fmt: skip
ZERO = "%zero = arith.constant 0 : index\n"
RNG = np.random.default_rng(5)


def lanes(element: str) -> int:
    return 256 // np.dtype(DTYPES[element]).itemsize


def vreg(element: str) -> str:
    return f"!pto.vreg<{lanes(element)}x{element}>"


def ptr(element: str) -> str:
    return f"!pto.ptr<{element}, ub>"


def numbers(element: str, seed: int = 0, size: int | None = None) -> np.ndarray:
    rng, dtype = np.random.default_rng(seed), np.dtype(DTYPES[element])
    count = lanes(element) if size is None else size
    if dtype.kind in "iu":
        return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, count, dtype, endpoint=True)
    return (rng.standard_normal(count) * 4).astype(dtype)


def joined(parts: Iterable[list[int]]) -> list[int]:
    """One list of all."""
    return [number for part in parts for number in part]


# --- predicates -------------------------------------------------------------------------------------------
#
# A predicate has 256 bits; those of lane i of `step` bytes stand at bit i·step.

STEP = {"b8": 1, "b16": 2, "b32": 4}


def random_bits(seed: int, step: int) -> list[bool]:
    """Bits of a predicate of that width: the others are clear."""
    rng = np.random.default_rng(seed)
    return [bool(rng.integers(2)) and bit % step == 0 for bit in range(256)]


def packed(bits: Sequence[bool]) -> np.ndarray:
    """32-bit words, the first bit lowest."""
    return np.array([sum(1 << k for k in range(32) if bits[w + k]) for w in range(0, len(bits), 32)], np.uint32)


def unpacked(words: np.ndarray) -> list[bool]:
    return [bool(int(words[bit // 32]) >> bit % 32 & 1) for bit in range(32 * len(words))]


def run_masks(statement: str, width: str, result: str, *inputs: list[bool], more: Any = None) -> list[list[bool]]:
    """Predicates that ``statement`` makes of %x, %y, %m; they go through memory as raw bits."""
    names = "xym"[: len(inputs)]
    out = [name for name in ("r", "s") if f"%{name}" in statement.split("=")[0]]
    body = ZERO + "".join(
        f'%{name} = pto.plds %p{name}[%zero], "NORM" : {ptr("ui32")}, index -> !pto.mask<{width}>\n' for name in names
    )
    body += statement + "\n"
    arguments = {f"p{name}": (ptr("ui32"), packed(bits)) for name, bits in zip(names, inputs, strict=True)}
    buffers = {name: np.zeros(8, np.uint32) for name in out}
    for name in out:
        body += f'pto.psts %{name}, %o{name}[%zero], "NORM" : !pto.mask<{result}>, {ptr("ui32")}, index\n'
        arguments[f"o{name}"] = (ptr("ui32"), buffers[name])
    run(body, arguments | (more or {}))
    return [unpacked(words) for words in buffers.values()]


@pytest.mark.parametrize("width", STEP)
def test_logic_of_predicates(width: str) -> None:
    x, y, m = (random_bits(seed, STEP[width]) for seed in (1, 2, 3))
    kind = f"!pto.mask<{width}>"
    cases: dict[str, Callable[[bool, bool, bool], bool]] = {
        f"pand %x, %y, %m : {kind}, {kind}, {kind}": lambda a, b, c: a and b and c,
        f"por %x, %y, %m : {kind}, {kind}, {kind}": lambda a, b, c: (a or b) and c,
        f"pxor %x, %y, %m : {kind}, {kind}, {kind}": lambda a, b, c: a != b and c,
        f"pnot %x, %m : {kind}, {kind}": lambda a, b, c: not a and c,
        f"psel %x, %y, %m : {kind}, {kind}, {kind}": lambda a, b, c: a if c else b,
    }
    for text, formula in cases.items():
        (got,) = run_masks(f"%r = pto.{text} -> {kind}", width, width, x, y, m)
        assert got == [formula(*bits) for bits in zip(x, y, m, strict=True)], text


@pytest.mark.parametrize("part", ["LOWER", "HIGHER"])
def test_predicates_of_another_width(part: str) -> None:
    x = random_bits(4, 1)
    (got,) = run_masks(f'%r = pto.ppack %x, "{part}" : !pto.mask<b16> -> !pto.mask<b8>', "b16", "b8", x)
    assert got == [
        x[2 * (bit % 128)] if (bit >= 128) == (part == "HIGHER") else False for bit in range(256)
    ]  # fmt: skip
    (got,) = run_masks(f'%r = pto.punpack %x, "{part}" : !pto.mask<b8> -> !pto.mask<b16>', "b8", "b16", x)
    assert got == [bit % 2 == 0 and x[bit // 2 + 128 * (part == "HIGHER")] for bit in range(256)]
    (got,) = run_masks("%r = pto.pbitcast %x : !pto.mask<b32> -> !pto.mask<b8>", "b32", "b8", x)
    assert got == x


@pytest.mark.parametrize("width", STEP)
def test_interleaved_predicates(width: str) -> None:
    step = STEP[width]
    x, y = random_bits(5, step), random_bits(6, step)
    kind = f"!pto.mask<{width}>"
    a, b = x[::step], y[::step]
    joined = [bit for pair in zip(a, b, strict=True) for bit in pair]
    both = a + b
    for op, (low, high) in {
        "pintlv": (joined[: len(a)], joined[len(a) :]),
        "pdintlv": (both[0::2], both[1::2]),
    }.items():
        text = f"%r, %s = pto.{op}_{width} %x, %y : {kind}, {kind} -> {kind}, {kind}"
        got = run_masks(text, width, width, x, y)
        assert got == [[i % step == 0 and half[i // step] for i in range(256)] for half in (low, high)], op


@pytest.mark.parametrize("width", STEP)
@pytest.mark.parametrize(("loop", "bound"), [(0, 5), (0, 0), (1, 300), (2, 130), (1, 1), (0, 1000), (3, 193)])
def test_rows_of_a_loop(width: str, loop: int, bound: int) -> None:
    step = STEP[width]
    count = 256 // step
    text = f"%r = pto.pltm_{width} %loop, %bound : i16, i32 -> !pto.mask<{width}>"
    (got,) = run_masks(text, width, width, more={"loop": ("i16", loop), "bound": ("i32", bound)})
    assert got == [bit % step == 0 and bit // step + loop * count < bound for bit in range(256)]


@pytest.mark.parametrize("dist", ["NORM", "US", "DS"])
@pytest.mark.parametrize("unit", [0, 2])
@pytest.mark.parametrize("op", ["plds", "pldi"])
def test_loads_of_predicates(op: str, dist: str, unit: int) -> None:
    """`plds` counts bytes, `pldi` units of its distribution; with a second result the access is at the base."""
    size = {"NORM": 32, "US": 16, "DS": 32}[dist]
    offset = unit * size
    number = offset if op == "plds" else unit
    source = np.random.default_rng(7).integers(0, 256, 256, np.uint8)
    for updated in (False, True):
        start = 0 if updated else offset
        bits = [bool(byte >> k & 1) for byte in source[start:].tolist() for k in range(8)]
        want = {"NORM": bits[:256], "US": [bits[i // 2] for i in range(256)], "DS": bits[:512:2]}[dist]
        tail = f", {ptr('ui8')}" if updated else ""
        body = f"""{ZERO}%at = arith.constant {number} : index
        %r{", %next" if updated else ""} = pto.{op} %p[%at], "{dist}" : {ptr("ui8")}, index -> !pto.mask<b8>{tail}
        pto.psts %r, %o[%zero], "NORM" : !pto.mask<b8>, {ptr("ui32")}, index
        """
        if updated:
            body += f'%s = pto.plds %next[%zero], "NORM" : {ptr("ui8")}, index -> !pto.mask<b8>\n'
            body += f'pto.psts %s, %o2[%zero], "NORM" : !pto.mask<b8>, {ptr("ui32")}, index\n'
        out, after = np.zeros(8, np.uint32), np.zeros(8, np.uint32)
        run(body, {"p": (ptr("ui8"), source), "o": (ptr("ui32"), out), "o2": (ptr("ui32"), after)})
        assert unpacked(out) == want
        if updated:
            assert after.view(np.uint8).tolist() == source[offset : offset + 32].tolist()


@pytest.mark.parametrize("dist", ["NORM", "PK"])
@pytest.mark.parametrize("op", ["psts", "psti"])
def test_stores_of_predicates(op: str, dist: str) -> None:
    size = {"NORM": 32, "PK": 16}[dist]
    bits = random_bits(8, 1)
    kept = bits if dist == "NORM" else bits[::2]
    want = [sum(kept[8 * b + k] << k for k in range(8)) for b in range(size)]
    for unit, updated in ((0, False), (3, False), (3, True)):
        number = unit * size if op == "psts" else unit
        tail = f" -> {ptr('ui8')}" if updated else ""
        body = f"""{ZERO}%at = arith.constant {number} : index
        %m = pto.plds %p[%zero], "NORM" : {ptr("ui32")}, index -> !pto.mask<b8>
        {"%next = " if updated else ""}pto.{op} %m, %o[%at], "{dist}" : !pto.mask<b8>, {ptr("ui8")}, index{tail}
        """
        if updated:
            body += f'pto.psts %m, %next[%zero], "PK" : !pto.mask<b8>, {ptr("ui8")}, index\n'
        out = np.full(256, 0xEE, np.uint8)
        run(body, {"p": (ptr("ui32"), packed(bits)), "o": (ptr("ui8"), out)})
        start = 0 if updated else unit * size
        assert out[start : start + size].tolist() == want
        if updated:
            half = [sum(bits[2 * (8 * b + k)] << k for k in range(8)) for b in range(16)]
            assert out[unit * size : unit * size + 16].tolist() == half
        else:
            assert (np.delete(out, slice(start, start + size)) == 0xEE).all()


@pytest.mark.parametrize(("width", "element"), [("b16", "ui16"), ("b32", "ui32")])
def test_a_stream_of_predicates_has_one_bit_for_each_lane(width: str, element: str) -> None:
    step = STEP[width]
    first, second = random_bits(9, step), random_bits(10, step)
    kind, pointer = f"!pto.mask<{width}>", ptr(element)
    body = f"""{ZERO}%s0 = pto.init_align : !pto.align
    %x = pto.plds %px[%zero], "NORM" : {ptr("ui32")}, index -> {kind}
    %y = pto.plds %py[%zero], "NORM" : {ptr("ui32")}, index -> {kind}
    %s1, %o1 = pto.pstu %s0, %x, %o : !pto.align, {kind}, {pointer} -> !pto.align, {pointer}
    %s2, %o2 = pto.pstu %s1, %y, %o1 : !pto.align, {kind}, {pointer} -> !pto.align, {pointer}
    """
    out = np.zeros(64 // int(element[2:]) * 8, DTYPES[element])
    words = ptr("ui32")
    run(body, {"px": (words, packed(first)), "py": (words, packed(second)), "o": (pointer, out)})
    bits = first[::step] + second[::step]
    want = [sum(bits[8 * b + k] << k for k in range(8)) for b in range(len(bits) // 8)]
    assert out.view(np.uint8)[: len(want)].tolist() == want
    assert not out.view(np.uint8)[len(want) :].any()


# --- registers --------------------------------------------------------------------------------------------


def run_registers(statement: str, inputs: dict[str, tuple[str, Any]], results: dict[str, str]) -> list[np.ndarray]:
    """Registers that ``statement`` makes; %m has the bits of a random predicate where the text uses it."""
    return [np.asarray(value) for value in run(ZERO + statement, inputs, results)]


def masked(width: str, seed: int = 11) -> tuple[str, dict[str, tuple[str, Any]], list[bool]]:
    """Text that makes %m, the argument it needs, and the lanes."""
    bits = random_bits(seed, STEP[width])
    text = f'%m = pto.plds %pm[%zero], "NORM" : {ptr("ui32")}, index -> !pto.mask<{width}>\n'
    return text, {"pm": (ptr("ui32"), packed(bits))}, bits[:: STEP[width]]


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("vmadd %c, %a, %b, %m : {v}, {v}, {v}, {m}", lambda a, b, c, s: a * c + b),
        ("vmula %c, %a, %b, %m : {v}, {v}, {v}, {m}", lambda a, b, c, s: a * b + c),
        ("vaxpy %a, %b, %s, %m : {v}, {v}, f32, {m}", lambda a, b, c, s: s * a + b),
    ],
    ids=["vmadd", "vmula", "vaxpy"],
)
def test_products_with_a_sum(text: str, formula: Callable[..., float]) -> None:
    """Small whole numbers, whose sums are exact: which operand is which."""
    load, argument, active = masked("b32")
    values = {name: RNG.integers(-99, 99, 64).astype(np.float32) for name in "abc"}
    inputs = {name: (vreg("f32"), value) for name, value in values.items()} | argument | {"s": ("f32", 7.0)}
    statement = f"{load}%r = pto.{text.format(v=vreg('f32'), m='!pto.mask<b32>')} -> {vreg('f32')}"
    (got,) = run_registers(statement, inputs, {"r": vreg("f32")})
    rows = zip(active, *(values[name].tolist() for name in "abc"), strict=True)
    assert got.tolist() == [formula(a, b, c, 7.0) if on else 0 for on, a, b, c in rows]


@pytest.mark.parametrize("element", ["i32", "ui32"])
def test_long_products(element: str) -> None:
    load, argument, active = masked("b32")
    a, b = numbers(element, 1), numbers(element, 2)
    v = vreg(element)
    statement = f"{load}%low, %high = pto.vmull %a, %b, %m : {v}, {v}, !pto.mask<b32> -> {v}, {v}"
    low, high = run_registers(statement, {"a": (v, a), "b": (v, b)} | argument, {"low": v, "high": v})
    wide = [int(x) * int(y) if on else 0 for x, y, on in zip(a, b, active, strict=True)]
    assert [int(x) & 0xFFFFFFFF for x in low] == [x & 0xFFFFFFFF for x in wide]
    assert [int(x) & 0xFFFFFFFF for x in high] == [x >> 32 & 0xFFFFFFFF for x in wide]


@pytest.mark.parametrize(("element", "part"), [("f32", "EVEN"), ("f16", "EVEN"), ("f16", "ODD")])
def test_exponentials_of_differences(element: str, part: str) -> None:
    width = {"f32": "b32", "f16": "b16"}[element]
    load, argument, active = masked(width)
    a, largest = numbers(element, 3), numbers(element, 4)
    v = vreg(element)
    statement = f'{load}%r = pto.vexpdif %a, %x, %m, "{part}" : {v}, {v}, !pto.mask<{width}> -> {vreg("f32")}'
    (got,) = run_registers(statement, {"a": (v, a), "x": (v, largest)} | argument, {"r": vreg("f32")})
    step = 2 if element == "f16" else 1
    places = [step * i + (part == "ODD") for i in range(64)]
    want = [math.exp(float(a[p]) - float(largest[p])) if active[p] else 0.0 for p in places]
    np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.parametrize(("element", "start"), [("i32", 2**31 - 5), ("si32", -7), ("f32", 2.5), ("f16", 3.0)])
@pytest.mark.parametrize("order", ["ASC", "DESC", None])
def test_ramps(element: str, start: float, order: str | None) -> None:
    scalar = "i32" if "i" in element else element
    words = f' {{order = "{order}"}}' if order else ""
    statement = f"%r = pto.vci %n{words} : {scalar} -> {vreg(element)}"
    (got,) = run_registers(statement, {"n": (scalar, start)}, {"r": vreg(element)})
    step = -1 if order == "DESC" else 1
    want = [start + step * i for i in range(lanes(element))]
    if "i" in element:
        want = [(int(x) + 2**31) % 2**32 - 2**31 for x in want]
    assert got.tolist() == want


def test_lanes_by_number() -> None:
    a, index = numbers("f32", 5), RNG.integers(0, 64, 64).astype(np.int32)
    statement = f"%r = pto.vselr %a, %i : {vreg('f32')}, {vreg('i32')} -> {vreg('f32')}"
    (got,) = run_registers(statement, {"a": (vreg("f32"), a), "i": (vreg("i32"), index)}, {"r": vreg("f32")})
    assert got.tolist() == [a[i] for i in index.tolist()]


@pytest.mark.parametrize("position", ["LOWEST", "HIGHEST"])
def test_one_lane_in_all(position: str) -> None:
    load, argument, active = masked("b32")
    a, v = numbers("f32", 6), vreg("f32")
    statement = f'{load}%r = pto.vdup %a, %m {{position = "{position}"}} : {v}, !pto.mask<b32> -> {v}'
    (got,) = run_registers(statement, {"a": (v, a)} | argument, {"r": v})
    assert got.tolist() == [a[0 if position == "LOWEST" else 63] if on else 0 for on in active]


def test_bits_as_another_type() -> None:
    a = numbers("f32", 7)
    statement = f"%r = pto.vbitcast %a : {vreg('f32')} -> {vreg('ui16')}"
    (got,) = run_registers(statement, {"a": (vreg("f32"), a)}, {"r": vreg("ui16")})
    words = [int.from_bytes(x.tobytes(), "little") for x in a]
    assert got.tolist() == [half for word in words for half in (word & 0xFFFF, word >> 16)]


@pytest.mark.parametrize("part", ["EVEN", "ODD"])
def test_scaled_conversion_rounds_once(part: str) -> None:
    load, argument, active = masked("b32")
    a = np.concatenate(
        [numbers("f32", 8, 60), np.array([1 + 2.0**-11, 1 + 3 * 2.0**-11, -1 - 2.0**-11, 3], np.float32)]
    )
    statement = (
        f'{load}%r = pto.vmulscvt %a, %s, %m, "R", "{part}" : {vreg("f32")}, f32, !pto.mask<b32> -> {vreg("f16")}'
    )
    (got,) = run_registers(statement, {"a": (vreg("f32"), a), "s": ("f32", 3.0)} | argument, {"r": vreg("f16")})
    want = np.zeros(128, np.float16)
    # Three times an f32 is exact in f64, from which numpy rounds once, to the nearest even.
    want[part == "ODD" :: 2] = np.where(active, (a.astype(np.float64) * 3).astype(np.float16), 0)
    assert got.tolist() == want.tolist()


@pytest.mark.parametrize("op", ["vcbmax", "vcbmin"])
def test_extremum_and_who_has_it(op: str) -> None:
    load, argument, active = masked("b32")
    a, v = RNG.integers(-3, 4, 64).astype(np.float32), vreg("f32")
    out = np.zeros(8, np.uint32)
    statement = f"""{load}%r, %w = pto.{op} %a, %m : {v}, !pto.mask<b32> -> {v}, !pto.mask<b32>
    pto.psts %w, %o[%zero], "NORM" : !pto.mask<b32>, {ptr("ui32")}, index"""
    (got,) = run_registers(statement, {"a": (v, a), "o": (ptr("ui32"), out)} | argument, {"r": v})
    best = (max if op == "vcbmax" else min)(x for x, on in zip(a.tolist(), active, strict=True) if on)
    assert got.tolist() == [best] + [0.0] * 63
    assert unpacked(out)[::4] == [on and x == best for x, on in zip(a.tolist(), active, strict=True)]


@pytest.mark.parametrize("op", ["dhistv2", "chistv2"])
@pytest.mark.parametrize("half", [0, 1])
def test_histograms(op: str, half: int) -> None:
    load, argument, active = masked("b8")
    samples, bins = numbers("ui8", 9), numbers("ui16", 10)
    statement = (
        f"{load}%r = pto.{op} %b, %c, %m, %h : {vreg('ui16')}, {vreg('ui8')}, !pto.mask<b8>, i32 -> {vreg('ui16')}"
    )
    inputs = {"b": (vreg("ui16"), bins), "c": (vreg("ui8"), samples), "h": ("i32", half)} | argument
    (got,) = run_registers(statement, inputs, {"r": vreg("ui16")})
    seen = [x for x, on in zip(samples.tolist(), active, strict=True) if on]

    def count(number: int) -> int:
        return sum(x <= number if op == "chistv2" else x == number for x in seen)

    assert got.tolist() == [(int(bins[i]) + count(128 * half + i)) % 65536 for i in range(128)]


@pytest.mark.parametrize("part", ["LOWER", "HIGHER"])
@pytest.mark.parametrize("op", ["vintlvv2", "vdintlvv2"])
def test_one_half_of_interleaved_registers(op: str, part: str) -> None:
    a, b, v = numbers("f32", 12), numbers("f32", 13), vreg("f32")
    statement = f'%r = pto.{op} %a, %b, "{part}" : {v}, {v} -> {v}'
    (got,) = run_registers(statement, {"a": (v, a), "b": (v, b)}, {"r": v})
    joined = [x for pair in zip(a.tolist(), b.tolist(), strict=True) for x in pair]
    both = a.tolist() + b.tolist()
    halves = (joined[:64], joined[64:]) if op == "vintlvv2" else (both[::2], both[1::2])
    assert got.tolist() == halves[part == "HIGHER"]


@pytest.mark.parametrize("part", [0, 1])
@pytest.mark.parametrize("op", ["vsunpack", "vzunpack"])
def test_wider_lanes(op: str, part: int) -> None:
    a = numbers("i16", 14)
    statement = f"%r = pto.{op} %a, %p : {vreg('i16')} -> {vreg('i32')}"
    (got,) = run_registers(statement, {"a": (vreg("i16"), a), "p": ("index", part)}, {"r": vreg("i32")})
    chosen = a.tolist()[64 * part : 64 * part + 64]
    assert got.tolist() == [x if op == "vsunpack" else x & 0xFFFF for x in chosen]


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
    """Each store goes on behind the elements that the one before has taken."""
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
    # 2 words and 8 bytes on are the same place; the updated forms access the base itself.
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

"""Instructions on predicates that are alone, bit by bit against formulas in plain Python."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from register_programs import DTYPES, STEP, ZERO, packed, ptr, random_bits, run_masks, unpacked
from vmi_programs import run


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


@pytest.mark.parametrize("stated", ["NORM", "US", "DS", ""])
@pytest.mark.parametrize("unit", [0, 2])
@pytest.mark.parametrize("op", ["plds", "pldi"])
def test_loads_of_predicates(op: str, stated: str, unit: int) -> None:
    """`plds` counts bytes, `pldi` units of its distribution; with a second result the access is at the base."""
    dist, clause = stated or "NORM", f', "{stated}"' if stated else ""
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
        %r{", %next" if updated else ""} = pto.{op} %p[%at]{clause} : {ptr("ui8")}, index -> !pto.mask<b8>{tail}
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


@pytest.mark.parametrize("stated", ["NORM", "PK", ""])
@pytest.mark.parametrize("op", ["psts", "psti"])
def test_stores_of_predicates(op: str, stated: str) -> None:
    dist, clause = stated or "NORM", f', "{stated}"' if stated else ""
    size = {"NORM": 32, "PK": 16}[dist]
    bits = random_bits(8, 1)
    kept = bits if dist == "NORM" else bits[::2]
    want = [sum(kept[8 * b + k] << k for k in range(8)) for b in range(size)]
    for unit, updated in ((0, False), (3, False), (3, True)):
        number = unit * size if op == "psts" else unit
        tail = f" -> {ptr('ui8')}" if updated else ""
        body = f"""{ZERO}%at = arith.constant {number} : index
        %m = pto.plds %p[%zero], "NORM" : {ptr("ui32")}, index -> !pto.mask<b8>
        {"%next = " if updated else ""}pto.{op} %m, %o[%at]{clause} : !pto.mask<b8>, {ptr("ui8")}, index{tail}
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

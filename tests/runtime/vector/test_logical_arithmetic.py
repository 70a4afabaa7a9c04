"""Lane-wise arithmetic of logical vectors against plain numpy. Source: docs/reference/vectors.md, "Arithmetic",
"Reductions and rearrangement", "Logical vectors".
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from vmi_programs import DTYPES, kernel, mask, numbers, pattern, run, same, vreg

from pto_dialect.runtime.errors import ProgramError

FLOATS = ("f16", "bf16", "f32")
INTEGERS = ("i8", "si8", "ui8", "i16", "ui16", "i32", "si32", "ui32")
LANES = (1, 7, 64, 100, 300)


def masked(op: str, element: str, inputs: list[np.ndarray], active: np.ndarray | None, attributes: str = ""):
    """%r = op of vectors, under a mask if there is one."""
    lanes = inputs[0].size
    type_ = vreg(element, lanes)
    names = [f"v{index}" for index in range(len(inputs))]
    arguments = {name: (type_, value) for name, value in zip(names, inputs, strict=True)}
    types = [type_] * len(inputs)
    if active is not None:
        arguments["m"] = (mask(lanes), active)
        types.append(mask(lanes))
    operands = ", ".join(f"%{name}" for name in arguments)
    body = f"%r = pto.vmi.{op} {operands}{attributes} : {', '.join(types)} -> {type_}"
    return run(body, arguments, {"r": type_})[0]


def wrapped(values: list[int], element: str) -> list[int]:
    """Integers as elements of a type."""
    bits = 8 * DTYPES[element].itemsize
    low = [value & ((1 << bits) - 1) for value in values]
    if DTYPES[element].kind == "u":
        return low
    return [value - (1 << bits) if value >> (bits - 1) else value for value in low]


# ------------------------------------------------------------ two vectors


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("element", ["i8", "ui16", "i32"])
@pytest.mark.parametrize(("op", "formula"), [("vadd", int.__add__), ("vsub", int.__sub__)])
def test_integers_wrap(op: str, formula, element: str, lanes: int) -> None:
    a, b = numbers(element, lanes, 1), numbers(element, lanes, 2)
    want = wrapped([formula(int(x), int(y)) for x, y in zip(a, b, strict=True)], element)
    assert masked(op, element, [a, b], None).tolist() == want
    active = pattern(lanes)
    assert masked(op, element, [a, b], active).tolist() == [w if m else 0 for w, m in zip(want, active, strict=True)]


@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize("op", ["vadd", "vsub", "vmul", "vmax", "vmin"])
def test_floats_round_once(op: str, element: str) -> None:
    a, b = numbers(element, 100, 1), numbers(element, 100, 2)
    functions = {"vadd": np.add, "vsub": np.subtract, "vmul": np.multiply, "vmax": np.maximum, "vmin": np.minimum}
    with np.errstate(all="ignore"):
        exact = functions[op](a.astype(np.float64), b.astype(np.float64))
        want = (exact.astype(np.float32) if element == "bf16" else exact).astype(a.dtype)
    same(masked(op, element, [a, b], None), want)
    active = pattern(100)
    same(masked(op, element, [a, b], active, ' {pmode = "merge"}'), np.where(active, want, 0))


@pytest.mark.parametrize("element", ["f16", "f32"])
def test_quotients(element: str) -> None:
    a, b = numbers(element, 64, 1), numbers(element, 64, 4)
    with np.errstate(all="ignore"):
        want = np.divide(a.astype(np.float64), b.astype(np.float64)).astype(a.dtype)
    same(masked("vdiv", element, [a, b], None), want)
    same(masked("divf", element, [a, b], None), want)


PLAIN = {
    "addf": ("f32", lambda x, y: x + y), "subf": ("f16", lambda x, y: x - y), "mulf": ("f32", lambda x, y: x * y),
    "maxf": ("f32", np.maximum), "minf": ("f16", np.minimum), "maxi": ("i16", np.maximum), "mini": ("ui8", np.minimum),
    "addi": ("i16", lambda x, y: x + y), "subi": ("ui32", lambda x, y: x - y), "muli": ("i32", lambda x, y: x * y),
    "andi": ("ui8", lambda x, y: x & y), "ori": ("i32", lambda x, y: x | y), "xori": ("i16", lambda x, y: x ^ y),
}  # fmt: skip


@pytest.mark.parametrize("op", PLAIN)
def test_operations_without_masks(op: str) -> None:
    element, formula = PLAIN[op]
    a, b = numbers(element, 130, 5), numbers(element, 130, 6)
    with np.errstate(all="ignore"):
        want = formula(a, b)
    same(masked(op, element, [a, b], None), want)


@pytest.mark.parametrize("element", ["i8", "ui8", "si16", "i32", "ui32"])
def test_bits(element: str) -> None:
    a, b = numbers(element, 70, 1), numbers(element, 70, 2)
    for op, formula in (("vand", int.__and__), ("vor", int.__or__), ("vxor", int.__xor__)):
        want = [formula(int(x), int(y)) for x, y in zip(a, b, strict=True)]
        assert masked(op, element, [a, b], None).tolist() == want
    want = wrapped([~int(x) for x in a], element)
    assert masked("vnot", element, [a], None).tolist() == want
    active = pattern(70)
    assert masked("vnot", element, [a], active).tolist() == [w if m else 0 for w, m in zip(want, active, strict=True)]


# ------------------------------------------------------------ shifts


@pytest.mark.parametrize("element", ["i8", "si8", "ui8", "i16", "si16", "si32", "ui32"])
def test_shifts_right_are_arithmetic_only_where_a_sign_is_stated(element: str) -> None:
    bits = 8 * DTYPES[element].itemsize
    a = numbers(element, 60, 1)
    counts = np.arange(60).astype(a.dtype)
    logical = [(int(x) & ((1 << bits) - 1)) >> (n % bits) for n, x in enumerate(a)]
    arithmetic = [int(x) >> (n % bits) for n, x in enumerate(a)]
    want = arithmetic if element.startswith("si") else logical
    assert masked("vshr", element, [a, counts], None).tolist() == wrapped(want, element)
    if element.startswith("si"):
        assert masked("shrsi", element, [a, counts], None).tolist() == arithmetic
    else:
        assert masked("shrui", element, [a, counts], None).tolist() == wrapped(logical, element)
    left = wrapped([int(x) << (n % bits) for n, x in enumerate(a)], element)
    assert masked("vshl", element, [a, counts], None).tolist() == left
    assert masked("shli", element, [a, counts], None).tolist() == left


@pytest.mark.parametrize("element", ["i16", "si16", "ui16"])
def test_shifts_by_one_distance_take_signless_lanes_as_signed(element: str) -> None:
    a, active = numbers(element, 40), pattern(40)
    type_ = vreg(element, 40)
    arguments = {"a": (type_, a), "m": (mask(40), active), "n": ("i16", 3)}
    for op, want in (("vshrs", [int(x) >> 3 for x in a]), ("vshls", [int(x) << 3 for x in a])):
        body = f"%r = pto.vmi.{op} %a, %n, %m : {type_}, i16, {mask(40)} -> {type_}"
        got = run(body, arguments, {"r": type_})[0]
        assert got.tolist() == [w if m else 0 for w, m in zip(wrapped(want, element), active, strict=True)]


# ------------------------------------------------------------ one vector


@pytest.mark.parametrize("element", ["f16", "f32"])
def test_functions_of_floats(element: str) -> None:
    a = numbers(element, 90)
    wide = a.astype(np.float32)
    with np.errstate(all="ignore"):
        wants = {
            "vexp": np.exp(wide), "vln": np.log(wide), "vsqrt": np.sqrt(wide), "vabs": np.abs(wide), "vneg": -wide,
            "vrelu": np.maximum(wide, 0),
        }  # fmt: skip
    plain = {"vexp": "exp", "vln": "ln", "vsqrt": "sqrt", "vabs": "absf", "vneg": "negf", "vrelu": "relu"}
    active = pattern(90)
    for op, want in wants.items():
        with np.errstate(over="ignore"):
            want = want.astype(a.dtype)
        same(masked(op, element, [a], None), want)
        same(masked(plain[op], element, [a], None), want)
        same(masked(op, element, [a], active), np.where(active, want, 0))


def test_signs_of_zero_and_bf16() -> None:
    a = np.array([0.0, -0.0, -1.5, np.nan, -np.inf], DTYPES["bf16"])
    got = masked("vabs", "bf16", [a], None)
    assert got.view(np.uint16).tolist() == [x & 0x7FFF for x in a.view(np.uint16).tolist()]
    b = np.array([0.0, -0.0, 2.0], np.float32)
    assert np.signbit(masked("vneg", "f32", [b], None)).tolist() == [True, False, True]


@pytest.mark.parametrize("op", ["vabs", "absi"])
def test_magnitude_of_the_smallest_integer_wraps(op: str) -> None:
    a = np.array([-128, -127, 0, 127], np.int8)
    assert masked(op, "si8", [a], None).tolist() == [-128, 127, 0, 127]


# ------------------------------------------------------------ scalars


@pytest.mark.parametrize(("element", "scalar"), [("f32", 0.1), ("f16", -3.5), ("i8", -100), ("ui16", 65535)])
def test_vector_and_scalar(element: str, scalar: float) -> None:
    a, active = numbers(element, 50), pattern(50)
    dtype = DTYPES[element]
    s = np.array(scalar).astype(dtype)
    type_ = vreg(element, 50)
    functions = {"vadds": np.add, "vmaxs": np.maximum, "vmins": np.minimum}
    if element != "i8":
        functions["vmuls"] = np.multiply
    if element == "ui16":
        functions.pop("vmuls")
    for op, function in functions.items():
        body = f"%r = pto.vmi.{op} %a, %s, %m : {type_}, {element}, {mask(50)} -> {type_}"
        got = run(body, {"a": (type_, a), "m": (mask(50), active), "s": (element, scalar)}, {"r": type_})[0]
        with np.errstate(all="ignore"):
            want = function(a, s)
        same(got, np.where(active, want, np.zeros(1, dtype)))


# ------------------------------------------------------------ fused and double-width


def fused(x: float, y: float, z: float) -> float:
    """x·y + z rounded once to f32."""
    if not all(map(math.isfinite, (x, y, z))):
        with np.errstate(all="ignore"):
            return float(np.float64(x) * np.float64(y) + np.float64(z))
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact == 0:
        return float(np.float64(x) * np.float64(y) + np.float64(z))
    nearest = np.float32(float(exact))
    around = [np.nextafter(nearest, np.float32(-np.inf)), nearest, np.nextafter(nearest, np.float32(np.inf))]
    around = [value for value in around if np.isfinite(value)]
    return float(min(around, key=lambda v: (abs(Fraction(float(v)) - exact), int(v.view(np.uint32)) & 1)))


@given(st.lists(st.tuples(*[st.floats(-1e6, 1e6, width=32)] * 3), min_size=1, max_size=8))
def test_multiply_add_rounds_once(triples: list[tuple[float, float, float]]) -> None:
    lanes = len(triples)
    type_ = vreg("f32", lanes)
    a, b, c = (np.array(column, np.float32) for column in zip(*triples, strict=True))
    want = [fused(*triple) for triple in triples]
    body = f"""%r = pto.vmi.fma %a, %b, %c : {type_}, {type_}, {type_} -> {type_}
    %s = pto.vmi.vmula %c, %a, %b : {type_}, {type_}, {type_} -> {type_}"""
    r, s = run(body, {"a": (type_, a), "b": (type_, b), "c": (type_, c)}, {"r": type_, "s": type_})
    same(r, want)
    same(s, want)


@pytest.mark.parametrize("merge", [False, True])
def test_an_accumulator_is_what_merge_keeps(merge: bool) -> None:
    acc, a, b = (numbers("i32", 33, seed) for seed in (1, 2, 3))
    active = pattern(33)
    got = masked("vmula", "i32", [acc, a, b], active, ' {pmode = "merge"}' if merge else "")
    exact = wrapped([int(z) + int(x) * int(y) for z, x, y in zip(acc, a, b, strict=True)], "i32")
    rest = acc if merge else np.zeros(33, np.int32)
    assert got.tolist() == [e if m else int(z) for e, m, z in zip(exact, active, rest, strict=True)]


@pytest.mark.parametrize("merge", ["", ' {pmode = "merge"}'])
def test_a_scaled_sum_keeps_what_it_adds_to(merge: str) -> None:
    x, acc = (np.random.default_rng(seed).standard_normal(40).astype(np.float32) for seed in (1, 2))
    active, type_ = pattern(40), vreg("f32", 40)
    types = f"({type_}, {type_}, f32, {mask(40)}) -> {type_}"
    body = f'%r = "pto.vmi.vaxpy"(%x, %y, %s, %m){merge} : {types}'
    arguments = {"x": (type_, x), "y": (type_, acc), "s": ("f32", 0.25), "m": (mask(40), active)}
    (got,) = run(body, arguments, {"r": type_})
    exact = (x.astype(np.float64) * 0.25 + acc.astype(np.float64)).astype(np.float32)
    assert np.asarray(got).tolist() == np.where(active, exact, acc if merge else 0).tolist()


def test_scaled_sums_and_slopes() -> None:
    x, acc, active = numbers("f32", 40, 1), numbers("f32", 40, 2), pattern(40)
    type_ = vreg("f32", 40)
    arguments = {"x": (type_, x), "y": (type_, acc), "s": ("f32", 0.25), "m": (mask(40), active)}
    body = f"""%r = "pto.vmi.vaxpy"(%x, %y, %s, %m) : ({type_}, {type_}, f32, {mask(40)}) -> {type_}
    %l = "pto.vmi.vlrelu"(%x, %s, %m) : ({type_}, f32, {mask(40)}) -> {type_}
    %p = pto.vmi.vprelu %x, %y, %m : {type_}, {type_}, {mask(40)} -> {type_}
    %e = pto.vmi.vexpdif %x, %y, %m : {type_}, {type_}, {mask(40)} -> {type_}"""
    r, slope, parametric, difference = run(body, arguments, dict.fromkeys("rlpe", type_))
    with np.errstate(all="ignore"):
        same(r, np.where(active, [fused(0.25, *pair) for pair in zip(x.tolist(), acc.tolist(), strict=True)], 0))
        same(slope, np.where(active, np.where(x >= 0, x, np.float32(0.25) * x), 0))
        same(parametric, np.where(active, np.where(x >= 0, x, acc * x), 0))
        same(difference, np.where(active, np.exp(x - acc), 0))


def test_exponentials_of_f16_are_f32() -> None:
    x, largest = numbers("f16", 100, 1), numbers("f16", 100, 2)
    body = (
        f"%r = pto.vmi.vexpdif %x, %y, %m : {vreg('f16', 100)}, {vreg('f16', 100)}, {mask(100)} -> {vreg('f32', 100)}"
    )
    arguments = {"x": (vreg("f16", 100), x), "y": (vreg("f16", 100), largest), "m": (mask(100), np.ones(100, np.bool_))}
    with np.errstate(all="ignore"):
        want = np.exp(x.astype(np.float32) - largest.astype(np.float32))
    same(run(body, arguments, {"r": vreg("f32", 100)})[0], want)


@pytest.mark.parametrize("element", ["i32", "ui32"])
def test_double_width_products(element: str) -> None:
    a, b, active = numbers(element, 64, 1), numbers(element, 64, 2), pattern(64)
    type_ = vreg(element, 64)
    body = f"%l, %h = pto.vmi.vmull %a, %b, %m : {type_}, {type_}, {mask(64)} -> {type_}, {type_}"
    arguments = {"a": (type_, a), "b": (type_, b), "m": (mask(64), active)}
    low, high = run(body, arguments, {"l": type_, "h": type_})
    exact = [int(x) * int(y) if m else 0 for x, y, m in zip(a, b, active, strict=True)]
    assert low.tolist() == wrapped(exact, element)
    assert high.tolist() == wrapped([value >> 32 for value in exact], element)


def test_carries_go_through_two_machine_words() -> None:
    """Sums of 64-bit numbers from two sums of 32 bits."""
    words = [numbers("ui32", 64, seed) for seed in range(1, 5)]
    type_, m = vreg("ui32", 64), mask(64)
    active = pattern(64)
    body = f"""%l, %c = pto.vmi.vaddc %a, %b, %m : {type_}, {type_}, {m} -> {type_}, {m}
    %h, %d = pto.vmi.vaddcs %x, %y, %c, %m : {type_}, {type_}, {m}, {m} -> {type_}, {m}"""
    arguments = {name: (type_, word) for name, word in zip("abxy", words, strict=True)} | {"m": (m, active)}
    low, carry, high, last = run(body, arguments, {"l": type_, "c": m, "h": type_, "d": m})
    a, b, x, y = (word.astype(object) for word in words)
    sums = [(int(s), int(t)) for s, t in zip(a + (x << 32), b + (y << 32), strict=True)]
    for lane, (first, second) in enumerate(sums):
        total = first + second if active[lane] else 0
        assert int(low[lane]) + (int(high[lane]) << 32) + (int(last[lane]) << 64) == total
    assert carry.tolist() == [bool(m) and int(s) + int(t) > 0xFFFFFFFF for s, t, m in zip(a, b, active, strict=True)]


# ------------------------------------------------------------ comparison and choice


@pytest.mark.parametrize("element", ["i8", "si8", "ui8", "i32", "f16", "bf16", "f32"])
@pytest.mark.parametrize("mode", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_comparisons(element: str, mode: str) -> None:
    lanes = 80
    a, b, seed = numbers(element, lanes, 1), numbers(element, lanes, 2), pattern(lanes)
    b[::5] = a[::5]
    type_, m = vreg(element, lanes), mask(lanes)
    scalar = float(b[7]) if element in FLOATS else int(b[7])
    body = f"""%r = pto.vmi.vcmp %a, %b, %m {{cmp = "{mode}"}} : {type_}, {type_}, {m} -> {m}
    %s = pto.vmi.vcmps %a, %s0, %m {{cmp = "{mode}"}} : {type_}, {element}, {m} -> {m}"""
    arguments = {"a": (type_, a), "b": (type_, b), "m": (m, seed), "s0": (element, scalar)}
    got, single = run(body, arguments, {"r": m, "s": m})
    unsigned = element in ("i8", "i32")
    bits = 8 * DTYPES[element].itemsize
    relation = {
        "eq": lambda x, y: x == y, "ne": lambda x, y: x != y, "lt": lambda x, y: x < y, "le": lambda x, y: x <= y,
        "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y,
    }[mode]  # fmt: skip

    def value(x):
        return float(x) if element in FLOATS else int(x) & ((1 << bits) - 1) if unsigned else int(x)

    assert got.tolist() == [bool(s) and relation(value(x), value(y)) for x, y, s in zip(a, b, seed, strict=True)]
    assert single.tolist() == [bool(s) and relation(value(x), value(b[7])) for x, s in zip(a, seed, strict=True)]


def test_ordered_inequality_is_false_for_nan_and_plain_inequality_true() -> None:
    a, b = np.array([np.nan, 1, 1, np.nan], np.float32), np.array([1, np.nan, 2, np.nan], np.float32)
    type_, m = vreg("f32", 4), mask(4)
    body = f"""%p = pto.vmi.cmpf "one", %a, %b : {type_}, {type_} -> {m}
    %q = pto.vmi.cmpf "ne", %a, %b : {type_}, {type_} -> {m}
    %o = pto.vmi.cmpf "oge", %b, %a : {type_}, {type_} -> {m}"""
    ordered, plain, at_least = run(body, {"a": (type_, a), "b": (type_, b)}, {"p": m, "q": m, "o": m})
    assert ordered.tolist() == [False, False, True, False]
    assert plain.tolist() == [True] * 4
    assert at_least.tolist() == [False, False, True, False]


def test_integer_predicates_state_the_sign() -> None:
    a, b = np.array([-1, 1, 5], np.int32), np.array([1, -1, 5], np.int32)
    type_, m = vreg("i32", 3), mask(3)
    body = f"""%p = pto.vmi.cmpi "slt", %a, %b : {type_}, {type_} -> {m}
    %q = pto.vmi.cmpi "ult", %a, %b : {type_}, {type_} -> {m}
    %s = pto.vmi.cmpi "uge", %a, %b : {type_}, {type_} -> {m}"""
    signed, unsigned, at_least = run(body, {"a": (type_, a), "b": (type_, b)}, {"p": m, "q": m, "s": m})
    assert signed.tolist() == [True, False, False]
    assert unsigned.tolist() == [False, True, False]
    assert at_least.tolist() == [True, False, True]


@pytest.mark.parametrize("element", ["f32", "bf16", "ui8", "!pto.hif8"])
def test_choice(element: str) -> None:
    a, b, chosen = numbers(element, 66, 1), numbers(element, 66, 2), pattern(66)
    type_, m = vreg(element, 66), mask(66)
    body = f"""%r = pto.vmi.vsel %m, %a, %b : {m}, {type_}, {type_} -> {type_}
    %s = pto.vmi.select %m, %a, %b : {m}, {type_}, {type_} -> {type_}"""
    for got in run(body, {"a": (type_, a), "b": (type_, b), "m": (m, chosen)}, {"r": type_, "s": type_}):
        assert got.tobytes() == np.where(chosen, a, b).tobytes()


def test_arithmetic_of_8_bit_floats_is_refused() -> None:
    type_ = vreg("f8E4M3FN", 64)
    body = f"%r = pto.vmi.vmula %a, %a, %a : {type_}, {type_}, {type_} -> {type_}"
    with pytest.raises(ProgramError, match="no page defines arithmetic of f8E4M3FN lanes"):
        kernel(body, {"a": type_}, {"r": type_})

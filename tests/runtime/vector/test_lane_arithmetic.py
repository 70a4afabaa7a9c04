"""Arithmetic of vector registers on whole registers, given and returned as values, against formulas in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from vmi_programs import DTYPES, numbers, run

INTEGERS = ("i8", "ui8", "i16", "ui16", "i32", "ui32")
COMPARISONS = {"eq": "__eq__", "ne": "__ne__", "lt": "__lt__", "le": "__le__", "gt": "__gt__", "ge": "__ge__"}


def lanes(element: str) -> int:
    return 256 // DTYPES[element].itemsize


def vreg(element: str) -> str:
    return f"!pto.vreg<{lanes(element)}x{element}>"


def grain(element: str) -> str:
    return f"b{8 * DTYPES[element].itemsize}"


def computed(statement: str, element: str, active: int, *inputs: np.ndarray, scalars: Any = None) -> np.ndarray:
    """The register that `%r = statement` makes of %a and %b; ``{v}`` and ``{m}`` are the types."""
    v, m = vreg(element), f"!pto.mask<{grain(element)}>"
    body = f"%n = arith.constant {active} : i32\n%m, %rest = pto.plt_{grain(element)} %n : i32 -> {m}, i32\n"
    body += f"%r = {statement.format(v=v, m=m)}"
    arguments = {name: (v, value) for name, value in zip("ab", inputs, strict=False)}
    (found,) = run(body, arguments | (scalars or {}), {"r": v})
    return np.asarray(found)


def wrapped(value: int, element: str) -> int:
    """An integer as an element has it."""
    limits = np.iinfo(DTYPES[element])
    return (value - int(limits.min)) % (1 << limits.bits) + int(limits.min)


@pytest.mark.parametrize("element", INTEGERS)
@pytest.mark.parametrize("share", [1.0, 0.3])
def test_bits(element: str, share: float) -> None:
    a, b = numbers(element, lanes(element), 1), numbers(element, lanes(element), 2)
    active = int(lanes(element) * share)
    functions: dict[str, Callable[[int, int], int]] = {
        "vand": lambda x, y: x & y, "vor": lambda x, y: x | y, "vxor": lambda x, y: x ^ y,
    }  # fmt: skip
    for op, function in functions.items():
        found = computed(f"pto.{op} %a, %b, %m : {{v}}, {{v}}, {{m}} -> {{v}}", element, active, a, b)
        wanted = [function(int(x), int(y)) if i < active else 0 for i, (x, y) in enumerate(zip(a, b, strict=True))]
        assert found.tolist() == wanted, op
    found = computed("pto.vnot %a, %m : {v}, {m} -> {v}", element, active, a)
    assert found.tolist() == [wrapped(~int(x), element) if i < active else 0 for i, x in enumerate(a)]


@pytest.mark.parametrize("element", ["i16", "ui16", "i32", "ui32"])
def test_a_register_and_a_number(element: str) -> None:
    a = numbers(element, lanes(element))
    signless = f"i{8 * DTYPES[element].itemsize}"
    functions: dict[str, Callable[[int], int]] = {
        "vmaxs": lambda x: max(x, 77), "vmins": lambda x: min(x, 77), "vmuls": lambda x: wrapped(77 * x, element),
        "vadds": lambda x: wrapped(x + 77, element),
    }  # fmt: skip
    kind = element if element.startswith("u") else signless
    for op, function in functions.items():
        found = computed(
            f"pto.{op} %a, %s, %m : {{v}}, {kind}, {{m}} -> {{v}}",
            element,
            lanes(element),
            a,
            scalars={"s": (kind, 77)},
        )
        assert found.tolist() == [function(int(x)) for x in a], op
    shifts: dict[str, Callable[[int], int]] = {"vshls": lambda x: wrapped(x << 5, element), "vshrs": lambda x: x >> 5}
    for op, function in shifts.items():
        found = computed(
            f"pto.{op} %a, %s, %m : {{v}}, i16, {{m}} -> {{v}}", element, lanes(element), a, scalars={"s": ("i16", 5)}
        )
        assert found.tolist() == [function(int(x)) for x in a], op


@pytest.mark.parametrize("element", ["f16", "f32"])
@pytest.mark.parametrize("share", [1.0, 0.3])
def test_floats(element: str, share: float) -> None:
    """Quotients are rounded once; numbers that are not above zero are scaled."""
    a, b = numbers(element, lanes(element), 1), numbers(element, lanes(element), 2)
    active = int(lanes(element) * share)
    dtype = a.dtype
    with np.errstate(all="ignore"):
        wanted = {
            "vdiv": (a.astype(np.float64) / b.astype(np.float64)).astype(dtype),
            "vprelu": np.where(a > 0, a, (a.astype(np.float64) * b.astype(np.float64)).astype(dtype)),
        }
        half = np.where(a > 0, a, (a.astype(np.float64) * 0.5).astype(dtype))
    for op, values in wanted.items():
        values[active:] = 0
        found = computed(f"pto.{op} %a, %b, %m : {{v}}, {{v}}, {{m}} -> {{v}}", element, active, a, b)
        np.testing.assert_array_equal(found.astype(np.float64), values.astype(np.float64), op)
    half[active:] = 0
    scalars = {"s": (element, 0.5)}
    found = computed(f"pto.vlrelu %a, %s, %m : {{v}}, {element}, {{m}} -> {{v}}", element, active, a, scalars=scalars)
    np.testing.assert_array_equal(found.astype(np.float64), half.astype(np.float64))


@pytest.mark.parametrize("mode", COMPARISONS)
@pytest.mark.parametrize("element", ["f32", "i32", "ui16"])
def test_a_register_is_compared_with_a_number(element: str, mode: str) -> None:
    a = numbers(element, lanes(element))
    a[::3] = 3
    v, m, active = vreg(element), f"!pto.mask<{grain(element)}>", lanes(element) - 5
    body = f"""%n = arith.constant {active} : i32
    %m, %rest = pto.plt_{grain(element)} %n : i32 -> {m}, i32
    %c = pto.vcmps %a, %s, %m, "{mode}" : {v}, {element}, {m} -> {m}
    %r = pto.vsel %x, %y, %c : {v}, {v}, {m} -> {v}"""
    one, zero = np.ones(lanes(element), a.dtype), np.zeros(lanes(element), a.dtype)
    (found,) = run(body, {"a": (v, a), "x": (v, one), "y": (v, zero), "s": (element, 3)}, {"r": v})
    wanted = [float(i < active and getattr(float(x), COMPARISONS[mode])(3.0)) for i, x in enumerate(a)]
    assert [float(x) for x in found] == wanted


@pytest.mark.parametrize("element", ["i16", "ui16", "i32", "f16", "f32"])
def test_smallest_of_each_block(element: str) -> None:
    """A block has 32 bytes; the neutral value stands for blocks without an active lane."""
    dtype = DTYPES[element]
    a = np.random.default_rng(8).integers(0 if dtype.kind == "u" else -90, 90, lanes(element)).astype(dtype)
    size = 32 // dtype.itemsize
    active = 3 * size + 2
    found = computed("pto.vcgmin %a, %m : {v}, {m} -> {v}", element, active, a)
    neutral = float("inf") if dtype.kind not in "iu" else float(np.iinfo(dtype).max)
    wanted = [
        min((float(a[i]) for i in range(size * block, size * (block + 1)) if i < active), default=neutral)
        for block in range(8)
    ]
    assert [float(x) for x in found[:8]] == wanted
    assert not np.asarray(found[8:], np.float64).any()


# --- predicates and registers of unaligned places ---------------------------------------------------------

PATTERNS: dict[str, Callable[[int, int], bool]] = {
    "PAT_ALL": lambda i, n: True,
    "PAT_ALLF": lambda i, n: False,
    "PAT_H": lambda i, n: i < n // 2,
    "PAT_Q": lambda i, n: i < n // 4,
    "PAT_M3": lambda i, n: i % 3 == 0,
    "PAT_M4": lambda i, n: i % 4 == 0,
    **{f"PAT_VL{count}": lambda i, n, count=count: i < count for count in (1, 2, 3, 4, 8, 16, 32, 64, 128)},
}


def chosen(statement: str, element: str, more: dict[str, tuple[str, Any]] | None = None) -> list[bool]:
    """Lanes of a predicate: where a register of ones is taken instead of zeros."""
    v, m, count = vreg(element), f"!pto.mask<{grain(element)}>", lanes(element)
    body = f"{statement}\n%r = pto.vsel %x, %y, %m : {v}, {v}, {m} -> {v}"
    one, zero = np.ones(count, DTYPES[element]), np.zeros(count, DTYPES[element])
    (found,) = run(body, {"x": (v, one), "y": (v, zero), **(more or {})}, {"r": v})
    return [bool(x) for x in found]


@pytest.mark.parametrize("element", ["ui8", "ui16", "ui32"])
@pytest.mark.parametrize("op", ["pge", "pset"])
def test_patterns(op: str, element: str) -> None:
    count, width = lanes(element), grain(element)
    for pattern, formula in PATTERNS.items():
        found = chosen(f'%m = pto.{op}_{width} "{pattern}" : !pto.mask<{width}>', element)
        assert found == [formula(i, count) for i in range(count)], pattern


@pytest.mark.parametrize("element", ["ui8", "ui16", "ui32"])
@pytest.mark.parametrize("rest", [0, 1, 63, 64, 255, 300])
def test_first_lanes_of_a_rest(element: str, rest: int) -> None:
    """As many lanes as are left, and what is left after them."""
    count, width = lanes(element), grain(element)
    text = f"%m, %left = pto.plt_{width} %n : i32 -> !pto.mask<{width}>, i32"
    assert chosen(text, element, {"n": ("i32", rest)}) == [i < rest for i in range(count)]
    (left,) = run(text, {"n": ("i32", rest)}, {"left": "i32"})
    assert left == max(0, rest - count)


def test_a_register_from_any_position() -> None:
    """Also from one that is no multiple of 32 bytes; a fence of memory changes no number."""
    source = np.arange(300, dtype=np.float32)
    v, p = vreg("f32"), "!pto.ptr<f32, ub>"
    body = f"""%r = pto.uvld %p[%i] : {p} -> {v}
    pto.mem_bar "VST_VLD"
    %s = pto.uvld %p[%i] : {p} -> {v}"""
    found = run(body, {"p": (p, source), "i": ("index", 37)}, {"r": v, "s": v})
    assert [one.tolist() for one in found] == [source[37:101].tolist()] * 2

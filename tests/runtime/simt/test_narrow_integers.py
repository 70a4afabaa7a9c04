"""Integers of one and of eight bits, all of them, in every operation of work-items, against Python's."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from run_time_tiles import refused

from pto_dialect.runtime.memory.spaces import Arena
from pto_dialect.runtime.simt.addresses import Pointers, choose_pointers, pointers
from pto_dialect.runtime.simt.combining import CompareAndSwap
from pto_dialect.runtime.simt.integers import DIVISIONS, EXTENDED, PLAIN, SINGLE_BITS, Resize, compare, power
from pto_dialect.runtime.simt.items import Geometry, WorkItems
from pto_dialect.runtime.simt.selection import choose

FEW = (0, 1, -1, 2, -2, 3, 7, 8, 9, 63, 127, -127, -128, -100)
Model = Callable[[int, int, int], int]


def u(number: int, width: int) -> int:
    return number % (1 << width)


def toward_zero(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


MODELS: dict[str, Model] = {
    "addi": lambda a, b, w: a + b, "subi": lambda a, b, w: a - b, "muli": lambda a, b, w: a * b,
    "andi": lambda a, b, w: a & b, "ori": lambda a, b, w: a | b, "xori": lambda a, b, w: a ^ b,
    "minsi": lambda a, b, w: min(a, b), "maxsi": lambda a, b, w: max(a, b),
    "minui": lambda a, b, w: min(u(a, w), u(b, w)), "maxui": lambda a, b, w: max(u(a, w), u(b, w)),
    "shli": lambda a, b, w: a << u(b, w) if u(b, w) < w else 0,
    "shrsi": lambda a, b, w: a >> min(u(b, w), w), "shrui": lambda a, b, w: u(a, w) >> min(u(b, w), w),
    "divsi": lambda a, b, w: toward_zero(a, b), "remsi": lambda a, b, w: a - toward_zero(a, b) * b,
    "floordivsi": lambda a, b, w: a // b, "ceildivsi": lambda a, b, w: -(-a // b),
    "divui": lambda a, b, w: u(a, w) // u(b, w), "remui": lambda a, b, w: u(a, w) % u(b, w),
    "ceildivui": lambda a, b, w: -(-u(a, w) // u(b, w)),
}  # fmt: skip
ORDERS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def items(count: int = 4) -> WorkItems:
    return WorkItems(Geometry((count, 1, 1)))


def pairs() -> tuple[np.ndarray, np.ndarray]:
    found = list(product(range(-128, 128), FEW))
    return np.array([a for a, _ in found], np.int8), np.array([b for _, b in found], np.int8)


def wrapped(values: list[int]) -> list[int]:
    return [(value + 128) % 256 - 128 for value in values]


@pytest.mark.parametrize("name", PLAIN)
def test_bytes(name: str) -> None:
    a, b = pairs()
    wanted = [MODELS[name](int(x), int(y), 8) for x, y in zip(a, b, strict=True)]
    found = PLAIN[name](a, b)
    assert found.dtype == np.int8 and found.tolist() == wrapped(wanted)


@pytest.mark.parametrize("name", DIVISIONS)
def test_divisions_of_bytes(name: str) -> None:
    a, b = (values[np.flatnonzero(pairs()[1])] for values in pairs())
    if name in ("divsi", "remsi", "floordivsi", "ceildivsi"):
        # The one quotient that has no number.
        a, b = a[~((a == -128) & (b == -1))], b[~((a == -128) & (b == -1))]
    wanted = [MODELS[name](int(x), int(y), 8) for x, y in zip(a, b, strict=True)]
    assert DIVISIONS[name](items(a.size), None, a, b).tolist() == wrapped(wanted)
    message = "work-item (2, 0, 0) divides an integer by zero"
    some = np.array([1, 1, 0, 0], np.int8)
    refused("division-by-zero", message, lambda: DIVISIONS[name](items(), None, some, some))
    idle = np.array([True, True, False, False])
    assert DIVISIONS[name](items(), idle, some, some)[:2].tolist() == [MODELS[name](1, 1, 8)] * 2


@pytest.mark.parametrize("name", [name for name in SINGLE_BITS if not name.startswith("sh")])
def test_single_bits(name: str) -> None:
    a, b = np.array([0, 0, 1, 1], bool), np.array([0, 1, 0, 1], bool)
    wanted = [u(MODELS[name](-int(x), -int(y), 1), 1) for x, y in zip(a, b, strict=True)]
    found = SINGLE_BITS[name](a, b)
    assert found.dtype == np.bool_ and found.tolist() == list(map(bool, wanted))


@pytest.mark.parametrize("predicate", ["eq", "ne", *(s + p for s in "su" for p in ("lt", "le", "gt", "ge"))])
def test_comparisons(predicate: str) -> None:
    sign, order = (predicate[0], predicate[1:]) if len(predicate) == 3 else ("s", predicate)
    for width, (a, b) in ((8, pairs()), (1, (np.array([0, 0, 1, 1], bool), np.array([0, 1, 0, 1], bool)))):
        x, y = ([-int(v) if width == 1 else int(v) for v in values] for values in (a, b))
        if sign == "u":
            x, y = ([u(v, width) for v in values] for values in (x, y))
        wanted = [eval(f"p {ORDERS[order]} q", {"p": p, "q": q}) for p, q in zip(x, y, strict=True)]
        assert compare(predicate)(a, b).tolist() == wanted


@pytest.mark.parametrize("name", EXTENDED)
def test_two_results(name: str) -> None:
    for width, (a, b) in ((8, pairs()), (1, (np.array([0, 0, 1, 1], bool), np.array([0, 1, 0, 1], bool)))):
        x, y = ([-int(v) if width == 1 else int(v) for v in values] for values in (a, b))
        if name != "mulsi_extended":
            x, y = ([u(v, width) for v in values] for values in (x, y))
        low, high = EXTENDED[name](a, b)
        whole = [p + q if name == "addui_extended" else p * q for p, q in zip(x, y, strict=True)]
        assert [u(int(v), width) for v in low] == [u(v, width) for v in whole]
        assert [u(int(v), width) for v in high] == [u(v >> width, width) for v in whole]


def test_powers() -> None:
    a, b = (values.astype(np.int8) for values in pairs())
    message = "0 to a negative power in work-item (1, 0, 0)"
    zero = np.array([1, 0, 0, 0], np.int8)
    refused("division-by-zero", message, lambda: power(items(), None, zero, np.array([0, -1, 0, -5], np.int8)))
    a, b = a[~((a == 0) & (b < 0))], b[~((a == 0) & (b < 0))]
    exact = [
        int(x) ** int(y) if y >= 0 else (1 if x == 1 or y % 2 == 0 else -1) if abs(x) == 1 else 0
        for x, y in zip(a.tolist(), b.tolist(), strict=True)
    ]
    assert power(items(a.size), None, a, b).tolist() == wrapped(exact)


SIZES = (np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64)


@pytest.mark.parametrize("source", SIZES)
@pytest.mark.parametrize("signed", [True, False])
def test_other_widths(source: type, signed: bool) -> None:
    values = np.array([0, 1, 127, 128, 255, 2**15, 2**31, 2**63 - 1, -1, -128], np.int64).astype(source)
    width = 1 if source is np.bool_ else 8 * np.dtype(source).itemsize
    bits = [u(int(v), width) for v in values]
    filled = [v - (1 << width) if signed and v >> width - 1 else v for v in bits]
    for target in SIZES:
        found = Resize(np.dtype(target), signed)(values)
        size = 1 if target is np.bool_ else 8 * np.dtype(target).itemsize
        assert found.dtype == target and [u(int(v), size) for v in found] == [u(v, size) for v in filled]


# ------------------------------------------------------------ choices


def test_values_are_chosen_item_by_item() -> None:
    condition = np.array([True, False, True])
    a, b = np.arange(3), np.arange(10, 13)
    assert choose(condition, a, b).tolist() == [0, 11, 2]
    pairs_ = choose(condition, np.zeros((3, 2)), np.ones((3, 2)))
    assert pairs_.tolist() == [[0, 0], [1, 1], [0, 0]]
    same = object()
    assert choose(condition, same, same) is same
    refused("unmodelled", "values of kind str that differ between work-items", lambda: choose(condition, "a", "b"))


def test_pointers_are_chosen_item_by_item() -> None:
    first, second = Arena("ub", 64), Arena("gm", 64, name="a")
    condition = np.array([True, False, True, False])
    p, q = (arena.pointer(place, np.float32) for arena, place in ((first, 8), (first, 16)))
    one = choose_pointers(condition, p, q)
    assert one.arenas == (first,) and one.which is None and one.offset.tolist() == [8, 16, 8, 16]
    two = choose_pointers(condition, p, second.pointer(32, np.float32))
    assert two.arenas == (first, second) and two.which is not None and two.which.tolist() == [0, 1, 0, 1]
    assert two.offset.tolist() == [8, 32, 8, 32] and two.dtype == np.float32 and two.item_bytes == 4
    again = choose_pointers(np.array([True, True, False, False]), two, q)
    assert again.arenas == (first, second) and again.which is not None and again.which.tolist() == [0, 1, 0, 0]
    assert again.offset.tolist() == [8, 32, 16, 16]
    third = choose_pointers(np.array([False, True, False, True]), q, two)
    assert third.arenas == (first, second) and third.which is not None and third.which.tolist() == [0, 0, 0, 0]
    moved = pointers(p).advance(np.array([0, 1, 2, 3]))
    assert moved.offset.tolist() == [8, 12, 16, 20] and moved.with_dtype(np.int16).item_bytes == 2
    assert pointers(moved) is moved and isinstance(moved, Pointers)


def test_compare_and_swap_looks_at_all_parts() -> None:
    old = np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]], np.float16)
    expected = np.array([[1.0, 2.0], [1.0, 3.0], [0.0, 2.0]], np.float16)
    found = CompareAndSwap()(old, expected, np.full((3, 2), 9, np.float16))
    assert found.tolist() == [[9, 9], [1, 2], [1, 2]]
    zero, minus = np.array([0.0, math.nan], np.float32), np.array([-0.0, math.nan], np.float32)
    assert CompareAndSwap()(zero, minus, np.array([5.0, 6.0], np.float32)).tolist() == [0.0, 6.0]

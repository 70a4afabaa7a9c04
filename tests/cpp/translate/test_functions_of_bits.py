"""Functions of bits that compilers write as one call: reversed and rotated bits, sums that stop at an end."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

import pto_dialect
from pto_dialect.cpp.translate import translate_module

WIDTHS = (8, 16, 32, 64)


def edges(width: int) -> list[int]:
    """Numbers with a sign: the ends of the range, zero and its neighbours, and a pattern without symmetry."""
    limit = 1 << width - 1
    return [0, 1, -1, 2, limit - 1, -limit, 1 - limit, 0x5A17C3B2E4D68F01 % limit]


def signed(value: int, width: int) -> int:
    value %= 1 << width
    return value - (1 << width) if value >> width - 1 else value


def computed(name: str, count: int, width: int, *numbers: int) -> int:
    """What a call of an LLVM function with ``count`` numbers returns."""
    type_ = f"i{width}"
    names = [f"%a{number}" for number in range(count)]
    arguments = ", ".join(f"{type_} {name}" for name in names)
    text = f"""define void @k(ptr %out, {arguments}) {{
entry:
  %r = call {type_} @llvm.{name}.{type_}({arguments})
  store {type_} %r, ptr %out
  ret void
}}"""
    kernel = pto_dialect.compile(pto_dialect.parse(translate_module([("", text)], entry="k")), "k")
    out = np.zeros(1, f"i{width // 8}")
    kernel(out, *numbers)
    return int(out[0])


def reverse(value: int, width: int) -> int:
    return signed(int(format(value % (1 << width), f"0{width}b")[::-1], 2), width)


def funnel(high: int, low: int, count: int, width: int, left: bool) -> int:
    """The upper, or the lower, half of both numbers in a row, shifted by the count modulo the width."""
    both, count = (high % (1 << width)) << width | low % (1 << width), count % (1 << width) % width
    return signed(both << count >> width if left else both >> count, width)


def bounded(value: int, width: int) -> int:
    limit = 1 << width - 1
    return min(max(value, -limit), limit - 1)


@pytest.mark.parametrize("width", WIDTHS)
def test_reversed_bits(width: int) -> None:
    for value in edges(width):
        assert computed("bitreverse", 1, width, value) == reverse(value, width)


def test_one_bit_in_reverse_is_itself() -> None:
    """Compilers reverse the truth of a comparison."""
    text = """define void @k(ptr %out, i32 %n) {
entry:
  %c = icmp sgt i32 %n, 3
  %r = call i1 @llvm.bitreverse.i1(i1 %c)
  %w = zext i1 %r to i32
  store i32 %w, ptr %out
  ret void
}"""
    kernel = pto_dialect.compile(pto_dialect.parse(translate_module([("", text)], entry="k")), "k")
    for number in (3, 4):
        out = np.full(1, 9, np.int32)
        kernel(out, number)
        assert out.tolist() == [int(number > 3)]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["fshl", "fshr"])
def test_bits_shifted_through_two_numbers(name: str, width: int) -> None:
    """By counts that a run computes, also 0, the width and more."""
    values, counts = edges(width), [0, 1, width - 1, width, width + 3, 5, -1, -width]
    for high, low, count in zip(values, values[3:] + values[:3], counts, strict=True):
        assert computed(name, 3, width, high, low, count) == funnel(high, low, count, width, name == "fshl")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("name", "exact"), [("sadd.sat", int.__add__), ("ssub.sat", int.__sub__)])
def test_sums_stop_at_the_ends_of_the_range(name: str, exact: Callable[[int, int], int], width: int) -> None:
    for left, right in itertools.product([*edges(width)[::2], -(1 << width - 1)], edges(width)):
        assert computed(name, 2, width, left, right) == bounded(exact(left, right), width), (left, right)

"""Integers of ``arith`` and ``math``, plain and between work-items, against Python integers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from core_operations import DTYPES, MODES, edges, evaluate, signed

Model = Callable[[int, int, int], int]


def low(value: int, width: int) -> int:
    return value % (1 << width)


def toward_zero(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


BINARY: dict[str, Model] = {
    "addi": lambda a, b, w: a + b,
    "subi": lambda a, b, w: a - b,
    "muli": lambda a, b, w: a * b,
    "andi": lambda a, b, w: a & b,
    "ori": lambda a, b, w: a | b,
    "xori": lambda a, b, w: a ^ b,
    "minsi": lambda a, b, w: a if a < b else b,
    "maxsi": lambda a, b, w: b if a < b else a,
    "minui": lambda a, b, w: a if low(a, w) < low(b, w) else b,
    "maxui": lambda a, b, w: b if low(a, w) < low(b, w) else a,
    "shli": lambda a, b, w: a << min(low(b, w), w),
    "shrsi": lambda a, b, w: a >> min(low(b, w), w),
    "shrui": lambda a, b, w: low(a, w) >> min(low(b, w), w),
}
DIVISIONS: dict[str, Model] = {
    "divsi": lambda a, b, w: toward_zero(a, b),
    "remsi": lambda a, b, w: a - toward_zero(a, b) * b,
    "floordivsi": lambda a, b, w: a // b,
    "ceildivsi": lambda a, b, w: -(-a // b),
    "divui": lambda a, b, w: low(a, w) // low(b, w),
    "remui": lambda a, b, w: low(a, w) % low(b, w),
    "ceildivui": lambda a, b, w: -(-low(a, w) // low(b, w)),
}


def pairs(width: int, divisor: bool = False) -> tuple[np.ndarray, np.ndarray]:
    both = [(a, b) for a in edges(width) for b in edges(width) if b or not divisor]
    dtype = DTYPES[f"i{width}"]
    return np.array([a for a, _ in both], dtype), np.array([b for _, b in both], dtype)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_all_of_two_operands(width: int, mode: str) -> None:
    type_ = f"i{width}"
    for models in (BINARY, DIVISIONS):
        a, b = pairs(width, models is DIVISIONS)
        names = list(models)
        lines = "\n".join(f"%r{n} = arith.{name} %a, %b : {type_}" for n, name in enumerate(names))
        made = evaluate(mode, lines, {"a": (type_, a), "b": (type_, b)}, {f"r{n}": type_ for n in range(len(names))})
        for name, found in zip(names, made, strict=True):
            wanted = [signed(models[name](x, y, width), width) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
            np.testing.assert_array_equal(found, wanted, err_msg=name)


@pytest.mark.parametrize("mode", MODES)
def test_index_is_64_bits_wide(mode: str) -> None:
    """Unsigned operations on negative indices give what fits into 64 bits."""
    names = ("divui", "remui", "ceildivui", "minui", "maxui", "shrui", "divsi", "floordivsi", "ceildivsi", "minsi")
    both = [(a, b) for a in (5, -5, -1, 1 << 62, -(1 << 63)) for b in (1, 2, 3, 7, -3)]
    a, b = np.array([x for x, _ in both]), np.array([y for _, y in both])
    lines = "%x = arith.index_cast %a : i64 to index\n%y = arith.index_cast %b : i64 to index\n"
    for number, name in enumerate(names):
        lines += (
            f"%i_{number} = arith.{name} %x, %y : index\n%r{number} = arith.index_cast %i_{number} : index to i64\n"
        )
    inputs = {"a": ("i64", a), "b": ("i64", b)}
    made = evaluate(mode, lines, inputs, {f"r{number}": "i64" for number in range(len(names))})
    models = {**BINARY, **DIVISIONS}
    for name, found in zip(names, made, strict=True):
        wanted = [signed(models[name](x, y, 64), 64) for x, y in both]
        np.testing.assert_array_equal(found, wanted, err_msg=name)


@pytest.mark.parametrize("mode", MODES)
def test_products_of_indices_wrap_at_once(mode: str) -> None:
    """What is computed of a product sees 64 bits, and a number that is squared over and over stays that short."""
    a = np.array([3, -5, 1 << 40, -(1 << 63)])
    lines = (
        "%x = arith.index_cast %a : i64 to index\n%three = arith.constant 3 : index\n"
        "%p = arith.muli %x, %x : index\n%q = arith.muli %x, %three : index\n"
        "%d = arith.divsi %p, %three : index\n%e = arith.divsi %q, %three : index\n"
        "%zero = arith.constant 0 : index\n%one = arith.constant 1 : index\n%many = arith.constant 600 : index\n"
        "%f = scf.for %i = %zero to %many step %one iter_args(%n = %x) -> (index) {\n"
        "  %s = arith.muli %n, %n : index\n  scf.yield %s : index\n}\n"
        "%r0 = arith.index_cast %d : index to i64\n%r1 = arith.index_cast %e : index to i64\n"
        "%r2 = arith.index_cast %f : index to i64\n"
    )
    made = evaluate(mode, lines, {"a": ("i64", a)}, {f"r{number}": "i64" for number in range(3)})
    assert made[0].tolist() == [toward_zero(signed(x * x, 64), 3) for x in a.tolist()]
    assert made[1].tolist() == [toward_zero(signed(x * 3, 64), 3) for x in a.tolist()]
    assert made[2].tolist() == [signed(pow(x, 1 << 600, 1 << 64), 64) for x in a.tolist()]


@pytest.mark.parametrize("mode", MODES)
def test_sums_of_indices_wrap_at_once(mode: str) -> None:
    a = np.array([3, -5, (1 << 63) - 2, -(1 << 63)])
    lines = (
        "%x = arith.index_cast %a : i64 to index\n%three = arith.constant 3 : index\n"
        "%s = arith.addi %x, %three : index\n%t = arith.subi %x, %three : index\n"
        "%d = arith.divsi %s, %three : index\n%e = arith.divsi %t, %three : index\n"
        "%less = arith.cmpi slt, %s, %x : index\n%f = arith.select %less, %three, %x : index\n"
        "%r0 = arith.index_cast %d : index to i64\n%r1 = arith.index_cast %e : index to i64\n"
        "%r2 = arith.index_cast %f : index to i64\n"
    )
    made = evaluate(mode, lines, {"a": ("i64", a)}, {f"r{number}": "i64" for number in range(3)})
    assert made[0].tolist() == [toward_zero(signed(x + 3, 64), 3) for x in a.tolist()]
    assert made[1].tolist() == [toward_zero(signed(x - 3, 64), 3) for x in a.tolist()]
    assert made[2].tolist() == [3 if signed(x + 3, 64) < x else x for x in a.tolist()]


@pytest.mark.parametrize("mode", MODES)
def test_single_bits(mode: str) -> None:
    """A set bit is -1 as a signed number and 1 as an unsigned one."""
    a, b = np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 0, 1], np.int32)
    head = "%p = arith.trunci %a : i32 to i1\n%q = arith.trunci %b : i32 to i1\n"
    names = ("addi", "subi", "muli", "andi", "ori", "xori", "minsi", "maxsi", "minui", "maxui")
    for name in names:
        lines = head + f"%x = arith.{name} %p, %q : i1\n%r = arith.extsi %x : i1 to i32"
        (found,) = evaluate(mode, lines, {"a": ("i32", a), "b": ("i32", b)}, {"r": "i32"})
        wanted = [signed(BINARY[name](-x, -y, 1), 1) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
        np.testing.assert_array_equal(found, wanted, err_msg=name)
    for predicate, wanted in (
        ("slt", [0, 0, 1, 0]),
        ("ult", [0, 1, 0, 0]),
        ("sge", [1, 1, 0, 1]),
        ("ne", [0, 1, 1, 0]),
    ):
        lines = head + f"%x = arith.cmpi {predicate}, %p, %q : i1\n%r = arith.extui %x : i1 to i32"
        (found,) = evaluate(mode, lines, {"a": ("i32", a), "b": ("i32", b)}, {"r": "i32"})
        np.testing.assert_array_equal(found, wanted, err_msg=predicate)
    lines = head + "%r = arith.sitofp %p : i1 to f32\n%s = arith.uitofp %p : i1 to f32"
    made = evaluate(mode, lines, {"a": ("i32", a), "b": ("i32", b)}, {"r": "f32", "s": "f32"})
    assert [found.tolist() for found in made] == [[0, 0, -1, -1], [0, 0, 1, 1]]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_sums_and_products_of_twice_the_width(width: int, mode: str) -> None:
    type_ = f"i{width}"
    a, b = pairs(width)
    lines = f"""
      %r, %bit = arith.addui_extended %a, %b : {type_}, i1
      %s = arith.extui %bit : i1 to i8
      %t, %u = arith.mulsi_extended %a, %b : {type_}
      %v, %w = arith.mului_extended %a, %b : {type_}
    """
    outputs = {"r": type_, "s": "i8", "t": type_, "u": type_, "v": type_, "w": type_}
    total, carry, low_s, high_s, low_u, high_u = evaluate(mode, lines, {"a": (type_, a), "b": (type_, b)}, outputs)
    for n, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        whole = low(x, width) + low(y, width)
        assert (low(int(total[n]), width), int(carry[n])) == (whole % (1 << width), whole >> width)
        assert (int(high_s[n]) << width) + low(int(low_s[n]), width) == x * y
        assert (low(int(high_u[n]), width) << width) + low(int(low_u[n]), width) == low(x, width) * low(y, width)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("width", [8, 32, 64])
def test_bits_and_powers(width: int, mode: str) -> None:
    type_ = f"i{width}"
    a = np.array(edges(width), DTYPES[type_])
    lines = "\n".join(f"%r{n} = math.{name} %a : {type_}" for n, name in enumerate(("ctlz", "cttz", "ctpop", "absi")))
    zeros, trailing, ones, sizes = evaluate(mode, lines, {"a": (type_, a)}, {f"r{n}": type_ for n in range(4)})
    for n, value in enumerate(a.tolist()):
        digits = f"{low(value, width):0{width}b}"
        assert zeros[n] == len(digits) - len(digits.lstrip("0"))
        assert trailing[n] == len(digits) - len(digits.rstrip("0"))
        assert ones[n] == digits.count("1")
        assert sizes[n] == signed(-value if value < 0 else value, width)
    both = [(x, y) for x in (0, 1, -1, 2, -3, 10) for y in (0, 1, 2, 5, 40, -1, -2) if x or y >= 0]
    base, exponent = (np.array(column, DTYPES[type_]) for column in zip(*both, strict=True))
    inputs = {"a": (type_, base), "b": (type_, exponent)}
    (found,) = evaluate(mode, f"%r = math.ipowi %a, %b : {type_}", inputs, {"r": type_})
    wanted = [signed(x**y if y >= 0 else int(float(x) ** y), width) for x, y in both]
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("mode", MODES)
def test_widths(mode: str) -> None:
    a = np.array(edges(32), np.int32)
    lines = """
      %r = arith.extsi %a : i32 to i64
      %s = arith.extui %a : i32 to i64
      %t = arith.trunci %a : i32 to i8
      %x = arith.index_cast %a : i32 to index
      %u = arith.index_cast %x : index to i64
      %y = arith.index_castui %a : i32 to index
      %v = arith.index_castui %y : index to i64
      %w = arith.index_castui %y : index to i16
    """
    outputs = {"r": "i64", "s": "i64", "t": "i8", "u": "i64", "v": "i64", "w": "i16"}
    made = evaluate(mode, lines, {"a": ("i32", a)}, outputs)
    values = a.tolist()
    wanted = [
        values, [low(x, 32) for x in values], [signed(x, 8) for x in values], values,
        [low(x, 32) for x in values], [signed(x, 16) for x in values],
    ]  # fmt: skip
    assert [found.tolist() for found in made] == wanted


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("predicate", ["eq", "ne", *(s + p for s in "su" for p in ("lt", "le", "gt", "ge"))])
def test_comparisons_and_choices(predicate: str, mode: str) -> None:
    a, b = pairs(16)
    lines = f"""
      %bit = arith.cmpi {predicate}, %a, %b : i16
      %r = arith.extui %bit : i1 to i8
      %s = arith.select %bit, %a, %b : i16
    """
    bits, chosen = evaluate(mode, lines, {"a": ("i16", a), "b": ("i16", b)}, {"r": "i8", "s": "i16"})
    for n, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        p, q = (low(x, 16), low(y, 16)) if predicate[0] == "u" else (x, y)
        less, equal = p < q, p == q
        kind = predicate[-2:]
        holds = {"eq": equal, "ne": not equal, "lt": less, "le": less or equal, "gt": not less and not equal,
                 "ge": not less}[kind]  # fmt: skip
        assert (bool(bits[n]), int(chosen[n])) == (holds, x if holds else y)

"""Integer operations of work-items against Python integers."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor
from typing import Any

import numpy as np
import pytest
from groups import in_groups
from simt_programs import kernel, results, run, source

from pto_dialect.runtime.errors import ProgramError

DTYPES = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}


def edges(width: int) -> list[int]:
    top = 1 << (width - 1)
    return [0, 1, -1, 2, -2, 3, 7, -7, top - 1, -top, top // 2, -top + 1]


def signed(value: int, width: int) -> int:
    value %= 1 << width
    return value - (1 << width) if value >> (width - 1) else value


def unsigned(value: int, width: int) -> int:
    return value % (1 << width)


def toward_zero(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


Model = Callable[[int, int, int], int]

PLAIN: dict[str, Model] = {
    "addi": lambda a, b, w: a + b,
    "subi": lambda a, b, w: a - b,
    "muli": lambda a, b, w: a * b,
    "andi": lambda a, b, w: a & b,
    "ori": lambda a, b, w: a | b,
    "xori": lambda a, b, w: a ^ b,
    "minsi": lambda a, b, w: min(a, b),
    "maxsi": lambda a, b, w: max(a, b),
    "minui": lambda a, b, w: min(unsigned(a, w), unsigned(b, w)),
    "maxui": lambda a, b, w: max(unsigned(a, w), unsigned(b, w)),
    "shli": lambda a, b, w: a << min(unsigned(b, w), w),
    "shrsi": lambda a, b, w: a >> min(unsigned(b, w), w),
    "shrui": lambda a, b, w: unsigned(a, w) >> min(unsigned(b, w), w),
}
DIVISIONS: dict[str, Model] = {
    "divsi": lambda a, b, w: toward_zero(a, b),
    "remsi": lambda a, b, w: a - toward_zero(a, b) * b,
    "floordivsi": lambda a, b, w: a // b,
    "ceildivsi": lambda a, b, w: -(-a // b),
    "divui": lambda a, b, w: unsigned(a, w) // unsigned(b, w),
    "remui": lambda a, b, w: unsigned(a, w) % unsigned(b, w),
    "ceildivui": lambda a, b, w: -(-unsigned(a, w) // unsigned(b, w)),
}


def pairs(width: int, first: list[int], second: list[int]) -> tuple[np.ndarray, np.ndarray]:
    dtype = DTYPES[f"i{width}"]
    both = [(a, b) for a in first for b in second]
    return np.array([a for a, _ in both], dtype), np.array([b for _, b in both], dtype)


def check_binary(name: str, model: Model, width: int, second: list[int]) -> None:
    a, b = pairs(width, edges(width), second)
    type_ = f"i{width}"
    out = results(f"%r = arith.{name} %a, %b : {type_}", type_, {"a": (type_, a), "b": (type_, b)}, np.zeros_like(a))
    wanted = [signed(model(x, y, width), width) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("width", [8, 16, 32, 64])
@in_groups("name", PLAIN)
def test_plain_operations(name: str, width: int) -> None:
    check_binary(name, PLAIN[name], width, [*edges(width), width - 1, width])


@pytest.mark.parametrize("width", [8, 16, 32, 64])
@in_groups("name", DIVISIONS)
def test_divisions(name: str, width: int) -> None:
    check_binary(name, DIVISIONS[name], width, [value for value in edges(width) if value])


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


@pytest.mark.parametrize("width", [8, 32, 64])
@pytest.mark.parametrize("predicate", ["eq", "ne", *(s + p for s in "su" for p in ("lt", "le", "gt", "ge"))])
def test_comparisons(predicate: str, width: int) -> None:
    a, b = pairs(width, edges(width), edges(width))
    type_ = f"i{width}"
    lines = f"%bit = arith.cmpi {predicate}, %a, %b : {type_}\n%r = arith.extui %bit : i1 to i32"
    out = results(lines, "i32", {"a": (type_, a), "b": (type_, b)}, np.zeros(a.size, np.int32))
    compare = COMPARISONS[predicate[-2:]]
    view = unsigned if predicate[0] == "u" else signed
    wanted = [compare(view(x, width), view(y, width)) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize(
    ("operation", "source_width", "width"),
    [("extsi", 8, 32), ("extui", 8, 32), ("extsi", 32, 64), ("extui", 32, 64), ("trunci", 64, 8), ("trunci", 32, 16)],
)
def test_widths(operation: str, source_width: int, width: int) -> None:
    a = np.array(edges(source_width), DTYPES[f"i{source_width}"])
    lines = f"%r = arith.{operation} %a : i{source_width} to i{width}"
    out = results(lines, f"i{width}", {"a": (f"i{source_width}", a)}, np.zeros(a.size, DTYPES[f"i{width}"]))
    view = unsigned if operation == "extui" else signed
    np.testing.assert_array_equal(out, [signed(view(value, source_width), width) for value in a.tolist()])


@pytest.mark.parametrize(("operation", "wanted"), [("extsi", -1), ("extui", 1)])
def test_a_single_bit_that_is_widened(operation: str, wanted: int) -> None:
    a = np.array([0, 1, 2], np.int32)
    lines = f"%bit = arith.trunci %a : i32 to i1\n%r = arith.{operation} %bit : i1 to i32"
    out = results(lines, "i32", {"a": ("i32", a)}, np.zeros(3, np.int32))
    np.testing.assert_array_equal(out, [0, wanted, 0])


@pytest.mark.parametrize(
    ("operation", "wanted"),
    [("addi", [0, 1, 1, 0]), ("muli", [0, 0, 0, 1]), ("subi", [0, 1, 1, 0]), ("maxsi", [0, 0, 0, 1])],
)
def test_arithmetic_on_single_bits(operation: str, wanted: list[int]) -> None:
    """A set bit is -1 as a signed number, so the larger of 0 and it is 0."""
    a, b = np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 0, 1], np.int32)
    lines = f"""
      %x = arith.trunci %a : i32 to i1
      %y = arith.trunci %b : i32 to i1
      %z = arith.{operation} %x, %y : i1
      %r = arith.extui %z : i1 to i32
    """
    out = results(lines, "i32", {"a": ("i32", a), "b": ("i32", b)}, np.zeros(4, np.int32))
    np.testing.assert_array_equal(out, wanted)


# ------------------------------------------------------------ SIMT operations


@pytest.mark.parametrize("sign", ["signed", "unsigned"])
@pytest.mark.parametrize("width", [32, 64])
def test_high_half_of_products(sign: str, width: int) -> None:
    a, b = pairs(width, edges(width), edges(width))
    type_ = f"i{width}"
    lines = f"%r = pto.mulhi %a, %b {sign} : {type_}, {type_} -> {type_}"
    out = results(lines, type_, {"a": (type_, a), "b": (type_, b)}, np.zeros_like(a))
    view = signed if sign == "signed" else unsigned
    wanted = [view(x, width) * view(y, width) >> width for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    np.testing.assert_array_equal(out, [signed(value, width) for value in wanted])


@pytest.mark.parametrize("sign", ["signed", "unsigned"])
def test_wide_products(sign: str) -> None:
    a, b = pairs(32, edges(32), edges(32))
    lines = f"%r = pto.mul_i32toi64 %a, %b {sign} : i32, i32 -> i64"
    out = results(lines, "i64", {"a": ("i32", a), "b": ("i32", b)}, np.zeros(a.size, np.int64))
    view = signed if sign == "signed" else unsigned
    wanted = [signed(view(x, 32) * view(y, 32), 64) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    np.testing.assert_array_equal(out, wanted)


def test_bytes_by_selector() -> None:
    generator = np.random.default_rng(5)
    a, b, selector = (generator.integers(-(2**31), 2**31, 64).astype(np.int32) for _ in range(3))
    lines = "%r = pto.prmt %a, %b, %s : i32, i32, i32 -> i32"
    out = results(lines, "i32", {"a": ("i32", a), "b": ("i32", b), "s": ("i32", selector)}, np.zeros(64, np.int32))
    for result, x, y, s in zip(out.tolist(), a.tolist(), b.tolist(), selector.tolist(), strict=True):
        pool = [*y.to_bytes(4, "little", signed=True), *x.to_bytes(4, "little", signed=True)]
        wanted = [pool[(s >> 4 * place) & 7] for place in range(4)]
        assert list(result.to_bytes(4, "little", signed=True)) == wanted


# ------------------------------------------------------------ division by zero


DIVIDE = """
  %d = pto.ldg %in[%at] : !pto.ptr<i32, gm> -> i32
  %ok = arith.cmpi ne, %d, %i0 : i32
  %r = scf.if %ok -> (i32) {
    %q = arith.divsi %i100, %d : i32
    scf.yield %q : i32
  } else {
    scf.yield %i7 : i32
  }
  pto.stg %r, %out[%at] : !pto.ptr<i32, gm>, i32
"""
BUFFERS = "%in: !pto.ptr<i32, gm>, %out: !pto.ptr<i32, gm>"


def test_a_division_that_only_others_take() -> None:
    divisors = np.array([3, 0, -8, 0, 1], np.int32)
    out = np.zeros(5, np.int32)
    run(DIVIDE, BUFFERS, divisors, out, dims=(5, 1, 1))
    np.testing.assert_array_equal(out, [toward_zero(100, d) if d else 7 for d in divisors.tolist()])


def test_division_by_zero_names_the_work_item() -> None:
    body = DIVIDE.replace("arith.cmpi ne", "arith.cmpi sge")
    text = source(body, BUFFERS, (5, 1, 1))
    line = next(number for number, found in enumerate(text.splitlines(), 1) if "arith.divsi" in found)
    with pytest.raises(ProgramError, match=r"work-item \(1, 0, 0\) divides an integer by zero") as raised:
        run(body, BUFFERS, np.array([3, 0, -8, 0, 1], np.int32), np.zeros(5, np.int32), dims=(5, 1, 1))
    assert raised.value.rule == "division-by-zero"
    assert raised.value.span is not None and raised.value.span.line == line


def test_the_model_of_division() -> None:
    assert [toward_zero(a, b) for a, b in ((7, 2), (-7, 2), (7, -2), (-7, -2))] == [3, -3, -3, 3]
    assert ceil(-3.5) == -(7 // 2) and floor(-3.5) == -7 // 2


@pytest.mark.parametrize("name", [*PLAIN, *DIVISIONS])
def test_values_that_all_share_are_computed_once(name: str) -> None:
    """What does not differ between work-items is computed once, as by a core."""
    text = source(
        f"%r = arith.{name} %a, %b : i32\npto.stg %r, %out[%c0] : !pto.ptr<i32, gm>, i32",
        "%a: i32, %b: i32, %out: !pto.ptr<i32, gm>",
    )
    program, out = kernel(text), np.zeros(1, np.int32)
    for a in (5, -7, 2**31 - 1, -(2**31)):
        for b in (3, -1, 31, 40, -(2**31)):
            program.run([a, b, out])
            assert out[0] == signed({**PLAIN, **DIVISIONS}[name](a, b, 32), 32), (a, b)

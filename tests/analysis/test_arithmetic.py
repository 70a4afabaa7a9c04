"""Arithmetic on known numbers, against arithmetic on 64 bits as the machine does it."""

import struct
from fractions import Fraction
from math import ceil, floor, trunc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pto_dialect import parse
from pto_dialect.analysis.arithmetic import FOLDS
from pto_dialect.analysis.constants import constant_of

BITS = 64
SMALL = st.integers(-(2**30), 2**30)


def unsigned(number: int) -> int:
    return int.from_bytes(struct.pack("<q", number), "little")


def signed(number: int) -> int:
    return struct.unpack("<q", (number % 2**BITS).to_bytes(8, "little"))[0]


MODEL = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "minsi": lambda a, b: sorted((a, b))[0],
    "maxsi": lambda a, b: sorted((a, b))[1],
    "minui": lambda a, b: signed(sorted((unsigned(a), unsigned(b)))[0]),
    "maxui": lambda a, b: signed(sorted((unsigned(a), unsigned(b)))[1]),
    "andi": lambda a, b: signed(unsigned(a) & unsigned(b)),
    "ori": lambda a, b: signed(unsigned(a) | unsigned(b)),
    "xori": lambda a, b: signed(unsigned(a) ^ unsigned(b)),
    "divsi": lambda a, b: trunc(Fraction(a, b)),
    "remsi": lambda a, b: a - b * trunc(Fraction(a, b)),
    "floordivsi": lambda a, b: floor(Fraction(a, b)),
    "ceildivsi": lambda a, b: ceil(Fraction(a, b)),
    "divui": lambda a, b: signed(floor(Fraction(unsigned(a), unsigned(b)))),
    "remui": lambda a, b: signed(unsigned(a) - unsigned(b) * floor(Fraction(unsigned(a), unsigned(b)))),
    "ceildivui": lambda a, b: signed(ceil(Fraction(unsigned(a), unsigned(b)))),
    "shli": lambda a, b: a * 2**b,
}
UNSIGNED = {"minui", "maxui", "divui", "remui", "ceildivui"}
DIVISIONS = {"divsi", "remsi", "floordivsi", "ceildivsi", "divui", "remui", "ceildivui"}


def test_every_operation_of_the_table_has_a_model() -> None:
    assert {name.removeprefix("arith.") for name in FOLDS} == set(MODEL)


@pytest.mark.parametrize("name", sorted(MODEL.keys() - {"shli"}))
@given(a=SMALL, b=SMALL)
def test_numbers_fold_as_the_machine_computes(name: str, a: int, b: int) -> None:
    found = FOLDS[f"arith.{name}"](a, b)
    if (name in DIVISIONS and b == 0) or (name in UNSIGNED and min(a, b) < 0):
        assert found is None
    else:
        assert found == MODEL[name](a, b)


@given(a=SMALL, b=st.integers(-3, 70))
def test_shifts_by_no_number_of_bits_have_no_result(a: int, b: int) -> None:
    assert FOLDS["arith.shli"](a, b) == (MODEL["shli"](a, b) if 0 <= b < 64 else None)


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("arith.xori %a, %b : i32", 13 ^ -6),
        ("arith.remsi %b, %a : i32", -6),
        ("arith.ceildivui %a, %two : i32", 7),
        ("arith.shli %a, %thirty : i32", 1 << 30),
        ("arith.divsi %a, %zero : i32", None),
        ("arith.trunci %big : i32 to i8", 44),
    ],
)
def test_constants_are_followed_through_arithmetic(statement: str, expected: int | None) -> None:
    values = {"a": 13, "b": -6, "two": 2, "thirty": 30, "zero": 0, "big": 300}
    lines = [f"  %{name} = arith.constant {value} : i32" for name, value in values.items()]
    module = parse("\n".join(["func.func @f() {", *lines, f"  %r = {statement}", "  return", "}"]))
    result = next(op for op in module.walk() if op.results and op.results[0].name_hint == "r").results[0]
    assert constant_of(result) == expected

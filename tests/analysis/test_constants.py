"""Numbers that the text of a program determines, against Python's arithmetic and the widths of the types."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from parse_helpers import parsed
from xdsl.ir import Operation

from pto_dialect.analysis.addresses import address_of
from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.type_facts import space_of


def last(*lines: str) -> Operation:
    """The last operation of a function with these lines."""
    body = "".join(f"  {line}\n" for line in lines)
    module, errors = parsed(f"func.func @f(%unknown: i64, %where: !pto.ptr<f32, ub>) {{\n{body}  return\n}}\n")
    assert module is not None and not errors, errors
    return next(op for op in module.walk() if op.name == "func.return").prev_op


def folded(operation: str, a: int, b: int, type_: str = "i64") -> int | float | None:
    return constant_of(
        last(
            f"%a = arith.constant {a} : {type_}",
            f"%b = arith.constant {b} : {type_}",
            f"%r = arith.{operation} %a, %b : {type_}",
        ).results[0]
    )


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


FORMULAS: dict[str, Callable[[int, int], int]] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "divsi": truncated,
    "divui": lambda a, b: a // b,
    "remsi": lambda a, b: int(math.fmod(a, b)),
    "remui": lambda a, b: a % b,
    "floordivsi": lambda a, b: math.floor(a / b),
    "ceildivsi": lambda a, b: math.ceil(a / b),
    "minsi": min,
    "maxsi": max,
    "shli": lambda a, b: a * 2**b,
    "andi": lambda a, b: sum(1 << n for n in range(64) if a >> n & b >> n & 1),
    "ori": lambda a, b: sum(1 << n for n in range(64) if (a >> n | b >> n) & 1),
}


@pytest.mark.parametrize("operation", FORMULAS)
def test_arithmetic_of_constants(operation: str) -> None:
    for a, b in ((100, 7), (7, 60), (96, 32), (5, 1), (12, 3)):
        value = FORMULAS[operation](a, b)
        wrapped = (value + 2**63) % 2**64 - 2**63
        assert folded(operation, a, b) == wrapped, (a, b)


def test_arithmetic_of_negative_constants() -> None:
    for operation in ("divsi", "remsi", "floordivsi", "ceildivsi", "minsi", "maxsi"):
        for a, b in ((-7, 2), (7, -2), (-7, -2), (-8, 4)):
            assert folded(operation, a, b) == FORMULAS[operation](a, b), (operation, a, b)
    for operation in ("divui", "remui"):
        # As unsigned numbers they are great ones, which depend on the width.
        assert folded(operation, -7, 2) is None


def test_results_wrap_at_the_width_of_their_type() -> None:
    assert folded("addi", 127, 1, "i8") == -128
    assert folded("muli", 2**31, 2, "i32") == 0
    assert folded("subi", -128, 1, "i8") == 127
    assert folded("addi", 2**40, 2**40, "index") == 2**41


def test_what_divides_by_zero_or_shifts_too_far_has_no_value() -> None:
    for operation in ("divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi"):
        assert folded(operation, 5, 0) is None, operation
    assert folded("shli", 1, 63) == -(2**63)
    assert folded("shli", 1, 64) is None
    assert folded("shli", 1, -1) is None


@pytest.mark.parametrize(
    ("cast", "source", "target", "number", "wanted"),
    [
        ("index_cast", "i32", "index", -5, -5),
        ("index_cast", "index", "i8", 300, 44),
        ("index_castui", "i8", "index", -1, 255),
        ("index_castui", "index", "i64", 7, 7),
        ("extsi", "i8", "i32", -1, -1),
        ("extui", "i8", "i32", -1, 255),
        ("extui", "i16", "i64", -2, 65534),
        ("trunci", "i32", "i8", 511, -1),
        ("trunci", "i64", "i32", 2**32 + 9, 9),
    ],
)
def test_casts_of_constants(cast: str, source: str, target: str, number: int, wanted: int) -> None:
    lines = [f"%a = arith.constant {number} : {source}", f"%r = arith.{cast} %a : {source} to {target}"]
    assert constant_of(last(*lines).results[0]) == wanted


def test_what_depends_on_an_argument_is_no_constant() -> None:
    assert constant_of(last("%a = arith.constant 1 : i64", "%r = arith.addi %a, %unknown : i64").results[0]) is None
    assert constant_of(last("%r = arith.trunci %unknown : i64 to i8").results[0]) is None


def chain(length: int) -> Operation:
    lines = ["%one = arith.constant 1 : index", "%at = arith.constant 64 : i64"]
    lines += ["%p0 = pto.castptr %at : i64 -> !pto.ptr<f32, ub>"]
    lines += [f"%p{n + 1} = pto.addptr %p{n}, %one : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>" for n in range(length)]
    return last(*lines)


def test_addresses_are_followed_through_a_few_displacements() -> None:
    for length in range(8):
        assert address_of(chain(length).results[0]) == 64 + 4 * length
    assert address_of(chain(8).results[0]) is None
    beyond = last(
        "%c = arith.constant 2 : index", "%q = pto.addptr %where, %c : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>"
    )
    assert address_of(beyond.results[0]) is None


def test_addresses_count_elements_of_the_pointer() -> None:
    for element, size in (("i8", 1), ("f16", 2), ("f32", 4), ("i64", 8)):
        pointer = f"!pto.ptr<{element}, ub>"
        lines = ["%at = arith.constant 64 : i64", f"%p = pto.castptr %at : i64 -> {pointer}"]
        lines += ["%c = arith.constant 3 : index", f"%q = pto.addptr %p, %c : {pointer} -> {pointer}"]
        assert address_of(last(*lines).results[0]) == 64 + 3 * size


SPACES = {0: "gm", 1: "gm", 2: "l1", 3: "l0a", 4: "l0b", 5: "l0c", 6: "ub", 7: "bt", 8: "fb", 9: None}
"""Memories by the numbers that lowered programs write (zero counts as global memory)."""
WORDS = {"gm": "gm", "vec": "ub", "mat": "l1", "left": "l0a", "right": "l0b", "acc": "l0c", "bias": "bt"}


def test_memories_of_memrefs() -> None:
    for number, wanted in SPACES.items():
        line = f'%m = "memref.alloc"() {{operandSegmentSizes = array<i32: 0, 0>}} : () -> memref<4xf32, {number}>'
        assert space_of(last(line).results[0].type) == wanted, number
    for word, wanted in {**WORDS, "scaling": "fb", "zero": "gm"}.items():
        line = f"%m = memref.alloc() : memref<4xf32, #pto.address_space<{word}>>"
        assert space_of(last(line).results[0].type) == wanted, word

"""Votes, shuffles and reductions against a walk over the lanes of each group."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from simt_programs import results, run

COUNTS = [1, 16, 31, 32, 33, 70, 256]


def groups(count: int) -> list[range]:
    return [range(start, min(start + 32, count)) for start in range(0, count, 32)]


def walk(count: int, active: list[bool], function: Callable[[list[int]], Any]) -> list[Any]:
    """``function`` of the numbers of the active lanes of its group for each active lane; ``None`` for the others."""
    result: list[Any] = [None] * count
    for group in groups(count):
        lanes = [number for number in group if active[number]]
        value = function(lanes) if lanes else None
        for number in lanes:
            result[number] = value
    return result


def guarded(lines: str, type_: str, marker: str) -> str:
    """``lines``, which define %s, for the work-items whose flag is set; the others have ``marker``."""
    return f"""
      %go = arith.cmpi ne, %f, %i0 : i32
      %other = arith.constant {marker} : {type_}
      %r = scf.if %go -> ({type_}) {{
        {lines}
        scf.yield %s : {type_}
      }} else {{
        scf.yield %other : {type_}
      }}
    """


def flags(count: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2, count).astype(np.int32)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("kind", ["all", "any", "uni", "ballot"])
def test_votes(kind: str, count: int) -> None:
    bits, active = np.random.default_rng(count).integers(0, 3, count).astype(np.int32), flags(count, 1)
    vote = f"%p = arith.cmpi ne, %a, %i0 : i32\n%v = pto.vote_{kind} %p : i1 -> {'i32' if kind == 'ballot' else 'i1'}\n"
    vote += "%s = arith.addi %v, %i0 : i32" if kind == "ballot" else "%s = arith.extui %v : i1 to i32"
    operands = {"a": ("i32", bits), "f": ("i32", active)}
    out = results(guarded(vote, "i32", "-7"), "i32", operands, np.zeros(count, np.int32))
    model: dict[str, Callable[[list[int]], int]] = {
        "all": lambda lanes: all(bits[n] for n in lanes),
        "any": lambda lanes: any(bits[n] for n in lanes),
        "uni": lambda lanes: len({bool(bits[n]) for n in lanes}) == 1,
        "ballot": lambda lanes: sum(1 << n % 32 for n in lanes if bits[n]),
    }
    wanted = walk(count, active.astype(bool).tolist(), model[kind])
    np.testing.assert_array_equal(
        out.view(np.uint32), [-7 & 0xFFFFFFFF if value is None else value for value in wanted]
    )


SOURCES: dict[str, Callable[[int, int], int]] = {
    "idx": lambda lane, operand: operand,
    "up": lambda lane, operand: lane - operand,
    "down": lambda lane, operand: lane + operand,
    "bfly": lambda lane, operand: lane ^ operand,
}


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("width", [16, 32])
@pytest.mark.parametrize("kind", SOURCES)
def test_shuffles(kind: str, width: int, count: int) -> None:
    generator = np.random.default_rng(count + width)
    values = generator.integers(-(2**31), 2**31, count).astype(np.int32)
    operand = generator.integers(-3, 36, count).astype(np.int32)
    active = flags(count, 2)
    lines = f"%s = pto.shuffle_{kind} %a, %b {{width = {width} : i32}} : i32, i32 -> i32"
    operands = {"a": ("i32", values), "b": ("i32", operand), "f": ("i32", active)}
    out = results(guarded(lines, "i32", "-7"), "i32", operands, np.zeros(count, np.int32))
    wanted = []
    for number in range(count):
        lane = number % width
        target = SOURCES[kind](lane, int(operand[number]))
        source = number - lane + target
        reachable = 0 <= target < width and source < count and active[source]
        wanted.append(-7 if not active[number] else values[source] if reachable else values[number])
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize(("type_", "dtype"), [("i64", np.int64), ("f16", np.float16), ("f32", np.float32)])
def test_shuffled_types(type_: str, dtype: Any) -> None:
    values = np.arange(64).astype(dtype) + dtype(1)
    lines = f"%r = pto.shuffle_bfly %a, %i1 : {type_}, i32 -> {type_}"
    out = results(lines, type_, {"a": (type_, values)}, np.zeros(64, dtype))
    np.testing.assert_array_equal(out, values.reshape(-1, 2)[:, ::-1].reshape(-1))


def test_shuffled_pairs() -> None:
    values = np.arange(80, dtype=np.float16).reshape(40, 2)
    type_ = "vector<2xf16>"
    out = results(
        f"%r = pto.shuffle_up %a, %i2 : {type_}, i32 -> {type_}", type_, {"a": (type_, values)}, values.copy()
    )
    np.testing.assert_array_equal(out, [values[n - 2] if n % 32 >= 2 else values[n] for n in range(40)])


def in_order(values: list[np.float32]) -> np.float32:
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize(
    ("kind", "sign"),
    [("add", ""), *((k, s) for k in ("add", "max", "min") for s in ("signed", "unsigned"))],
)
def test_reductions_of_integers(kind: str, sign: str, count: int) -> None:
    values, active = np.random.default_rng(count).integers(-(2**31), 2**31, count).astype(np.int32), flags(count, 3)
    lines = f"%s = pto.redux_{kind} %a {sign} : i32 -> i32"
    operands = {"a": ("i32", values), "f": ("i32", active)}
    out = results(guarded(lines, "i32", "-7"), "i32", operands, np.zeros(count, np.int32))
    view = (values.view(np.uint32) if sign == "unsigned" else values).tolist()
    reduce: dict[str, Callable[[list[int]], int]] = {"add": sum, "max": max, "min": min}
    found = walk(count, active.astype(bool).tolist(), lambda lanes: reduce[kind]([view[n] for n in lanes]))
    np.testing.assert_array_equal(out.view(np.uint32), [(-7 if v is None else v) & 0xFFFFFFFF for v in found])


@pytest.mark.parametrize(("type_", "dtype"), [("f16", np.float16), ("f32", np.float32)])
def test_float_sums_are_rounded_in_order(type_: str, dtype: Any) -> None:
    generator = np.random.default_rng(8)
    values = (generator.standard_normal(70) * 10.0 ** generator.integers(-3, 4, 70)).astype(dtype)
    active = flags(70, 4)
    operands = {"a": (type_, values), "f": ("i32", active)}
    lines = guarded(f"%s = pto.redux_add %a : {type_} -> {type_}", type_, "0.0")
    out = results(lines, type_, operands, np.zeros(70, dtype))
    found = walk(70, active.astype(bool).tolist(), lambda lanes: in_order([values[n] for n in lanes]))
    np.testing.assert_array_equal(out, np.array([0 if value is None else value for value in found], dtype))


@pytest.mark.parametrize("kind", ["max", "min"])
def test_float_extrema_prefer_numbers(kind: str) -> None:
    values = np.array([np.nan, 3, -np.inf, 7, np.inf, 0, np.nan], np.float32)
    values = np.concatenate((values[[0, 1, 3]], np.full(29, np.nan, np.float32), np.full(3, np.nan, np.float32)))
    lines = f"%r = pto.redux_{kind} %a : f32 -> f32"
    out = results(lines, "f32", {"a": ("f32", values)}, np.zeros(35, np.float32))
    np.testing.assert_array_equal(out, [7.0 if kind == "max" else 3.0] * 32 + [np.nan] * 3)


@pytest.mark.parametrize("kind", ["eq", "le", "lt", "ge", "gt"])
def test_lane_masks(kind: str) -> None:
    body = f"%m = pto.get_lanemask_{kind} : i32\npto.stg %m, %out[%at] : !pto.ptr<i32, gm>, i32"
    out = np.zeros(40, np.int32)
    run(body, "%out: !pto.ptr<i32, gm>", out, dims=(40, 1, 1))
    holds: dict[str, Callable[[int, int], bool]] = {
        "eq": lambda bit, lane: bit == lane,
        "le": lambda bit, lane: bit <= lane,
        "lt": lambda bit, lane: bit < lane,
        "ge": lambda bit, lane: bit >= lane,
        "gt": lambda bit, lane: bit > lane,
    }
    wanted = [sum(1 << bit for bit in range(32) if holds[kind](bit, n % 32)) for n in range(40)]
    np.testing.assert_array_equal(out.view(np.uint32), wanted)


def test_a_vote_on_what_all_share() -> None:
    body = """
      %p = arith.cmpi eq, %n, %i5 : i32
      %v = pto.vote_ballot %p : i1 -> i32
      pto.stg %v, %out[%at] : !pto.ptr<i32, gm>, i32
    """
    out = np.zeros(40, np.int32)
    run(body, "%n: i32, %out: !pto.ptr<i32, gm>", 5, out, dims=(40, 1, 1))
    np.testing.assert_array_equal(out, [-1] * 32 + [255] * 8)

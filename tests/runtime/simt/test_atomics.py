"""Atomic updates, one work-item after the other, against a walk over memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from parse_helpers import parsed
from simt_programs import run

from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

DTYPES: dict[str, Any] = {
    "i32": np.int32, "i64": np.int64, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32,
}  # fmt: skip


def update(kind: str, type_: str, sign: str = "") -> str:
    """Work-item i updates memory[where[i]] with value[i] if its flag is set."""
    return f"""
      %place = pto.ldg %where[%at] : !pto.ptr<i32, gm> -> i32
      %flag = pto.ldg %flags[%at] : !pto.ptr<i32, gm> -> i32
      %v = pto.ldg %values[%at] : !pto.ptr<{type_}, gm> -> {type_}
      %go = arith.cmpi ne, %flag, %i0 : i32
      %index = arith.index_cast %place : i32 to index
      %p = pto.addptr %memory, %index : !pto.ptr<{type_}, gm> -> !pto.ptr<{type_}, gm>
      scf.if %go {{
        %old = pto.atomic_{kind} %p, %v l2cache(wbhfv) {sign} : !pto.ptr<{type_}, gm>, {type_} -> {type_}
        pto.stg %old, %olds[%at] : !pto.ptr<{type_}, gm>, {type_}
      }}
    """


def arguments(type_: str) -> str:
    kinds = {"where": "i32", "flags": "i32", "values": type_, "memory": type_, "olds": type_}
    return ", ".join(f"%{name}: !pto.ptr<{element}, gm>" for name, element in kinds.items())


def check(kind: str, type_: str, values: np.ndarray, model: Callable[[Any, Any], Any], sign: str = "") -> None:
    count = values.size
    generator = np.random.default_rng(count)
    where = generator.integers(0, 7, count).astype(np.int32)
    flags = (generator.random(count) < 0.8).astype(np.int32)
    memory = values[::-1][:8].copy()
    olds = np.zeros(count, values.dtype)
    wanted, seen = memory.copy(), olds.copy()
    with np.errstate(all="ignore"):
        for number in range(count):
            if flags[number]:
                seen[number] = wanted[where[number]]
                wanted[where[number]] = model(wanted[where[number]], values[number])
    run(update(kind, type_, sign), arguments(type_), where, flags, values, memory, olds, dims=(count, 1, 1))
    words = f"u{values.dtype.itemsize}"
    if values.dtype.kind == "i" or not np.isnan(values.astype(np.float64)).any():
        np.testing.assert_array_equal(memory.view(words), wanted.view(words))
        np.testing.assert_array_equal(olds.view(words), seen.view(words))
    else:
        np.testing.assert_array_equal(memory.astype(np.float64), wanted.astype(np.float64))
        np.testing.assert_array_equal(olds.astype(np.float64), seen.astype(np.float64))


def wrap(value: int, dtype: Any) -> Any:
    bits = 8 * np.dtype(dtype).itemsize
    value %= 1 << bits
    return dtype(value - (1 << bits) if value >> (bits - 1) else value)


INTEGERS: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "exch": lambda a, b: b,
}


@pytest.mark.parametrize("count", [1, 33, 200])
@pytest.mark.parametrize("type_", ["i32", "i64"])
@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize("sign", ["signed", "unsigned"])
def test_integers(kind: str, type_: str, count: int, sign: str) -> None:
    """Bits do not depend on the sign."""
    dtype = DTYPES[type_]
    limits = np.iinfo(dtype)
    values = np.random.default_rng(count).integers(limits.min, limits.max, max(count, 8), endpoint=True).astype(dtype)
    check(kind, type_, values, lambda a, b: wrap(INTEGERS[kind](int(a), int(b)), dtype), sign)


@pytest.mark.parametrize("sign", ["signed", "unsigned"])
@pytest.mark.parametrize("kind", ["min", "max"])
def test_extrema_of_integers(kind: str, sign: str) -> None:
    values = np.random.default_rng(1).integers(-(2**31), 2**31, 90).astype(np.int32)
    pick = min if kind == "min" else max
    check(
        kind,
        "i32",
        values,
        lambda a, b: pick(a, b, key=lambda v: int(v) % (1 << 32) if sign == "unsigned" else v),
        sign,
    )


@pytest.mark.parametrize("type_", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("kind", ["add", "sub", "min", "max", "exch"])
def test_floats(kind: str, type_: str) -> None:
    dtype = DTYPES[type_]
    values = (np.random.default_rng(2).standard_normal(90) * 100).astype(dtype)
    models: dict[str, Callable[[Any, Any], Any]] = {
        "add": lambda a, b: dtype(np.float64(a) + np.float64(b)),
        "sub": lambda a, b: dtype(np.float64(a) - np.float64(b)),
        "min": min,
        "max": max,
        "exch": lambda a, b: b,
    }
    check(kind, type_, values, models[kind])


def prefer(pick: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    return b if math.isnan(a) else a if math.isnan(b) else pick(a, b)


@pytest.mark.parametrize("kind", ["min", "max"])
def test_float_extrema_prefer_numbers(kind: str) -> None:
    values = np.array([np.nan, 1, -np.inf, np.inf, 5, np.nan, -2, 0.5, 7, np.nan] * 4, np.float32)
    check(kind, "f32", values, lambda a, b: prefer(min if kind == "min" else max, a, b))


CAS = """
  %p = pto.addptr %memory, %c1 : !pto.ptr<{0}, gm> -> !pto.ptr<{0}, gm>
  %e = pto.ldg %expected[%at] : !pto.ptr<{0}, gm> -> {0}
  %v = pto.ldg %values[%at] : !pto.ptr<{0}, gm> -> {0}
  %old = pto.atomic_cas %p, %e, %v {1} : !pto.ptr<{0}, gm>, {0} -> {0}
  pto.stg %old, %olds[%at] : !pto.ptr<{0}, gm>, {0}
"""


@pytest.mark.parametrize("sign", ["", "signed", "unsigned"])
def test_swaps_in_turn(sign: str) -> None:
    """Each work-item swaps when it finds what the one before has left; the sign changes no comparison of bits."""
    memory, olds = np.array([0, 5, 0], np.int32), np.zeros(6, np.int32)
    expected, values = np.array([5, 6, 9, 7, 7, 8], np.int32), np.array([6, 7, 1, 8, 2, 3], np.int32)
    kinds = ("memory", "expected", "values", "olds")
    text = ", ".join(f"%{name}: !pto.ptr<i32, gm>" for name in kinds)
    run(CAS.format("i32", sign), text, memory, expected, values, olds, dims=(6, 1, 1))
    assert memory.tolist() == [0, 3, 0]
    assert olds.tolist() == [5, 6, 7, 7, 8, 8]


def test_swaps_compare_bits() -> None:
    nan = np.float32(np.nan)
    memory, olds = np.array([0, nan, 0], np.float32), np.zeros(4, np.float32)
    expected, values = np.array([1, nan, 0.0, -0.0], np.float32), np.array([2, -0.0, 4, 5], np.float32)
    kinds = ("memory", "expected", "values", "olds")
    text = ", ".join(f"%{name}: !pto.ptr<f32, gm>" for name in kinds)
    run(CAS.format("f32", ""), text, memory, expected, values, olds, dims=(4, 1, 1))
    np.testing.assert_array_equal(memory, [0, 5, 0])
    np.testing.assert_array_equal(olds.view(np.uint32), np.array([nan, nan, -0.0, -0.0], np.float32).view(np.uint32))


def test_packed_pairs() -> None:
    """A pair is one element: both numbers are swapped, or none."""
    type_ = "vector<2xf16>"
    memory = np.array([[1, 2], [1, 2], [8, -3]], np.float16)
    body = f"""
      %one_two = arith.constant dense<[1.0, 2.0]> : {type_}
      %nine = arith.constant dense<9.0> : {type_}
      %p1 = pto.addptr %memory, %c1 : !pto.ptr<{type_}, gm> -> !pto.ptr<{type_}, gm>
      %p2 = pto.addptr %memory, %c2 : !pto.ptr<{type_}, gm> -> !pto.ptr<{type_}, gm>
      %a = pto.atomic_cas %memory, %one_two, %nine : !pto.ptr<{type_}, gm>, {type_} -> {type_}
      %b = pto.atomic_cas %p1, %nine, %one_two : !pto.ptr<{type_}, gm>, {type_} -> {type_}
      %c = pto.atomic_add %p2, %one_two : !pto.ptr<{type_}, gm>, {type_} -> {type_}
    """
    run(body, f"%memory: !pto.ptr<{type_}, gm>", memory, dims=(3, 1, 1))
    np.testing.assert_array_equal(memory, [[9, 9], [1, 2], [8 + 3, -3 + 6]])


def test_updates_in_local_memory() -> None:
    """A histogram in the unified buffer: cleared, counted, copied, with barriers between."""
    body = """
      %ub = pto.castptr %zero : i64 -> !pto.ptr<i32, ub>
      %few = arith.cmpi slt, %tid, %i8 : i32
      scf.if %few { pto.store %i0, %ub[%at] : !pto.ptr<i32, ub>, i32 }
      pto.syncthreads
      %v = pto.ldg %in[%at] : !pto.ptr<i32, gm> -> i32
      %bin = arith.index_cast %v : i32 to index
      %p = pto.addptr %ub, %bin : !pto.ptr<i32, ub> -> !pto.ptr<i32, ub>
      %old = pto.atomic_add %p, %i1 : !pto.ptr<i32, ub>, i32 -> i32
      pto.syncthreads
      scf.if %few {
        %n = pto.load %ub[%at] : !pto.ptr<i32, ub> -> i32
        pto.stg %n, %out[%at] : !pto.ptr<i32, gm>, i32
      }
    """
    values = np.random.default_rng(4).integers(0, 8, 500).astype(np.int32)
    out = np.zeros(8, np.int32)
    text = "%in: !pto.ptr<i32, gm>, %out: !pto.ptr<i32, gm>, %zero: i64"
    run(body, text, values, out, 0, dims=(500, 1, 1))
    np.testing.assert_array_equal(out, [np.count_nonzero(values == n) for n in range(8)])


def test_a_core_updates_without_work_items() -> None:
    text = """
    module attributes {pto.target_arch = "a5", pto.kernel_kind = #pto.kernel_kind<vector>} {
      func.func @k(%p: !pto.ptr<f32, gm>) attributes {pto.kernel} {
        %c1 = arith.constant 1 : index
        %v = arith.constant 2.5 : f32
        %old = pto.atomic_add %p, %v l2cache(nmfv) : !pto.ptr<f32, gm>, f32 -> f32
        %root = pto.sqrt %old : f32 -> f32
        pto.store %root, %p[%c1] : !pto.ptr<f32, gm>, f32
        return
      }
    }
    """
    module, _ = parsed(text)
    memory = np.array([9.0, 0.0], np.float32)
    Kernel(module, "k", None, RunOptions()).run([memory])
    np.testing.assert_array_equal(memory, [11.5, 3.0])

"""Write-backs of accumulators: layouts, quantisation, activation and limits in programs, against a scalar model.

The numerics of each mode have tests of their own; these here show that each instruction hands its clauses over.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest
from fixpipe_model import CASES, as_stored, entry, f32, fp19, limits, model_quant, model_store, source_of, stored
from function_programs import run, run_on_cube

from pto_dialect.runtime.numerics.formats import FORMATS
from pto_dialect.targets.fixpipe_modes import QUANT_MODES

HEAD = {
    "gm": (", %n0, %n0", ", i64, i64"),
    "ub": (", dst_mode(%n0)", ", i64"),
    "l1": ("", ""),
}
"""Operands that an instruction has besides, and their types."""
SPACES = {"mte_l0c_gm": "gm", "mte_l0c_l1": "l1", "mte_l0c_ub": "ub"}
ROWS, COLS, STRIDE = 16, 32, 48
More = Mapping[str, tuple[str, Any]]


def accumulators(matrix: np.ndarray) -> np.ndarray:
    """Column after column of 16 accumulators."""
    rows, cols = matrix.shape
    return np.ascontiguousarray(matrix.reshape(rows, cols // 16, 16).transpose(1, 0, 2)).reshape(-1)


def element_text(dst: str) -> str:
    return f"!pto.{dst}" if dst == "hif8" else dst


def written(
    op: str,
    source: np.ndarray,
    dst: str,
    clauses: str = "nz2nd",
    types: str = "",
    more: More | None = None,
    before: np.ndarray | None = None,
    stride: int = STRIDE,
    control: int = 0,
) -> np.ndarray:
    """The destination after a write-back of accumulators [16, 32], with ``stride`` elements from one line to the next.

    ``types`` are those of the operands in ``clauses``, which ``more`` gives; ``control`` is what the control register
    holds.
    """
    element = "i32" if source.dtype == np.int32 else "f32"
    storage = FORMATS[dst].storage
    c, d = f"!pto.ptr<{element}, l0c>", f"!pto.ptr<{element_text(dst)}, {SPACES[op]}>"
    memory = np.zeros(4096, storage) if before is None else before.copy()
    given = {"c": (c, accumulators(source)), **(more or {})}
    extra, numbers = {"gm": (", %n0, %n0", ", i64, i64"), "ub": (", dst_mode(%n0)", ", i64"), "l1": ("", "")}[
        SPACES[op]
    ]
    tail = f", {types}" if types else ""
    body = (
        f"pto.{op} %c, %d, %n16, %n32, %n16, %n{stride}{extra}, {clauses} : {c}, {d}, i64, i64, i64, i64{numbers}{tail}"
    )
    if control:
        body = f"pto.set_ctrl %n{control} : i64\n{body}"
    if SPACES[op] == "ub":
        first, _ = run_on_cube(f"%d = pto.castptr %n0 : i64 -> {d}\n{body}", given)
        return first[: 4096 * storage.itemsize].view(storage)
    run(body, {**given, "d": (d, memory)})
    return memory


def plain(memory: np.ndarray) -> np.ndarray:
    """The matrix in lines."""
    return memory[: ROWS * STRIDE].reshape(ROWS, STRIDE)[:, :COLS]


def values(kind: str = "f32") -> np.ndarray:
    rng = np.random.default_rng(7)
    if kind == "i32":
        return rng.integers(-3000, 3000, (ROWS, COLS)).astype(np.int32)
    found = (rng.standard_normal((ROWS, COLS)) * 100).astype(np.float32)
    found[2, :6] = [np.inf, -np.inf, np.nan, 1e9, -0.0, 65520.0]
    return found


def untouched(memory: np.ndarray, places: set[int]) -> bool:
    return not any(value for place, value in enumerate(memory.tolist()) if place not in places)


@pytest.mark.parametrize("flag", ["", "unit_flag(check_only), ", "unit_flag(check_and_clear), "])
@pytest.mark.parametrize("op", SPACES)
def test_layouts(op: str, flag: str) -> None:
    """Lines, columns, and blocks of 8 columns; flags order the work and change no number."""
    source = np.arange(ROWS * COLS, dtype=np.float32).reshape(ROWS, COLS) + 1
    lines = written(op, source, "f32", f"{flag}nz2nd")
    assert (plain(lines) == source).all()
    assert untouched(lines, {STRIDE * i + j for i in range(ROWS) for j in range(COLS)})
    columns = written(op, source, "f32", f"{flag}nz2dn(%n1)", "i64")
    for i, j in np.ndindex(ROWS, COLS):
        assert columns[STRIDE * j + i] == source[i, j]


@pytest.mark.parametrize("split", [None, 0, 1])
@pytest.mark.parametrize("op", SPACES)
def test_blocks_of_columns(op: str, split: int | None) -> None:
    """Blocks of 16 columns, of 8 where the clause says so, one after the other; rows of a block without a gap."""
    source = np.arange(ROWS * COLS, dtype=np.float32).reshape(ROWS, COLS) + 1
    clause, types = ("nz2nz", "") if split is None else (f"nz2nz(%n{split})", "i64")
    found = written(op, source, "f32", clause, types, stride=ROWS * 20)
    block = 8 if split else 16
    places = {}
    for i, j in np.ndindex(ROWS, COLS):
        places[j // block * ROWS * 20 + i * block + j % block] = source[i, j]
    for place, value in places.items():
        assert found[place] == value
    assert untouched(found, set(places))


@pytest.mark.parametrize("op", SPACES)
def test_repeated_matrices(op: str) -> None:
    """Two matrices of 16 rows, one after the other in the accumulators, 1024 elements apart in the destination."""
    first = np.arange(ROWS * COLS, dtype=np.float32) + 1
    two = np.stack([first, first + 1000])
    c, d = "!pto.ptr<f32, l0c>", f"!pto.ptr<f32, {SPACES[op]}>"
    extra, numbers = {"gm": (", %n0, %n0", ", i64, i64"), "ub": (", dst_mode(%n0)", ", i64"), "l1": ("", "")}[
        SPACES[op]
    ]
    types = f"{c}, {d}, i64, i64, i64, i64{numbers}, i64, i64, i64"
    body = f"pto.{op} %c, %d, %n16, %n32, %n16, %n{STRIDE}{extra}, nz2nd, loop3(%n2, %n32, %n1024) : {types}"
    memory = np.zeros(4096, np.float32)
    given: dict[str, tuple[str, Any]] = {"c": (c, two.reshape(-1))}
    if SPACES[op] == "ub":
        found, _ = run_on_cube(f"%d = pto.castptr %n0 : i64 -> {d}\n{body}", given)
        memory = found[:16384].view(np.float32)
    else:
        run(body, {**given, "d": (d, memory)})
    for number in range(2):
        wanted = two[number].reshape(COLS // 16, ROWS, 16).transpose(1, 0, 2).reshape(ROWS, COLS)
        assert (plain(memory[1024 * number :]) == wanted).all()


@pytest.mark.parametrize("mode", ["split_m", "split_n"])
def test_both_vector_cores_get_a_half(mode: str) -> None:
    source = np.arange(ROWS * COLS, dtype=np.float32).reshape(ROWS, COLS) + 1
    c, d = "!pto.ptr<f32, l0c>", "!pto.ptr<f32, ub>"
    body = f"""%d = pto.castptr %n0 : i64 -> {d}
    pto.mte_l0c_ub %c, %d, %n16, %n32, %n16, %n48, dst_mode({mode}), nz2nd : {c}, {d}, i64, i64, i64, i64"""
    halves = run_on_cube(body, {"c": (c, accumulators(source))})
    parts = (source[:8], source[8:]) if mode == "split_m" else (source[:, :16], source[:, 16:])
    for half, part in zip(halves, parts, strict=True):
        rows, cols = part.shape
        found = half[: 4 * rows * STRIDE].view(np.float32).reshape(rows, STRIDE)
        assert (found[:, :cols] == part).all()


def runs(mode: str, dst: str) -> bool:
    """False for modes that are refused: without defined arithmetic, or of another 8-bit format than the destination."""
    refused = "s4" in mode or mode.startswith(("req4", "no_convert"))
    return not refused and not (mode.startswith("qf322fp8") and dst == "hif8")


SCALES = [(0.5, 1.0, -2.0, 0.25)[n % 4] for n in range(COLS)]


@cache
def quantised(mode: str, dst: str) -> np.ndarray:
    """What a mode makes of the values: the same on each of the three ways."""
    source = values(source_of(mode))
    signed = FORMATS[dst].kind == "int"
    rows = [(fp19(scale), 3, 2) for scale in SCALES]
    if QUANT_MODES[mode].payload != "vec":
        rows = [(f32(0.375), 0, 0)] * COLS
    found = np.empty(source.shape)
    for (i, j), value in np.ndenumerate(source):
        scale, offset, shift = rows[j]
        number = float(value) if source.dtype != np.int32 else int(value)
        result = model_quant(mode, number, scale, offset, signed, shift)
        found[i, j] = as_stored(model_store(result, dst, "default", *limits(mode, dst, signed)), dst)
    return found


@pytest.mark.parametrize(("mode", "dst"), [case for case in CASES if runs(*case)])
@pytest.mark.parametrize("op", SPACES)
def test_quantisation(op: str, mode: str, dst: str) -> None:
    more: More = {"q": ("f32", 0.375)}
    if QUANT_MODES[mode].payload == "vec":
        table = np.array([entry(scale, 3, FORMATS[dst].kind == "int", 2) for scale in SCALES], np.uint64)
        more = {"q": ("!pto.ptr<f32, fb>", table.view(np.float32))}
    found = written(op, values(source_of(mode)), dst, f"pre_quant(%q, mode = {mode}), nz2nd", more["q"][0], more)
    np.testing.assert_array_equal(stored(plain(found), dst), quantised(mode, dst))


@pytest.mark.parametrize("op", SPACES)
def test_activation(op: str) -> None:
    source = np.where(np.isnan(values()), 1, values()).astype(np.float32)
    slopes = np.array([(0.5, -1.0, 2.0, 0.25)[n % 4] for n in range(COLS)], np.float32)
    table = np.stack([slopes], 1).reshape(-1)
    forms: list[tuple[str, More, Any]] = [
        ("pre_relu(mode = no_relu)", {}, np.ones(COLS, np.float32)),
        ("pre_relu(mode = normal_relu)", {}, np.zeros(COLS, np.float32)),
        ("pre_relu(%r, mode = scalar_relu)", {"r": ("f32", 0.25)}, np.full(COLS, 0.25, np.float32)),
        ("pre_relu(%r, mode = vector_relu)", {"r": ("!pto.ptr<f32, fb>", table)}, slopes),
    ]
    for clause, more, factors in forms:
        types = ", ".join(type_ for type_, _ in more.values())
        found = plain(written(op, source, "f32", f"{clause}, nz2nd", types, more))
        with np.errstate(invalid="ignore"):
            wanted = np.where(source > 0, source, np.where((source < 0) & (factors != 0), source * factors, 0))
        np.testing.assert_array_equal(found, wanted, clause)


@pytest.mark.parametrize("op", SPACES)
def test_limits(op: str) -> None:
    """Clips come before the conversion; saturation after it."""
    source = values()
    clause = "pre_quant(%q, mode = f32_f16), pre_relu(mode = no_relu, clip = %x), nz2nd"
    more: More = {"q": ("f32", 1.0), "x": ("f16", 50.0)}
    found = plain(written(op, source, "f16", clause, "f32, f16", more)).astype(np.float64)
    with np.errstate(over="ignore"):
        half = np.clip(source.astype(np.float16).astype(np.float64), -65504, 65504)
    wanted = np.where(np.isnan(source), 0, np.minimum(half, 50))
    np.testing.assert_array_equal(found, wanted)
    for word, infinite, nan in (
        ("sat", 65504, 0),
        ("nosat", math.inf, math.nan),
        ("sat(preserve_nan)", 65504, math.nan),
    ):
        clause = f"pre_quant(%q, mode = f32_f16), nz2nd, {word}"
        # Bit 48 of the control register is for stores without a clause.
        for control in (0, 1 << 48):
            given: More = {"q": ("f32", 1.0)}
            found = plain(written(op, source, "f16", clause, "f32", given, control=control)).astype(np.float64)
            assert found[2, :2].tolist() == [infinite, -infinite], word
            np.testing.assert_array_equal(found[2, 2:6], [nan, infinite, -0.0, infinite], word)


@pytest.mark.parametrize(("word", "dst"), [("f32", "f32"), ("f16", "f16"), ("bf16", "bf16"), ("s32", "i32")])
def test_updates(word: str, dst: str) -> None:
    op = "mte_l0c_gm"
    source = np.random.default_rng(3).integers(-40, 40, (ROWS, COLS)).astype(np.int32 if dst == "i32" else np.float32)
    before = np.random.default_rng(4).integers(-40, 40, 4096).astype(FORMATS[dst].storage)
    functions = {"add": np.add, "max": np.maximum, "min": np.minimum}
    mode = {"f16": "f32_f16", "bf16": "f32_bf16"}.get(dst)
    quant, types, more = (
        ("", "", {}) if mode is None else (f"pre_quant(%q, mode = {mode}), ", "f32", {"q": ("f32", 1.0)})
    )
    for name, function in functions.items():
        clause = f"{quant}nz2nd, atomic(type = {word}, op = {name})"
        found = written(op, source, dst, clause, types, more, before)
        wanted = function(plain(before).astype(np.float64), source.astype(np.float64))
        assert (plain(found).astype(np.float64) == wanted).all(), name


@pytest.mark.parametrize(("word", "dst", "mode"), [("s16", "i16", "deqs16_scalar"), ("s8", "si8", "req8_scalar")])
def test_updates_of_narrow_integers(word: str, dst: str, mode: str) -> None:
    source = np.random.default_rng(5).integers(-200, 200, (ROWS, COLS)).astype(np.int32)
    before = np.random.default_rng(6).integers(-20, 20, 4096).astype(FORMATS[dst].storage)
    signed, payload = True, {"q": ("f32", 0.25)}
    for name, function in {"add": np.add, "max": np.maximum, "min": np.minimum}.items():
        clause = f"pre_quant(%q, mode = {mode}), nz2nd, atomic(type = {word}, op = {name})"
        found = plain(written("mte_l0c_gm", source, dst, clause, "f32", payload, before))
        for (i, j), value in np.ndenumerate(source):
            new = model_quant(mode, int(value), f32(0.25), 0, signed, 0)
            stored_new = as_stored(model_store(new, dst, "default", *limits(mode, dst, signed)), dst)
            assert found[i, j] == function(plain(before)[i, j], found.dtype.type(stored_new)), name


@pytest.mark.parametrize("op", ["mte_l0c_gm", "mte_l0c_l1"])
@pytest.mark.parametrize("combine", ["add", "max", "min"])
def test_only_what_goes_to_global_memory_is_combined(op: str, combine: str) -> None:
    """The control register is about stores to global memory."""
    c, d = "!pto.ptr<f32, l0c>", f"!pto.ptr<f32, {SPACES[op]}>"
    extra, numbers = HEAD[SPACES[op]]
    source, memory = np.rint(values() * 4), np.full(4096, 3, np.float32)
    body = f"""pto.set_atomic_f32
    pto.set_atomic_{combine}
    pto.{op} %c, %d, %n16, %n32, %n16, %n{STRIDE}{extra}, nz2nd : {c}, {d}, i64, i64, i64, i64{numbers}"""
    run(body, {"c": (c, accumulators(source)), "d": (d, memory)})
    both = {"add": np.add, "max": np.maximum, "min": np.minimum}[combine](source, np.float32(3))
    np.testing.assert_array_equal(plain(memory), both if op == "mte_l0c_gm" else source)

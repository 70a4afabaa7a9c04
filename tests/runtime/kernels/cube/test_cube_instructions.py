"""Products and write-backs of the cube on its own memories, with every clause, against formulas."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from function_programs import run
from run_time_tiles import refused, value

from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.kernels.cube.mad import Mad
from pto_dialect.runtime.kernels.cube.matmul import TileMatmul
from pto_dialect.runtime.memory.layout import native_layout
from pto_dialect.runtime.memory.spaces import Arena
from pto_dialect.runtime.memory.values import Tile
from pto_dialect.runtime.numerics.formats import format_of

# --- products ---------------------------------------------------------------------------------------------


def blocks(matrix: np.ndarray) -> np.ndarray:
    """Column after column of blocks of 32 bytes: how operands lie in L0A and L0B (there the transposed matrix)."""
    width = 32 // matrix.itemsize
    rows, cols = matrix.shape
    return np.ascontiguousarray(matrix.reshape(rows, cols // width, width).transpose(1, 0, 2)).reshape(-1)


def accumulators(matrix: np.ndarray) -> np.ndarray:
    """Column after column of 16 accumulators."""
    rows, cols = matrix.shape
    return np.ascontiguousarray(matrix.reshape(rows, cols // 16, 16).transpose(1, 0, 2)).reshape(-1)


def matrix_of(memory: np.ndarray, rows: int, cols: int) -> np.ndarray:
    return memory[: rows * cols].reshape(cols // 16, rows, 16).transpose(1, 0, 2).reshape(rows, cols)


M, N, K = 16, 32, 64


def product(
    op: str, element: str, left: np.ndarray, right: np.ndarray, clauses: str = "", result: str = "f32", control: int = 0
) -> np.ndarray:
    """The accumulators [16, 32] after an instruction on operands of 16 x 64 and 64 x 32; before it they hold 5, and the
    control register the number ``control``."""
    dtype: Any = np.int32 if result == "i32" else np.float32
    a, b, c = f"!pto.ptr<{element}, l0a>", f"!pto.ptr<{element}, l0b>", f"!pto.ptr<{result}, l0c>"
    memory = accumulators(np.full((M, N), 5, dtype))
    arguments = {"a": (a, blocks(left)), "b": (b, blocks(np.ascontiguousarray(right.T))), "c": (c, memory)}
    bias, types = "", f"{a}, {b}, {c}"
    if op.endswith("_bias"):
        table = f"!pto.ptr<{result}, bt>"
        arguments["t"] = (table, np.arange(N).astype(dtype))
        bias, types = ", %t", f"{types}, {table}"
    body = f"pto.{op} %a, %b, %c{bias}, %n16, %n32, %n64 {clauses} : {types}, i64, i64, i64"
    if "_mx" in op:
        body = SCALES + body
        for name, space, exponent in (("s", "l0a", 2), ("u", "l0b", -3)):
            arguments[name] = ("!pto.ptr<!pto.f8E8M0, l1>", np.full(4096, 127 + exponent, np.uint8))
            arguments[f"{name}d"] = (f"!pto.ptr<!pto.f8E8M0, {space}>", np.zeros(256, np.uint8))
        body = body.replace("%sd", "%sa").replace("%ud", "%ub")
        body = "%sa = pto.castptr %a : A -> !pto.ptr<!pto.f8E8M0, l0a>\n".replace("A", a) + (
            "%ub = pto.castptr %b : B -> !pto.ptr<!pto.f8E8M0, l0b>\n".replace("B", b) + body
        )
        del arguments["sd"], arguments["ud"]
    run(f"pto.set_ctrl %n{control} : i64\n{body}" if control else body, arguments)
    return matrix_of(memory, M, N)


_SCALE = "!pto.ptr<!pto.f8E8M0, l1>, !pto.ptr<!pto.f8E8M0, {}>, i64, i64, i64, i64"
SCALES = (
    f"pto.mte_l1_l0a_mx %s, %sd, %n16, %n64, %n0, %n0 : {_SCALE.format('l0a')}\n"
    f"pto.mte_l1_l0b_mx %u, %ud, %n64, %n32, %n0, %n0 : {_SCALE.format('l0b')}\n"
)
DTYPES: dict[str, Any] = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "i8": np.int8,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2,
}  # fmt: skip


def operands(element: str) -> tuple[np.ndarray, np.ndarray]:
    """Small integers, whose products are exact."""
    rng = np.random.default_rng(6)
    return rng.integers(-4, 5, (M, K)).astype(DTYPES[element]), rng.integers(-4, 5, (K, N)).astype(DTYPES[element])


START = {"": 0.0, "_acc": 5.0, "_bias": np.arange(N, dtype=np.float64)}
NO_EFFECT = ["", "unit_flag(check_only)", "unit_flag(check_and_set)", "n_dir", "disable_gemv"]


@pytest.mark.parametrize("clauses", NO_EFFECT)
@pytest.mark.parametrize("form", START)
@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "i8"])
def test_products(element: str, form: str, clauses: str) -> None:
    """Flags and the direction order the work; they change no number."""
    left, right = operands(element)
    found = product(f"mad{form}", element, left, right, clauses, "i32" if element == "i8" else "f32")
    wanted = START[form] + left.astype(np.float64) @ right.astype(np.float64)
    assert (found == wanted).all()


@pytest.mark.parametrize("clauses", [*NO_EFFECT, "sat", "nosat"])
@pytest.mark.parametrize("form", START)
@pytest.mark.parametrize("element", ["f8E4M3FN", "f8E5M2"])
def test_products_with_scales(element: str, form: str, clauses: str) -> None:
    left, right = operands(element)
    found = product(f"mad_mx{form}", element, left, right, clauses)
    wanted = START[form] + (left.astype(np.float64) * 4) @ (right.astype(np.float64) / 8)
    assert (found == wanted).all()


@pytest.mark.parametrize("form", START)
@pytest.mark.parametrize("bit", [None, 47, 48, 49])
@pytest.mark.parametrize("clause", ["", "sat", "nosat"])
def test_infinite_operands(form: str, clause: str, bit: int | None) -> None:
    """With saturation the largest number stands for infinities; bit 48 of the control register turns it off where no
    clause says otherwise."""
    saturates = clause == "sat" or (clause == "" and bit != 48)
    wanted = 65504.0 if saturates else math.inf
    left, right = np.zeros((M, K), np.float16), np.zeros((K, N), np.float16)
    left[3, 7], right[7, 9] = np.inf, 1
    start = np.broadcast_to(START[form], (M, N))
    found = product(f"mad{form}", "f16", left, right, clause, control=0 if bit is None else 1 << bit)
    assert found[3, 9] == np.float32(wanted + start[3, 9])
    others = np.ones((M, N), bool)
    # Infinity times zero is no number.
    others[3] = saturates
    others[3, 9] = False
    assert (found[others] == start[others]).all()


def tf32(x: float, away: bool) -> float:
    """A number with 10 bits after the point; ties to the even one or away from zero."""
    mantissa, exponent = math.frexp(x)
    scaled = abs(mantissa) * 2**11
    rounded = math.floor(scaled + 0.5) if away else round(scaled)
    return math.copysign(math.ldexp(rounded, exponent - 11), x)


@pytest.mark.parametrize("form", START)
@pytest.mark.parametrize("mode", ["round_even", "round_away"])
def test_operands_of_19_bits(form: str, mode: str) -> None:
    left, right = np.zeros((M, K), np.float32), np.zeros((K, N), np.float32)
    numbers = [1 + 2.0**-11, 1 + 3 * 2.0**-11, -(1 + 2.0**-11), 1 + 2.0**-12, 1 + 2.0**-11 + 2.0**-23, 0.1, -1e-3]
    left[: len(numbers), 0] = numbers
    right[0, :] = 1
    right[0, 1] = np.float32(0.7)
    found = product(f"mad{form}", "f32", left, right, f"tf32_mode({mode})")
    start = np.broadcast_to(START[form], (M, N))
    for row, number in enumerate(numbers):
        one = tf32(float(np.float32(number)), mode == "round_away")
        other = tf32(float(np.float32(0.7)), mode == "round_away")
        assert found[row, 0] == np.float32(one + start[row, 0])
        assert found[row, 1] == np.float32(one * other + start[row, 1])


@pytest.mark.parametrize("form", ["", "_acc", "_bias"])
@pytest.mark.parametrize("gemv", [True, False])
def test_one_row(form: str, gemv: bool) -> None:
    """A single row of the left operand is a plain list, unless the clause says otherwise."""
    left, right = operands("f16")
    a, b, c, t = "!pto.ptr<f16, l0a>", "!pto.ptr<f16, l0b>", "!pto.ptr<f32, l0c>", "!pto.ptr<f32, bt>"
    memory = np.full(M * N, 5, np.float32)
    row = left[0].copy() if gemv else blocks(left)
    arguments = {"a": (a, row), "b": (b, blocks(np.ascontiguousarray(right.T))), "c": (c, memory)}
    if form == "_bias":
        arguments["t"] = (t, np.arange(N, dtype=np.float32))
    names, types = (", %t", f", {t}") if form == "_bias" else ("", "")
    clause = "" if gemv else " disable_gemv"
    run(f"pto.mad{form} %a, %b, %c{names}, %n1, %n32, %n64{clause} : {a}, {b}, {c}{types}, i64, i64, i64", arguments)
    wanted = np.broadcast_to(START[form], (1, N)) + left[:1].astype(np.float64) @ right.astype(np.float64)
    assert (matrix_of(memory, M, N)[:1] == wanted).all()


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("name", ["pto.mad", "pto.mad_acc", "pto.mad_bias"])
def test_extents_that_only_a_run_knows_are_in_range(name: str, place: int) -> None:
    f16, f32 = format_of("f16"), format_of("f32")
    mad: Any = Mad(name, f16, f16, f32, "nosat", None, False, True)
    for extent, rule in ((0, "mad-mnk-positive"), (-1, "mad-mnk-positive"), (4096, "mad-mnk-range")):
        extents = [16, 16, 16]
        extents[place] = extent
        with pytest.raises(Fault, match=f"{name}: {'mnk'[place]} = {extent} ") as fault:
            mad(None, None, None, None, None, *extents)
        assert fault.value.rule == rule


def test_the_deepest_product() -> None:
    """4095 numbers along k are a product; 4096 are refused (docs/reference/constraints.md)."""
    rng = np.random.default_rng(8)
    left, right = (rng.integers(-3, 4, shape).astype(np.int8) for shape in ((16, 4096), (4096, 16)))
    a, b, c = "!pto.ptr<i8, l0a>", "!pto.ptr<i8, l0b>", "!pto.ptr<i32, l0c>"
    memory = np.zeros(256, np.int32)
    given = {"a": (a, blocks(left)), "b": (b, blocks(np.ascontiguousarray(right.T))), "c": (c, memory)}
    run(f"pto.mad %a, %b, %c, %n16, %n16, %n4095 : {a}, {b}, {c}, i64, i64, i64", given)
    assert (matrix_of(memory, 16, 16) == left[:, :4095].astype(int) @ right[:4095].astype(int)).all()


@pytest.mark.parametrize("k", [4095, 4096])
def test_the_deepest_product_of_tiles(k: int) -> None:
    multiply = TileMatmul("pto.tmatmul", False, False, False, False)
    dst = value(1, 1)
    left, right = value(1, k, data=np.full(k, 2)), value(k, 1, data=np.full(k, 3))
    if k == 4095:
        multiply(left, right, dst)
        assert dst.array.tolist() == [[6 * k]]
    else:
        refused("matmul-range", "pto.tmatmul: m, k, n = 1, 4096, 1 exceed 4095", lambda: multiply(left, right, dst))


@pytest.mark.parametrize(("op", "element", "rows", "rule"), [
    ("pto.tmatmul", "f16", 16, ""), ("pto.tgemv", "f16", 1, "gemv-k"), ("pto.tmatmul", "f4E2M1x2", 16, "matmul-shape"),
    ("pto.tgemv", "f4E2M1x2", 1, "gemv-k"),
])  # fmt: skip
def test_operands_that_disagree_about_the_depth(op: str, element: str, rows: int, rule: str) -> None:
    """A product goes as far as the left operand; of vectors and of pairs no such reading is known."""

    def operand(loc: str, rows: int, cols: int, orders: tuple[str, str]) -> Tile:
        fmt, pairs = format_of(element), element != "f16"
        layout = native_layout(loc, "a5", rows, cols, fmt.bytes, *orders, 512, pairs)
        return Tile(Arena(loc, 8192).pointer(0, fmt.storage), layout, fmt, loc, rows, cols, rows, cols)

    left = operand("left", 16, 64, ("col_major", "row_major"))
    right = operand("right", 64, 32, ("row_major", "col_major"))
    left.set_valid(rows, 32)
    multiply = TileMatmul(op, False, False, False, False)
    dst = value(rows, 32)
    if rule:
        message = f"{op}: lhs is {rows}x32, rhs is 64x32"
        refused(rule, message, lambda: multiply(left, right, dst))
        return
    numbers = np.random.default_rng(9).integers(-4, 5, (2, 64, 64))
    a, b = numbers[0, :16].astype(np.float16), numbers[1, :, :32].astype(np.float16)
    left.view.write(a)
    right.view.write(b)
    multiply(left, right, dst)
    assert (dst.array == numbers[0, :16, :32] @ numbers[1, :32, :32]).all()


@pytest.mark.parametrize("form", ["mte_l1_l0a", "load_cbuf_to_ca", "load_cbuf_to_cb"])
@pytest.mark.parametrize("clause", ["", "{transpose = false}", "{transpose = true}"])
def test_a_fractal_is_transposed_where_a_clause_says_so(form: str, clause: str) -> None:
    source, memory = np.arange(256, dtype=np.uint16), np.zeros(256, np.uint16)
    types = "!pto.ptr<ui16, l1>", f"!pto.ptr<ui16, {'l0b' if form.endswith('b') else 'l0a'}>"
    raw = form.startswith("load")
    numbers = "%n0, %n0, %n1, %n1, %n1, %n1" if raw else "%n16, %n16, %n0, %n0"
    kinds = ", ".join([*types, *["i64"] * (6 if raw else 4)])
    run(f"pto.{form} %s, %d, {numbers} {clause} : {kinds}", {"s": (types[0], source), "d": (types[1], memory)})
    wanted = source.reshape(16, 16)
    assert (memory.reshape(16, 16) == (wanted.T if "true" in clause else wanted)).all()

"""Right operands in L0B: loads pack ceil(n / 16) fractals for each 16 numbers of k, tile operations take the columns of
their tile. Source: docs/reference/layouts.md, "Loads into L0", "Moves between tiles".
"""

from __future__ import annotations

import numpy as np
import pytest
from function_programs import run

ROWS, DEPTH = 16, 32


def up16(number: int) -> int:
    return -(-number // 16) * 16


def blocks(matrix: np.ndarray) -> np.ndarray:
    """A k x n matrix with n a multiple of 16: blocks of 16 k, in them column after column."""
    k, n = matrix.shape
    return np.array([matrix[first : first + 16, col] for first in range(0, k, 16) for col in range(n)]).reshape(-1)


def seen(image: np.ndarray, depth: int, cols: int) -> np.ndarray:
    """What blocks of ``cols`` columns hold in an image, as a k x cols matrix."""
    found = np.zeros((depth, cols))
    for (k, n), _ in np.ndenumerate(found):
        found[k, n] = image[k // 16 * cols * 16 + n * 16 + k % 16]
    return found


def data(cols: int, depth: int = DEPTH) -> tuple[np.ndarray, np.ndarray]:
    """Small whole numbers, so that every sum is exact; padding of the right operand as well."""
    rng = np.random.default_rng(cols)
    left = rng.integers(-4, 5, (ROWS, depth)).astype(np.float16)
    return left, rng.integers(-4, 5, (depth, up16(cols))).astype(np.float16)


def left_tile(depth: int) -> str:
    return f"!pto.tile_buf<left, 16x{depth}xf16, blayout=col_major, slayout=row_major>"


def right_tile(depth: int, physical: int, cols: int) -> str:
    return f"!pto.tile_buf<right, {depth}x{physical}xf16, valid={depth}x{cols}, slayout=col_major>"


def acc_tile(physical: int, cols: int) -> str:
    shape = f"16x{physical}xf32, valid=16x{cols}"
    return f"!pto.tile_buf<acc, {shape}, blayout=col_major, slayout=row_major, fractal=1024>"


PLACED = "%to = pto.castptr %n0 : i64 -> !pto.ptr<f16, l0b>\n"


def load(depth: int, cols: int) -> str:
    types = "!pto.ptr<f16, l1>, !pto.ptr<f16, l0b>, i64, i64"
    return f"{PLACED}pto.mte_l1_l0b %s, %to, %n{depth}, %n{cols} : {types}\n"


@pytest.mark.parametrize("depth", [32, 48])
@pytest.mark.parametrize(("cols", "physical"), [(40, 48), (40, 64), (33, 48), (17, 64), (48, 48), (95, 96)])
def test_a_tile_reads_its_own_columns_of_what_a_load_has_packed(depth: int, cols: int, physical: int) -> None:
    """Both meet where the tile has as many columns as the load packs; else the tile finds other numbers."""
    left, right = data(cols, depth)
    out = np.zeros((ROWS, physical), np.float32)
    a, b, c = left_tile(depth), right_tile(depth, physical, cols), acc_tile(physical, cols)
    body = load(depth, cols) + (
        f"%b = pto.alloc_tile addr = %n0 : {b}\npto.tmatmul ins(%a, %b : {a}, {b}) outs(%c : {c})\n"
    )
    # What L1 holds: rows of n, blocks of 16 k, as the load takes it without transposition.
    run(body, {"s": ("!pto.ptr<f16, l1>", blocks(right)), "a": (a, left), "c": (c, out)})
    memory = np.zeros(depth * 128)
    memory[: depth * up16(cols)] = blocks(right)
    wanted = left.astype(np.float64) @ seen(memory, depth, physical)
    assert (out[:, :cols] == wanted[:, :cols]).all()
    exact = left.astype(np.float64) @ right
    assert (out[:, :cols] == exact[:, :cols]).all() == (physical == up16(cols))


@pytest.mark.parametrize(("physical", "cols"), [(64, 64), (64, 40), (48, 40), (96, 95)])
def test_a_product_on_pointers_reads_what_it_would_have_packed(physical: int, cols: int) -> None:
    """A tile's own columns count for both only where the product names them."""
    left, right = data(physical)
    b = right_tile(DEPTH, physical, physical)
    m = f"!pto.tile_buf<mat, {DEPTH}x{physical}xf16, blayout=col_major, slayout=row_major>"
    out = np.zeros(ROWS * physical, np.float32)
    pointers = "!pto.ptr<f16, l0a>, !pto.ptr<f16, l0b>, !pto.ptr<f32, l0c>, i64, i64, i64"
    body = (
        f"{PLACED}%b = pto.alloc_tile addr = %n0 : {b}\npto.tmov ins(%m : {m}) outs(%b : {b})\n"
        f"pto.mad %l, %to, %c, %n{ROWS}, %n{cols}, %n{DEPTH} : {pointers}\n"
    )
    given = {"l": ("!pto.ptr<f16, l0a>", rows_in_blocks(left)), "m": (m, right), "c": ("!pto.ptr<f32, l0c>", out)}
    run(body, given)
    wanted = left.astype(np.float64) @ seen(blocks(right), DEPTH, up16(cols))
    found = out[: ROWS * up16(cols)].reshape(-1, ROWS, 16).transpose(1, 0, 2).reshape(ROWS, -1)
    assert (found[:, :cols] == wanted[:, :cols]).all()
    assert (found[:, :cols] == (left.astype(np.float64) @ right)[:, :cols]).all() == (up16(cols) == physical)


def rows_in_blocks(matrix: np.ndarray) -> np.ndarray:
    """An m x k matrix as the left memory holds it: blocks of 16 k, in them row after row."""
    return np.concatenate([matrix[:, first : first + 16].reshape(-1) for first in range(0, matrix.shape[1], 16)])

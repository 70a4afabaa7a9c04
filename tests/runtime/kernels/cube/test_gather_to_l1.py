"""``mgather`` from global memory to L1 with indices in global memory. Source: docs/reference/tiles.md, "Irregular
operations".
"""

from __future__ import annotations

import numpy as np
import pytest

from pto_dialect.api import check, parse
from pto_dialect.runtime.api import compile as compile_kernel

ROWS, COLS, TABLE = 32, 32, 64


def program(coalesce: str) -> str:
    mat = f"!pto.tile_buf<mat, {ROWS}x{COLS}xf16, blayout=col_major, slayout=row_major>"
    left = f"!pto.tile_buf<left, {ROWS}x{COLS}xf16, blayout=col_major, slayout=row_major>"
    right = f"!pto.tile_buf<right, {COLS}x{COLS}xf16, slayout=col_major>"
    acc = f"!pto.tile_buf<acc, {ROWS}x{COLS}xf32, blayout=col_major, slayout=row_major, fractal=1024>"
    table, indices = f"{TABLE}x{COLS}xf16", f"{1 if coalesce == 'row' else ROWS}x{ROWS}xi32"
    square, out = f"{COLS}x{COLS}xf16", f"{ROWS}x{COLS}xf32"
    scratch = "" if coalesce == "row" else ", %scratch"
    scratch_type = "" if coalesce == "row" else f", !pto.partition_tensor_view<{square}>"
    mat_b = mat.replace(f"{ROWS}x{COLS}", f"{COLS}x{COLS}")
    return f"""
module attributes {{pto.target_arch = "a5"}} {{
  func.func @k(%table: !pto.partition_tensor_view<{table}>, %idx: !pto.partition_tensor_view<{indices}>,
               %scratch: !pto.partition_tensor_view<{square}>, %one: !pto.partition_tensor_view<{square}>,
               %out: !pto.partition_tensor_view<{out}>) attributes {{pto.kernel}} {{
    %mat = pto.alloc_tile : {mat}
    %unit = pto.alloc_tile : {mat_b}
    %left = pto.alloc_tile : {left}
    %right = pto.alloc_tile : {right}
    %acc = pto.alloc_tile : {acc}
    pto.mgather ins(%table, %idx{scratch}
        : !pto.partition_tensor_view<{table}>, !pto.partition_tensor_view<{indices}>{scratch_type})
      outs(%mat : {mat}) {{coalesce = #pto<coalesce {coalesce}>}}
    pto.tload ins(%one : !pto.partition_tensor_view<{square}>) outs(%unit : {mat_b})
    pto.tmov ins(%mat : {mat}) outs(%left : {left})
    pto.tmov ins(%unit : {mat_b}) outs(%right : {right})
    pto.tmatmul ins(%left, %right : {left}, {right}) outs(%acc : {acc})
    pto.tstore ins(%acc : {acc}) outs(%out : !pto.partition_tensor_view<{out}>)
    return
  }}
}}
"""


@pytest.mark.parametrize("coalesce", ["row", "elem"])
def test_gathered_rows_and_elements(coalesce: str) -> None:
    rng = np.random.default_rng(0)
    table = rng.integers(-99, 99, (TABLE, COLS)).astype(np.float16)
    if coalesce == "row":
        idx = rng.integers(0, TABLE, (1, ROWS)).astype(np.int32)
        wanted = table[idx[0]]
    else:
        idx = rng.integers(0, TABLE * COLS, (ROWS, COLS)).astype(np.int32)
        wanted = table.reshape(-1)[idx]
    text = program(coalesce)
    assert check(text).ok, str(check(text))
    out = np.zeros((ROWS, COLS), np.float32)
    square = np.eye(COLS, dtype=np.float16)
    compile_kernel(parse(text))(table, idx, np.zeros((ROWS, COLS), np.float16), square, out)
    assert (out == wanted).all()

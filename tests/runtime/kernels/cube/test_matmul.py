"""Matrix products of tiles whose valid regions are known at run time only: the operands say what is computed."""

from __future__ import annotations

import numpy as np
import pytest

from pto_dialect.api import parse
from pto_dialect.runtime.api import compile as compile_kernel
from pto_dialect.runtime.errors import ProgramError

LEFT = "!pto.tile_buf<left, 16x32xf16, valid=?x?, blayout=row_major, slayout=row_major>"
RIGHT = "!pto.tile_buf<right, 32x16xf16, valid=?x?, blayout=row_major, slayout=col_major>"
ACC = "!pto.tile_buf<acc, 16x16xf32, valid=?x?, blayout=col_major, slayout=row_major, fractal=1024>"
MAT_A = "!pto.tile_buf<mat, 16x32xf16, blayout=col_major, slayout=row_major>"
MAT_B = "!pto.tile_buf<mat, 32x16xf16, blayout=col_major, slayout=row_major>"


def program(op: str) -> str:
    statement = {
        "tmatmul": f"pto.tmatmul ins(%left, %right : {LEFT}, {RIGHT}) outs(%acc : {ACC})",
        "tmatmul.acc": f"pto.tmatmul.acc ins(%acc, %left, %right : {ACC}, {LEFT}, {RIGHT}) outs(%acc : {ACC})",
        "tgemv": f"pto.tgemv ins(%left, %right : {LEFT}, {RIGHT}) outs(%acc : {ACC})",
    }[op]
    return f"""
module attributes {{pto.target_arch = "a2a3"}} {{
  func.func @k(%a: !pto.ptr<f16>, %b: !pto.ptr<f16>, %d: !pto.ptr<f32>, %m: index, %k: index, %n: index,
               %rows: index, %cols: index, %right_k: index) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %av = pto.make_tensor_view %a, shape = [%c16, %c32], strides = [%c32, %c1] : !pto.tensor_view<16x32xf16>
    %bv = pto.make_tensor_view %b, shape = [%c32, %c16], strides = [%c16, %c1] : !pto.tensor_view<32x16xf16>
    %dv = pto.make_tensor_view %d, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<16x16xf32>
    %ap = pto.partition_view %av, offsets = [%c0, %c0], sizes = [%c16, %c32]
      : !pto.tensor_view<16x32xf16> -> !pto.partition_tensor_view<16x32xf16>
    %bp = pto.partition_view %bv, offsets = [%c0, %c0], sizes = [%c32, %c16]
      : !pto.tensor_view<32x16xf16> -> !pto.partition_tensor_view<32x16xf16>
    %dp = pto.partition_view %dv, offsets = [%c0, %c0], sizes = [%c16, %c16]
      : !pto.tensor_view<16x16xf32> -> !pto.partition_tensor_view<16x16xf32>
    %ma = pto.alloc_tile : {MAT_A}
    %mb = pto.alloc_tile : {MAT_B}
    %left = pto.alloc_tile valid_row = %m valid_col = %k : {LEFT}
    %right = pto.alloc_tile valid_row = %right_k valid_col = %n : {RIGHT}
    %acc = pto.alloc_tile valid_row = %c16 valid_col = %c16 : {ACC}
    %ones_l = pto.alloc_tile valid_row = %c16 valid_col = %c32 : {LEFT}
    %ones_r = pto.alloc_tile valid_row = %c32 valid_col = %c16 : {RIGHT}
    pto.tload ins(%ap : !pto.partition_tensor_view<16x32xf16>) outs(%ma : {MAT_A})
    pto.tload ins(%bp : !pto.partition_tensor_view<32x16xf16>) outs(%mb : {MAT_B})
    pto.tmov ins(%ma : {MAT_A}) outs(%ones_l : {LEFT})
    pto.tmov ins(%mb : {MAT_B}) outs(%ones_r : {RIGHT})
    pto.tmatmul ins(%ones_l, %ones_r : {LEFT}, {RIGHT}) outs(%acc : {ACC})
    pto.tmov ins(%ma : {MAT_A}) outs(%left : {LEFT})
    pto.tmov ins(%mb : {MAT_B}) outs(%right : {RIGHT})
    pto.set_validshape %acc, %rows, %cols : {ACC}
    {statement}
    pto.set_validshape %acc, %c16, %c16 : {ACC}
    pto.tstore ins(%acc : {ACC}) outs(%dp : !pto.partition_tensor_view<16x16xf32>)
    return
  }}
}}
"""


def run(
    op: str, m: int, k: int, n: int, rows: int, cols: int, right_k: int | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-4, 5, shape).astype(np.float16) for shape in ((16, 32), (32, 16)))
    d = np.zeros((16, 16), np.float32)
    compile_kernel(parse(program(op)))(a, b, d, m, k, n, rows, cols, k if right_k is None else right_k)
    return a.astype(np.float32), b.astype(np.float32), d


@pytest.mark.parametrize("op", ["tmatmul", "tmatmul.acc"])
@pytest.mark.parametrize(("rows", "cols"), [(8, 5), (16, 16), (8, 16), (11, 5)])
def test_the_rest_of_a_larger_accumulator_is_kept(op: str, rows: int, cols: int) -> None:
    a, b, d = run(op, 8, 32, 5, rows, cols)
    wanted = a @ b
    product = a[:8] @ b[:, :5]
    wanted[:8, :5] = product if op == "tmatmul" else wanted[:8, :5] + product
    assert (d == wanted).all()


@pytest.mark.parametrize(("rows", "cols"), [(7, 5), (8, 4)])
def test_a_smaller_accumulator_is_an_error(rows: int, cols: int) -> None:
    with pytest.raises(ProgramError, match=f"result is 8x5, dst is {rows}x{cols}") as error:
        run("tmatmul", 8, 32, 5, rows, cols)
    assert error.value.rule == "matmul-shape"


@pytest.mark.parametrize("right_k", [32, 24, 21])
def test_the_left_operand_says_what_k_is(right_k: int) -> None:
    a, b, d = run("tmatmul", 8, 20, 5, 8, 5, right_k)
    wanted = a @ b
    wanted[:8, :5] = a[:8, :20] @ b[:20, :5]
    assert (d == wanted).all()


def test_a_vector_product_has_one_row() -> None:
    a, b, d = run("tgemv", 1, 20, 5, 1, 5)
    wanted = a @ b
    wanted[:1, :5] = a[:1, :20] @ b[:20, :5]
    assert (d == wanted).all()
    with pytest.raises(ProgramError, match="lhs must have one valid row, found 2") as error:
        run("tgemv", 2, 20, 5, 2, 5)
    assert error.value.rule == "gemv-m1"
    assert error.value.span is not None
    with pytest.raises(ProgramError, match="lhs is 1x20, rhs is 24x5") as error:
        run("tgemv", 1, 20, 5, 1, 5, 24)
    assert error.value.rule == "gemv-k"


@pytest.mark.parametrize("op", ["tmatmul", "tmatmul.acc"])
def test_a_product_over_nothing(op: str) -> None:
    """The sum over no element is 0: the accumulator becomes that, or stays."""
    a, b, d = run(op, 8, 0, 5, 8, 5, 0)
    wanted = a @ b
    if op == "tmatmul":
        wanted[:8, :5] = 0
    assert (d == wanted).all()

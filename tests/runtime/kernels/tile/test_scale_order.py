"""``tmov`` to the order in which the matrix unit reads MX scales. Source: docs/reference/layouts.md, "MX scales"."""

from __future__ import annotations

import numpy as np
import pytest

from pto_dialect.api import parse
from pto_dialect.runtime.api import compile as compile_kernel
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions


def program(
    src: tuple[int, int], valid: tuple[int, int], dst: tuple[int, int], attribute: str, fractal: int = 512
) -> str:
    source = f"!pto.tile_buf<vec, {src[0]}x{src[1]}xui8, valid={valid[0]}x{valid[1]}>"
    whole = f"!pto.tile_buf<vec, {src[0]}x{src[1]}xui8>"
    target = f"!pto.tile_buf<vec, {dst[0]}x{dst[1]}xui8, slayout=row_major, fractal={fractal}>"
    shape, size = f"{src[0]}x{src[1]}xui8", dst[0] * dst[1]
    linear = f"1x{size}xui8"
    listed = f"!pto.tile_buf<vec, {linear}, slayout=row_major, fractal={fractal}>"
    return f"""
module attributes {{pto.target_arch = "a5"}} {{
  func.func @k(%a: !pto.ptr<ui8>, %d: !pto.ptr<ui8>) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = arith.constant {src[0]} : index
    %n = arith.constant {src[1]} : index
    %size = arith.constant {size} : index
    %zero = arith.constant 0 : i64
    %at = arith.constant 65536 : i64
    %av = pto.make_tensor_view %a, shape = [%m, %n], strides = [%n, %c1] : !pto.tensor_view<{shape}>
    %ap = pto.partition_view %av, offsets = [%c0, %c0], sizes = [%m, %n]
      : !pto.tensor_view<{shape}> -> !pto.partition_tensor_view<{shape}>
    %dv = pto.make_tensor_view %d, shape = [%c1, %size], strides = [%size, %c1] : !pto.tensor_view<{linear}>
    %dp = pto.partition_view %dv, offsets = [%c0, %c0], sizes = [%c1, %size]
      : !pto.tensor_view<{linear}> -> !pto.partition_tensor_view<{linear}>
    %whole = pto.alloc_tile addr = %zero : {whole}
    %src = pto.alloc_tile addr = %zero : {source}
    %dst = pto.alloc_tile addr = %at : {target}
    %bytes = pto.alloc_tile addr = %at : {listed}
    pto.tload ins(%ap : !pto.partition_tensor_view<{shape}>) outs(%whole : {whole})
    pto.tmov ins(%src : {source}) outs(%dst : {target}) {attribute}
    pto.tstore ins(%bytes : {listed}) outs(%dp : !pto.partition_tensor_view<{linear}>)
    return
  }}
}}
"""


@pytest.mark.parametrize("fractal", [32, 512])
@pytest.mark.parametrize(("valid", "dst"), [((32, 4), (32, 4)), ((20, 4), (32, 4)), ((16, 2), (16, 2))])
def test_groups_along_rows(valid: tuple[int, int], dst: tuple[int, int], fractal: int) -> None:
    text = program((32, 32), valid, dst, "{grpAxis = #pto<mx_group_axis axis1>}", fractal)
    a = np.random.default_rng(1).integers(1, 255, (32, 32)).astype(np.uint8)
    d = np.full(dst[0] * dst[1], 77, np.uint8)
    compile_kernel(parse(text), verify=False)(a, d)
    wanted = [
        a[16 * b + q, 2 * p + e] if 16 * b + q < valid[0] else 0
        for b in range(dst[0] // 16)
        for p in range(dst[1] // 2)
        for q in range(16)
        for e in range(2)
    ]
    assert d.tolist() == wanted


def test_a_list_of_scales_has_rows_like_the_destination() -> None:
    text = program((1, 96), (1, 80), (32, 4), "{grpAxis = #pto<mx_group_axis axis1>}")
    a = np.random.default_rng(3).integers(1, 255, (1, 96)).astype(np.uint8)
    d = np.full(128, 77, np.uint8)
    compile_kernel(parse(text), verify=False)(a, d)
    rows = a[0, :80].reshape(20, 4)
    wanted = [
        rows[16 * b + q, 2 * p + e] if 16 * b + q < 20 else 0
        for b in range(2)
        for p in range(2)
        for q in range(16)
        for e in range(2)
    ]
    assert d.tolist() == wanted


def test_groups_along_columns() -> None:
    text = program((4, 32), (4, 32), (32, 4), "{grpAxis = #pto<mx_group_axis axis0>}")
    a = np.random.default_rng(2).integers(0, 255, (4, 32)).astype(np.uint8)
    d = np.zeros(128, np.uint8)
    Kernel(parse(text), "k", "a5", RunOptions()).run([a, d])
    assert d.tolist() == [
        a[2 * p + e, 16 * c + q] for c in range(2) for p in range(2) for q in range(16) for e in range(2)
    ]

"""Matrix products of 4-bit numbers, with scales in tiles of any element. Source: docs/reference/layouts.md, "Fractals",
"MX scales".
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pto_dialect.api import check, parse
from pto_dialect.runtime.api import compile as compile_kernel
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.layout import tile_layout
from pto_dialect.runtime.memory.packed_view import PackedView
from pto_dialect.runtime.memory.spaces import Arena

E2M1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
E1M2 = [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75]
VALUES = {name: np.array([*half, *(-x for x in half)]) for name, half in (("f4E2M1x2", E2M1), ("f4E1M2x2", E1M2))}


def packed(numbers: np.ndarray) -> np.ndarray:
    return (numbers[:, ::2] | numbers[:, 1::2] << 4).astype(np.uint8)


@given(st.data(), st.sampled_from(["row_major", "col_major"]))
def test_a_view_of_single_numbers(data: st.DataObject, order: str) -> None:
    """Numbers written somewhere are read there, and nothing else changes."""
    rows, cols = 64, 128
    in_bytes = (rows, cols // 2) if order == "row_major" else (rows // 2, cols)
    layout = tile_layout(*in_bytes, 1, "col_major" if order == "row_major" else "row_major", order)
    memory = Arena("l1", layout.nbytes)
    whole = PackedView(layout, memory.pointer(0, np.uint8), rows, cols)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    content = rng.integers(0, 16, (rows, cols), np.uint8)
    whole.write(content)
    assert (whole.read() == content).all()
    row, col = (2 * data.draw(st.integers(0, 20)) for _ in range(2))
    height, width = (data.draw(st.integers(1, 20)) for _ in range(2))
    part = rng.integers(0, 16, (height, width), np.uint8)
    whole.window(row, col, height, width).write(part)
    content[row : row + height, col : col + width] = part
    assert (whole.read() == content).all()
    assert (whole.window(row, col, height, width).read() == part).all()
    inner = whole.bytes.read()
    first = inner[:, 0] if order == "row_major" else inner[0]
    pairs = content[:, :2] if order == "row_major" else content[:2].T
    assert (first == (pairs[:, 0] | pairs[:, 1] << 4)).all()


def test_a_window_does_not_split_a_byte() -> None:
    layout = tile_layout(16, 32, 1, "col_major", "row_major")
    view = PackedView(layout, Arena("l1", layout.nbytes).pointer(0, np.uint8), 16, 64)
    with pytest.raises(Fault, match="middle of a byte"):
        view.window(0, 3, 2, 2)


def program(lhs: str, rhs: str, m: int, k: int, n: int, scale: str) -> str:
    groups = k // 32
    mat_a = f"!pto.tile_buf<mat, {m}x{k}x!pto.{lhs}, blayout=col_major, slayout=row_major>"
    mat_b = f"!pto.tile_buf<mat, {k}x{n}x!pto.{rhs}, blayout=col_major, slayout=row_major>"
    left = f"!pto.tile_buf<left, {m}x{k}x!pto.{lhs}, blayout=col_major, slayout=row_major>"
    right = f"!pto.tile_buf<right, {k}x{n}x!pto.{rhs}, slayout=col_major>"
    acc = f"!pto.tile_buf<acc, {m}x{n}xf32, blayout=col_major, slayout=row_major, fractal=1024>"
    mat_as = f"!pto.tile_buf<mat, {m}x{groups}x!pto.f8E8M0, slayout=row_major, fractal=32>"
    mat_bs = f"!pto.tile_buf<mat, {groups}x{n}x!pto.f8E8M0, blayout=col_major, slayout=col_major, fractal=32>"
    left_s = f"!pto.tile_buf<scaling, {m}x{groups}x{scale}, slayout=row_major, fractal=32>"
    right_s = f"!pto.tile_buf<scaling, {groups}x{n}x{scale}, blayout=col_major, slayout=col_major, fractal=32>"
    bytes_left, bytes_right = (tile.replace(f"x{scale},", "x!pto.f8E8M0,") for tile in (left_s, right_s))

    def view(name: str, rows: int, cols: int, element: str) -> str:
        shape = f"{rows}x{cols}x{element}"
        return f"""
    %{name}r = arith.constant {rows} : index
    %{name}c = arith.constant {cols} : index
    %{name}v = pto.make_tensor_view %{name}, shape = [%{name}r, %{name}c], strides = [%{name}c, %c1]
      : !pto.tensor_view<{shape}>
    %{name}p = pto.partition_view %{name}v, offsets = [%c0, %c0], sizes = [%{name}r, %{name}c]
      : !pto.tensor_view<{shape}> -> !pto.partition_tensor_view<{shape}>"""

    return f"""
module attributes {{pto.target_arch = "a5"}} {{
  func.func @k(%a: !pto.ptr<!pto.{lhs}>, %b: !pto.ptr<!pto.{rhs}>, %s: !pto.ptr<!pto.f8E8M0>,
               %t: !pto.ptr<!pto.f8E8M0>, %d: !pto.ptr<f32>) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i64{view("a", m, k // 2, "!pto." + lhs)}{view("b", k, n // 2, "!pto." + rhs)}
    {view("s", m, groups, "!pto.f8E8M0")}{view("t", groups, n, "!pto.f8E8M0")}{view("d", m, n, "f32")}
    %ma = pto.alloc_tile : {mat_a}
    %mb = pto.alloc_tile : {mat_b}
    %ms = pto.alloc_tile : {mat_as}
    %mt = pto.alloc_tile : {mat_bs}
    %left = pto.alloc_tile addr = %zero : {left}
    %right = pto.alloc_tile addr = %zero : {right}
    %fill_l = pto.alloc_tile addr = %zero : {bytes_left}
    %fill_r = pto.alloc_tile addr = %zero : {bytes_right}
    %scale_l = pto.alloc_tile addr = %zero : {left_s}
    %scale_r = pto.alloc_tile addr = %zero : {right_s}
    %acc = pto.alloc_tile : {acc}
    pto.tload ins(%ap : !pto.partition_tensor_view<{m}x{k // 2}x!pto.{lhs}>) outs(%ma : {mat_a})
    pto.tload ins(%bp : !pto.partition_tensor_view<{k}x{n // 2}x!pto.{rhs}>) outs(%mb : {mat_b})
    pto.tload ins(%sp : !pto.partition_tensor_view<{m}x{groups}x!pto.f8E8M0>) outs(%ms : {mat_as})
    pto.tload ins(%tp : !pto.partition_tensor_view<{groups}x{n}x!pto.f8E8M0>) outs(%mt : {mat_bs})
    pto.tmov ins(%ma : {mat_a}) outs(%left : {left})
    pto.tmov ins(%mb : {mat_b}) outs(%right : {right})
    pto.tmov ins(%ms : {mat_as}) outs(%fill_l : {bytes_left})
    pto.tmov ins(%mt : {mat_bs}) outs(%fill_r : {bytes_right})
    pto.tmatmul.mx ins(%left, %scale_l, %right, %scale_r : {left}, {left_s}, {right}, {right_s}) outs(%acc : {acc})
    pto.tstore ins(%acc : {acc}) outs(%dp : !pto.partition_tensor_view<{m}x{n}xf32>)
    return
  }}
}}
"""


def blocks(scales: np.ndarray) -> np.ndarray:
    """Scales [rows, groups] in the blocks of 16 x 2 in which they lie in global memory."""
    rows, groups = scales.shape
    return np.array(
        [
            scales[16 * block + row, 2 * pair + side]
            for block in range(rows // 16)
            for pair in range(groups // 2)
            for row in range(16)
            for side in range(2)
        ],
        np.uint8,
    )


@pytest.mark.parametrize("layouts", [("", ""), ("mx_a_zz", "mx_b_nn"), ("nd", "nd")])
def test_stated_layouts_of_scales(layouts: tuple[str, str]) -> None:
    """Without a layout that of the matrix tiles counts; nd is plain rows."""
    m, k, n = 32, 128, 64
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 16, (m, k)), rng.integers(0, 16, (k, n))
    s, t = (rng.integers(126, 129, shape).astype(np.uint8) for shape in ((m, k // 32), (k // 32, n)))
    text = program("f4E2M1x2", "f4E2M1x2", m, k, n, "!pto.f8E8M0")
    for name, layout in zip("st", layouts, strict=True):
        if layout:
            view = f"strides = [%{name}c, %c1]"
            text = text.replace(view, f"{view} {{layout = #pto.layout<{layout}>}}")
    assert check(text).ok, str(check(text))
    d = np.zeros((m, n), np.float32)
    plain = layouts[0] == "nd"
    compile_kernel(parse(text))(packed(a), packed(b), *((s, t) if plain else (blocks(s), blocks(t.T))), d)
    left = VALUES["f4E2M1x2"][a] * np.repeat(2.0 ** (s.astype(int) - 127), 32, axis=1)
    right = VALUES["f4E2M1x2"][b] * np.repeat(2.0 ** (t.astype(int) - 127), 32, axis=0)
    assert (d == left @ right).all()


@pytest.mark.parametrize("lhs", VALUES)
@pytest.mark.parametrize("rhs", VALUES)
@pytest.mark.parametrize("scale", ["!pto.f8E8M0", "f16"])
def test_product(lhs: str, rhs: str, scale: str) -> None:
    m, k, n = 32, 128, 64
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 16, (m, k)), rng.integers(0, 16, (k, n))
    s, t = (rng.integers(126, 129, shape).astype(np.uint8) for shape in ((m, k // 32), (k // 32, n)))
    d = np.zeros((m, n), np.float32)
    text = program(lhs, rhs, m, k, n, scale)
    assert check(text).ok, str(check(text))
    compile_kernel(parse(text))(packed(a), packed(b), blocks(s), blocks(t.T), d)
    left = VALUES[lhs][a] * np.repeat(2.0 ** (s.astype(int) - 127), 32, axis=1)
    right = VALUES[rhs][b] * np.repeat(2.0 ** (t.astype(int) - 127), 32, axis=0)
    assert (d == left @ right).all()

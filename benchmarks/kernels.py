"""Whole kernels as people write them, each with the numpy that a person would write instead."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


class Workload(NamedTuple):
    """A program with its arguments, the hand-written function on the same arrays, and how close they must be.

    ``blocks`` is the launch width; ``output`` is the position of the array that the program writes, ``reference``
    computes what it should hold from whole arrays, ``by_hand`` in the steps of the kernel.
    """

    text: str
    arguments: tuple[Any, ...]
    output: int
    reference: Callable[[], Array]
    tolerance: float
    blocks: int = 1
    by_hand: Callable[[], Array] | None = None


def _views(names: dict[str, tuple[int, int]], element: str = "f32") -> str:
    lines = []
    for name, (rows, cols) in names.items():
        lines.append(
            f"  %{name}v = pto.make_tensor_view %{name}, shape = [%c{rows}, %c{cols}], strides = [%c{cols}, %c1]"
            f" : !pto.tensor_view<{rows}x{cols}x{element}>"
        )
    return "\n".join(lines)


def _constants(*numbers: int) -> str:
    return "\n".join(f"  %c{n} = arith.constant {n} : index" for n in sorted({0, 1, *numbers}))


def _part(name: str, row: str, shape: tuple[int, int], whole: tuple[int, int], result: str) -> str:
    (rows, cols), tensor = shape, f"!pto.tensor_view<{whole[0]}x{whole[1]}xf32>"
    return (
        f"    %{result} = pto.partition_view %{name}v, offsets = [{row}, %c0], sizes = [%c{rows}, %c{cols}]"
        f" : {tensor} -> !pto.partition_tensor_view<{rows}x{cols}xf32>"
    )


def rmsnorm(rows: int = 32, cols: int = 4096, step: int = 4) -> Workload:
    """y = x / sqrt(mean(x^2) + 1e-6) * w, ``step`` rows at a time."""
    tile, weight = f"!pto.tile_buf<vec, {step}x{cols}xf32>", f"!pto.tile_buf<vec, 1x{cols}xf32>"
    column, line = f"!pto.tile_buf<vec, 8x1xf32, valid={step}x1, blayout=col_major>", "!pto.tile_buf<vec, 1x8xf32>"
    part, row = f"!pto.partition_tensor_view<{step}x{cols}xf32>", f"!pto.partition_tensor_view<1x{cols}xf32>"
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
func.func @rmsnorm(%x: !pto.ptr<f32>, %w: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {{pto.kernel}} {{
{_constants(rows, cols, step)}
  %share = arith.constant {1 / cols!r} : f32
  %eps = arith.constant 1.0e-6 : f32
{_views({"x": (rows, cols), "w": (1, cols), "y": (rows, cols)})}
  %a = pto.alloc_tile : {tile}
  %b = pto.alloc_tile : {tile}
  %g = pto.alloc_tile : {weight}
  %s = pto.alloc_tile : {column}
  %l = pto.treshape %s : {column} -> {line}
{_part("w", "%c0", (1, cols), (1, cols), "wp")}
    pto.tload ins(%wp : {row}) outs(%g : {weight})
  scf.for %i = %c0 to %c{rows} step %c{step} {{
{_part("x", "%i", (step, cols), (rows, cols), "xp")}
{_part("y", "%i", (step, cols), (rows, cols), "yp")}
    pto.tload ins(%xp : {part}) outs(%a : {tile})
    pto.tmul ins(%a, %a : {tile}, {tile}) outs(%b : {tile})
    pto.trowsum ins(%b, %b : {tile}, {tile}) outs(%s : {column})
    pto.tmuls ins(%l, %share : {line}, f32) outs(%l : {line})
    pto.tadds ins(%l, %eps : {line}, f32) outs(%l : {line})
    pto.trsqrt ins(%l : {line}) outs(%l : {line})
    pto.trowexpandmul ins(%a, %s : {tile}, {column}) outs(%a : {tile})
    pto.tcolexpandmul ins(%a, %g : {tile}, {weight}) outs(%a : {tile})
    pto.tstore ins(%a : {tile}) outs(%yp : {part})
  }}
  return
}}
}}
"""
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((rows, cols)).astype(np.float32), rng.standard_normal((1, cols)).astype(np.float32)

    def reference() -> Array:
        return x / np.sqrt(np.mean(x * x, axis=1, keepdims=True) + np.float32(1e-6)) * w

    y, a, b = np.zeros_like(x), np.empty((step, cols), np.float32), np.empty((step, cols), np.float32)

    def by_hand() -> Array:
        for i in range(0, rows, step):
            a[...] = x[i : i + step]
            np.multiply(a, a, b)
            s = np.add.reduce(b, 1, keepdims=True)
            s *= np.float32(1 / cols)
            s += np.float32(1e-6)
            np.sqrt(s, s)
            np.reciprocal(s, s)
            np.multiply(a, s, a)
            np.multiply(a, w, a)
            y[i : i + step] = a
        return y

    return Workload(text, (x, w, np.zeros_like(x)), 2, reference, 1e-5, by_hand=by_hand)


def softmax(rows: int = 128, cols: int = 1024, step: int = 16) -> Workload:
    """Row-wise exp(x - max) / sum, ``step`` rows at a time."""
    tile, column = f"!pto.tile_buf<vec, {step}x{cols}xf32>", f"!pto.tile_buf<vec, {step}x1xf32, blayout=col_major>"
    part = f"!pto.partition_tensor_view<{step}x{cols}xf32>"
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
func.func @softmax(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {{pto.kernel}} {{
{_constants(rows, cols, step)}
{_views({"x": (rows, cols), "y": (rows, cols)})}
  %a = pto.alloc_tile : {tile}
  %b = pto.alloc_tile : {tile}
  %s = pto.alloc_tile : {column}
  scf.for %i = %c0 to %c{rows} step %c{step} {{
{_part("x", "%i", (step, cols), (rows, cols), "xp")}
{_part("y", "%i", (step, cols), (rows, cols), "yp")}
    pto.tload ins(%xp : {part}) outs(%a : {tile})
    pto.trowmax ins(%a, %b : {tile}, {tile}) outs(%s : {column})
    pto.trowexpandsub ins(%a, %s : {tile}, {column}) outs(%a : {tile})
    pto.texp ins(%a : {tile}) outs(%a : {tile})
    pto.trowsum ins(%a, %b : {tile}, {tile}) outs(%s : {column})
    pto.trowexpanddiv ins(%a, %s : {tile}, {column}) outs(%a : {tile})
    pto.tstore ins(%a : {tile}) outs(%yp : {part})
  }}
  return
}}
}}
"""
    x = np.random.default_rng(0).standard_normal((rows, cols)).astype(np.float32)

    def reference() -> Array:
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    y, a = np.zeros_like(x), np.empty((step, cols), np.float32)

    def by_hand() -> Array:
        for i in range(0, rows, step):
            a[...] = x[i : i + step]
            np.subtract(a, np.maximum.reduce(a, 1, keepdims=True), a)
            np.exp(a, a)
            np.divide(a, np.add.reduce(a, 1, keepdims=True), a)
            y[i : i + step] = a
        return y

    return Workload(text, (x, np.zeros_like(x)), 1, reference, 1e-6, by_hand=by_hand)


def gemm(size: int = 512, step: int = 128) -> Workload:
    """c = a @ b in f16 with f32 sums, in tiles of ``step`` x ``step``."""
    whole = f"!pto.tensor_view<{size}x{size}x%s>"
    part = f"!pto.partition_tensor_view<{step}x{step}x%s>"
    mat = f"!pto.tile_buf<mat, {step}x{step}xf16, blayout=col_major, slayout=row_major>"
    left = f"!pto.tile_buf<left, {step}x{step}xf16, blayout=col_major, slayout=row_major>"
    right = f"!pto.tile_buf<right, {step}x{step}xf16, slayout=col_major>"
    acc = f"!pto.tile_buf<acc, {step}x{step}xf32, blayout=col_major, slayout=row_major, fractal=1024>"
    half, single = "f16", "f32"

    def cut(name: str, row: str, col: str, element: str) -> str:
        return (
            f"%{name}p = pto.partition_view %{name}v, offsets = [{row}, {col}], sizes = [%c{step}, %c{step}]"
            f" : {whole % element} -> {part % element}"
        )

    def view(name: str, element: str) -> str:
        return (
            f"%{name}v = pto.make_tensor_view %{name}, shape = [%c{size}, %c{size}], strides = [%c{size}, %c1]"
            f" : {whole % element}"
        )

    text = f"""module attributes {{pto.target_arch = "a5"}} {{
func.func @gemm(%a: !pto.ptr<f16>, %b: !pto.ptr<f16>, %c: !pto.ptr<f32>) attributes {{pto.kernel}} {{
{_constants(size, step)}
  {view("a", half)}
  {view("b", half)}
  {view("c", single)}
  %am = pto.alloc_tile : {mat}
  %bm = pto.alloc_tile : {mat}
  %l = pto.alloc_tile : {left}
  %r = pto.alloc_tile : {right}
  %o = pto.alloc_tile : {acc}
  scf.for %i = %c0 to %c{size} step %c{step} {{
    scf.for %j = %c0 to %c{size} step %c{step} {{
      scf.for %k = %c0 to %c{size} step %c{step} {{
        {cut("a", "%i", "%k", half)}
        {cut("b", "%k", "%j", half)}
        pto.tload ins(%ap : {part % half}) outs(%am : {mat})
        pto.tload ins(%bp : {part % half}) outs(%bm : {mat})
        pto.tmov ins(%am : {mat}) outs(%l : {left})
        pto.tmov ins(%bm : {mat}) outs(%r : {right})
        %first = arith.cmpi eq, %k, %c0 : index
        scf.if %first {{
          pto.tmatmul ins(%l, %r : {left}, {right}) outs(%o : {acc})
        }} else {{
          pto.tmatmul.acc ins(%o, %l, %r : {acc}, {left}, {right}) outs(%o : {acc})
        }}
      }}
      {cut("c", "%i", "%j", single)}
      pto.tstore ins(%o : {acc}) outs(%cp : {part % single})
    }}
  }}
  return
}}
}}
"""
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((size, size)).astype(np.float16) for _ in range(2))

    def reference() -> Array:
        return a.astype(np.float32) @ b.astype(np.float32)

    c = np.zeros((size, size), np.float32)

    def by_hand() -> Array:
        steps = range(0, size, step)
        for i in steps:
            for j in steps:
                total = np.zeros((step, step), np.float32)
                for k in steps:
                    left, right = a[i : i + step, k : k + step], b[k : k + step, j : j + step]
                    total += left.astype(np.float32) @ right.astype(np.float32)
                c[i : i + step, j : j + step] = total
        return c

    return Workload(text, (a, b, np.zeros((size, size), np.float32)), 2, reference, 1e-3, by_hand=by_hand)


def gelu(rows: int = 96, cols: int = 1024, step: int = 8, blocks: int = 24, rounds: int = 4) -> Workload:
    """y = gelu(gelu(... x)) with gelu(x) = x / (1 + exp(-1.702 x)); every block has ``rows`` rows of its own."""
    total = rows * blocks
    tile, part = f"!pto.tile_buf<vec, {step}x{cols}xf32>", f"!pto.partition_tensor_view<{step}x{cols}xf32>"
    once = f"""    pto.tmuls ins(%a, %slope : {tile}, f32) outs(%b : {tile})
    pto.texp ins(%b : {tile}) outs(%b : {tile})
    pto.tadds ins(%b, %one : {tile}, f32) outs(%b : {tile})
    pto.tdiv ins(%a, %b : {tile}, {tile}) outs(%a : {tile})
"""
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
func.func @gelu(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {{pto.kernel}} {{
{_constants(rows, cols, step, total)}
  %slope = arith.constant -1.702 : f32
  %one = arith.constant 1.0 : f32
{_views({"x": (total, cols), "y": (total, cols)})}
  %a = pto.alloc_tile : {tile}
  %b = pto.alloc_tile : {tile}
  %block64 = pto.get_block_idx
  %block = arith.index_cast %block64 : i64 to index
  %first = arith.muli %block, %c{rows} : index
  %last = arith.addi %first, %c{rows} : index
  scf.for %i = %first to %last step %c{step} {{
{_part("x", "%i", (step, cols), (total, cols), "xp")}
{_part("y", "%i", (step, cols), (total, cols), "yp")}
    pto.tload ins(%xp : {part}) outs(%a : {tile})
{once * rounds}
    pto.tstore ins(%a : {tile}) outs(%yp : {part})
  }}
  return
}}
}}
"""
    x = np.random.default_rng(0).standard_normal((total, cols)).astype(np.float32)

    def reference() -> Array:
        y = x
        for _ in range(rounds):
            y = y / (np.float32(1) + np.exp(y * np.float32(-1.702)))
        return y

    return Workload(text, (x, np.zeros_like(x)), 1, reference, 1e-5, blocks)


def attention(heads: int = 2, length: int = 256, width: int = 128) -> Workload:
    """The attention example: o = softmax(q @ k.T / sqrt(width)) @ v, a head per block, f16 with f32 sums."""
    text = (Path(__file__).resolve().parents[1] / "examples/flash_attention/flash_attention.pto").read_text()
    rng = np.random.default_rng(0)
    shape = (heads, length, width)
    q, k, v = (rng.standard_normal(shape).astype(np.float16) for _ in range(3))
    scale = np.float32(width**-0.5)

    def reference() -> Array:
        scores = q.astype(np.float32) @ k.astype(np.float32).swapaxes(1, 2) * scale
        weights = np.exp(scores - scores.max(axis=2, keepdims=True))
        weights /= weights.sum(axis=2, keepdims=True)
        return weights @ v.astype(np.float32)

    o, step, half = np.zeros(shape, np.float32), 64, 32

    def panel(head: int, row: int) -> None:
        queries, parts = q[head, row : row + step].astype(np.float32), (slice(0, half), slice(half, step))
        most = [np.full((half, 1), -np.inf, np.float32) for _ in parts]
        sums = [np.zeros((half, 1), np.float32) for _ in parts]
        totals = [np.zeros((half, width), np.float32) for _ in parts]
        rounded, scores = np.empty((step, step), np.float16), np.empty((half, step), np.float32)
        for key in range(0, length, step):
            raw = queries @ k[head, key : key + step].astype(np.float32).T
            for core, rows in enumerate(parts):
                np.multiply(raw[rows], scale, scores)
                highest = np.maximum(np.maximum.reduce(scores, 1, keepdims=True), most[core])
                np.subtract(scores, highest, scores)
                np.exp(scores, scores)
                rounded[rows] = scores
                fade = np.exp(most[core] - highest)
                most[core] = highest
                sums[core] = sums[core] * fade + np.add.reduce(scores, 1, keepdims=True)
                totals[core] *= fade
            found = rounded.astype(np.float32) @ v[head, key : key + step].astype(np.float32)
            for core, rows in enumerate(parts):
                totals[core] += found[rows]
        for core, rows in enumerate(parts):
            np.divide(totals[core], sums[core], o[head, row : row + step][rows])

    def by_hand() -> Array:
        for head in range(heads):
            for row in range(0, length, step):
                panel(head, row)
        return o

    slots = np.zeros(2 * 32_768, np.float32)
    arguments = (q, k, v, np.zeros(shape, np.float32), slots, heads, length, float(scale), False)
    return Workload(text, arguments, 3, reference, 1e-2, blocks=2, by_hand=by_hand)

"""Kernels beside numpy that a person would write instead."""

from __future__ import annotations

import os
import sys
import timeit
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import kernels
import numpy as np
from programs import TILE

from .front import load
from .row import Row, Times, alternate, seconds

ROOT = Path(__file__).resolve().parents[2]


def compiled(text: str) -> Any:
    """A kernel from text."""
    from pto_dialect.runtime.api import compile

    return compile(load(text), verify=False)


def step_by_step(text: str) -> Any:
    """The same; every launch carries out its instructions, also those whose results nobody stores."""
    kernel = compiled(text)
    kernel._kernel.replayed = False
    return kernel


LOOP_OPS = ("tadd", "tsub", "tmul", "tmax", "tmin") * 2


def dispatch(_: Path) -> Times:
    """Generated code against hand-written numpy: a loop nest around ten operations on 16x64 f32 tiles."""
    body = "\n".join(
        f"        pto.{op} ins(%t{i % 3}, %t{(i + 1) % 3} : {TILE}, {TILE}) outs(%t{3 + i % 2} : {TILE})"
        for i, op in enumerate(LOOP_OPS)
    )
    allocations = "\n".join(f"    %t{i} = pto.alloc_tile : {TILE}" for i in range(5))
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @nest() {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c40 = arith.constant 40 : index
    %c50 = arith.constant 50 : index
{allocations}
    scf.for %i = %c0 to %c40 step %c1 {{
      scf.for %j = %c0 to %c50 step %c1 {{
{body}
      }}
    }}
    return
  }}
}}
"""
    kernel = step_by_step(text)
    functions = {"tadd": np.add, "tsub": np.subtract, "tmul": np.multiply, "tmax": np.maximum, "tmin": np.minimum}
    tiles = [np.zeros((16, 64), np.float32) for _ in range(5)]
    calls = [(functions[op], tiles[i % 3], tiles[(i + 1) % 3], tiles[3 + i % 2]) for i, op in enumerate(LOOP_OPS)]
    hand = "def nest():\n    for i in range(40):\n        for j in range(50):\n"
    names: dict[str, object] = {}
    for number, (function, a, b, out) in enumerate(calls):
        for name, value in (("f", function), ("a", a), ("b", b), ("o", out)):
            names[f"{name}{number}"] = value
        hand += f"            f{number}(a{number}, b{number}, o{number})\n"
    exec(hand, names)
    written = names["nest"]
    assert callable(written)
    return alternate(kernel, written, 15)


def matmul(_: Path) -> Times:
    """A 128x128x128 f16 to f32 tmatmul against the widened numpy product."""
    left = "!pto.tile_buf<left, 128x128xf16, blayout=col_major, slayout=row_major>"
    right = "!pto.tile_buf<right, 128x128xf16, slayout=col_major>"
    acc = "!pto.tile_buf<acc, 128x128xf32, blayout=col_major, slayout=row_major, fractal=1024>"
    mat = "!pto.tile_buf<mat, 128x128xf16, blayout=col_major, slayout=row_major>"
    view = "!pto.partition_tensor_view<128x128xf16>"
    tensor = "!pto.tensor_view<128x128xf16>"
    loads = "\n".join(
        f"""    %{n}v = pto.make_tensor_view %{n}, shape = [%n, %n], strides = [%n, %c1] : {tensor}
    %{n}p = pto.partition_view %{n}v, offsets = [%c0, %c0], sizes = [%n, %n] : {tensor} -> {view}
    %{n}m = pto.alloc_tile : {mat}
    pto.tload ins(%{n}p : {view}) outs(%{n}m : {mat})"""
        for n in ("a", "b")
    )
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @product(%a: !pto.ptr<f16>, %b: !pto.ptr<f16>, %count: index) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 128 : index
{loads}
    %l = pto.alloc_tile : {left}
    %r = pto.alloc_tile : {right}
    %c = pto.alloc_tile : {acc}
    pto.tmov ins(%am : {mat}) outs(%l : {left})
    pto.tmov ins(%bm : {mat}) outs(%r : {right})
    scf.for %i = %c0 to %count step %c1 {{
      pto.tmatmul ins(%l, %r : {left}, {right}) outs(%c : {acc})
    }}
    return
  }}
}}
"""
    kernel = step_by_step(text)
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((128, 128)).astype(np.float16) for _ in range(2))
    count = 200

    def reference() -> None:
        for _ in range(count):
            _ = a.astype(np.float32) @ b.astype(np.float32)

    return alternate(lambda: kernel(a, b, count), reference, 15)


def ready(work: kernels.Workload) -> Any:
    """The compiled kernel of a workload, after one call whose result was right."""
    kernel = compiled(work.text)
    kernel(*work.arguments, blocks=work.blocks)
    np.testing.assert_allclose(work.arguments[work.output], work.reference(), rtol=work.tolerance, atol=work.tolerance)
    return kernel


SERIES = 0.02
"""Seconds that a series of launches takes: rare events of the interpreter do not count for one launch."""

SETTLING = 0.5
"""Seconds for which a kernel is launched before it is measured: by then launches that come again are kept as they stay,
however many a series has on the machine at hand."""


def in_series(ours: Callable[[], object], written: Callable[[], object]) -> Times:
    """Seconds of a launch and of numpy written by hand, each called many times in a row; both with one thread for
    products, as kernels have it."""
    from pto_dialect.runtime.run.threads import single_threaded_products

    with single_threaded_products():
        end = perf_counter() + SETTLING
        while perf_counter() < end:
            ours()
        count = max(1, round(SERIES / min(timeit.repeat(written, number=1, repeat=5))))

        def series(function: Callable[[], object]) -> Callable[[], None]:
            def call() -> None:
                for _ in range(count):
                    function()

            return call

        times = alternate(series(ours), series(written), 15, warm_up=3)
    return times[0] / count, times[1] / count


def by_steps(make: Callable[[], kernels.Workload], _: Path) -> Times:
    """A kernel with its launch against numpy written by hand in the same steps."""
    work = make()
    kernel = ready(work)
    assert work.by_hand is not None
    np.testing.assert_allclose(work.by_hand(), work.reference(), rtol=work.tolerance, atol=work.tolerance)
    return in_series(partial(kernel, *work.arguments, blocks=work.blocks), work.by_hand)


def by_arrays(make: Callable[[], kernels.Workload], _: Path) -> Times:
    """A kernel with its launch against numpy on whole arrays, which no kernel with small memories can do."""
    work = make()
    return in_series(partial(ready(work), *work.arguments, blocks=work.blocks), work.reference)


def compilation(_: Path) -> Times:
    """The slowest of three kernels from verified module to callable."""
    from pto_dialect.runtime.api import compile

    modules = [load(make().text) for make in (kernels.rmsnorm, kernels.softmax, kernels.gemm)]
    return max(alternate(partial(compile, module, verify=False), lambda: None, 15)[0] for module in modules), 0.002


def conversions(_: Path) -> Times:
    """The conversion that is slowest beside ``astype``, of all pairs of a5 whose types numpy and ml_dtypes have."""
    import ml_dtypes

    from pto_dialect.targets.tcvt_pairs import A5_TCVT_PAIRS

    names = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2, "bf16": ml_dtypes.bfloat16}
    names |= {f"f{bits}": np.dtype(f"f{bits // 8}") for bits in (16, 32)}
    names |= {f"i{bits}": np.dtype(f"i{bits // 8}") for bits in (8, 16, 32, 64)}
    names |= {f"ui{bits}": np.dtype(f"u{bits // 8}") for bits in (8, 16, 32)}
    found: list[tuple[float, Times, str]] = []
    for source, targets in A5_TCVT_PAIRS.items():
        for target in sorted(targets):
            if source not in names or target not in names:
                continue
            times = _conversion(source, target, np.dtype(names[source]), np.dtype(names[target]))
            found.append((times[0] / times[1], times, f"{source} to {target}"))
    worst = max(found)
    print(f"slowest of {len(found)} conversions: {worst[2]}", file=sys.stderr)
    return worst[1]


CONVERSIONS = 4000
"""Conversions of a launch, which costs as much as ten of the fastest; of slow ones as many as take ``numpy``
``LAUNCH_SECONDS``, so that a sample takes half a minute at the most."""
LAUNCH_SECONDS = 0.003


def _conversion(source: str, target: str, have: np.dtype[Any], want: np.dtype[Any]) -> Times:
    rows, cols = 64, 128
    values = (np.random.default_rng(1).random((rows, cols)) * 100).astype(np.float32).astype(have)
    once = min(seconds(partial(values.astype, want), perf_counter) for _ in range(20))
    count = max(CONVERSIONS // 40, min(CONVERSIONS, int(LAUNCH_SECONDS / once)))
    tiles = [f"!pto.tile_buf<vec, {rows}x{cols}x{name}>" for name in (source, target)]
    part, tensor = (f"!pto.{kind}<{rows}x{cols}x{source}>" for kind in ("partition_tensor_view", "tensor_view"))
    statement = f"    pto.tcvt ins(%s : {tiles[0]}) outs(%d : {tiles[1]})\n"
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
func.func @convert(%a: !pto.ptr<{source}>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = arith.constant {rows} : index
  %c = arith.constant {cols} : index
  %n = arith.constant {count} : index
  %v = pto.make_tensor_view %a, shape = [%r, %c], strides = [%c, %c1] : {tensor}
  %p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%r, %c] : {tensor} -> {part}
  %s = pto.alloc_tile : {tiles[0]}
  %d = pto.alloc_tile : {tiles[1]}
  pto.tload ins(%p : {part}) outs(%s : {tiles[0]})
  scf.for %i = %c0 to %n step %c1 {{
{statement}  }}
  return
}}
}}
"""

    def written() -> None:
        for _ in range(count):
            values.astype(want)

    return alternate(partial(step_by_step(text), values), written, 9, warm_up=2)


def exponentials(count: int) -> None:
    """A fixed amount of numpy work in ``count`` copies of this process."""
    children = []
    for _ in range(count):
        child = os.fork()
        if not child:
            values = np.ones(16384, np.float32)
            for _ in range(8000 // count):
                np.exp(values)
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)


TRIED = 32
"""Rounds of the launch from which is worked out how many a longer or shorter one has."""


def rounds_for(wanted: float, took: float) -> int:
    """How many rounds a launch has that takes ``wanted`` seconds where one of ``TRIED`` rounds takes ``took``."""
    return max(1, round(TRIED * wanted / took))


def processes(wanted: float, _: Path) -> Times:
    """24 blocks that take ``wanted`` seconds, in two processes against the same launch in one, on a machine with two
    idle processors.

    Processes of earlier launches are still there: the first two, which start them, are not measured.
    """
    tried = kernels.gelu(rounds=TRIED)
    launched = partial(ready(tried), *tried.arguments, blocks=tried.blocks)
    work = kernels.gelu(rounds=rounds_for(wanted, min(timeit.repeat(launched, number=1, repeat=5))))
    kernel = ready(work)
    alone, together = alternate(partial(exponentials, 1), partial(exponentials, 2), 5, now=perf_counter)
    print(f"two processes of plain numpy on this machine: {alone / together:.2f} x the speed of one", file=sys.stderr)
    return alternate(
        lambda: kernel(*work.arguments, blocks=work.blocks, jobs=2),
        lambda: kernel(*work.arguments, blocks=work.blocks),
        9,
        warm_up=3,
        now=perf_counter,
    )


def short(_: Path) -> Times:
    """One small block after another in one process, with and without the wish for two."""
    work = kernels.softmax(16, 256)
    kernel = ready(work)
    return alternate(partial(kernel, *work.arguments, jobs=2), partial(kernel, *work.arguments), 31, now=perf_counter)


def arrays(make: Callable[[], kernels.Workload]) -> Callable[[Path], Times]:
    """The sample of a kernel beside whole arrays."""
    return partial(by_arrays, make)


def steps(make: Callable[[], kernels.Workload]) -> Callable[[Path], Times]:
    """The sample of a kernel beside the same steps by hand."""
    return partial(by_steps, make)


BIG = {"rows": 1024, "cols": 4096}

ROWS = {
    "dispatch": Row("loop nest of ten 16x64 tile ops (hand-written numpy)", dispatch, 1.15),
    "matmul": Row("200 x 128x128x128 f16 tmatmul (numpy astype + @)", matmul, 1.3),
    "gemm": Row("GEMM 512x512x512 f16 (same steps)", steps(kernels.gemm), 1.15),
    "rmsnorm": Row("RMSNorm 32x4096 f32 (same steps)", steps(kernels.rmsnorm), 1.15),
    "softmax": Row("softmax 128x1024 f32 (same steps)", steps(kernels.softmax), 1.15),
    "gemm-arrays": Row("GEMM 512x512x512 f16 (whole arrays)", arrays(kernels.gemm), 1.3),
    "rmsnorm-arrays": Row("RMSNorm 32x4096 f32 (whole arrays)", arrays(kernels.rmsnorm), 1.1),
    "softmax-arrays": Row("softmax 128x1024 f32 (whole arrays)", arrays(kernels.softmax), 1.1),
    "rmsnorm-large": Row("RMSNorm 1024x4096 f32 (whole arrays)", arrays(partial(kernels.rmsnorm, **BIG)), 0.6),
    "softmax-large": Row("softmax 1024x4096 f32 (whole arrays)", arrays(partial(kernels.softmax, 1024, 4096, 8)), 0.6),
    "attention": Row("attention 2x256x128 f16 (same steps)", steps(kernels.attention), 1.15),
    "attention-arrays": Row("attention 2x256x128 f16 (whole arrays)", arrays(kernels.attention), 2.0),
    "tcvt": Row("slowest tcvt 64x128 (astype)", conversions, 3.0, extreme=True),
    "compile": Row("compile one function (2 ms)", compilation, 1.0, absolute=True),
    "processes": Row("24 blocks, about 400 ms, -j 2 (-j 1)", partial(processes, 0.4), 1.5, True),
    "processes-100": Row("24 blocks, about 100 ms, -j 2 (-j 1)", partial(processes, 0.1), 1.5, True),
    "processes-short": Row("24 blocks, about 60 ms, -j 2 (-j 1)", partial(processes, 0.06), 0.95, True),
    "processes-few": Row("24 blocks, about 3 ms, -j 2 (-j 1)", partial(processes, 0.003), 0.95, True),
    "processes-tiny": Row("one small block, -j 2 (-j 1)", short, 0.95, True),
}

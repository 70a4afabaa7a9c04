"""Measures what users feel, each figure beside its reference in one run.

Usage: python benchmarks/run.py [NAME ...]    (the names are those of BENCHMARKS, below)
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import timeit
from collections.abc import Callable
from functools import partial
from pathlib import Path

import kernels
import numpy as np
from measure import Comparison, alternate
from programs import TILE, level2_program

from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.runtime.api import CompiledKernel, compile
from pto_dialect.runtime.run.threads import single_threaded_products
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.verify.verifier import verify_module


def load(text: str):
    """A verified module; the program must be free of errors."""
    engine = DiagnosticEngine()
    module = parse_program(SourceFile("benchmark.pto", text), engine)
    assert module is not None and not engine.has_errors, engine.diagnostics
    verify_module(module, engine)
    assert not engine.has_errors, engine.diagnostics
    return module


def front_end() -> Comparison:
    """Parse and verify 1 MB of Level 2 text against xDSL's parser and verifier on its generic form."""
    from xdsl.context import Context
    from xdsl.dialects import arith, builtin, func, scf
    from xdsl.parser import Parser

    text = level2_program(1_000_000)
    from pto_dialect.syntax.print.printer import print_module

    generic = print_module(load(text), generic=True)

    def reference() -> None:
        context = Context(allow_unregistered=True)
        for dialect in (builtin.Builtin, func.Func, arith.Arith, scf.Scf):
            context.load_dialect(dialect)
        Parser(context, generic).parse_module().verify()

    ours, theirs = alternate(lambda: load(text), reference, 5)
    return Comparison("parse + verify 1 MB (xDSL: generic form of the same)", ours, theirs, 5.0, at_least=True)


def start_up() -> Comparison:
    """``pto-opt`` on a 30-line file against ``xdsl-opt`` on an equally long one."""
    with tempfile.TemporaryDirectory() as folder:
        ours = Path(folder) / "small.pto"
        lines = [f"    %c{i} = arith.constant {i} : index" for i in range(26)]
        program = "\n".join(["module {", "  func.func @f() {", *lines, "    return", "  }", "}"]) + "\n"
        ours.write_text(program)
        theirs = Path(folder) / "small.mlir"
        theirs.write_text(program)
        scripts = Path(sys.executable).parent
        commands = [str(scripts / "pto-opt"), str(ours)], [str(scripts / "xdsl-opt"), str(theirs)]
        for command in commands:
            if shutil.which(command[0]) is None:
                raise SystemExit(f"{command[0]} is not installed beside {sys.executable}")
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}

        def runner(command: list[str]) -> Callable[[], None]:
            def call() -> None:
                subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env=environment)

            return call

        times = alternate(runner(commands[0]), runner(commands[1]), 15, warm_up=3)
    return Comparison("pto-opt on 30 lines (xdsl-opt on 30 lines)", *times, 1.3)


LOOP_OPS = ("tadd", "tsub", "tmul", "tmax", "tmin") * 2


def dispatch() -> Comparison:
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
    kernel = compile(load(text), verify=False)
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
    ours, theirs = alternate(kernel, written, 15)
    return Comparison("loop nest of ten 16x64 tile ops (hand-written numpy)", ours, theirs, 1.15)


def matmul() -> Comparison:
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
    kernel = compile(load(text), verify=False)
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((128, 128)).astype(np.float16) for _ in range(2))
    count = 200

    def reference() -> None:
        for _ in range(count):
            _ = a.astype(np.float32) @ b.astype(np.float32)

    ours, theirs = alternate(lambda: kernel(a, b, count), reference, 15)
    return Comparison("200 x 128x128x128 f16 tmatmul (numpy astype + @)", ours, theirs, 1.3)


def ready(work: kernels.Workload) -> CompiledKernel:
    """The compiled kernel of a workload, after one call whose result was right."""
    kernel = compile(load(work.text), verify=False)
    kernel(*work.arguments, blocks=work.blocks)
    np.testing.assert_allclose(work.arguments[work.output], work.reference(), rtol=work.tolerance, atol=work.tolerance)
    return kernel


SERIES = 0.02
"""Seconds that a series of launches takes: rare events of the interpreter do not count for one launch."""


def in_series(
    name: str, ours: Callable[[], object], written: Callable[[], object], reference: str, limit: float
) -> Comparison:
    """Launches in a row against as many calls of numpy written by hand, both with one thread for products, as kernels
    have it."""
    with single_threaded_products():
        once = min(timeit.repeat(written, number=1, repeat=5))
        count = max(1, round(SERIES / once))

        def series(function: Callable[[], object]) -> Callable[[], None]:
            def call() -> None:
                for _ in range(count):
                    function()

            return call

        times = alternate(series(ours), series(written), 31, warm_up=3)
    return Comparison(f"{count} x {name} (numpy, {reference})", *times, limit)


def by_tiles(name: str, work: kernels.Workload) -> Comparison:
    """A kernel with its launch against numpy written by hand in the same steps."""
    kernel = ready(work)
    assert work.by_hand is not None
    np.testing.assert_allclose(work.by_hand(), work.reference(), rtol=work.tolerance, atol=work.tolerance)
    return in_series(name, partial(kernel, *work.arguments), work.by_hand, "same steps", 1.3)


def by_arrays(name: str, work: kernels.Workload) -> Comparison:
    """A kernel with its launch against numpy on whole arrays, which no kernel with small memories can do."""
    return in_series(name, partial(ready(work), *work.arguments), work.reference, "whole arrays", float("inf"))


WHOLE_KERNELS = {
    "rmsnorm": ("RMSNorm 32x4096 f32", kernels.rmsnorm),
    "softmax": ("softmax 128x1024 f32", kernels.softmax),
    "gemm": ("GEMM 512x512x512 f16", kernels.gemm),
}


def compilation() -> Comparison:
    """The slowest of the three kernels above from verified module to callable, against 50 ms."""
    modules = [load(make().text) for _, make in WHOLE_KERNELS.values()]
    ours = max(alternate(partial(compile, module, verify=False), lambda: None, 15)[0] for module in modules)
    return Comparison("compile one function (limit 50 ms)", ours, 0.050, 1.0)


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


def processes(rounds: int, limit: float) -> Comparison:
    """24 blocks in two processes against the same launch in one, on a machine with two idle processors.

    Starting a process and sharing the buffers takes some 20 ms, so launches must be long enough to gain.
    """
    work = kernels.gelu(rounds=rounds)
    kernel = ready(work)
    alone, together = alternate(partial(exponentials, 1), partial(exponentials, 2), 5)
    print(f"two processes of plain numpy on this machine: {alone / together:.2f} x the speed of one")
    times = alternate(
        lambda: kernel(*work.arguments, blocks=work.blocks, jobs=2),
        lambda: kernel(*work.arguments, blocks=work.blocks),
        9,
    )
    return Comparison(f"24 blocks of {rounds} x GELU, -j 2 (-j 1)", *times, limit, at_least=True)


def sanitizing() -> Comparison:
    """The GEMM example under all sanitizers against its plain run; flags make no difference to the watched cost."""
    from pto_dialect.runtime.run.launch import Kernel
    from pto_dialect.runtime.run.machine import RunOptions
    from pto_dialect.sanitize.launch import WatchedKernel
    from pto_dialect.sanitize.options import SanitizeOptions

    root = Path(__file__).resolve().parents[1]
    module = load((root / "examples" / "gemm" / "gemm.pto").read_text())
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((256, 512), (512, 256)))
    bias, c = np.zeros((1, 256), np.float32), np.zeros((256, 256), np.float32)
    plain = Kernel(module, None, "a5", RunOptions())

    def watched() -> None:
        kernel = WatchedKernel(module, None, "a5", RunOptions(fill="poison"), SanitizeOptions(sync="strict"))
        kernel.run([a, b, bias, c, True])

    times = alternate(watched, lambda: plain.run([a, b, bias, c, True]), 5)
    return Comparison("gemm with --sanitize --sync strict (without)", *times, 25.0)


BENCHMARKS: dict[str, Callable[[], Comparison]] = {
    "front-end": front_end,
    "start-up": start_up,
    "dispatch": dispatch,
    "matmul": matmul,
    **{name: partial(lambda label, make: by_tiles(label, make()), *what) for name, what in WHOLE_KERNELS.items()},
    **{
        f"{name}-arrays": partial(lambda label, make: by_arrays(label, make()), *what)
        for name, what in WHOLE_KERNELS.items()
    },
    "compile": compilation,
    "processes": partial(processes, 128, 1.5),
    "processes-short": partial(processes, 16, 0.0),
    "sanitizing": sanitizing,
}


def main(names: list[str]) -> int:
    """Runs the named benchmarks (default all); 1 when a limit is missed."""
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        raise SystemExit(f"unknown benchmark {unknown[0]}; there are {', '.join(BENCHMARKS)}")
    print(f"{'what (reference)':58} {'ours ms':>10} {'ref ms':>10} {'ratio':>9}  limit")
    missed = False
    for name in names or BENCHMARKS:
        result = BENCHMARKS[name]()
        print(result.row(), flush=True)
        missed = missed or not result.met
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

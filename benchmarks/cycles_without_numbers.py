"""Compares the cycles of runs for times alone with those of complete runs: of the examples, of products that
``tile-cube`` makes, of programs that passes change, and of further programs in the folders that are named.

Exits with 1 if a figure differs.

    python benchmarks/cycles_without_numbers.py [--only TEXT] [FOLDER ...]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from io import StringIO
from itertools import chain
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from examples.run_all import EXAMPLES, load, targets_of
from pto_dialect.analysis.cycles.static import ModuleCycles, table_for
from pto_dialect.analysis.target import profile_of
from pto_dialect.deadline import TimedOut, deadline
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.driver.explore.synthesized import synthesize_arguments, values_of
from pto_dialect.driver.options import Options
from pto_dialect.driver.pipeline import build_module
from pto_dialect.runtime.api import CompiledKernel
from pto_dialect.runtime.compile.program import Symbols, candidates
from pto_dialect.runtime.errors import BindingError, ProgramError
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.instrument.cycle_times import CycleTimeline
from pto_dialect.sanitize.options import SanitizeOptions
from pto_dialect.sanitize.timed import CycleKernel
from pto_dialect.sanitize.times.kernel import TimesKernel

SECONDS = 20.0
"""Maximum time of a run of a program in a folder."""

PIPELINES = ((), ("assign-memory", "insert-sync"), ("double-buffer", "assign-memory", "insert-sync"))
ROOT = Path(__file__).resolve().parents[1] / "examples"


class Subject(NamedTuple):
    """A program with its arguments."""

    name: str
    text: str
    target: str
    passes: tuple[str, ...]
    entry: str | None
    data: Mapping[str, Any]
    blocks: int


def examples() -> Iterator[Subject]:
    """The examples, as they are and changed by passes."""
    for example in EXAMPLES:
        if example == "cpp":
            continue
        cases, _ = load(example)
        for number, case in enumerate(cases):
            path = ROOT / example / case.program
            text = path.read_text()
            for target in targets_of(case, None):
                for passes in PIPELINES if number == 0 else ((),):
                    name = f"{example}/{case.entry} {case.shapes} {target}"
                    yield Subject(name, text, target, passes, case.entry, case.data, case.blocks)


def programs(folders: list[Path]) -> Iterator[Subject]:
    """Every different program below folders, on synthesized arguments."""
    texts: dict[str, Path] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*.pto")):
            texts.setdefault(path.read_text(encoding="utf-8", errors="replace"), path)
    for text, path in texts.items():
        engine = DiagnosticEngine()
        module = build_module(SourceFile(str(path), text), engine, Options())
        if module is None or engine.has_errors:
            continue
        for name in candidates(module, Symbols(module)):
            try:
                with deadline(SECONDS), redirect_stdout(StringIO()):
                    kernel = Kernel(module, name, None, RunOptions())
                    given = dict(synthesize_arguments(kernel, {}, 0, 1))
                    data = dict(zip((one for one, _ in kernel.arguments), values_of(kernel, {}, given), strict=True))
            except (ProgramError, BindingError, TimedOut, MemoryError):
                continue
            target = kernel.profile.name
            yield Subject(f"{path.name} @{name}", text, target, (), name, data, 1)


def products() -> Iterator[Subject]:
    """Products that a pass tiles, with and without edges, and a loop over rows shared by blocks."""
    for target, m, n, k, tile in (
        *(("a2a3", 512, 512, 512, 64), ("a2a3", 1024, 512, 768, 64), ("a2a3", 320, 448, 576, 64)),
        *(("a5", 512, 512, 512, 64), ("a5", 768, 1024, 512, 128), ("a5", 384, 320, 448, 64)),
    ):
        data = {"a": np.ones((m, k), np.float16), "b": np.ones((k, n), np.float16), "c": np.zeros((m, n), np.float32)}
        text = product(target, m, n, k, tile)
        for passes in (
            *(("assign-memory", "insert-sync"), ("double-buffer", "assign-memory", "insert-sync")),
            *(("tile-cube", "assign-memory", "insert-sync"), ()),
        ):
            yield Subject(f"product {m}x{n}x{k} {target}", text, target, passes, "gemm", data, 1)


def product(target: str, m: int, n: int, k: int, tile: int) -> str:
    """A product of matrices in three loops over square tiles."""
    sizes = sorted({0, 1, m, n, k, tile})
    constants = "".join(f"    %c{one} = arith.constant {one} : index\n" for one in sizes)
    view, part = "!pto.tensor_view<?x?x{}>", f"!pto.partition_tensor_view<{tile}x{tile}x{{}}>"
    cut = "pto.partition_view %{0}v, offsets = [%{1}, %{2}], sizes = [%c{3}, %c{3}] : {4} -> {5}"
    ap, bp, cp = (
        cut.format(*names, tile, view.format(type_), part.format(type_))
        for names, type_ in ((("a", "i", "k"), "f16"), (("b", "k", "j"), "f16"), (("c", "i", "j"), "f32"))
    )
    half, single = part.format("f16"), part.format("f32")
    return f"""!mat = !pto.tile_buf<mat, {tile}x{tile}xf16, blayout=col_major, slayout=row_major>
!left = !pto.tile_buf<left, {tile}x{tile}xf16, {"blayout=col_major, " if target == "a5" else ""}slayout=row_major>
!right = !pto.tile_buf<right, {tile}x{tile}xf16, slayout=col_major>
!acc = !pto.tile_buf<acc, {tile}x{tile}xf32, blayout=col_major, slayout=row_major, fractal=1024>
module attributes {{pto.target_arch = "{target}"}} {{
  func.func @gemm(%a: !pto.ptr<f16>, %b: !pto.ptr<f16>, %c: !pto.ptr<f32>) attributes {{pto.entry}} {{
{constants}    %av = pto.make_tensor_view %a, shape = [%c{m}, %c{k}], strides = [%c{k}, %c1] : !pto.tensor_view<?x?xf16>
    %bv = pto.make_tensor_view %b, shape = [%c{k}, %c{n}], strides = [%c{n}, %c1] : !pto.tensor_view<?x?xf16>
    %cv = pto.make_tensor_view %c, shape = [%c{m}, %c{n}], strides = [%c{n}, %c1] : !pto.tensor_view<?x?xf32>
    %am = pto.alloc_tile : !mat
    %bm = pto.alloc_tile : !mat
    %l = pto.alloc_tile : !left
    %r = pto.alloc_tile : !right
    %sums = pto.alloc_tile : !acc
    scf.for %i = %c0 to %c{m} step %c{tile} {{
      scf.for %j = %c0 to %c{n} step %c{tile} {{
        scf.for %k = %c0 to %c{k} step %c{tile} {{
          %ap = {ap}
          %bp = {bp}
          pto.tload ins(%ap : {half}) outs(%am : !mat)
          pto.tload ins(%bp : {half}) outs(%bm : !mat)
          pto.tmov ins(%am : !mat) outs(%l : !left)
          pto.tmov ins(%bm : !mat) outs(%r : !right)
          %first = arith.cmpi eq, %k, %c0 : index
          scf.if %first {{
            pto.tmatmul ins(%l, %r : !left, !right) outs(%sums : !acc)
          }} else {{
            pto.tmatmul.acc ins(%sums, %l, %r : !acc, !left, !right) outs(%sums : !acc)
          }}
        }}
        %cp = {cp}
        pto.tstore ins(%sums : !acc) outs(%cp : {single})
      }}
    }}
    return
  }}
}}
"""


def kernel_of(subject: Subject, kernel_class: type[CycleKernel]) -> CycleKernel | None:
    """The kernel of a subject; ``None`` where a pass or the verifier refuses it."""
    engine = DiagnosticEngine()
    module = build_module(SourceFile("k.pto", subject.text), engine, Options(subject.target, subject.passes))
    if module is None or engine.has_errors:
        return None
    arch = profile_of(module, subject.target).arch
    timeline = CycleTimeline(table_for(arch, None), arch, {}, cached=False, steps=False)
    nothing = SanitizeOptions(checks=frozenset())
    try:
        return kernel_class(module, subject.entry, subject.target, RunOptions(), nothing, timeline)
    except ProgramError:
        return None


def timed(subject: Subject, kernel_class: type[CycleKernel]) -> tuple[ModuleCycles, float] | str:
    """What a run has taken, and the seconds of the run."""
    kernel = kernel_of(subject, kernel_class)
    if kernel is None:
        return "refused"
    data = {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in subject.data.items()}
    values = [data[name] for name, _ in kernel.arguments if name in data] or list(data.values())
    started = process_time()
    try:
        with redirect_stdout(StringIO()), deadline(SECONDS):
            kernel.run(CompiledKernel(kernel)._filled(values), subject.blocks)
    except (ProgramError, BindingError) as error:
        return str(error)
    except TimedOut:
        return "too long"
    return kernel.cycles("k.pto"), process_time() - started


def figures(found: ModuleCycles) -> tuple[Any, ...]:
    """All figures of a run."""
    return found.total, found.pipes, found.lines, found.waits, found.ranges


def main() -> int:
    """Compares all subjects."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="subjects whose names have this text")
    parser.add_argument("folders", nargs="*", type=Path, help="further programs")
    options = parser.parse_args()
    compared = different = contents = 0
    seconds = [0.0, 0.0]
    for subject in chain(examples(), products(), programs(options.folders)):
        if options.only not in subject.name:
            continue
        full, quick = timed(subject, CycleKernel), timed(subject, TimesKernel)
        if isinstance(full, str) or isinstance(quick, str):
            if full != quick:
                different += 1
                print(f"{subject.name} {','.join(subject.passes)}: {full} and {quick}")
            continue
        compared += 1
        seconds[0] += full[1]
        seconds[1] += quick[1]
        note = quick[0].contents_reason
        contents += bool(note)
        same = figures(full[0]) == figures(quick[0])
        different += not same
        verdict = "same" if same else "DIFFERENT"
        cycles = quick[0].total.cycles
        print(f"{verdict:<9} {cycles:>12.1f} {full[1]:>7.2f} s {quick[1]:>7.2f} s  {subject.name} "
              f"{','.join(subject.passes)} {note}", flush=True)  # fmt: skip
    times = f"{seconds[0]:.1f} s and {seconds[1]:.1f} s"
    print(f"{compared} programs, {different} different, {contents} with contents; {times}")
    return 1 if different else 0


if __name__ == "__main__":
    raise SystemExit(main())

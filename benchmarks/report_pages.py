"""Pages of all examples and of a long run in a real browser: size, seconds until one can use it, and its complaints.

    python benchmarks/report_pages.py [EXAMPLE...] [--long STEPS] [--keep FOLDER] [--axe]

Every part of each page is shown, and the numbers that it has for the arguments after the run are compared with
numpy's.  With --axe both themes are looked through for what axe calls serious.  The exit code is 1 when a page says an
error, shows another number, needs more than 3 s or has more than 20 MB.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers")]

from browser_pages import PARTS, Shown, browser  # noqa: E402

from examples.check import entry_of  # noqa: E402
from examples.run_all import EXAMPLES, label, load  # noqa: E402
from pto_dialect.analysis.type_facts import element_type  # noqa: E402
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions  # noqa: E402
from pto_dialect.diagnostics.source import SourceFile  # noqa: E402
from pto_dialect.driver.inputs import Input, read  # noqa: E402
from pto_dialect.driver.options import Options  # noqa: E402
from pto_dialect.driver.pipeline import build_module  # noqa: E402
from pto_dialect.driver.run.sanitizing import Sanitizing, instrumented_kernel, kept_findings  # noqa: E402
from pto_dialect.ir.core.types import element_name  # noqa: E402
from pto_dialect.report import Buffer, ReportKernel, Run, page_of  # noqa: E402
from pto_dialect.runtime.numerics.decode import decode  # noqa: E402
from pto_dialect.runtime.numerics.format_table import format_of  # noqa: E402
from pto_dialect.runtime.run.launch import Kernel  # noqa: E402
from pto_dialect.runtime.run.machine import RunOptions  # noqa: E402
from pto_dialect.sanitize.options import SanitizeOptions, parse_checks  # noqa: E402

MOST_SECONDS, MOST_BYTES = 3.0, 20_000_000

LONG = """
!view = !pto.partition_tensor_view<8x64xf32>
!tile = !pto.tile_buf<vec, 8x64xf32>
module attributes {{pto.target_arch = "a5"}} {{
  func.func @long(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant {turns} : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %rows = arith.constant 128 : index
    %at = arith.constant 0 : i64
    %next = arith.constant 8192 : i64
    %v = pto.make_tensor_view %a, shape = [%rows, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
    %w = pto.make_tensor_view %b, shape = [%rows, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
    %x = pto.alloc_tile addr = %at : !tile
    %y = pto.alloc_tile addr = %next : !tile
    pto.texpands ins(%zero : f32) outs(%y : !tile)
    pto.set_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID0"]
    pto.set_flag["PIPE_MTE3", "PIPE_V", "EVENT_ID0"]
    scf.for %i = %c0 to %n step %c1 {{
      %j = arith.remui %i, %c16 : index
      %r = arith.muli %j, %c8 : index
      %p = pto.partition_view %v, offsets = [%r, %c0], sizes = [%c8, %c64] : !pto.tensor_view<?x?xf32> -> !view
      %q = pto.partition_view %w, offsets = [%r, %c0], sizes = [%c8, %c64] : !pto.tensor_view<?x?xf32> -> !view
      pto.wait_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID0"]
      pto.tload ins(%p : !view) outs(%x : !tile)
      pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
      pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
      pto.wait_flag["PIPE_MTE3", "PIPE_V", "EVENT_ID0"]
      pto.tadd ins(%x, %y : !tile, !tile) outs(%y : !tile)
      pto.set_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID0"]
      pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
      pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
      pto.tstore ins(%y : !tile) outs(%q : !view)
      pto.set_flag["PIPE_MTE3", "PIPE_V", "EVENT_ID0"]
    }}
    pto.wait_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID0"]
    pto.wait_flag["PIPE_MTE3", "PIPE_V", "EVENT_ID0"]
    return
  }}
}}
""".replace("    %next =", "    %zero = arith.constant 0.0 : f32\n    %next =")
"""Eleven steps in an iteration, and a tile that never holds the same twice."""


def made(
    source: SourceFile, entry: str | None, target: str | None, values: list[Any], blocks: int
) -> tuple[str, int, float]:
    """The page of a run, its steps, and the seconds of the run with all that is written down."""
    engine = DiagnosticEngine(DiagnosticOptions())
    module = build_module(source, engine, Options(target=target, printing=False))
    assert module is not None, engine.diagnostics
    request = Sanitizing(SanitizeOptions(parse_checks(("all",)), "auto"), html="page")
    entry = Kernel(module, entry, target, RunOptions()).entry
    kernel = instrumented_kernel(module, entry, target, RunOptions(fill="poison"), request)
    assert isinstance(kernel, ReportKernel)
    started = time.perf_counter()
    kernel.run(values, blocks)
    kernel.kept += kept_findings(kernel, request)
    given = ((name, value, element_type(type_)) for (name, type_), value in zip(kernel.arguments, values, strict=True))
    buffers = [
        Buffer(name, value.shape, element_name(element))
        for name, value, element in given
        if isinstance(value, np.ndarray) and element is not None
    ]
    text = page_of(kernel, Run(source.name, buffers, checked=sorted(request.options.checks)))
    return text, len(kernel.observed.times.steps.rows), time.perf_counter() - started


Page = tuple[str, int, float]


def programs(names: list[str], steps: int) -> Iterator[tuple[str, Page, dict[str, np.ndarray]]]:
    """All pages, one after the other, with the arguments after their runs."""
    for name in names:
        for case in load(name)[0]:
            for target in case.targets:
                path = ROOT / "examples" / name / case.program
                values = [one.copy() if isinstance(one, np.ndarray) else one for one in case.data.values()]
                source = SourceFile(path.name, read(Input(str(path), path.name, path.name), target)[0])
                page = made(source, entry_of(case), target, values, case.blocks)
                arrays = {key: one for key, one in zip(case.data, values, strict=True) if isinstance(one, np.ndarray)}
                yield f"{label(name, case)} {target}", page, arrays
    if steps:
        random = np.random.default_rng(1)
        values = [random.normal(size=(128, 64)).astype(np.float32), np.zeros((128, 64), np.float32)]
        page = made(SourceFile("long.pto", LONG.format(turns=steps // 11)), "long", None, values, 1)
        yield f"{steps} steps", page, dict(zip("ab", values, strict=True))


NUMBERS = """() => [...document.querySelectorAll('#part-tiles details tbody tr')]
    .map((row) => [...row.cells].slice(1).map((cell) => cell.textContent))"""
NEWEST = """() => {
    const slider = document.querySelector("#part-tiles input[type=range]");
    slider.value = slider.max;
    slider.dispatchEvent(new Event("input"));
}"""
"""Shows the numbers after the last write."""
TILES = "select[aria-label='Tile or buffer'] option"
PATIENCE = 10.0
"""Seconds that a page may take to draw numbers."""


def wrong_numbers(shown: Shown, results: Mapping[str, np.ndarray]) -> list[str]:
    """The arguments of which the page shows other numbers than numpy has after the run."""
    names = {text.split(" ·")[0] for text in shown.page.locator(TILES).all_inner_texts()}
    # What nobody has touched is not shown.
    return [f"{name}: other numbers" for name in results if name in names and not agrees(shown, name, results[name])]


def agrees(shown: Shown, name: str, array: np.ndarray) -> bool:
    """Whether the page shows, soon after a request, the numbers of an array."""
    shown.tile(name)
    shown.page.evaluate("() => { document.querySelector('#part-tiles details.more').open = true; }")
    shown.page.evaluate(NEWEST)
    form = format_of(shown.page.locator(f"{TILES}:checked").inner_text().split("· ")[1].split()[0])
    if form.elements > 1:
        return True  # Pairs lie in one byte of the array, and the page shows both.
    values = decode(array, form) if array.dtype != form.compute and array.dtype == form.storage else array
    # Of rows 64 numbers are shown, with six digits; the page says how it cuts lists into rows.
    columns = shown.page.locator("#part-tiles label:has-text('columns') input").input_value()
    width = values.shape[-1] if values.ndim > 1 else int(columns)
    lines = [values.reshape(-1)[begin : begin + width][:64] for begin in range(0, values.size, width)]
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        shown.settle()
        rows = zip(shown.page.evaluate(NUMBERS), lines, strict=False)
        both = [one for row, line in rows for one in zip(row, line, strict=False)]
        pairs = [(float(cell), float(value)) for cell, value in both if cell not in ("", "·")]
        if pairs and np.allclose(*zip(*pairs, strict=True), rtol=5e-6, atol=0, equal_nan=True):
            return True
    return False


def looked_at(chrome: Any, file: Path, results: Mapping[str, np.ndarray], axe: bool) -> tuple[float, float, list[str]]:
    """Seconds until a page can be used, the longest that a part takes, and what it says about errors."""
    started = time.perf_counter()
    slowest = 0.0
    with Shown(chrome, file) as shown:
        ready = time.perf_counter() - started
        for part in PARTS:
            begun = time.perf_counter()
            shown.part(part)
            slowest = max(slowest, time.perf_counter() - begun)
            if len(shown.page.inner_text(f"#part-{part}").strip()) < 20:
                shown.said.append(f"{part} is empty")
        shown.part("tiles")
        shown.said += wrong_numbers(shown, results)
        for theme in ("light", "dark") if axe else ():
            told_before = list(shown.said)
            shown.anew(theme=theme)
            for part in PARTS:
                shown.part(part)
            shown.said += [*told_before, *shown.complaints()]
        return ready, slowest, list(shown.said)


def main() -> int:
    """Prints a row for each page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("examples", nargs="*", default=list(EXAMPLES))
    parser.add_argument("--long", type=int, default=100_000, metavar="STEPS")
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    parser.add_argument("--axe", action="store_true")
    given = parser.parse_args()
    wrong = 0
    print(f"{'page':<44} {'steps':>7} {'MB':>6} {'made s':>7} {'ready s':>7} {'part s':>7}")
    with tempfile.TemporaryDirectory() as temporary, browser() as chrome:
        folder = given.keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        for name, (text, steps, seconds), results in programs(given.examples, given.long):
            file = folder / (name.replace("/", "-").replace(" ", "-") + ".html")
            file.write_text(text, encoding="utf-8")
            size = file.stat().st_size
            ready, slowest, said = looked_at(chrome, file, results, given.axe)
            print(
                f"{name:<44} {steps:>7} {size / 1e6:>6.2f} {seconds:>7.2f} {ready:>7.2f} {slowest:>7.2f}",
                *said[:2],
                flush=True,
            )
            wrong += bool(said) or size > MOST_BYTES or ready > MOST_SECONDS
            if given.keep is None:
                file.unlink()
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())

"""Plants faults into C++ kernels, and counts those that are reported at the right line and column.

    python benchmarks/cpp_faults.py [KERNEL/NAME]
    python benchmarks/cpp_faults.py --large

With ``--large`` it times one kernel of a thousand lines, whose fault is in its last stage. The exit code is 1 if a
fault is missed, or if a correct kernel has a finding.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))

from planted_faults import FAULTS, RUNS, kernel_path, places

STAGES = 40
STAGE = """\
AICORE inline void stage_@(Row &a, Row &b, Row &c, __gm__ float *x, __gm__ float *y, __gm__ float *z, int n) {
  set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
  set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
  for (int i = 0; i < n; ++i) {
    Global gx(x + i * W), gy(y + i * W), gz(z + (i + @) * W);
    wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
    TLOAD(a, gx);
    TLOAD(b, gy);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
    TADD(c, a, b);
    pipe_barrier(PIPE_V);
    TMULS(c, c, @.5f);
    pipe_barrier(PIPE_V);
    TEXP(c, c);
    set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(gz, c);
    set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
  }
  wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
  wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
}
"""
LARGE = f"""\
#include <pto/pto-inst.hpp>
using namespace pto;
constexpr int W = 256;
using Global = GlobalTensor<float, Shape<1, 1, 1, 1, W>, Stride<W, W, W, W, 1>>;
using Row = Tile<TileType::Vec, float, 1, W>;
{"".join(STAGE.replace("@", str(number)) for number in range(STAGES))}\
__global__ AICORE void large(__gm__ float *x, __gm__ float *y, __gm__ float *z, int n) {{
  Row a, b, c;
  TASSIGN(a, 0x0);
  TASSIGN(b, 0x400);
  TASSIGN(c, 0x800);
{"".join(f"  stage_{number}(a, b, c, x, y, z, n);" + chr(10) for number in range(STAGES))}\
}}
"""
"""A kernel of stages that follow one another."""
LARGE_RUN = f"--arg x=random:f32:1024 --arg y=random:f32:1024 --arg z=zeros:f32:{(STAGES + 4) * 256} --arg n=4"


def report(path: str, options: str) -> tuple[str, float]:
    """Returns the JSON document of a sanitized run, and its seconds."""
    command = [sys.executable, "-m", "pto_dialect.tools.pto_run", path, *options.split()]
    started = perf_counter()
    done = subprocess.run(
        [*command, "--sanitize", "--quiet", "--output-format", "json"], capture_output=True, text=True, check=False
    )
    return done.stderr, perf_counter() - started


def wrong(wanted: str, folder: str, seconds: list[float]) -> Iterator[str]:
    """Yields what is missed, and what is reported of correct kernels."""
    for kernel in RUNS:
        text, _ = report(str(kernel_path(kernel)), RUNS[kernel])
        if json.loads(text)["diagnostics"]:
            yield f"{kernel} is correct: {text}"
    for fault in FAULTS:
        name = f"{fault.kernel}/{fault.name}"
        if wanted not in name:
            continue
        path = os.path.join(folder, f"{fault.kernel}.cpp")
        Path(path).write_text(fault.text(), encoding="utf-8")
        text, taken = report(path, RUNS[fault.kernel])
        seconds.append(taken)
        if fault.position() not in places(json.loads(text), fault.rule):
            yield f"{name}: {fault.rule} at {fault.position()} is missed"


def large() -> int:
    """Times the large kernel without the last wait for the vector unit, and prints the row."""
    wait, store = "    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);\n", "    TSTORE"
    before, _, after = LARGE.rpartition(wait)
    place = before.count("\n") + 1, len(store) - len("TSTORE") + 1
    with TemporaryDirectory() as folder:
        path = os.path.join(folder, "large.cpp")
        Path(path).write_text(LARGE, encoding="utf-8")
        correct, _ = report(path, LARGE_RUN)
        Path(path).write_text(before + after, encoding="utf-8")
        start = getrusage(RUSAGE_CHILDREN)
        text, taken = report(path, LARGE_RUN)
        end = getrusage(RUSAGE_CHILDREN)
    processor = end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime
    is_found = place in places(json.loads(text), "race-raw") and not json.loads(correct)["diagnostics"]
    lines = (before + after).count("\n")
    result = (
        "" if is_found else f"; the fault at {place} is missed, or a correct kernel has findings:\n{correct}\n{text}"
    )
    print(f"{lines:,} lines: source to finding {taken:.2f} s, {processor:.2f} s of the processor{result}")
    return int(not is_found)


def main(arguments: Sequence[str]) -> int:
    """Runs all and prints a summary."""
    if list(arguments) == ["--large"]:
        return large()
    seconds: list[float] = []
    with TemporaryDirectory() as folder:
        missed = list(wrong(" ".join(arguments), folder, seconds))
    print("\n".join(missed))
    median = sorted(seconds)[len(seconds) // 2] if seconds else 0.0
    print(f"{len(seconds)} faults, {len(missed)} wrong; source to finding {median:.2f} s in the median")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

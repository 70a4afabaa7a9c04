"""Plants faults into C++ kernels, and counts those that are reported at the right line and column.

    python benchmarks/cpp_faults.py [KERNEL/NAME]

The exit code is 1 if one is missed, or if a correct kernel has a finding.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))

from planted_faults import FAULTS, RUNS, kernel_path, places


def report(path: str, kernel: str) -> tuple[str, float]:
    """Returns the JSON document of a sanitized run, and its seconds."""
    command = [sys.executable, "-m", "pto_dialect.tools.pto_run", path, *RUNS[kernel].split()]
    started = perf_counter()
    done = subprocess.run(
        [*command, "--sanitize", "--quiet", "--output-format", "json"], capture_output=True, text=True, check=False
    )
    return done.stderr, perf_counter() - started


def wrong(wanted: str, folder: str, seconds: list[float]) -> Iterator[str]:
    """Yields what is missed, and what is reported of correct kernels."""
    for kernel in RUNS:
        text, _ = report(str(kernel_path(kernel)), kernel)
        if json.loads(text)["diagnostics"]:
            yield f"{kernel} is correct: {text}"
    for fault in FAULTS:
        name = f"{fault.kernel}/{fault.name}"
        if wanted not in name:
            continue
        path = os.path.join(folder, f"{fault.kernel}.cpp")
        Path(path).write_text(fault.text(), encoding="utf-8")
        text, taken = report(path, fault.kernel)
        seconds.append(taken)
        if fault.position() not in places(json.loads(text), fault.rule):
            yield f"{name}: {fault.rule} at {fault.position()} is missed"


def main() -> int:
    """Runs all and prints a summary."""
    seconds: list[float] = []
    with TemporaryDirectory() as folder:
        missed = list(wrong(" ".join(sys.argv[1:]), folder, seconds))
    print("\n".join(missed))
    median = sorted(seconds)[len(seconds) // 2] if seconds else 0.0
    print(f"{len(seconds)} faults, {len(missed)} wrong; source to finding {median:.2f} s in the median")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())

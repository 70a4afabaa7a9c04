"""Instrumented runs beside plain ones."""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import geometric_mean

import numpy as np

from .front import load
from .row import Row, Times, alternate

ROOT = Path(__file__).resolve().parents[2]


def gemm(_: Path) -> Times:
    """The GEMM example under all sanitizers, beside its instructions; flags do not change the cost."""
    from pto_dialect.runtime.run.launch import Kernel
    from pto_dialect.runtime.run.machine import RunOptions
    from pto_dialect.sanitize.launch import InstrumentedKernel
    from pto_dialect.sanitize.options import SanitizeOptions

    module = load((ROOT / "examples" / "gemm" / "gemm.pto").read_text())
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((256, 512), (512, 256)))
    bias, c = np.zeros((1, 256), np.float32), np.zeros((256, 256), np.float32)
    plain = Kernel(module, None, "a5", RunOptions())
    plain.replayed = False

    def instrumented() -> None:
        kernel = InstrumentedKernel(module, None, "a5", RunOptions(fill="poison"), SanitizeOptions(sync="strict"))
        kernel.run([a, b, bias, c, True])

    return alternate(instrumented, lambda: plain.run([a, b, bias, c, True]), 5)


def _examples(again: bool = False) -> list[tuple[float, Times, str]]:
    sys.path.insert(0, str(ROOT))
    from sanitized_examples import measured, measured_again

    from examples.run_all import EXAMPLES, label
    from examples.run_all import load as cases_of

    found: list[tuple[float, Times, str]] = []
    for example in EXAMPLES:
        case = cases_of(example)[0][0]
        if case.program.endswith(".cpp"):
            # Their programs are compiled C++, which needs a compiler.
            continue
        plain, instrumented = (measured_again if again else measured)(example, case)
        found.append((instrumented / plain, (instrumented, plain), label(example, case)))
    return sorted(found)


def _mean(again: bool) -> Times:
    """Geometric means over all examples: the same programs count in every version that is compared."""
    times = [item[1] for item in _examples(again)]
    return geometric_mean(ours for ours, _ in times), geometric_mean(anchor for _, anchor in times)


def mean(folder: Path) -> Times:
    """All examples, translated and run."""
    del folder
    return _mean(again=False)


def mean_again(folder: Path) -> Times:
    """All examples, further launches of kernels that are kept."""
    del folder
    return _mean(again=True)


def worst(folder: Path) -> Times:
    """The example that instrumentation slows down most."""
    del folder
    ratio, times, name = _examples()[-1]
    print(f"slowest example under the sanitizers: {name}, {ratio:.1f}x", file=sys.stderr)
    return times


ROWS = {
    "sanitizing": Row("GEMM example, --sanitize --sync strict (plain)", gemm, None),
    "sanitizing-mean": Row("mean of the examples, --sync strict (plain)", mean, 5.0, rounds=1),
    "sanitizing-again": Row("mean of the examples, launched again (plain)", mean_again, 5.0, rounds=1),
    "sanitizing-worst": Row("worst of the examples, --sync strict (plain)", worst, 12.0, rounds=1, extreme=True),
}

"""Runs the examples and compares their results with what was computed from their inputs alone.

Exits with 1 if a result is not as expected, with 2 for a wrong command line.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from examples.case import Case
from examples.check import Outcome, outcome
from examples.expectation import Accumulate, Expected
from pto_dialect.cpp.compilers import CompilerMissing, find_compiler

EXAMPLES = (
    "gemm",
    "mlp_fused",
    "gemv_decode",
    "int8_gemm",
    "lowering",
    "mx_gemm",
    "rms_norm",
    "layer_norm",
    "rotary",
    "token_quant",
    "int8_dequant_gemm",
    "swiglu_mlp",
    "flash_attention",
    "paged_attention",
    "topk_routing",
    "spmv",
    "seed_snippets",
    "cpp",
)
TARGETS = ("a2a3", "a5", "cpu-sim")

_ROW = "{:<32} {:<36} {:<7} {:>9} {:>9} {:>9}  {}"


def load(example: str) -> tuple[list[Case], Expected]:
    """The cases of an example and the function that computes what they shall yield."""
    inputs = importlib.import_module(f"examples.{example}.inputs")
    return inputs.cases(), importlib.import_module(f"examples.{example}.expected").expected


def missing_compiler() -> str:
    """Why C++ kernels cannot be compiled; empty if they can."""
    try:
        find_compiler()
    except CompilerMissing as error:
        return str(error)
    return ""


def targets_of(case: Case, wanted: str | None) -> tuple[str, ...]:
    """The targets to run ``case`` on; cpu-sim runs what a5 runs."""
    if wanted is None:
        return case.targets
    return (wanted,) if wanted.replace("cpu-sim", "a5") in case.targets else ()


def label(example: str, case: Case) -> str:
    """Name of a case: example, function, and between them the file where that has a name of its own."""
    file = case.program.removesuffix(".pto").removesuffix(".cpp")
    return f"{example}/{case.entry}" if file in (example, case.entry) else f"{example}/{file}/{case.entry}"


def row(name: str, shapes: str, target: str, result: Outcome) -> str:
    """One line of the table."""
    error, tolerance = (f"{value:.1e}" if value else "0" for value in (result.error, result.tolerance))
    verdict = "PASS" if result.passed else "FAIL"
    return _ROW.format(name, shapes, target, error, tolerance, f"{result.seconds * 1e3:.1f} ms", verdict)


def run_examples(names: Sequence[str], target: str | None, accumulate: Accumulate) -> int:
    """Runs the examples and prints the table; returns the exit code."""
    header = _ROW.format("kernel", "shapes", "target", "max error", "tolerance", "time", "").rstrip()
    print(header, "-" * (len(header) + 6), sep="\n")
    failed = total = 0
    skipped = 0
    for example in names:
        missing = missing_compiler() if example == "cpp" else ""
        if missing:
            print(f"{example}: skipped, {missing}")
            skipped += 1
            continue
        cases, expected = load(example)
        for case in cases:
            chips = targets_of(case, target)
            if not chips:
                continue
            wanted = expected(case.entry, case.data, accumulate)
            for chip in chips:
                result = outcome(example, case, wanted, chip, accumulate)
                total += 1
                failed += not result.passed
                print(row(label(example, case), case.shapes, chip, result), flush=True)
                if result.message:
                    print(result.message)
    if not total and not skipped:
        print(f"nothing here is legal for {target}")
        return 1
    print(f"{total - failed} of {total} as expected")
    return 1 if failed else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="run_all.py", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"examples to run: {', '.join(EXAMPLES)}")
    parser.add_argument("--target", choices=TARGETS, help="run on this target; default: on all that are legal")
    parser.add_argument(
        "--accumulate",
        choices=("fast", "exact"),
        default="fast",
        help="fast: within the tolerance; exact: bit by bit in the defined order of accumulation",
    )
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in EXAMPLES]
    if unknown:
        parser.error(f"no example {', '.join(unknown)}; there are {', '.join(EXAMPLES)}")
    return run_examples(options.names or EXAMPLES, options.target, options.accumulate)


if __name__ == "__main__":
    sys.exit(main())

"""How many programs does `pto-run --auto` run?  Counts them, and lists the others with their reasons.

Usage: python benchmarks/auto_runs.py FOLDER... [--seconds S] [--each S] [--seed N]

Every different ``.pto`` file below the FOLDERs that has no errors and compiles is run on arguments that are made up, in
an order shuffled by ``--seed``, for at most ``--seconds``; a program has ``--each`` seconds. Of a program with several
functions that may be meant all have to run. Functions listed as reading an argument (``in``, ``unused``) must leave it
as it was. Prints the counts, then one line for each program that does not run.
"""

from __future__ import annotations

import argparse
import hashlib
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from time import monotonic

import numpy as np

import pto_dialect
from pto_dialect.api import Module
from pto_dialect.deadline import TimedOut, deadline
from pto_dialect.driver.explore.listing import list_functions
from pto_dialect.driver.explore.made_up import make_up, values_of
from pto_dialect.runtime.compile.program import Symbols, candidates, find_entry
from pto_dialect.runtime.errors import BindingError, ProgramError
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions


def programs(folders: list[Path], seed: int) -> list[Path]:
    """Files with different texts, shuffled."""
    texts: dict[bytes, Path] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*.pto")):
            texts.setdefault(hashlib.sha256(path.read_bytes()).digest(), path)
    found = sorted(texts.values())
    random.Random(seed).shuffle(found)
    return found


def kernels(module: Module) -> list[Kernel]:
    """The functions that a launch of the program may mean."""
    symbols = Symbols(module)
    try:
        names = [find_entry(module, None, symbols)]
    except ProgramError:
        names = candidates(module, symbols)
    return [Kernel(module, name, None, RunOptions()) for name in names]


def listed_wrong(kernel: Kernel, module: Module) -> Iterator[str]:
    """Arguments that a run changes although they are listed as read."""
    listed = {one.name: one for one in list_functions(module, None)}[kernel.entry]
    values = values_of(kernel, {}, dict(make_up(kernel, {}, 0, 1)))
    before = [value.copy() if isinstance(value, np.ndarray) else None for value in values]
    with redirect_stdout(StringIO()):
        kernel.run(values)
    for argument, old, value in zip(listed.arguments, before, values, strict=False):
        if old is not None and argument.direction in ("in", "unused") and old.tobytes() != value.tobytes():
            yield argument.name


def outcome(path: Path, each: float) -> tuple[str, str]:
    """What becomes of a program, and why."""
    try:
        with deadline(each):
            if not pto_dialect.check(path).ok:
                return "with errors", ""
            module = pto_dialect.parse(path.read_text(encoding="utf-8", errors="replace"), str(path))
            try:
                found = kernels(module)
            except ProgramError as error:
                return "not executable", f"{error.rule}: {error.message}"
            if not found:
                return "without functions", ""
            wrong = [name for kernel in found for name in listed_wrong(kernel, module)]
            return ("listed wrong", ", ".join(wrong)) if wrong else ("run", "")
    except ProgramError as error:
        return "do not run", f"{error.rule}: {error.message}"
    except BindingError as error:
        return "do not run", str(error)
    except TimedOut:
        return "take too long", ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--each", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    np.seterr(all="ignore")
    counts: Counter[str] = Counter()
    reasons: list[str] = []
    start = monotonic()
    for path in programs(options.folders, options.seed):
        if monotonic() - start > options.seconds:
            break
        kind, why = outcome(path, options.each)
        counts[kind] += 1
        if kind not in ("run", "with errors", "without functions"):
            reasons.append(f"{path}: {kind} {why}".rstrip())
    executable = sum(counts[kind] for kind in ("run", "do not run", "take too long", "listed wrong"))
    share = f", {counts['run'] / executable:.1%} of the executable ones run" if executable else ""
    print(", ".join(f"{number} {kind}" for kind, number in counts.most_common()) + share)
    print(*sorted(reasons), sep="\n")


if __name__ == "__main__":
    main()

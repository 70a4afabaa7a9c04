"""How many programs does `pto-run --auto` run?  Counts them, and lists the others with their reasons.

Usage: python benchmarks/auto_runs.py FOLDER... [--seconds S] [--each S] [--seed N]

Every different ``.pto`` file below the FOLDERs that has no errors and compiles is run on arguments that are generated,
in an order shuffled by ``--seed``, for at most ``--seconds``; a program has ``--each`` seconds. Of a program with
several functions that may be meant all have to run. What ``--list`` says of their arguments is compared with the runs:
one that is not listed as written (``in``, ``unused``) stays as it was, and other content in those that are not listed
as read (``out``, ``unused``) shows nowhere in what a run leaves. Prints the counts, then one line for each other
program."""

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
from typing import Any

import numpy as np

import pto_dialect
from pto_dialect.api import Module
from pto_dialect.deadline import TimedOut, deadline
from pto_dialect.driver.explore.listing import list_functions
from pto_dialect.driver.explore.synthesized import synthesize_arguments, values_of
from pto_dialect.ir.core.base import symbol_of
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


def run_with(kernel: Kernel, values: list[Any]) -> list[Any]:
    """What the arguments hold after a run on copies of ``values``."""
    values = [value.copy() if isinstance(value, np.ndarray) else value for value in values]
    with redirect_stdout(StringIO()):
        kernel.run(values)
    return values


def other_content(value: Any) -> Any:
    """An array of the same shape with other bytes."""
    if not isinstance(value, np.ndarray) or value.dtype == np.bool_:
        return value
    return (np.ascontiguousarray(value).view(np.uint8) ^ 0x55).view(value.dtype)


def as_bytes(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.frombuffer(value.tobytes(), np.uint8)


def listed_directions(kernel: Kernel, module: Module) -> list[str]:
    """What ``--list`` says of each argument of a launch, which those of its functions are parts of."""
    listed = {one.name: one.arguments for one in list_functions(module, None)}
    found: dict[int, str] = {}
    for root in kernel.program.roots.values():
        for position, argument in zip(root.positions, listed[symbol_of(root.function)], strict=True):
            assert found.setdefault(position, argument.direction) == argument.direction
    return [found[position] for position in range(len(kernel.arguments))]


def listed_wrong(kernel: Kernel, module: Module, seen: Counter[str]) -> Iterator[str]:
    """Arguments that a run changes although they are not listed as written, and those whose content shows in what a
    run leaves although they are not listed as read; ``seen`` counts directions."""
    names = [name for name, _ in kernel.arguments]
    directions = listed_directions(kernel, module)
    before = values_of(kernel, {}, dict(synthesize_arguments(kernel, {}, 0, 1)))
    after = run_with(kernel, before)
    for name, direction, old, new in zip(names, directions, before, after, strict=True):
        if isinstance(old, np.ndarray):
            changed = old.tobytes() != new.tobytes()
            seen[direction] += 1
            seen[f"{direction}, changed"] += changed
            if changed and direction in ("in", "unused"):
                yield f"{name} is listed as {direction} and is changed"
    unread = [direction in ("out", "unused") for direction in directions]
    others = [other_content(value) if free else value for value, free in zip(before, unread, strict=True)]
    if all(one is other for one, other in zip(before, others, strict=True)):
        return
    again = run_with(kernel, others)
    for name, free, old, other, new, twice in zip(names, unread, before, others, after, again, strict=True):
        if not isinstance(old, np.ndarray):
            continue
        first, second = as_bytes(new), as_bytes(twice)
        differ = first != second
        if free:
            differ &= (first != as_bytes(old)) | (second != as_bytes(other))
        if differ.any():
            yield f"{name} depends on an argument that is listed as not read"


def outcome(path: Path, each: float, seen: Counter[str]) -> tuple[str, str]:
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
            wrong = [name for kernel in found for name in listed_wrong(kernel, module, seen)]
            return ("listed wrong", ", ".join(wrong)) if wrong else ("run", "")
    except ProgramError as error:
        return "do not run", f"{error.rule}: {error.message}"
    except BindingError as error:
        return "do not run", str(error)
    except TimedOut:
        return "take too long", ""


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--each", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    np.seterr(all="ignore")
    counts: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    reasons: list[str] = []
    start = monotonic()
    for path in programs(options.folders, options.seed):
        if monotonic() - start > options.seconds:
            break
        kind, why = outcome(path, options.each, seen)
        counts[kind] += 1
        if kind not in ("run", "with errors", "without functions"):
            reasons.append(f"{path}: {kind} {why}".rstrip())
    executable = sum(counts[kind] for kind in ("run", "do not run", "take too long", "listed wrong"))
    share = f", {counts['run'] / executable:.1%} of the executable ones run" if executable else ""
    print(", ".join(f"{number} {kind}" for kind, number in counts.most_common()) + share)
    print("arguments:", ", ".join(f"{number} {kind}" for kind, number in sorted(seen.items())))
    print(*sorted(reasons), sep="\n")


if __name__ == "__main__":
    main()

"""Do two versions of the package find the same when they watch a run?  Compares all they say, line by line.

Usage: python benchmarks/watched_identity.py OLD NEW [FOLDER...] [--generated N] [--first SEED] [--show K]

OLD and NEW are trees of this project (work trees of two commits). Both watch the examples of OLD with ``--sync auto``
and ``--sync strict``, the kernels of ``tests/faulty`` with and without their faults, N programs of
``tests/helpers/overlapping_programs.py`` (of NEW) and every program below the FOLDERs, with arrays of small numbers
for buffers and 1 for numbers, as long as it ends within some seconds. Compared are findings with their order, places,
counts, notes, advice and fixes, what was not checked, how the run ended, and the results. Prints how many differ and
the first differences; exits with 1 when there is one.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from types import FrameType
from typing import Any

_SECONDS = 4
_ELEMENTS = 4096
_WORKER = "--worker"


class _TooSlow(Exception):
    pass


def _alarm(number: int, frame: FrameType | None) -> None:
    raise _TooSlow


# ------------------------------------------------------------ one version


def _said(folders: list[Path], generated: range) -> Iterator[tuple[str, list[str]]]:
    """What the version that is imported says about each program, by name."""
    yield from _examples()
    yield from _faulty()
    yield from _generated(generated)
    for folder in folders:
        for path in sorted(path for path in folder.rglob("*") if path.suffix in (".pto", ".mlir")):
            yield from _program(path)


def _examples() -> Iterator[tuple[str, list[str]]]:
    from watched_words import words

    import pto_dialect
    from examples.check import FOLDER, copied
    from examples.run_all import EXAMPLES, label, load
    from pto_dialect.runtime.run.machine import RunOptions
    from pto_dialect.sanitize.launch import WatchedKernel
    from pto_dialect.sanitize.options import SanitizeOptions

    for example in EXAMPLES:
        for case in load(example)[0]:
            module = pto_dialect.parse((FOLDER / example / case.program).read_text(encoding="utf-8"), case.program)
            for target in case.targets:
                for sync in ("auto", "strict"):
                    options = SanitizeOptions(sync=sync)
                    kernel = WatchedKernel(module, case.entry, target, RunOptions(fill="poison"), options)
                    name = f"{label(example, case)} {case.shapes} {target} {sync}"
                    yield name, words(kernel, list(copied(case.data).values()), case.blocks)


def _faulty() -> Iterator[tuple[str, list[str]]]:
    from faulty_kernels import kernels
    from sanitize_programs import watched
    from watched_words import words

    for kernel in kernels():
        for sync in ("auto", "strict"):
            found = watched(kernel.text, sync=sync, verify=False)
            yield f"{kernel.id} {sync}", words(found, kernel.values(), kernel.blocks)


def _generated(seeds: range) -> Iterator[tuple[str, list[str]]]:
    from overlapping_programs import overlapping
    from sanitize_programs import watched
    from watched_words import words

    for seed in seeds:
        program = overlapping(seed)
        kernel = watched(program.text, sync=program.sync, verify=False)
        yield f"generated {seed}", words(kernel, program.values(), program.blocks)


def _program(path: Path) -> Iterator[tuple[str, list[str]]]:
    from watched_words import words

    from pto_dialect.diagnostics.engine import DiagnosticEngine
    from pto_dialect.diagnostics.source import SourceFile
    from pto_dialect.runtime.compile.compiler import functions_of
    from pto_dialect.runtime.run.machine import RunOptions
    from pto_dialect.sanitize.launch import WatchedKernel
    from pto_dialect.sanitize.options import SanitizeOptions
    from pto_dialect.syntax.read.parser import parse_program
    from pto_dialect.verify.verifier import verify_module

    engine = DiagnosticEngine()
    text = path.read_text(encoding="utf-8", errors="replace")
    module = parse_program(SourceFile(path.name, text), engine)
    if module is None or engine.has_errors:
        return
    verify_module(module, engine)
    if engine.has_errors:
        return
    for entry in functions_of(module):
        for sync in ("auto", "strict"):
            signal.setitimer(signal.ITIMER_PROF, _SECONDS)
            name = f"{path} @{entry} {sync}"
            try:
                kernel = WatchedKernel(module, entry, None, RunOptions(fill="poison"), SanitizeOptions(sync=sync))
                yield name, words(kernel, list(_arguments(kernel)))
            except _TooSlow:
                yield name, ["too slow"]
            except Exception as error:
                # Whatever one version does, the other does as well.
                yield name, [f"not run: {type(error).__name__}: {error}"]
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)


def _arguments(kernel: Any) -> Iterator[Any]:
    import numpy as np

    from pto_dialect.ir.core.types import TileType
    from pto_dialect.runtime.run.arguments import argument_format

    for _, type_ in kernel.arguments:
        format_ = argument_format(type_)
        if format_ is None:
            yield 1
            continue
        size = (type_.rows, type_.cols) if isinstance(type_, TileType) else (_ELEMENTS,)
        yield (np.arange(np.prod(size)) % 7 + 1).astype(format_.storage).reshape(size)


def worker(root: str, helpers: str, folders: list[str], first: int, count: int) -> None:
    """Writes a line for each program: its name and what is said."""
    # What programs print is not compared.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    signal.signal(signal.SIGPROF, _alarm)
    sys.path[:0] = [root, helpers]
    import pto_dialect

    assert Path(pto_dialect.__file__).resolve().is_relative_to(Path(root).resolve()), pto_dialect.__file__
    for name, lines in _said([Path(folder) for folder in folders], range(first, first + count)):
        answers.write(json.dumps([name, lines]) + "\n")
    answers.close()


# ------------------------------------------------------------ both versions


def main() -> int:
    """Runs the comparison."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("folders", type=Path, nargs="*")
    parser.add_argument("--generated", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--show", type=int, default=3)
    args = parser.parse_args()
    helpers = str(args.new.resolve() / "tests" / "helpers")
    request = [helpers, [str(folder.resolve()) for folder in args.folders], args.first, args.generated]
    running = [
        subprocess.Popen(
            [sys.executable, "-I", __file__, _WORKER, json.dumps([str(tree.resolve()), *request])],
            stdout=subprocess.PIPE,
            text=True,
        )
        for tree in (args.old, args.new)
    ]
    assert running[0].stdout is not None and running[1].stdout is not None
    count = found = different = 0
    for old, new in zip(running[0].stdout, running[1].stdout, strict=True):
        (name, before), (other, after) = json.loads(old), json.loads(new)
        count += 1
        found += sum(" times, event " in line for line in before)
        if name != other or (before != after and ["too slow"] not in (before, after)):
            different += 1
            if different <= args.show:
                lines = difflib.unified_diff(before, after, f"old {name}", f"new {other}", "", "", 1, "")
                print(*list(chain(lines, ["(the names differ)"] if name != other else []))[:40], sep="\n", flush=True)
    failed = [process.wait() for process in running]
    print(f"{count} watched runs with {found} findings: {different} differ")
    return bool(different or any(failed) or not count)


if __name__ == "__main__":
    if sys.argv[1:2] == [_WORKER]:
        worker(*json.loads(sys.argv[2]))
    else:
        sys.exit(main())

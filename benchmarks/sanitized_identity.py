"""Do two versions of the package find the same in instrumented runs?  Compares all they say, line by line.

Usage: python benchmarks/sanitized_identity.py OLD NEW [FOLDER...] [--generated N] [--first SEED]
       [--show K] [--history [--csv FILE]]

OLD and NEW are trees of this project (work trees of two commits). Both watch the examples of OLD with ``--sync auto``
and ``--sync strict``, the kernels of ``tests/faulty`` with and without their faults, N programs of
``tests/helpers/overlapping_programs.py`` (of NEW) and every program below the FOLDERs, with arrays of small numbers
for buffers and 1 for numbers, as long as it ends within some seconds. Compared are findings with their order, places,
counts, notes, advice and fixes, what was not checked, how the run ended, and the results. Prints how many differ and
the first differences; exits with 1 when there is one.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from types import FrameType
from typing import Any

import two_versions
from two_versions import UNDECIDED, Request, selected

_SECONDS = 4
_ELEMENTS = 4096


class _TooSlow(Exception):
    pass


def _alarm(number: int, frame: FrameType | None) -> None:
    raise _TooSlow


# ------------------------------------------------------------ one version


def said(request: Request) -> Iterator[tuple[str, list[str]]]:
    """What the version that is imported says about each run, by name."""
    signal.signal(signal.SIGPROF, _alarm)
    sys.path.insert(1, request["helpers"])
    first = request["first"]
    runs = chain(_examples(), _faulty(), _generated(range(first, first + request["generated"])))
    for name, lines in runs:
        if selected(request, name):
            yield name, lines
    for folder in map(Path, request["folders"]):
        for path in sorted(path for path in folder.rglob("*") if path.suffix in (".pto", ".mlir")):
            yield from _program(path, request)


def _examples() -> Iterator[tuple[str, list[str]]]:
    from instrumented_report import words

    from examples.check import FOLDER, copied, entry_of, module_of
    from examples.run_all import EXAMPLES, label, load
    from pto_dialect.runtime.run.machine import RunOptions
    from pto_dialect.sanitize.launch import InstrumentedKernel
    from pto_dialect.sanitize.options import SanitizeOptions

    for example in EXAMPLES:
        for case in load(example)[0]:
            for target in case.targets:
                module = module_of(FOLDER / example / case.program, target)
                for sync in ("auto", "strict"):
                    options = SanitizeOptions(sync=sync)
                    kernel = InstrumentedKernel(module, entry_of(case), target, RunOptions(fill="poison"), options)
                    name = f"{label(example, case)} {case.shapes} {target} {sync}"
                    yield name, words(kernel, list(copied(case.data).values()), case.blocks)


def _faulty() -> Iterator[tuple[str, list[str]]]:
    from faulty_kernels import kernels
    from instrumented_report import words
    from sanitize_programs import instrumented

    for kernel in kernels():
        for sync in ("auto", "strict"):
            found = instrumented(kernel.text, sync=sync, verify=False)
            yield f"{kernel.id} {sync}", words(found, kernel.values(), kernel.blocks)


def _generated(seeds: range) -> Iterator[tuple[str, list[str]]]:
    from instrumented_report import words
    from overlapping_programs import overlapping
    from sanitize_programs import instrumented

    for seed in seeds:
        program = overlapping(seed)
        kernel = instrumented(program.text, sync=program.sync, verify=False)
        yield f"generated {seed}", words(kernel, program.values(), program.blocks)


def _program(path: Path, request: Request) -> Iterator[tuple[str, list[str]]]:
    from instrumented_report import words

    from pto_dialect.diagnostics.engine import DiagnosticEngine
    from pto_dialect.diagnostics.source import SourceFile
    from pto_dialect.runtime.compile.compiler import functions_of
    from pto_dialect.runtime.run.machine import RunOptions
    from pto_dialect.sanitize.launch import InstrumentedKernel
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
            name = f"{path} @{entry} {sync}"
            if not selected(request, name):
                continue
            signal.setitimer(signal.ITIMER_PROF, _SECONDS)
            try:
                kernel = InstrumentedKernel(module, entry, None, RunOptions(fill="poison"), SanitizeOptions(sync=sync))
                yield name, words(kernel, list(_arguments(kernel)))
            except _TooSlow:
                yield name, [UNDECIDED]
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


# ------------------------------------------------------------ both versions


def main() -> int:
    """Runs the comparison."""
    parser = two_versions.arguments(__doc__)
    parser.add_argument("folders", type=Path, nargs="*", metavar="FOLDER")
    parser.add_argument("--generated", type=int, default=300, metavar="N", help="number of generated programs")
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="seed of the first of them")
    args = parser.parse_args()
    request: Request = {
        "helpers": str(args.new.resolve() / "tests" / "helpers"),
        "folders": [str(folder.resolve()) for folder in args.folders],
        "first": args.first,
        "generated": args.generated,
    }
    return two_versions.run(__file__, "watched runs", request, args)


if __name__ == "__main__":
    if two_versions.is_worker():
        two_versions.answer(said)
    else:
        sys.exit(main())

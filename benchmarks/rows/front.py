"""The front end beside xDSL's parser and verifier, which read the generic form of the same programs."""

from __future__ import annotations

import gc
import os
import resource
import sys
from collections.abc import Sequence
from functools import partial
from itertools import zip_longest
from pathlib import Path

from programs import level2_program

from .row import Row, Times, alternate, clock, programs_below, seconds

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = 120


def trees() -> list[Path]:
    """Folders with programs: those of the variable PTO_BENCH_TREES, else the project's own."""
    named = os.environ.get("PTO_BENCH_TREES")
    return [Path(name) for name in named.split(os.pathsep)] if named else [ROOT / "examples", ROOT / "lit-tests"]


def load(text: str):
    """A verified module; the program must be free of errors."""
    from pto_dialect.diagnostics.engine import DiagnosticEngine
    from pto_dialect.diagnostics.source import SourceFile
    from pto_dialect.syntax.read.parser import parse_program
    from pto_dialect.verify.verifier import verify_module

    engine = DiagnosticEngine()
    module = parse_program(SourceFile("benchmark.pto", text), engine)
    assert module is not None and not engine.has_errors, engine.diagnostics
    verify_module(module, engine)
    assert not engine.has_errors, engine.diagnostics
    return module


def generic_form(text: str) -> str:
    """What xDSL reads of a correct program."""
    from pto_dialect.syntax.print.printer import print_module

    return print_module(load(text), generic=True)


def keep(texts: Sequence[str], folder: Path) -> None:
    """Writes programs with their generic forms."""
    for number, text in enumerate(texts):
        (folder / f"{number}.generic").write_text(generic_form(text), encoding="utf-8")
        (folder / f"{number}.pto").write_text(text, encoding="utf-8")


def keep_samples(folder: Path) -> None:
    """Correct programs of the trees, at most SAMPLES, that xDSL accepts too: it looks for what a ``func.call`` calls in
    the section around it, where nothing is."""
    keep_correct(programs_below(trees(), 10 * SAMPLES), folder)


def keep_spread(folder: Path) -> None:
    """The same of programs that are spread over all folders below the trees, one of each folder in turn: most of their
    statements occur once."""
    folders: dict[Path, list[Path]] = {}
    for path in programs_below(trees(), sys.maxsize):
        folders.setdefault(path.parent, []).append(path)
    turns = zip_longest(*(folders[name] for name in sorted(folders)))
    keep_correct([path for turn in turns for path in turn if path is not None], folder)


def keep_correct(paths: Sequence[Path], folder: Path) -> None:
    """The first SAMPLES of the programs that are correct for us and for xDSL."""
    from xdsl.utils.exceptions import VerifyException

    texts: list[str] = []
    for path in paths:
        text = path.read_text(encoding="utf-8", errors="replace")
        try:
            xdsl_check(generic_form(text))
        except (AssertionError, VerifyException):
            continue
        texts.append(text)
        if len(texts) == SAMPLES:
            break
    keep(texts, folder)


def kept(folder: Path) -> tuple[list[str], list[str]]:
    """The programs and their generic forms."""
    paths = sorted(folder.glob("*.pto"))
    return (
        [path.read_text(encoding="utf-8") for path in paths],
        [path.with_suffix(".generic").read_text(encoding="utf-8") for path in paths],
    )


def xdsl_check(text: str) -> None:
    """Parses and verifies a generic form with xDSL alone."""
    from xdsl.context import Context
    from xdsl.dialects import affine, arith, builtin, cf, func, math, memref, scf
    from xdsl.parser import Parser

    context = Context(allow_unregistered=True)
    known = (builtin.Builtin, func.Func, arith.Arith, scf.Scf, cf.Cf, memref.MemRef, math.Math, affine.Affine)
    for dialect in known:
        context.load_dialect(dialect)
    Parser(context, text, "benchmark.mlir").parse_module().verify()


def warm_libraries() -> None:
    """Loads what both sides import; nothing of the programs is known afterwards."""
    load("func.func @f() {\n  return\n}\n")
    xdsl_check('"builtin.module"() ({\n^bb0:\n}) : () -> ()\n')


def all_of(texts: Sequence[str], check) -> None:
    """Checks each text once."""
    for text in texts:
        check(text)


def once(folder: Path) -> Times:
    """Every program once, by each side, in a process that saw none of them."""
    ours, generic = kept(folder)
    warm_libraries()
    gc.collect()
    anchor = seconds(partial(all_of, generic, xdsl_check))
    gc.collect()
    return seconds(partial(all_of, ours, load)), anchor


def again(folder: Path) -> Times:
    """Every program once more, in a process that has checked all of them."""
    ours, generic = kept(folder)
    warm_libraries()
    return alternate(partial(all_of, ours, load), partial(all_of, generic, xdsl_check), 3)


def keep_tile(folder: Path) -> None:
    """A generated program of 1 MB."""
    keep([level2_program(1_000_000)], folder)


def keep_first(folder: Path) -> None:
    """A program of about 42 kB with many kinds of statements: examples, one after another, in modules of their own."""
    texts = [level2_program(42_000)]
    for folder_of_tree in trees():
        right = [path for path in folder_of_tree.rglob("*.pto") if 38_000 < path.stat().st_size < 46_000]
        texts = [sorted(right)[0].read_text(encoding="utf-8"), *texts] if right else texts
    (folder / "0.pto").write_text(texts[0], encoding="utf-8")


def first(folder: Path) -> Times:
    """The first check of a process, beyond the imports of a check that finds nothing to do."""
    text = (folder / "0.pto").read_text(encoding="utf-8")
    load("module {\n}\n")
    gc.collect()
    return seconds(partial(load, text)), 0.040


def keep_large(folder: Path) -> None:
    """10 MB of generated tile code."""
    (folder / "0.pto").write_text(level2_program(10_000_000), encoding="utf-8")


def large(folder: Path) -> Times:
    """10 MB, parsed and verified once."""
    text = (folder / "0.pto").read_text(encoding="utf-8")
    warm_libraries()
    return seconds(partial(load, text)), 2.5


def keep_million(folder: Path) -> None:
    """A million operations of mixed tile code."""
    from scale_programs import SHAPES, program

    with (folder / "0.pto").open("w", encoding="utf-8") as stream:
        stream.writelines(program(next(iter(SHAPES)), 1_000_000))


def million(folder: Path) -> Times:
    """A million operations, parsed and verified once; says the peak of memory."""
    from pto_dialect.accel.collector import paused

    text = (folder / "0.pto").read_text(encoding="utf-8")
    warm_libraries()
    now = clock()
    started = now()
    with paused():
        module = load(text)
    took = now() - started
    assert module is not None
    print(f"peak of the process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB", file=sys.stderr)
    return took, 30.0


ROWS = {
    "samples-once": Row(f"{SAMPLES} programs, each checked once (xDSL)", once, 10, True, prepare=keep_samples),
    "spread-once": Row(f"{SAMPLES} programs of many folders, once (xDSL)", once, 10, True, prepare=keep_spread),
    "samples-again": Row("the same programs again (xDSL)", again, 20, True, prepare=keep_samples),
    "front-end": Row("1 MB of tile code, once (xDSL)", once, 15, True, prepare=keep_tile),
    "front-end-again": Row("1 MB of tile code, again (xDSL)", again, None, True, prepare=keep_tile),
    "first-check": Row(
        "first check of 42 kB beyond imports (40 ms)", first, 1, absolute=True, rounds=7, prepare=keep_first
    ),
    "10-mb": Row("10 MB of tile code (2.5 s)", large, 1, absolute=True, prepare=keep_large),
    "million": Row("10^6 operations (30 s)", million, 1, absolute=True, rounds=1, prepare=keep_million, slow=True),
}

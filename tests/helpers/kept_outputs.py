"""What passes make of many programs and say about them, as kept in ``tests/passes/outputs``.

Every row names a program, a pipeline, a digest of the printed result (or ``same``), and what is said in full. The
programs were chosen from many so that together they take every branch of the passes that any of them takes: those of
``programs.pto``, kernels, examples and lit tests, and random ones by their seed.

Usage: python tests/helpers/kept_outputs.py writes the rows again, for the same programs and pipelines.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[2] / "lit-tests"), str(Path(__file__).parent)]

from kept_findings import said
from neighbours import digest
from overlapping_programs import overlapping
from product_programs import Writer
from random_tile_programs import RandomProgram

from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.diagnostics.split import split_input
from pto_dialect.passes.registry import make_pass, parse_pipeline
from pto_dialect.syntax.print.printer import print_module
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.verify.verifier import verify_module

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "passes" / "outputs"
STATEMENTS = 10
"""Of a random program of tiles."""


@cache
def _chunks(file: str) -> list[str]:
    """The programs of a file without their comments, which say what tests expect."""
    text = (ROOT / file).read_text(encoding="utf-8")
    return ["\n".join(line for line in chunk.splitlines() if not line.lstrip().startswith("//"))
            for _, chunk in split_input(text)]  # fmt: skip


def program(name: str) -> str:
    """The text of a program: a file and a number in it, or a kind of random programs and a seed."""
    kind, number, *more = name.split()
    if kind == "tiles":
        return RandomProgram(int(number), more[0], STATEMENTS, bool(int(number) % 2)).text
    if kind == "overlapping":
        return overlapping(int(number)).text
    if kind == "products":
        return "module {\n" + Writer(int(number)).text() + "\n}"
    return _chunks(kind)[int(number)]


def outcome(text: str, pipeline: str) -> str:
    """A digest of what the passes make of a program, and what they say; what they make without an error verifies."""
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    module = parse_program(SourceFile("p.pto", text), engine)
    assert module is not None and not engine.has_errors, engine.diagnostics
    before = print_module(module)
    for call in parse_pipeline(pipeline):
        make_pass(call, None).run(module, engine)
        if engine.has_errors:
            break
    after = print_module(module)
    words = [line.strip() for diagnostic in engine.diagnostics for line in said(diagnostic)]
    if not engine.has_errors and after != before:
        verify_module(module, engine)
        assert not engine.has_errors, (engine.diagnostics, after)
    return " / ".join(["same" if after == before else digest(after), *words])


def row(name: str, pipeline: str) -> str:
    """One line of a file."""
    return f"{name} | {pipeline} | {outcome(program(name), pipeline)}"


def files() -> list[str]:
    """Names of the files of rows."""
    return sorted(file.stem for file in FOLDER.glob("*.txt"))


def kept(file: str) -> list[str]:
    """The rows of a file."""
    return (FOLDER / f"{file}.txt").read_text(encoding="utf-8").splitlines()


def main() -> None:
    """Writes the files."""
    for file in files():
        rows = [row(*line.split(" | ")[:2]) for line in kept(file)]
        (FOLDER / f"{file}.txt").write_text("".join(f"{line}\n" for line in rows), encoding="utf-8")


if __name__ == "__main__":
    main()

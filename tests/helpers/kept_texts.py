"""What is said about texts that are nearly programs, how they are laid out and printed, as kept in
``tests/syntax/near_texts.jsonl``, and what the rules say about programs, as kept in
``tests/verify/near_programs.jsonl``.

The texts are programs of one statement, of round-trip and lit tests, with a word, a character or a number changed, and
were chosen from many so that together they take every branch of ``pto_dialect/syntax``, or of
``pto_dialect/verify`` and ``pto_dialect/analysis``, that any of them takes, and decide alone each part of a condition
that any of them decides, and so that they tell small changes to these rooms (``benchmarks/code_changes.py``) from the
original; the failing examples of all rules are among them, so that the place, message and notes of every rule are kept.

Usage: python tests/helpers/kept_texts.py writes the rows again, for the same texts.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[2] / "lit-tests"), str(Path(__file__).parent)]

from kept_findings import said
from neighbours import digest

from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.syntax.layout.program import laid_out
from pto_dialect.syntax.print.printer import print_module
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.verify.verifier import verify_module

FILE = Path(__file__).parents[1] / "syntax" / "near_texts.jsonl"
PROGRAMS = Path(__file__).parents[1] / "verify" / "near_programs.jsonl"


def row(text: str, schematic: bool = False) -> dict[str, Any]:
    """What becomes of a text: diagnostics line by line, digests of the printed forms and of the layout."""
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0, pedantic=True))
    module = parse_program(SourceFile("n.pto", text), engine, schematic=schematic)
    told = [line.strip() for diagnostic in engine.diagnostics for line in said(diagnostic)]
    printed = ""
    if module is not None and not engine.has_errors:
        printed = digest(print_module(module), print_module(module, generic=True))
    return {"text": text, "schematic": schematic, "told": told, "printed": printed, "laid out": digest(laid_out(text))}


def verdict(text: str) -> dict[str, Any]:
    """What the rules say about a program, line by line."""
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0, pedantic=True))
    module = parse_program(SourceFile("n.pto", text), engine)
    assert module is not None
    verify_module(module, engine)
    return {"text": text, "told": [line.strip() for diagnostic in engine.diagnostics for line in said(diagnostic)]}


def kept(file: Path) -> list[dict[str, Any]]:
    """The rows of a file."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def write(file: Path, rows: list[dict[str, Any]]) -> None:
    """Writes a file."""
    file.write_text("".join(f"{json.dumps(each, ensure_ascii=False)}\n" for each in rows), encoding="utf-8")


def main() -> None:
    """Writes both files."""
    write(FILE, [row(each["text"], each["schematic"]) for each in kept(FILE)])
    write(PROGRAMS, [verdict(each["text"]) for each in kept(PROGRAMS)])


if __name__ == "__main__":
    main()

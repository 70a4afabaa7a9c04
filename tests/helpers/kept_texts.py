"""What is said about texts that are nearly programs, how they are laid out and printed, as kept in
``tests/syntax/near_texts.jsonl``.

The texts are programs of one statement, of round-trip and lit tests, with a word or a character changed, and were
chosen from many so that together they take every branch of ``pto_dialect/syntax`` that any of them takes.

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

FILE = Path(__file__).parents[1] / "syntax" / "near_texts.jsonl"


def row(text: str, schematic: bool = False) -> dict[str, Any]:
    """What becomes of a text: diagnostics line by line, digests of the printed forms and of the layout."""
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0, pedantic=True))
    module = parse_program(SourceFile("n.pto", text), engine, schematic=schematic)
    told = [line.strip() for diagnostic in engine.diagnostics for line in said(diagnostic)]
    printed = ""
    if module is not None and not engine.has_errors:
        printed = digest(print_module(module), print_module(module, generic=True))
    return {"text": text, "schematic": schematic, "told": told, "printed": printed, "laid out": digest(laid_out(text))}


def kept() -> list[dict[str, Any]]:
    """The rows."""
    return [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    """Writes the file."""
    rows = [row(each["text"], each["schematic"]) for each in kept()]
    FILE.write_text("".join(f"{json.dumps(each, ensure_ascii=False)}\n" for each in rows), encoding="utf-8")


if __name__ == "__main__":
    main()

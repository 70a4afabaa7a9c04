"""Does the formatter keep every program, and is it done after one time?

Usage: python benchmarks/layout.py FOLDER... [--show N]

Lays out every `.pto` file below the folders, and says in how many the tokens change, the program that is read changes,
a second time changes something, and lines stay longer than they should, with the slowest file. Exits with 1 for any of
the first three.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.syntax.compare import same_module
from pto_dialect.syntax.layout.program import WIDTH, counts_lines, laid_out
from pto_dialect.syntax.layout.tokens import tokens
from pto_dialect.syntax.read.lexer import is_assembly
from pto_dialect.syntax.read.parser import parse_program


def parsed(text: str):
    """The module of a program without errors."""
    engine = DiagnosticEngine()
    module = parse_program(SourceFile("layout.pto", text), engine)
    return None if module is None or engine.has_errors else module


def faults(text: str) -> Iterator[str]:
    """What is wrong with how ``text`` is laid out."""
    new = laid_out(text)
    if [t.text for t in tokens(text, is_assembly(text))] != [t.text for t in tokens(new, is_assembly(new))]:
        yield "tokens differ"
    module = parsed(text)
    if module is not None:
        again = parsed(new)
        if again is None:
            yield "not read any more"
        elif same_module(module, again) is not None:
            yield "another program"
    if laid_out(new) != new:
        yield "changes again"
    if not counts_lines(text) and any(len(line) > WIDTH and "//" not in line for line in new.splitlines()):
        yield "long lines"


def main() -> None:
    """The whole measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--show", type=int, default=0, help="name so many files of each kind")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    slowest = (0.0, "")
    for file in sorted(file for folder in options.folders for file in folder.rglob("*.pto")):
        text = file.read_text(encoding="utf-8", errors="replace")
        begin = perf_counter()
        laid_out(text)
        slowest = max(slowest, (perf_counter() - begin, f"{file} ({len(text)} characters)"))
        counts["programs"] += 1
        for fault in faults(text):
            counts[fault] += 1
            if counts[fault] <= options.show:
                print(f"{fault}: {file}")
    for name, count in counts.items():
        print(f"{name}: {count}")
    print(f"slowest: {slowest[0]:.2f} s, {slowest[1]}")
    sys.exit(any(counts[name] for name in ("tokens differ", "not read any more", "another program", "changes again")))


if __name__ == "__main__":
    main()

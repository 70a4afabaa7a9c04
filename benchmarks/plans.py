"""Statements read from plans against statements read by the grammar: the same in every respect?

Usage: python benchmarks/plans.py TREE... [--edits N] [--longest C] [--edits-only] [--seed S] [--show K]

Every ``.pto`` and ``.mlir`` file below the TREEs is read three times: by the grammar alone, with the plans that other
programs left, and again with its own; then so are ``--edits`` edited variants of small ones (see ``plan_edits.py``).
Compared are operations with their locations, parts and order of uses, diagnostics of parser and verifier for each
target, and printed forms. Exits with 1 when anything differs."""

from __future__ import annotations

import argparse
import difflib
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from plan_edits import edited
from program_results import describe_program

TARGETS = (None, "a2a3", "a5")
_SHOWN = 4_000
"""Characters shown of a program that differs."""


def differences(text: str, *, printed: bool, targets: Sequence[str | None] = TARGETS) -> Iterator[str]:
    """Lines that state where reading ``text`` with plans gives something else than the grammar."""
    expected = describe_program(text, targets, plans=False, printed=printed)
    for _ in range(2 if printed else 1):
        found = describe_program(text, targets, plans=True, printed=printed)
        if found != expected:
            yield from difflib.unified_diff(expected, found, "grammar", "plans", lineterm="", n=0)
            return


def programs(trees: Sequence[Path]) -> list[str]:
    """The different programs below ``trees``."""
    paths = [path for tree in trees for path in sorted(tree.rglob("*")) if path.suffix in (".pto", ".mlir")]
    return list(dict.fromkeys(path.read_bytes().decode("utf-8", "replace") for path in paths if path.is_file()))


def main(arguments: Sequence[str]) -> int:
    """Compares; 1 when something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", type=Path, nargs="+", metavar="TREE")
    parser.add_argument("--edits", type=int, default=0, metavar="N")
    parser.add_argument("--seed", default="0", metavar="S")
    parser.add_argument("--show", type=int, default=5, metavar="K", help="differences shown")
    parser.add_argument("--longest", type=int, default=4_000, metavar="C", help="characters of programs to edit")
    parser.add_argument("--edits-only", action="store_true", help="leave the programs themselves out")
    options = parser.parse_args(arguments)
    texts = programs(options.trees)
    small = [text for text in texts if 0 < len(text) <= options.longest]
    wrong = 0

    def compare(name: str, text: str, printed: bool, targets: Sequence[str | None] = TARGETS) -> None:
        nonlocal wrong
        found = list(differences(text, printed=printed, targets=targets))
        if found:
            wrong += 1
            if wrong <= options.show:
                print(name, *found[:12], "---", text[:_SHOWN], sep="\n", flush=True)

    if not options.edits_only:
        for number, text in enumerate(texts):
            compare(f"program {number}", text, True)
        print(f"{len(texts)} programs, {wrong} differ", flush=True)
    for number in range(options.edits):
        rng = random.Random(f"{options.seed}/{number}")
        compare(f"edit {number}", edited(rng, rng.choice(small)), False, (rng.choice(TARGETS),))
    print(f"{options.edits} edits, {wrong} differ in all")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Mistakes in whole programs: ``mistakes/NAME.txt`` has changes of ``programs/NAME.pto``.

A row is a patch: ``- `` lines are the mistake, ``+ `` lines what the program has instead, without their common
indentation. A fixed program means what ``programs/NAME.pto`` means. After the title is what else is to be known:

- ``guess``: only ``--unsafe`` fixes it.
- ``several meanings``: ``--unsafe`` makes a program that checks, but the row had another one in mind.
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent


class ProgramMistake(NamedTuple):
    """A row: its program, its title, the kind of its fix, the text with the mistake, and the text without it."""

    program: str
    title: str
    kind: str
    wrong: str
    right: str


def program_mistakes() -> list[ProgramMistake]:
    """All rows."""
    rows: list[ProgramMistake] = []
    for path in sorted((FOLDER / "mistakes").glob("*.txt")):
        right = (FOLDER / "programs" / f"{path.stem}.pto").read_text()
        for row in path.read_text().split("=== ")[1:]:
            head, *lines = row.rstrip("\n").split("\n")
            title, _, kind = head.partition(" | ")
            old = [line[2:] for line in lines if line.startswith("+ ")]
            new = [line[2:] for line in lines if line.startswith("- ")]
            assert len(old) + len(new) == len(lines) and old, title
            rows.append(ProgramMistake(path.stem, title, kind, _replaced(right, old, new, title), right))
    return rows


def _replaced(text: str, old: list[str], new: list[str], title: str) -> str:
    """``text`` with the lines ``new`` in place of the first ``old``."""
    lines = text.split("\n")
    for start in range(len(lines)):
        block = lines[start : start + len(old)]
        if textwrap.dedent("\n".join(block)).split("\n") == old:
            indent = block[0][: len(block[0]) - len(block[0].lstrip())] if block[0].strip() else ""
            return "\n".join([*lines[:start], *(indent + line for line in new), *lines[start + len(old) :]])
    raise AssertionError(f"no such lines in the program: {title}")

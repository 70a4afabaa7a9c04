"""Rows of kept answers: a file for each family, a line for each statement of its round-trip programs."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from neighbours import Statement, statements


@cache
def found(family: str) -> dict[str, Statement]:
    """Statements of a family by label."""
    return {statement.label: statement for statement in statements(family)}


@cache
def kept(folder: Path, family: str) -> dict[str, list[str]]:
    """What is kept of a family, by label."""
    rows = (folder / f"{family}.txt").read_text(encoding="utf-8").splitlines()
    return {label: answers.split() for label, answers in (row.split(": ", 1) for row in rows)}


def labels(folder: Path) -> list[tuple[str, str]]:
    """Families and labels of all kept rows."""
    return [(path.stem, label) for path in sorted(folder.glob("*.txt")) for label in kept(folder, path.stem)]

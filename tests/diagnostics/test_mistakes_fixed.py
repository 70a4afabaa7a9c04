"""Fixes correct frequent mistakes: the program with them is right, and nothing else in it is another."""

from __future__ import annotations

from pathlib import Path

from groups import in_groups

from pto_dialect.api import check
from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.driver.fixes.trying import Fixed, fixed

from .mistake_table import Mistake, mistakes

ROWS = [row for row in mistakes() if row.frame != "run"]
UNFIXED = Path(__file__).parent / "unfixed.txt"
"""Rows that no fix corrects: what they mean is not to be guessed from their text."""

SAFE = Path(__file__).parent / "fixed_by_guessing.txt"
"""Rows that only ``--unsafe`` corrects."""


def found_in(text: str) -> list[Diagnostic]:
    return [d for d in check(text).diagnostics if d.severity is not Severity.INFO and d.rule != "sync-unpaired"]


def mended(row: Mistake, unsafe: bool) -> Fixed:
    return fixed(row.program(row.wrong)[0], found_in, unsafe=unsafe)


def listed(path: Path) -> set[str]:
    return {line for line in path.read_text().splitlines() if line and not line.startswith("#")}


def _id(row: Mistake) -> str:
    return f"{row.file}: {row.title}"


@in_groups("row", ROWS, _id)
def test_fixes_of_a_mistake(row: Mistake) -> None:
    text, before = row.program(row.wrong)
    result = mended(row, False)
    kind = "safe"
    if result.found:
        # What safe fixes leave is not worse.
        assert len(result.found) <= len(found_in(text))
        kind, result = "unsafe", mended(row, True)
    if result.found:
        kind = "none"
    assert kind == ("none" if _id(row) in listed(UNFIXED) else "unsafe" if _id(row) in listed(SAFE) else "safe")
    if kind == "none":
        return
    assert result.applied
    assert fixed(result.text, found_in, unsafe=True).applied == ()
    if kind == "safe":
        lines, now = text.split("\n"), result.text.split("\n")
        assert now[:before] == lines[:before]


def test_most_mistakes_have_a_fix() -> None:
    known = {_id(row) for row in ROWS}
    assert listed(UNFIXED) <= known and listed(SAFE) <= known and not listed(UNFIXED) & listed(SAFE)
    assert len(known - listed(UNFIXED)) >= 0.8 * len(mistakes())

"""Typical mistakes in whole programs: ``--fix`` restores the program, comments included."""

from __future__ import annotations

import re
from functools import cache

import pytest
from groups import in_groups

from pto_dialect.driver.fixes.offer import checker
from pto_dialect.driver.fixes.trying import Fixed, fixed
from pto_dialect.driver.options import Options
from pto_dialect.driver.pipeline import process

from .program_mistakes import ProgramMistake, program_mistakes

ROWS = program_mistakes()
OPTIONS = Options()
_COMMENT = re.compile(r"//[ \t]*([^\n]*)")
_OTHER_COMMENT = re.compile(r"^[ \t]*(?:#|;|/\*)[ \t]*(.*?)(?:\*/)?$", re.MULTILINE)


@cache
def meaning(text: str) -> str | None:
    """The canonical form of a program; ``None`` where it is wrong."""
    result = process(text, "program.pto", OPTIONS)
    return result.text if result.ok else None


def mended(row: ProgramMistake, unsafe: bool) -> Fixed:
    return fixed(row.wrong, checker("program.pto", OPTIONS), unsafe=unsafe)


def comments(text: str) -> list[str]:
    return sorted(one.strip() for pattern in (_COMMENT, _OTHER_COMMENT) for one in pattern.findall(text))


def _id(row: ProgramMistake) -> str:
    return f"{row.program}: {row.title}"


@in_groups("row", [row for row in ROWS if not row.kind], _id)
def test_safe_fixes_restore_the_program(row: ProgramMistake) -> None:
    assert process(row.wrong, "program.pto", OPTIONS).diagnostics
    result = mended(row, False)
    assert meaning(result.text) == meaning(row.right)
    assert comments(result.text) == comments(row.wrong)
    assert mended(row._replace(wrong=result.text), True).applied == ()


@in_groups("row", [row for row in ROWS if row.kind == "guess"], _id)
def test_guesses_restore_the_program(row: ProgramMistake) -> None:
    safe = mended(row, False)
    assert meaning(safe.text) is None or not safe.applied
    result = mended(row, True)
    assert meaning(result.text) == meaning(row.right)
    assert comments(result.text) == comments(row.wrong)


@pytest.mark.parametrize("row", [row for row in ROWS if row.kind == "several meanings"], ids=_id)
def test_mistakes_with_several_meanings_stay_where_only_safe_fixes_are_made(row: ProgramMistake) -> None:
    assert meaning(mended(row, False).text) is None
    assert meaning(mended(row, True).text) not in (None, meaning(row.right))


def test_nine_of_ten_mistakes_are_fixed() -> None:
    assert len(ROWS) >= 200 and len({_id(row) for row in ROWS}) == len(ROWS)
    restored = [row for row in ROWS if row.kind != "several meanings"]
    assert len(restored) >= 0.95 * len(ROWS)
    assert len([row for row in restored if not row.kind]) >= 0.8 * len(ROWS)

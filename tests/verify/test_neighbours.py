"""What is said about programs near the round-trip programs stays as it is in ``tests/neighbours``."""

from __future__ import annotations

from functools import cache

import pytest
from neighbours import FOLDER, Statement, families, neighbours, statements, verdict


@cache
def found(family: str) -> dict[str, Statement]:
    """Statements of a family by label."""
    return {statement.label: statement for statement in statements(family)}


@cache
def kept(family: str) -> dict[str, list[str]]:
    """What was said, by label."""
    rows = (FOLDER / f"{family}.txt").read_text(encoding="utf-8").splitlines()
    return {label: said.split() for label, said in (row.split(": ", 1) for row in rows)}


def labels() -> list[tuple[str, str]]:
    """Families and labels of all kept rows."""
    return [(path.stem, label) for path in sorted(FOLDER.glob("*.txt")) for label in kept(path.stem)]


@pytest.mark.parametrize(("family", "label"), labels(), ids=lambda name: name.replace(" ", "-"))
def test_verdicts_near_a_statement_stay(family: str, label: str) -> None:
    texts = list(neighbours(found(family)[label]))
    said = [verdict(text) for text in texts]
    wrong = [
        f"was {old}, is {new}:\n{text}"
        for old, new, text in zip(kept(family)[label], said, texts, strict=True)
        if old != new
    ]
    assert not wrong, "\n".join(
        [f"{len(wrong)} of {len(texts)} (python tests/helpers/write_neighbours.py {family})", *wrong]
    )


@pytest.mark.parametrize("family", families())
def test_all_statements_have_a_row(family: str) -> None:
    assert list(found(family)) == list(kept(family))

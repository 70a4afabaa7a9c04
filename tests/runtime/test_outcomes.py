"""What statements near the round-trip programs compute stays as it is in ``tests/outcomes``."""

from __future__ import annotations

from functools import cache

import pytest
from neighbours import Statement, families, statements
from outcomes import FOLDER, agree, outcome, runs


@cache
def found(family: str) -> dict[str, Statement]:
    """Statements of a family by label."""
    return {statement.label: statement for statement in statements(family)}


@cache
def kept(family: str) -> dict[str, list[str]]:
    """What was computed, by label."""
    rows = (FOLDER / f"{family}.txt").read_text(encoding="utf-8").splitlines()
    return {label: said.split() for label, said in (row.split(": ", 1) for row in rows)}


def labels() -> list[tuple[str, str]]:
    """Families and labels of all kept rows."""
    return [(path.stem, label) for path in sorted(FOLDER.glob("*.txt")) for label in kept(path.stem)]


@pytest.mark.parametrize(("family", "label"), labels(), ids=lambda name: name.replace(" ", "-"))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_results_near_a_statement_stay(family: str, label: str) -> None:
    tried = list(runs(found(family)[label]))
    computed = [outcome(*run) for run in tried]
    wrong = [
        f"was {old}, is {new}: {op} on {target}{', numbers at the edges' if edges else ''}"
        for old, new, (op, target, edges) in zip(kept(family)[label], computed, tried, strict=True)
        if not agree(op.name, old, new)
    ]
    assert not wrong, "\n".join([f"{len(wrong)} of {len(tried)} (tests/helpers/write_neighbours.py {family})", *wrong])


@pytest.mark.parametrize("family", families())
def test_all_statements_have_a_row(family: str) -> None:
    assert list(found(family)) == list(kept(family))

"""What statements near the round-trip programs compute stays as it is in ``tests/outcomes``."""

from __future__ import annotations

import pytest
from kept_rows import found, kept, labels
from neighbours import FOLDER as VERDICTS
from neighbours import families
from outcomes import FOLDER, agree, outcome, runs


@pytest.mark.parametrize(("family", "label"), labels(FOLDER), ids=lambda name: name.replace(" ", "-"))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_results_near_a_statement_stay(family: str, label: str) -> None:
    tried = list(runs(found(family)[label], kept(VERDICTS, family)[label]))
    computed = [outcome(*run) for run in tried]
    wrong = [
        f"was {old}, is {new}: {op} on {target}{', numbers at the edges' if edges else ''}"
        for old, new, (op, target, edges) in zip(kept(FOLDER, family)[label], computed, tried, strict=True)
        if not agree(op.name, old, new)
    ]
    assert not wrong, "\n".join([f"{len(wrong)} of {len(tried)} (tests/helpers/write_neighbours.py {family})", *wrong])


@pytest.mark.parametrize("family", families())
def test_all_statements_have_a_row(family: str) -> None:
    assert list(found(family)) == list(kept(FOLDER, family))

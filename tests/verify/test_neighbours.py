"""What is said about programs near the round-trip programs stays as it is in ``tests/neighbours``."""

from __future__ import annotations

import pytest
from kept_rows import found, kept, labels
from neighbours import FOLDER, families, neighbours, verdict


@pytest.mark.parametrize(("family", "label"), labels(FOLDER), ids=lambda name: name.replace(" ", "-"))
def test_verdicts_near_a_statement_stay(family: str, label: str) -> None:
    texts = list(neighbours(found(family)[label]))
    said = [verdict(text) for text in texts]
    wrong = [
        f"was {old}, is {new}:\n{text}"
        for old, new, text in zip(kept(FOLDER, family)[label], said, texts, strict=True)
        if old != new
    ]
    assert not wrong, "\n".join(
        [f"{len(wrong)} of {len(texts)} (python tests/helpers/write_neighbours.py {family})", *wrong]
    )


@pytest.mark.parametrize("family", families())
def test_all_statements_have_a_row(family: str) -> None:
    assert list(found(family)) == list(kept(FOLDER, family))

"""What is said about correct examples of rules with other element types, as kept in `example_elements.txt`.

``python tests/helpers/kept_elements.py`` writes the rows again where a verdict has changed on purpose.
"""

from __future__ import annotations

from kept_elements import FILE, rows, rules

KEPT = FILE.read_text(encoding="utf-8").splitlines()


def test_verdicts_are_as_kept() -> None:
    found = [row for rule in rules() for row in rows(rule)]
    assert [row for row in found if row not in KEPT] == []
    assert len(found) == len(KEPT)


def test_many_types_are_refused_and_many_accepted() -> None:
    answers = [answer.split(" ")[1] for row in KEPT for answer in row.partition(": ")[2].split(", ")]
    assert len(answers) > 1500
    assert 0.2 < answers.count("-") / len(answers) < 0.6

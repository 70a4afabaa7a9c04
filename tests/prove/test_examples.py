"""Verdicts about the examples that order their pipes themselves. Source: docs/reference/order-proof.md, "Verdicts"."""

from __future__ import annotations

from pathlib import Path

import pytest

from pto_dialect.api import parse
from pto_dialect.prove.decide import Answer
from pto_dialect.prove.functions import verdicts

ROOT = Path(__file__).parents[2]
CORRECT = [
    place
    for place in sorted((ROOT / "examples").glob("*/*.pto"))
    if place.parent.name != "faulty" and "set_flag" in place.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("place", CORRECT, ids=lambda place: place.stem)
def test_function_with_flags_is_not_refuted(place: Path) -> None:
    """Functions without flags in the same file are for insert-sync."""
    module = parse(place.read_text(encoding="utf-8"), place.name)
    refuted = [one for one in verdicts(module) if one.answer is Answer.REFUTED]
    assert [one.name for one in refuted if "flag" in str(one.function)] == []


@pytest.mark.parametrize(
    ("name", "kind"),
    [("race", "race-"), ("hoisted", "leftover-"), ("deadlock", "deadlock"), ("inverted", "race-inverted")],
)
def test_incorrect_example_is_refuted(name: str, kind: str) -> None:
    place = ROOT / "examples" / "faulty" / f"{name}.pto"
    found = list(verdicts(parse(place.read_text(encoding="utf-8"), place.name)))
    kinds = [one.witness.fault.kind for one in found if one.witness is not None]
    assert any(one.startswith(kind) for one in kinds)

"""``pto prove`` on the programs with a known order: no wrong verdict, nearly all decided, each witness the smallest."""

from __future__ import annotations

import pytest
from order_programs import FOLDER, all_programs
from order_verdicts import Outcome, outcome, proofs

pytest.importorskip("islpy", reason="the prover needs islpy (extra prove)")

PROGRAMS = all_programs()


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    entries = {path: proofs(path) for path in sorted(FOLDER.glob("*.pto"))}
    return {program.id: outcome(program, entries[program.path].get(program.name)) for program in PROGRAMS}


def test_no_verdict_is_wrong(outcomes: dict[str, Outcome]) -> None:
    wrong = {name: one.why for name, one in outcomes.items() if one.kind == "wrong"}
    assert wrong == {}


def test_nearly_all_programs_are_decided(outcomes: dict[str, Outcome]) -> None:
    strict = [program.id for program in PROGRAMS if not program.may_be_undecided]
    assert sum(outcomes[name].kind == "undecided" for name in strict) <= 0.05 * len(strict)


def test_each_witness_is_the_smallest(outcomes: dict[str, Outcome]) -> None:
    assert {name: one.why for name, one in outcomes.items() if not one.smallest} == {}

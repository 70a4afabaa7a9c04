"""``pto prove`` on the programs with a known order: no wrong verdict, nearly all decided, each witness the smallest."""

from __future__ import annotations

import pytest
from order_programs import FOLDER, all_programs
from order_verdicts import outcome, proofs

pytest.importorskip("islpy", reason="the prover needs islpy (extra prove)")

PROGRAMS = all_programs()


def test_no_verdict_is_wrong_and_each_witness_is_the_smallest() -> None:
    """One test, because the verdicts of all programs take long, and each worker would compute them again."""
    entries = {path: proofs(path) for path in sorted(FOLDER.glob("*.pto"))}
    outcomes = {program.id: outcome(program, entries[program.path].get(program.name)) for program in PROGRAMS}
    assert {name: one.why for name, one in outcomes.items() if one.kind == "wrong"} == {}
    assert {name: one.why for name, one in outcomes.items() if not one.smallest} == {}
    strict = [program.id for program in PROGRAMS if not program.may_be_undecided]
    assert sum(outcomes[name].kind == "undecided" for name in strict) <= 0.05 * len(strict)

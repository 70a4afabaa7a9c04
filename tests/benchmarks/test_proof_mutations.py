"""A small sample of the check that proofs notice what harms a lowered program, and nothing else."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest
from lowering_programs import add, kernel, load, part, store

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from proof_mutations import Total, harm, history, lowered, measure, noticed, orders
from random_tile_programs import RandomProgram

PRODUCT = kernel(part("p", "a", "c0"), load("p", "x"), add("x", "x", "y"), store("y", "p"))


@pytest.mark.parametrize("seed", [1, 8])
def test_harmful_changes_are_noticed_and_no_others(seed: int):
    total = Total()
    measure(lowered(RandomProgram(seed, "a5", addresses=False).text), Random(seed), 10, total, str(seed))
    assert total.wrong == []
    assert 0 < total.sum("harmful") == total.sum("noticed")


def test_the_graph_and_the_proof_agree_on_one_dropped_flag():
    program = lowered(PRODUCT)
    expected = [history(program.module, trial, program.subject)[1] for trial in program.subject.trials]
    assert harm(program, program.module, expected) == ""
    assert noticed(program, program.module) == []
    for place in range(4):
        mutant = program.module.clone()
        flag = orders(mutant)[place]
        flag.detach()
        flag.erase()
        assert harm(program, mutant, expected) in ("does not end", "left over", "fails", "race")
        assert noticed(program, mutant)

"""Random functions for the prover: they are programs, some in order and some not, and the prover agrees."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from order_judge import Judge, Range
from order_programs import FOLDER, read_programs
from prove_generator import Generator, damaged, module_text
from prove_mutations import mutations
from prove_random import outcomes, smaller

from pto_dialect import parse

SEEDS = range(40)


def test_function_is_determined_by_its_seed() -> None:
    texts = [module_text({"f": Generator(seed).function()}) for seed in (3, 3, 4)]
    assert texts[0] == texts[1] != texts[2]


def test_functions_are_programs_with_and_without_faults() -> None:
    module = parse(module_text({f"f{seed}": Generator(seed).function() for seed in SEEDS}))
    kinds = [Judge(module, f"f{seed}").verdict(Range(-1, 4)).kind for seed in SEEDS]
    assert min(kinds.count("proven"), kinds.count("refuted")) >= len(SEEDS) // 10


def test_damage_changes_a_function() -> None:
    body = Generator(5).function()
    before = module_text({"f": body})
    damaged(body, Random(1))
    assert module_text({"f": body}) != before


def test_each_smaller_function_has_fewer_lines() -> None:
    body = Generator(7).function()
    lines = module_text({"f": body}).count("\n")
    assert all(module_text({"f": less}).count("\n") < lines for less in smaller(body))


def test_mutations_change_signals_and_addresses() -> None:
    (program,) = (one for one in read_programs(FOLDER / "loops.pto") if one.name == "primed")
    changes = list(mutations(program.text))
    assert {what.split(" ", 1)[1] for what, _ in changes} == {"deleted", "up", "down", "other id", "address"}
    assert all(text.rstrip("\n") != program.text.rstrip("\n") for _, text in changes)


def test_prover_agrees_with_brute_force() -> None:
    pytest.importorskip("islpy", reason="the prover needs islpy (extra prove)")
    results = outcomes({f"f{seed}": Generator(seed).function() for seed in SEEDS}, Range(-1, 4), "a5")
    assert {name: one.why for name, one in results.items() if one.kind == "wrong" or not one.smallest} == {}

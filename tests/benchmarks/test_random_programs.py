"""Random tile programs: they are well-formed, lowered and proven; what fails becomes small."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

import random_programs
from generated_tile_rows import CUBE, VECTOR
from generated_tiles import TileProgram
from random_programs import Verdict, judge, smaller


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_every_operation_of_the_table_comes_up_in_some_program(target: str):
    texts = [TileProgram(seed, target).text for seed in range(300)]
    missing = [row for row in (*VECTOR, *CUBE) if not any(f"pto.{row.op} ins(" in text for text in texts)]
    assert missing == []


def test_a_program_is_a_function_of_its_seed():
    assert TileProgram(3, "a5").text == TileProgram(3, "a5").text != TileProgram(4, "a5").text


@pytest.mark.parametrize(("seed", "target", "core"), [(1, "a5", "vector"), (2, "a2a3", "vector"), (3, "a5", "cube")])
def test_a_program_is_lowered_and_proven(seed: int, target: str, core: str):
    assert judge(TileProgram(seed, target, core=core).text, "usual", 30).kind == "proven"


def test_a_failing_program_becomes_small(monkeypatch: pytest.MonkeyPatch):
    def judged(text: str, _stages: str, _seconds: float | None) -> Verdict:
        return Verdict("failed" if "pto.tadd " in text else "proven", (), None)

    monkeypatch.setattr(random_programs, "judge", judged)
    text = next(text for seed in range(99) if "pto.tadd " in (text := TileProgram(seed, "a5").text))
    small = smaller(text, judged(text, "usual", None), "usual", None, 5)
    assert "pto.tadd " in small
    assert len(small.splitlines()) < 5

"""Verdicts about random kernels, compared with an enumeration of their calls. Source: docs/reference/order-proof.md,
"Verdicts"."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest
from order_judge import Judge
from order_kernels import faults, random_kernel, text_of
from sampling import sampled

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from prove_generator import Generator, damaged, module_text

from pto_dialect.api import parse
from pto_dialect.prove import decide
from pto_dialect.prove.decide import Answer
from pto_dialect.prove.flow import OpenError
from pto_dialect.prove.functions import verdicts

MOST = 9
"""Calls from 0 to here are enumerated, and those with -1."""


@pytest.mark.parametrize("seed", sampled(range(120), 4))
@pytest.mark.parametrize("by_sets", [False, True])
def test_verdict_agrees_with_enumeration(seed: int, by_sets: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if by_sets:
        monkeypatch.setattr(decide, "_on_all_paths", lambda *_: OpenError(None, "not tried"))
    kernel = random_kernel(seed)
    (verdict,) = verdicts(parse(text_of(kernel)))
    wrong = [n for n in range(MOST) if faults(kernel, n)]
    if verdict.answer is Answer.PROVEN:
        assert wrong == []
    elif verdict.answer is Answer.REFUTED:
        assert verdict.witness is not None
        n = verdict.witness.arguments.get("n", 0)
        assert verdict.witness.fault.kind.replace("inverted", "raw") in {*faults(kernel, n), "race-raw"}
        assert n == min(wrong)
    else:
        pytest.fail(f"undecided: {verdict.reason}")


@pytest.mark.parametrize("seed", range(12))
def test_nothing_is_proven_that_some_answer_of_memory_refutes(seed: int) -> None:
    body = Generator(seed, memory=True).function()
    if seed % 3 == 0:
        damaged(body, Random(seed))
    (verdict,) = verdicts(parse(module_text({"f": body})))
    judge = Judge(parse(module_text({"f": body}, answered=True)), "f")
    if verdict.answer is Answer.PROVEN:
        assert not any(judge.faults({"n": n, "s": s}) for n in range(4) for s in range(8))

"""Verdicts about random kernels, compared with an enumeration of their calls. Source: docs/reference/order-proof.md,
"Verdicts"."""

from __future__ import annotations

import pytest
from order_kernels import faults, random_kernel, text_of
from sampling import sampled

from pto_dialect.api import parse
from pto_dialect.prove.decide import Answer
from pto_dialect.prove.functions import verdicts

MOST = 9
"""Calls from 0 to here are enumerated, and those with -1."""


@pytest.mark.parametrize("seed", sampled(range(120), 2))
def test_verdict_agrees_with_enumeration(seed: int) -> None:
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

"""Examples of the rules that the sanitizers check: the failing program breaks the rule, the mended one does not."""

import numpy as np
import pytest
from sanitize_programs import watched

from pto_dialect.sanitize.options import CHECKS
from pto_dialect.verify.run_examples import RUN_EXAMPLES


def broken(text: str, blocks: int) -> set[str]:
    kernel = watched(text, checks=CHECKS)
    kernel.run([np.ones(4096, np.float32), np.zeros(4096, np.float32)], blocks)
    return {finding.rule for finding in kernel.watch.findings.all}


@pytest.mark.parametrize("rule", RUN_EXAMPLES)
def test_the_example_of_a_rule(rule: str):
    bad, good = RUN_EXAMPLES[rule]
    blocks = 2 if rule == "race-cross-block" else 1
    assert rule in broken(bad, blocks)
    assert not broken(good, blocks)

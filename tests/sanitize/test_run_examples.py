"""Examples of the rules of runs: the failing program breaks the rule, the fixed one does not."""

import numpy as np
from groups import in_groups
from sanitize_programs import instrumented

from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.run.ranks import Part
from pto_dialect.runtime.run.windows import World
from pto_dialect.sanitize.options import CHECKS
from pto_dialect.sanitize.ranks import run_sanitized_ranks
from pto_dialect.verify.engine.rule import REPORTED_AS, RULES, RUN, Rule, load_all_rules

load_all_rules()
OF_RUNS = [rule for rule in RULES.values() if rule.stage == RUN and rule.commands is None]


def broken(text: str, blocks: int, ranks: int) -> set[str]:
    """What an instrumented run reports, and what ends it."""
    try:
        kernel = instrumented(text, checks=CHECKS)
        if ranks > 1:
            world = World(ranks, {"w": 4096 * 4})
            windows = [world.array("w", rank, (4096,), np.dtype(np.float32)) for rank in range(ranks)]
            run_sanitized_ranks([Part(kernel, [windows[r], windows[1 - r]]) for r in range(ranks)], world)
            return {finding.rule for finding in kernel.observer.findings.all}
        kernel.run([np.ones(4096, np.float32), np.zeros(4096, np.float32)], blocks)
    except ProgramError as error:
        return {error.rule}
    return {finding.rule for finding in kernel.observer.findings.all}


@in_groups("rule", OF_RUNS, lambda rule: rule.id)
def test_the_example_of_a_rule(rule: Rule):
    assert rule.bad is not None and rule.good is not None
    blocks = 2 if rule.id == "race-cross-block" else 1
    ranks = 2 if rule.id == "race-cross-rank" else 1
    assert REPORTED_AS.get(rule.id, rule.id) in broken(rule.bad, blocks, ranks)
    assert not broken(rule.good, blocks, ranks)


def test_they_are_many() -> None:
    assert len(OF_RUNS) > 35

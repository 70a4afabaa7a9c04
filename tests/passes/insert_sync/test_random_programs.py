"""Random tile programs with the flags of insert-sync: clean in instrumented runs, and the same bytes whatever runs
first.

Source: docs/reference/synchronisation.md, "Placement".
"""

import pytest
from groups import in_groups
from lowering_programs import SCHEDULES, disorder, lowered, results
from random_tile_programs import RandomProgram, arguments
from xdsl.ir import Operation

from pto_dialect import parse

SEEDS = range(10)
COUNTS = (0, 1, 3)


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@in_groups("seed", SEEDS)
def test_a_random_program_computes_what_its_text_says(seed: int, target: str):
    program = RandomProgram(seed, target)
    module, diagnostics = lowered(program.text)
    assert not diagnostics
    for count in COUNTS:
        expected = results(parse(program.text), arguments(program, count))
        assert disorder(module, arguments(program, count)) == []
        for schedule in SCHEDULES:
            assert results(module, arguments(program, count), schedule) == expected, schedule


def flags(module: Operation) -> list[Operation]:
    """The sets, which a program can do without only if nothing needs them."""
    return [op for op in module.walk() if op.name == "pto.set_flag"]


@pytest.mark.parametrize("seed", [3, 13, 23])
def test_the_judges_see_that_flags_are_missing(seed: int):
    """Without its flags a program is found to be wrong, so the test above can fail."""
    program = RandomProgram(seed, "a5")
    module, _ = lowered(program.text)
    assert flags(module)
    for op in [op for op in module.walk() if op.name in ("pto.set_flag", "pto.wait_flag")]:
        op.detach()
        op.erase()
    assert any(disorder(module, arguments(program, count)) for count in COUNTS)

"""Both judges of races agree on the examples: what an instrumented run finds, and what several schedules lead to."""

from functools import cache

import numpy as np
import pytest
from sampling import sampled
from xdsl.dialects.builtin import ModuleOp

from examples.case import Case
from examples.check import FOLDER, copied, entry_of, module_of
from examples.run_all import EXAMPLES, load
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.queues.schedule import Schedule
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions, SyncMode

SCHEDULES = ("text", "oldest", "newest", "random:0", "random:1", "random:2")
CASES = [(example, number) for example in EXAMPLES for number in range(len(load(example)[0]))]


def case_of(example: str, number: int) -> Case:
    return load(example)[0][number]


@cache
def program_of(example: str, program: str, target: str) -> ModuleOp:
    """Read once for all runs: none changes it."""
    return module_of(FOLDER / example / program, target)


def outcome(example: str, case: Case, schedule: Schedule) -> tuple[bytes, ...] | str:
    module = program_of(example, case.program, case.targets[0])
    data = copied(case.data)
    try:
        options = RunOptions(fill="random", schedule=schedule)
        Kernel(module, entry_of(case), case.targets[0], options).run(list(data.values()), case.blocks)
    except ProgramError as error:
        return error.rule
    return tuple(value.tobytes() for value in data.values() if isinstance(value, np.ndarray))


def raced(example: str, case: Case, sync: SyncMode) -> set[str]:
    module = program_of(example, case.program, case.targets[0])
    options = SanitizeOptions(sync=sync)
    kernel = InstrumentedKernel(module, entry_of(case), case.targets[0], RunOptions(fill="poison"), options)
    kernel.run(list(copied(case.data).values()), case.blocks)
    return {one.rule for one in kernel.observer.findings.all if one.rule.startswith(("race", "l0c"))}


@pytest.mark.parametrize("strict", [False, True], ids=["as-written", "strict"])
@pytest.mark.parametrize(("example", "number"), sampled(CASES, 3), ids=lambda one: str(one))
def test_races_are_found_where_schedules_change_the_results(example: str, number: int, strict: bool):
    case = case_of(example, number)
    races = raced(example, case, "strict" if strict else "auto")
    outcomes = (outcome(example, case, Schedule.parse(text, strict=strict)) for text in SCHEDULES)
    first = next(outcomes)
    assert bool(races) == any(other != first for other in outcomes)
    assert strict or not races


def test_both_verdicts_occur():
    """Programs that leave the order to the compiler and programs with flags of their own are among the examples."""
    found = {bool(raced(example, case_of(example, number), "strict")) for example, number in CASES[:4]}
    assert found == {True, False}

"""What pipes do first changes the results of programs with races, and of no others: a second judge of the first."""

import numpy as np
import pytest
from faulty_kernels import Kernel, correct, faulty
from groups import in_groups
from sanitize_programs import load, program, store, ub

from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.queues.schedule import Schedule, ScheduleError
from pto_dialect.runtime.run.launch import Kernel as Compiled
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.syntax.read.parser import parse_program

SCHEDULES = ("text", "oldest", "newest", "random:0", "random:1", "random:2", "random:3")

IN_ONE_PIPE = "schedules keep the order inside one pipe"
SAME_BYTES = "the bytes are the same whichever access comes first"
ONE_ORDER = "the flags allow one order only, which is not that of the text"
ITEM_BY_ITEM = "work-items run one after the other from barrier to barrier, whatever pipes do"
ALIKE = {
    "accumulators-order": IN_ONE_PIPE,
    "joins-again": SAME_BYTES,
    "shared_blocks-own": SAME_BYTES,
    "shared_blocks-same": SAME_BYTES,
    "rows_of_blocks-wide": SAME_BYTES,
    "transfers-lost": SAME_BYTES,
    "two_cores-back": SAME_BYTES,
    "vector_scope-back": SAME_BYTES,
    "vector_scope-inverted": ONE_ORDER,
    "slots-inplace": IN_ONE_PIPE,
    "vector_chain_a2a3-raw": IN_ONE_PIPE,
    "vector_chain_a2a3-war": IN_ONE_PIPE,
    "vector_chain_a2a3-waw": IN_ONE_PIPE,
    "vector_chain_a2a3-other": IN_ONE_PIPE,
    "vector_chain_a2a3-late": IN_ONE_PIPE,
    **dict.fromkeys((f"vector_micro_a2a3-{label}" for label in ("nobar", "war", "waw", "wrongpipe")), IN_ONE_PIPE),
    "work_items-barrier": ITEM_BY_ITEM,
    "work_items-fence": ITEM_BY_ITEM,
    "work_items-one": ITEM_BY_ITEM,
}
"""Kernels with races whose results stay the same, and why."""


def outcome(kernel: Kernel, schedule: str) -> tuple[bytes, ...] | str:
    """What a kernel leaves in its buffers, or how it ends."""
    module = parse_program(SourceFile("k.pto", kernel.text), DiagnosticEngine())
    assert module is not None
    values = kernel.values()
    options = RunOptions(fill="random", schedule=Schedule.parse(schedule))
    try:
        Compiled(module, None, None, options).run(values, kernel.blocks)
    except ProgramError as error:
        return error.rule
    return tuple(value.tobytes() for value in values if isinstance(value, np.ndarray))


def outcomes(kernel: Kernel, more: int = 0) -> set[tuple[bytes, ...] | str]:
    """What the schedules lead to, and while that is the same, up to ``more`` further ones."""
    found = {outcome(kernel, schedule) for schedule in SCHEDULES}
    for seed in range(more):
        if len(found) == 1:
            found.add(outcome(kernel, f"random:{100 + seed}"))
    return found


def races(kernel: Kernel) -> bool:
    return all(rule.startswith(("race", "l0c")) for rule in kernel.rules)


@in_groups("kernel", correct(), lambda kernel: kernel.id)
def test_results_of_correct_kernels_do_not_depend_on_the_schedule(kernel: Kernel):
    (only,) = outcomes(kernel)
    assert not isinstance(only, str)


@in_groups("kernel", [one for one in faulty() if races(one)], lambda kernel: kernel.id)
def test_results_of_kernels_with_races_do(kernel: Kernel):
    alike = kernel.id in ALIKE
    assert (len(outcomes(kernel, 0 if alike else 30)) == 1) == alike


def test_programs_that_leave_the_order_to_the_compiler_are_reordered_on_request_only():
    text = program(ub("x", 0), load("%x"), store("%x"))
    kernel = Kernel("k", "", text, launch={"a": "f32:64", "b": "f32:64:0"})
    assert len(outcomes(kernel)) == 1
    module = parse_program(SourceFile("k.pto", text), DiagnosticEngine())
    assert module is not None
    values = kernel.values()
    Compiled(module, None, None, RunOptions(schedule=Schedule.parse("newest", strict=True))).run(values)
    assert not values[1].any(), "the store came first"


def test_schedules_are_named():
    assert Schedule.parse("random:7") == Schedule("random", 7)
    for wrong in ("", "youngest", "random:x", "random:-1", "text:3", "random:1:2"):
        with pytest.raises(ScheduleError, match=r"random:SEED"):
            Schedule.parse(wrong)

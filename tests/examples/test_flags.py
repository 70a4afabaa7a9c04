"""The explicit flags of the micro-level examples: any order in which the pipes may run gives the same
result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest

import pto_dialect
from examples import run_all
from examples.case import Array, Case
from examples.check import FOLDER, copied, outputs
from pto_dialect.runtime.compile.compiler import compile_module
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.queues.run import QueueCore, run_queued
from pto_dialect.runtime.run.arguments import bind_argument
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import Block, RunOptions

PIPES = ("PIPE_MTE2", "PIPE_MTE1", "PIPE_M", "PIPE_FIX")
Schedule = Sequence[str] | int
_ROTATIONS = tuple((*PIPES[place:], *PIPES[:place]) for place in range(len(PIPES)))
SCHEDULES: tuple[Schedule, ...] = (*_ROTATIONS, *(order[::-1] for order in _ROTATIONS), 0, 1, 2)
"""Orders of preference among the pipes, and random schedules: together they reveal each missing wait."""

ENTRIES = ("mlp_fused", "requant_scalar", "requant_channel", "micro", "mad", "mte_l0c_l1")
MICRO = [(example, case) for example in run_all.EXAMPLES for case in run_all.load(example)[0] if case.entry in ENTRIES]


class ScheduledCore(QueueCore):
    """A core that runs, of all pipes that can continue, the most preferred or a random one."""

    preference: Callable[[list[str]], list[str]]

    def step(self) -> bool:
        every = self.queues
        try:
            for pipe in self.preference([pipe for pipe, queue in every.items() if queue]):
                self.queues = {pipe: every[pipe]}
                if super().step():
                    return True
            return False
        finally:
            self.queues = every


def preference(schedule: Schedule) -> Callable[[list[str]], list[str]]:
    """Sorts pipes by their location in ``schedule``, or shuffles them with a seed."""
    if isinstance(schedule, int):
        random = Random(schedule)
        return lambda pipes: random.sample(pipes, len(pipes))
    return lambda pipes: sorted(pipes, key=schedule.index)


def run_scheduled(text: str, case: Case, schedule: Schedule) -> tuple[dict[str, Array], ScheduledCore]:
    """Runs ``case`` with the scalar unit ahead of all pipes; on-chip memory starts with random bytes."""
    kernel = Kernel(pto_dialect.parse(text), case.entry, None, RunOptions(fill="random"))
    compiled = compile_module(kernel.module, kernel.entry, kernel.profile, kernel.options, queued=True)
    arguments = copied(case.data)
    bound = [bind_argument(name, type_, arguments[name]) for name, type_ in kernel.arguments]
    core = Block(0, 1, kernel.profile, kernel.options, False, kernel.kinds, core_class=ScheduledCore).cores[0]
    assert isinstance(core, ScheduledCore)
    core.preference = preference(schedule)
    with np.errstate(all="ignore"):
        run_queued([(core, compiled.functions[kernel.entry](core, *bound))])
    return outputs(case, arguments, None), core


def source(example: str, case: Case) -> str:
    return Path(FOLDER / example / case.program).read_text(encoding="utf-8")


@pytest.mark.parametrize(("example", "case"), MICRO, ids=lambda value: getattr(value, "entry", value))
def test_every_schedule_gives_the_result(example: str, case: Case) -> None:
    wanted = run_all.load(example)[1](case.entry, case.data, "fast")
    for schedule in SCHEDULES:
        results, core = run_scheduled(source(example, case), case, schedule)
        assert not any(core.flags.values()), f"flags are left over: {core.flags}"
        for name, result in results.items():
            assert wanted[name].error(result) <= wanted[name].tolerance, f"{schedule}"


NEEDED = [
    "wait_flag_dyn[<PIPE_MTE1>, <PIPE_MTE2>, %r]",
    "wait_flag_dyn[<PIPE_MTE2>, <PIPE_MTE1>, %r_later]",
    "wait_flag_dyn[<PIPE_MTE1>, <PIPE_M>, %s]",
    "wait_flag_dyn[<PIPE_M>, <PIPE_FIX>, %s]",
    "wait_flag_dyn[<PIPE_M>, <PIPE_MTE1>, %s_later]",
    "wait_flag_dyn[<PIPE_FIX>, <PIPE_MTE1>, %s]",
    "wait_flag_dyn[<PIPE_MTE1>, <PIPE_M>, %s_later]",
    "wait_flag_dyn[<PIPE_M>, <PIPE_FIX>, %r_later]",
]
"""Waits of the fused example whose order nothing else implies."""


@pytest.mark.parametrize("wait", NEEDED)
def test_schedules_reveal_a_missing_wait(wait: str) -> None:
    """Without the wait some schedule gives another result, so the test above would see it."""
    case = run_all.load("mlp_fused")[0][0]
    text = source("mlp_fused", case)
    assert text.count(f"pto.{wait}\n") == 1
    wanted = run_all.load("mlp_fused")[1](case.entry, case.data, "fast")["y"]
    broken = text.replace(f"pto.{wait}\n", "\n")
    assert any(
        not wanted.error(run_scheduled(broken, case, schedule)[0]["y"]) <= wanted.tolerance for schedule in SCHEDULES
    )


def test_a_missing_set_is_a_deadlock() -> None:
    case = run_all.load("mlp_fused")[0][0]
    text = source("mlp_fused", case).replace("pto.set_flag_dyn[<PIPE_FIX>, <PIPE_MTE1>, %s]\n", "\n")
    with pytest.raises(Fault) as fault:
        run_scheduled(text, case, PIPES)
    assert fault.value.rule == "sync-deadlock"
    assert any("PIPE_MTE1 waits for a flag from PIPE_FIX" in note for note in fault.value.notes)

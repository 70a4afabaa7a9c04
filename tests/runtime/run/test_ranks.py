"""Ranks side by side in one process and in several."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from rank_programs import NAMES, TELL, Ranks, module_of, text_of

from pto_dialect.runtime.errors import BindingError, ProgramError
from pto_dialect.runtime.queues.schedule import Schedule
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.runtime.run.rank_processes import run_ranks_apart
from pto_dialect.runtime.run.ranks import run_ranks


@cache
def kernel_of(name: str) -> Kernel:
    """A collective as all tests of a process share it."""
    return Kernel(module_of(text_of(name)), None, "a2a3", RunOptions())


FORGETS = f"""
      %last = arith.subi %ranks, %c1 : index
      %tells = arith.cmpi ne, %peer, %last : index
      scf.if %tells {{
        {TELL}
      }}
"""
"""In place of ``TELL``: nobody informs the last rank."""


@pytest.mark.parametrize("count", [1, 2, 4, 8])
@pytest.mark.parametrize("name", NAMES)
def test_collectives_are_what_numpy_computes(name: str, count: int) -> None:
    ranks = Ranks(name, count, kernel_of(name))
    assert run_ranks(ranks.parts, ranks.world) == [[]] * count
    ranks.check()


@pytest.mark.parametrize(("count", "processes"), [(2, 2), (4, 3), (8, 2), (8, 8)])
@pytest.mark.parametrize("name", NAMES)
def test_the_same_in_processes(name: str, count: int, processes: int) -> None:
    ranks = Ranks(name, count, kernel_of(name))
    run_ranks_apart(ranks.parts, ranks.world, processes)
    ranks.check()


@pytest.mark.parametrize("schedule", ["newest", "random:1", "random:2", "random:3"])
def test_no_result_depends_on_the_schedule(schedule: str) -> None:
    kernel = Kernel(module_of(text_of("all_reduce")), None, "a2a3", RunOptions(schedule=Schedule.parse(schedule)))
    ranks = Ranks("all_reduce", 4, kernel)
    run_ranks(ranks.parts, ranks.world)
    ranks.check()


@pytest.mark.parametrize("processes", [1, 3])
def test_a_forgotten_notify_is_reported_with_the_location_in_every_rank(processes: int) -> None:
    text = text_of("all_reduce").replace(TELL, FORGETS)
    ranks = Ranks("all_reduce", 3 if processes == 1 else 4, Kernel(module_of(text), None, "a2a3", RunOptions()))
    with pytest.raises(ProgramError) as caught:
        run_ranks_apart(ranks.parts, ranks.world, processes)
    error, lines = caught.value, text.splitlines()
    wait = next(number for number, line in enumerate(lines, 1) if "twait" in line)
    calls = [number for number, line in enumerate(lines, 1) if "func.call @meet" in line]
    count = len(ranks.parts)
    assert (error.rule, error.span and error.span.line) == ("sync-deadlock", wait)
    want = [
        f"core of rank {rank}: PIPE_S waits until the signal at byte 0 of gm 'signal' of rank {rank} is at least "
        f"{2 * count}; it holds {2 * count - 1}, in pto.comm.twait at line {wait}, called at line {calls[1]}"
        for rank in range(count - 1)
    ]
    last = f"core of rank {count - 1}: PIPE_S waits until the signal at byte 0 of gm 'signal' of rank {count - 1} is "
    want.append(f"{last}at least {count}; it holds 0, in pto.comm.twait at line {wait}, called at line {calls[0]}")
    assert list(error.notes) == want


@pytest.mark.parametrize("processes", [1, 2])
def test_a_fault_names_its_rank_and_ends_the_others(processes: int) -> None:
    ranks = Ranks("all_gather", 2, kernel_of("all_gather"))
    ranks.parts[1].values[0] = np.zeros((1, 64), np.float32)  # pyright: ignore[reportIndexIssue]
    with pytest.raises(ProgramError, match="are outside gm 'x'") as caught:
        run_ranks_apart(ranks.parts, ranks.world, processes)
    assert caught.value.rule == "mem-oob"
    assert caught.value.notes == ("on core of rank 1",)


def test_an_access_after_a_window_is_outside() -> None:
    text = text_of("all_gather").replace("%at = arith.addi %first, %row", "%at = arith.addi %rows, %row")
    ranks = Ranks("all_gather", 2, Kernel(module_of(text), None, "a2a3", RunOptions()))
    with pytest.raises(ProgramError, match="are outside gm 'data' of rank 0, which has 32768 bytes") as caught:
        run_ranks(ranks.parts, ranks.world)
    assert caught.value.rule == "mem-oob"


def test_values_that_do_not_fit_name_their_rank() -> None:
    ranks = Ranks("all_gather", 2, kernel_of("all_gather"))
    ranks.parts[1] = ranks.parts[1]._replace(values=[np.zeros(3, np.int8), *ranks.parts[1].values[1:]])
    with pytest.raises(BindingError, match="rank 1: argument x needs elements of f32"):
        run_ranks(ranks.parts, ranks.world)

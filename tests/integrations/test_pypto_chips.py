"""Orchestrations of a host over several chips, in the form of PyPTO's code generators."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pypto_chips import COLS, WAIT, next_chip, submit, tensor
from pypto_programs import SCALE, SCALE_WRAPPER, orchestrated, wrapper

from pto_dialect.integrations.events import Event, Launched, instrumented, observed
from pto_dialect.integrations.pypto.domains import AccessMode, Domain, wrap_fork_inherited
from pto_dialect.integrations.pypto.host import MappedArgs, Orchestrator
from pto_dialect.integrations.pypto.interface import ChipCallable, CommBufferSpec, DataType, TaskArgs, TensorArgType
from pto_dialect.integrations.pypto.worker import Worker
from pto_dialect.runtime.errors import BindingError, ProgramError
from pto_dialect.sanitize.options import SanitizeOptions

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="no C++ compiler is installed"
)


def numbers(chips: int) -> tuple[np.ndarray, np.ndarray]:
    """What the chips have, and room for what they get."""
    return np.arange(chips * COLS, dtype=np.float32).reshape(chips, 1, COLS), np.zeros((chips, 1, COLS), np.float32)


@pytest.mark.parametrize("count", [2, 3])
def test_chips_reach_the_windows_of_each_other(tmp_path: Path, count: int) -> None:
    chip = next_chip(tmp_path)
    x, y = numbers(count)
    seen: list[float] = []

    def last(args: MappedArgs) -> None:
        seen.append(float(np.frombuffer(args[0].buffer, np.float32).sum()))
        assert (len(args), args.tensor_count(), args.scalar_count(), args[0].strides) == (1, 1, 0, (COLS, COLS, 1))

    def orchestration(orch: Orchestrator, *_: Any) -> None:
        submit(orch, [chip] * count, x, y)
        after = TaskArgs()
        after.add_tensor(tensor(y), TensorArgType.INPUT)
        orch.submit_sub(last, after)

    worker = Worker(level=3, platform="a2a3sim")
    worker.submit(orchestration).result()
    assert np.array_equal(y, np.roll(x, -1, axis=0))
    assert seen == [float(x.sum())]


def watched_pair(chips: list[ChipCallable]) -> tuple[list[str], set[str], bool]:
    """Functions that two chips have run sanitized, rules of the findings, and whether the results are right."""
    x, y = numbers(2)
    events: list[Event] = []
    with observed(events.append), instrumented(SanitizeOptions()):
        Worker(level=3).submit(lambda orch, *_: submit(orch, chips, x, y)).result()
    launches = [event for event in events if isinstance(event, Launched)]
    rules = {finding.rule for one in launches for finding in one.findings}
    right = np.array_equal(y, np.roll(x, -1, axis=0))
    return sorted(name for one in launches for name in one.functions), rules, right


def test_a_chip_meets_those_of_each_of_its_domains(tmp_path: Path) -> None:
    """Chip 1 is in two domains, one after the other, and chip 2 waits for it meanwhile."""
    chip = next_chip(tmp_path)
    x, y = numbers(4)

    def orchestration(orch: Orchestrator, *_: Any) -> None:
        submit(orch, [chip] * 2, x[:2], y[:2], "low", [0, 1])
        submit(orch, [chip] * 2, x[2:], y[2:], "high", [1, 2])

    Worker(level=3).run(orchestration)
    assert np.array_equal(y, x[[1, 0, 3, 2]])


def test_compilers_order_the_pipes_of_programs_with_barriers(tmp_path: Path) -> None:
    chips = [next_chip(tmp_path, "left"), next_chip(tmp_path, "right")]
    assert watched_pair(chips) == (["left", "right"], set(), True)


def test_findings_of_all_chips_are_reported(tmp_path: Path) -> None:
    """One of both reads the window of the other without a message from it."""
    loose = "%sure = pto.comm.ttest(%sp, %one : !cell, i32) {cmp = #pto<wait_cmp ne>} -> i1"
    functions, rules, _ = watched_pair([next_chip(tmp_path, "left"), next_chip(tmp_path, "loose", loose)])
    assert (functions, rules) == (["left", "loose"], {"race-cross-rank"})


def test_chips_that_wait_for_nobody_are_reported(tmp_path: Path) -> None:
    chip = next_chip(
        tmp_path, wait=WAIT.replace("%one", "%two", 1).replace("pto", "%two = arith.constant 2 : i32\n    pto", 1)
    )
    x, y = numbers(2)
    handle = Worker(level=3).submit(lambda orch, *_: submit(orch, [chip] * 2, x, y))
    with pytest.raises(ProgramError, match="the ranks cannot continue") as caught:
        handle.result()
    assert [note for note in caught.value.notes if "rank 0" in note] and [
        note for note in caught.value.notes if "rank 1" in note
    ]


def scaled(orch: Orchestrator, chip: ChipCallable, pairs: list[tuple[np.ndarray, np.ndarray, int]]) -> None:
    """Submits a task for each pair of arrays, on a chip."""
    for source, target, worker in pairs:
        args = TaskArgs()
        args.add_tensor(tensor(source), TensorArgType.INPUT)
        args.add_tensor(tensor(target), TensorArgType.OUTPUT_EXISTING)
        orch.submit_next_level(chip, args, worker=worker)


def test_tasks_follow_those_whose_memory_they_touch(tmp_path: Path) -> None:
    body = """
    CoreTaskArgs params;
    params.add_input(orch_args.tensor(0).ref());
    params.add_output(orch_args.tensor(1).ref());
    params.add_scalar(to_u64(2.0f));
    rt_submit_aiv_task(0, params);
"""
    chip = orchestrated(body, wrapper(tmp_path, SCALE, SCALE_WRAPPER))
    x = np.ones(8, np.float32)
    y, z, w = (np.zeros(8, np.float32) for _ in range(3))

    def orchestration(orch: Orchestrator, *_: Any) -> None:
        scaled(orch, chip, [(x, y, 0), (y, z, 1), (z, w, 0), (x, z, 2)])
        names = {id(job): number for number, job in enumerate(orch.jobs)}
        assert [[names[id(one)] for one in job.after] for job in orch.jobs] == [[], [0], [1], [1, 2]]

    Worker(level=3).submit(orchestration).result()
    assert (y.tolist(), z.tolist(), w.tolist()) == ([2.0] * 8, [2.0] * 8, [8.0] * 8)


def test_what_a_task_raises_ends_the_run(tmp_path: Path) -> None:
    chip = next_chip(tmp_path)
    x, y = numbers(2)

    def wrong(args: MappedArgs) -> None:
        raise ValueError(f"{len(args)} tensors")

    def orchestration(orch: Orchestrator, *_: Any) -> None:
        submit(orch, [chip, chip], x, y)
        orch.submit_sub(wrong)

    handle = Worker(level=3).submit(orchestration)
    assert handle.done
    with pytest.raises(ValueError, match="0 tensors"):
        handle.result(timeout=1)


def test_domains_keep_their_memory_and_are_named() -> None:
    specs = [CommBufferSpec("data", nbytes=64)]
    worker = Worker(level=3)
    orch = Orchestrator(worker)
    with orch.allocate_domain(name="tp", workers=[2, 0], window_size=64, buffers=specs) as domain:
        assert (domain.workers, domain[2].domain_rank, domain[0].domain_rank, domain.rank_of(1)) == ((2, 0), 0, 1, None)
        assert domain.contexts[0].actual_window_size == 64
        assert worker.domains == [domain]
        ones = worker.create_buffer(64)
        worker.copy_to(ones, np.ones(16, np.float32))
        orch.copy_to(domain[0].buffers["data"], ones)
        read = np.zeros(16, np.float32)
        orch.copy_from(read, domain[0].buffers["data"])
        assert read.tolist() == [1.0] * 16
        assert not domain.world.array("data", 0, (16,), np.dtype(np.float32)).any()
    assert domain.freed
    orch.release_domain(domain)
    orch.allocate_domain(name="next", workers=[0], window_size=0)
    assert [one.name for one in worker.domains] == ["next"]
    with pytest.raises(BindingError, match="communication domain big: there are 1 to 64 ranks, found 65"):
        Domain("big", range(65), 0, [])


def test_domains_are_kept_beyond_their_run() -> None:
    """A domain that is taken out of the journal of its run is there for the next one."""
    worker = Worker(level=3)
    made: list[Domain] = []

    def first(orch: Orchestrator, *_: Any) -> None:
        made.append(orch.allocate_domain(name="kept", workers=[0, 1], window_size=64))
        journal = worker._building_run_resources
        assert journal.live_domains == worker._live_domains == {"kept": made[0]} and not journal.retired

    worker.submit(first).result()
    worker.submit(lambda orch, *_: made.extend(orch._domains)).result()
    assert (made, worker._next_alloc_id) == ([made[0]] * 2, 2)
    assert not worker._building_run_resources.live_domains
    worker.close()
    assert worker.domains == []


def test_memory_of_the_host_at_an_address() -> None:
    ones, read = np.ones(4, np.float32), np.zeros(4, np.float32)
    worker = Worker(level=3)
    buffer = worker.create_buffer(16)
    worker.copy_to(buffer, wrap_fork_inherited(ones.ctypes.data, 16, b"", 1, access=AccessMode.READ))
    worker.copy_from(wrap_fork_inherited(read.ctypes.data, 16, b"", 2), buffer)
    assert read.tolist() == [1.0] * 4


def test_memory_of_chips_is_counted() -> None:
    worker = Worker(level=3)
    first = worker.alloc_child_tensor(1, (4, 4), DataType.FLOAT32)
    second = worker.alloc_child_tensor(1, (8,), DataType.BFLOAT16)
    assert (worker.committed_device_memory(1), worker.committed_device_memory(0)) == (80, 0)
    worker.free(first)
    assert worker.committed_device_memory(1) == 16
    worker.release_buffer(second)
    assert worker.committed_device_memory(1) == 0

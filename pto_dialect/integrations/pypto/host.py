"""Orchestrations of the host, over several chips: what they call, and the order in which their tasks run.

A task is the orchestration of one chip, or a function of Python. It runs when the tasks before it that touch the same
memory have ended, one at a time on each chip. See docs/pypto.md.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from dataclasses import InitVar, dataclass
from math import prod
from typing import Any, NamedTuple

from .chips import Chip, meet
from .domains import Domain
from .interface import CallConfig, ChipCallable, CommBufferSpec, TaskArgs, Tensor, TensorArgType

_READ = (TensorArgType.INPUT,)


class MappedArg:
    """A tensor as functions of Python get it."""

    def __init__(self, tensor: Tensor) -> None:
        self.shapes = tensor.shapes
        self.strides = tuple(prod(tensor.shapes[axis + 1 :]) for axis in range(len(tensor.shapes)))
        self.dtype = tensor.dtype
        self.buffer = memoryview((ctypes.c_char * tensor.nbytes).from_address(tensor.address))
        self._keep = tensor.keep


class MappedArgs:
    """The arguments of a function of Python: its tensors as a sequence, and its numbers."""

    def __init__(self, args: TaskArgs) -> None:
        self._tensors = [MappedArg(one) for one in args.tensors]
        self._scalars = list(args.scalars)

    def __getitem__(self, index: int) -> MappedArg:
        return self._tensors[index]

    def __len__(self) -> int:
        return len(self._tensors)

    def __iter__(self) -> Iterator[MappedArg]:
        return iter(self._tensors)

    def tensor_count(self) -> int:
        """Returns how many tensors there are."""
        return len(self._tensors)

    def scalar_count(self) -> int:
        """Returns how many numbers there are."""
        return len(self._scalars)

    def scalar(self, index: int) -> int:
        """Returns a number, as 64 bits."""
        return self._scalars[index]


class Touch(NamedTuple):
    """Memory that a task reads or writes."""

    low: int
    high: int
    writes: bool


@dataclass(eq=False)
class Job:
    """One task: ``worker`` is its chip, ``None`` for a function of Python; ``domains`` are those that it may use."""

    target: Any
    args: TaskArgs
    worker: int | None
    domains: Sequence[Domain]
    before: InitVar[Sequence[Job]]
    done: bool = False

    def __post_init__(self, before: Sequence[Job]) -> None:
        self.touches = [
            Touch(one.address, one.address + one.nbytes, tag not in _READ)
            for one, tag in zip(self.args.tensors, self.args.tags, strict=True)
            if tag is not TensorArgType.NO_DEP
        ]
        self.after = [one for one in before if one.meets(self)]

    def meets(self, other: Job) -> bool:
        """Returns True when one of both writes what the other touches."""
        return any(
            mine.low < theirs.high and theirs.low < mine.high and (mine.writes or theirs.writes)
            for mine in self.touches
            for theirs in other.touches
        )

    @property
    def ready(self) -> bool:
        """True when the tasks that it follows have ended."""
        return all(one.done for one in self.after)


class Orchestrator:
    """What an orchestration of the host calls."""

    def __init__(self, worker: Any) -> None:
        self._worker = worker
        self._domains: list[Domain] = list(worker.domains)
        self.jobs: list[Job] = []

    def allocate_domain(
        self, *, name: str, workers: Sequence[int], window_size: int, buffers: Sequence[CommBufferSpec] = ()
    ) -> Domain:
        """Memory that the chips ``workers`` reach of each other, filled with zeros."""
        made = Domain(name, workers, window_size, buffers)
        self._domains.append(made)
        self._worker.keep_domain(made)
        return made

    def release_domain(self, domain: Domain) -> None:
        """Ends a domain."""
        domain.release()

    def submit_next_level(
        self, target: ChipCallable, args: TaskArgs, config: CallConfig | None = None, *, worker: int = 0
    ) -> None:
        """Has chip ``worker`` run an orchestration."""
        mine = [one for one in self._domains if one.rank_of(worker) is not None]
        self.jobs.append(Job(target, args, worker, mine, self.jobs))

    def submit_sub(self, target: Callable[[MappedArgs], Any], args: TaskArgs | None = None) -> None:
        """Has a function of Python run on tensors of the host."""
        self.jobs.append(Job(target, args if args is not None else TaskArgs(), None, (), self.jobs))

    def copy_to(self, target: Any, source: Any) -> None:
        """Copies memory of the host to a chip."""
        self._worker.copy_to(target, source)

    def copy_from(self, target: Any, source: Any) -> None:
        """Copies memory of a chip to the host."""
        self._worker.copy_from(target, source)


def run_jobs(jobs: Sequence[Job], body: Callable[[Job, Chip], None]) -> None:
    """Runs tasks in an order that each of them allows; ``body`` runs the orchestration of a chip.

    Raises what the first task that fails raises.
    """
    left = list(jobs)
    going: dict[int, tuple[Job, Chip]] = {}
    try:
        while left or going:
            if _start(left, going, body):
                continue
            moved = False
            for worker, (job, chip) in list(going.items()):
                if chip.may_continue:
                    chip.go_on()
                    moved = True
                if chip.done:
                    job.done = True
                    del going[worker]
            if not any(job.ready and job.worker not in going for job in left):
                _meet([chip for _, chip in going.values()], moved)
    finally:
        for _, chip in going.values():
            chip.stop()


def _meet(chips: Sequence[Chip], moved: bool) -> None:
    """Runs tasks that wait for signals of each other once nothing else continues."""
    if moved and any(chip.may_continue for chip in chips):
        return
    if any(chip.waiting is not None for chip in chips):
        meet(chips)
    elif not moved and chips:
        chips[0].give_up()


def _start(left: list[Job], going: dict[int, tuple[Job, Chip]], body: Callable[[Job, Chip], None]) -> bool:
    """Starts the tasks that may begin; True when a function of Python has run, which others may wait for."""
    for job in list(left):
        if not job.ready or job.worker in going:
            continue
        left.remove(job)
        if job.worker is None:
            job.target(MappedArgs(job.args))
            job.done = True
            return True
        going[job.worker] = job, Chip(job.worker, job.domains, lambda chip, job=job: body(job, chip))
    return False

"""Shares the blocks of a kernel's launches among processes when that is faster. Source: docs/reference/execution.md,
"Launches"."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

from pto_dialect.accel import enabled
from pto_dialect.deadline import may_be_limited

from ..memory.values import content_of
from .balance import BALANCE, COLD, FEW, POOL_BALANCE
from .parallel import run_blocks
from .worker_pool import WorkerPool, acquire_pool, form_of

if TYPE_CHECKING:
    from .kernel import CompiledKernel


class Sharing:
    """Measurements of the blocks of one kernel: ``each`` is the expected number of seconds of a block, ``timed`` how
    many have been timed."""

    each: float | None = None
    timed: int = 0

    def __init__(self) -> None:
        self.pool: WorkerPool | None = None
        self._shared_before = False
        self._refused = not enabled("worker-pool")

    def gains(self, blocks: int, jobs: int) -> bool:
        """Returns whether ``jobs`` processes are worth it for a launch; True as long as the time of a block
        is unknown."""
        if self.each is None or (self.timed < 2 and blocks > FEW):
            return True
        return (BALANCE if self.pool is None and not self._invests() else POOL_BALANCE).pays(self.each, blocks, jobs, 0)

    def _invests(self) -> bool:
        """Returns whether a worker pool may be started for the first time. That costs once what starting processes
        does; later launches save this cost, because one launch of this kernel has been worth a start of its own."""
        return self._shared_before and self.pool is None and not self._refused

    def run(self, kernel: CompiledKernel, bound: list[Any], blocks: int, jobs: int) -> list[Any]:
        """Runs blocks here, one by one, until it is faster to have ``jobs`` processes run the rest."""
        pool = self._free_pool(bound, min(jobs, blocks))
        try:
            return self._balanced(kernel, bound, blocks, jobs, pool)
        finally:
            if pool is not None:
                pool.lock.release()

    def _free_pool(self, bound: list[Any], jobs: int) -> WorkerPool | None:
        """Returns the pool of earlier launches of this form, locked, if it is not in use."""
        if self.pool is None or may_be_limited() or not self.pool.lock.acquire(blocking=False):
            return None
        if self.pool.suits(form_of(bound), jobs):
            return self.pool
        self.pool.lock.release()
        return None

    def _balanced(
        self, kernel: CompiledKernel, bound: list[Any], blocks: int, jobs: int, pool: WorkerPool | None
    ) -> list[Any]:
        contents = (content_of(bound[position]) for position in kernel.usage.written)
        nbytes = sum(content.nbytes for content in contents if content is not None) if pool is None else pool.nbytes
        balance = BALANCE if pool is None else POOL_BALANCE
        selected = POOL_BALANCE if self._invests() else balance
        results: list[Any] = []
        for index in range(blocks):
            rest, each, started = blocks - index, self.each, perf_counter()
            known = rest > 1 and (self.timed > 1 or blocks <= FEW)
            if each is not None and known and selected.pays(each, rest, jobs, nbytes):
                returned = self._with_processes(kernel, bound, index, blocks, min(jobs, rest), pool)
                balance.learn(perf_counter() - started, each, rest, min(jobs, rest), nbytes)
                return results if index else returned
            returned = kernel.run_block(bound, index, blocks)
            took = perf_counter() - started
            self.timed += 1
            self.each = took / COLD if each is None else took if self.timed == 2 else min(took, each)
            if index == 0:
                results = returned
        return results

    def _with_processes(
        self, kernel: CompiledKernel, bound: list[Any], first: int, blocks: int, jobs: int, pool: WorkerPool | None
    ) -> list[Any]:
        """Runs the blocks from ``first`` on in several processes, from the second such launch on in a worker pool."""
        if pool is not None:
            return pool.run(kernel, bound, first, blocks)
        if self._shared_before and enabled("worker-pool"):
            hired = acquire_pool(kernel, bound, form_of(bound), jobs)
            if hired is not None:
                self.pool = hired
                with hired.lock:
                    return hired.run(kernel, bound, first, blocks)
            self._refused = True
        self._shared_before = True
        return run_blocks(kernel, bound, first, blocks, jobs)

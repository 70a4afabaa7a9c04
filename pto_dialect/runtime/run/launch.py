"""Launches of a compiled kernel on numpy arrays: in one process or several, executed or replayed.

Source: docs/reference/execution.md, "Launches".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Any

from pto_dialect.interrupts import can_fork

from .kernel import CompiledKernel

if TYPE_CHECKING:
    from pto_dialect.accel.replay.keep import Replays

    from .sharing import Sharing

PATIENCE = 0.05
"""Seconds of launches of a kernel after which replaying repeated launches is worth the analysis."""


class Kernel(CompiledKernel):
    """A compiled kernel that users launch: processes share its blocks, and repeated launches are replayed."""

    _spent: float = 0
    """Seconds that launches have taken."""

    replayed = True
    """Whether repeated launches may be replayed without executing instructions; not in instrumented runs."""

    def run(self, values: Sequence[Any], blocks: int = 1, jobs: int = 1) -> list[Any]:
        """Runs all blocks; ``values`` are numpy arrays (written in place) and Python numbers, one per argument.

        With ``jobs`` above 1, that many processes share the blocks of a program whose blocks do not depend on each
        other; the results are the same. Returns the result of the entry function (first block). Raises ``BindingError``
        for values that do not fit, ``ProgramError`` for an error in the program.
        """
        often = self._spent > PATIENCE and self.replayed and not self._shares(blocks, jobs)
        if often and self._run_again(values, blocks):
            return []
        started = perf_counter()
        results = self.run_bound(self.bind(values), blocks, jobs)
        if often:
            self._replays.learn(perf_counter() - started)
        else:
            self._spent += perf_counter() - started
        return results

    def _run_again(self, values: Sequence[Any], blocks: int) -> bool:
        """Replays a frequently repeated launch; returns False for others."""
        try:
            return self._replays.run(values, blocks)
        except MemoryError as error:
            raise self.out_of_memory(error) from None

    def _shares(self, blocks: int, jobs: int) -> bool:
        """Returns whether several processes will share the blocks of a launch."""
        if jobs == 1 or blocks == 1 or self._orders_blocks or self.usage.combines or not can_fork():
            return False
        return self.sharing.gains(blocks, jobs)

    @cached_property
    def sharing(self) -> Sharing:
        """Returns the measurements of the blocks of this kernel."""
        # Most launches use this process alone.
        from .sharing import Sharing  # deferred: start-up

        return Sharing()

    @cached_property
    def _replays(self) -> Replays:
        # Few kernels run often enough to need it.
        from pto_dialect.accel.replay.keep import Replays  # deferred: start-up

        return Replays(self)

    def _run_blocks(self, bound: list[Any], blocks: int, jobs: int) -> list[Any]:
        if jobs > 1 and blocks > 1 and can_fork() and self.shares_blocks:
            return self.sharing.run(self, bound, blocks, jobs)
        return super()._run_blocks(bound, blocks, jobs)

"""Walks through a launch without executing its instructions: which steps they are, in the order in which they would
run.

Control flow does not depend on the content of memories in programs that may be replayed (``eligible.py``), so queues
and flags go the way they go in a launch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pto_dialect.accel.replay.steps import Foreign, Reader, Step
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.queues.run import OrderedCore, QueueCore, run_queued
from pto_dialect.runtime.run.machine import Block

if TYPE_CHECKING:
    from pto_dialect.runtime.run.kernel import CompiledKernel

MOST = 6000
"""Steps of the longest launch that is replayed."""


class _Log:
    """The steps so far."""

    def __init__(self) -> None:
        self.reader = Reader()
        self.steps: list[Step] = []

    def add(self, action: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        """One more instruction. Raises ``Foreign``."""
        self.steps.extend(self.reader.steps(action, arguments))
        if len(self.steps) > MOST:
            raise Foreign("too long")


class _Queued(QueueCore):
    """Takes instructions in the order of queues."""

    log: _Log

    def _run(self, entry: Any) -> bool:
        _, line, kind, action, arguments = entry
        if action is not None:
            self.log.add(action, arguments)
        return super()._run((0, line, kind, _nothing, arguments if action is None else ()))


class _Ordered(OrderedCore):
    """Takes instructions in program order for as long as nothing waits."""

    log: _Log
    _run = _Queued._run

    def issue(self, pipe: str, line: int, action: Callable[..., Any], *arguments: Any) -> None:
        """Takes an instruction, or appends it where pipes wait."""
        if self.waiting:
            self._append(pipe, (self.issued, line, 0, action, arguments))
        else:
            self.issued += 1
            self.log.add(action, arguments)


class _Straight(_Ordered):
    """Takes every instruction in program order; what would have to wait is not recorded."""

    def _append(self, pipe: str, entry: Any) -> None:
        raise Foreign("waits")


def _nothing(*_: Any) -> None:
    """Stands for an instruction."""


class Recording:
    """The steps of one launch, with the memories of its cores; ``bound`` are its arguments."""

    def __init__(self, kernel: CompiledKernel, bound: list[Any], count: int, queued: bool) -> None:
        """Raises ``Foreign`` for a launch that cannot be replayed, and what the launch itself raises."""
        log = _Log()
        core_class = _Straight if not queued else _Queued if kernel.program.explicit else _Ordered
        self.blocks: list[Block] = []
        for index in range(count):
            block, programs = kernel.queued_programs(bound, index, count, core_class)
            for core, _ in programs:
                assert isinstance(core, (_Queued, _Ordered))
                core.log = log
            self.blocks.append(block)
            run_queued(programs)
        self.steps = log.steps

    @property
    def memories(self) -> list[Array]:
        """The bytes of the memories of cores that steps name."""
        arenas = {id(arena): arena for block in self.blocks for core in block.cores for arena in core.arenas.values()}
        return [arena.bytes for arena in arenas.values() if arena.reach or arena.handles]

"""Recorded runs for tests: what a run has done so far, and the memories of a run that is stopped at a step."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from pto_dialect.recording import Recording
from pto_dialect.recording import open as open_recording
from pto_dialect.recording.kernel import RecordingKernel
from pto_dialect.recording.log import Log
from pto_dialect.recording.save import save
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.options import SanitizeOptions


def recording_kernel(
    module: ModuleOp, entry: str | None, target: str | None, checks: bool = False, limit: int = 0
) -> RecordingKernel:
    """A kernel that records, with all checks or none."""
    options = SanitizeOptions() if checks else SanitizeOptions(frozenset())
    return RecordingKernel(module, entry, target, RunOptions(), options, limit=limit)


def recorded(path: Path, kernel: RecordingKernel, values: Sequence[Any], blocks: int = 1) -> Recording:
    """The recording of a run, written to ``path`` and read."""
    kernel.run(values, blocks)
    save(path, kernel, blocks, kernel.observer.findings.all)
    return open_recording(path)


class Stopped(BaseException):
    """The run has reached the step."""


class StoppingLog(Log):
    """Ends a run before step ``end`` begins."""

    end = -1

    def step(self, issue: int, thread: int, kind: int) -> int:
        """A statement is executed."""
        if self.steps == self.end:
            raise Stopped
        return super().step(issue, thread, kind)


def memories_at(kernel: RecordingKernel, values: Sequence[Any], blocks: int, step: int) -> dict[str, Array]:
    """The content of all memories, by name, of a run that ends after ``step``; ``kernel`` has not run yet."""
    kernel.record.__class__ = StoppingLog
    assert isinstance(kernel.record, StoppingLog)
    kernel.record.end = step + 1
    with contextlib.suppress(Stopped):
        kernel.run(values, blocks)
    names = [memory.name for memory in kernel.record.memories]
    arenas: list[Any] = [arena for _, arena in kernel.record._memory_numbers.values()]
    return {name: np.array(arena.memory) for name, arena in zip(names, arenas, strict=True)}

"""Sanitized runs of ranks, all in one process: races between them and infinite waits are findings.

Source: docs/ranks.md, "Sanitizers"; docs/reference/instrumentation.md, "Order of events".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.ir import Operation

from pto_dialect.ir.core.location import span_of
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.queues.run import Deadlock, QueuedFault, run_queued
from pto_dialect.runtime.run.arguments import hand_back
from pto_dialect.runtime.run.ranks import Part, RunningRank, bound_values, calls_text, program_error, stacks
from pto_dialect.runtime.run.windows import WindowArena, World

from .instrument.core import InstrumentedCore
from .instrument.deadlock import deadlock_finding
from .launch import InstrumentedKernel, instrumented_cores


def run_sanitized_ranks(parts: Sequence[Part], world: World, ranks: Sequence[int] | None = None) -> list[list[Any]]:
    """Runs ranks concurrently; returns the result of the entry of each, nothing for those that a violation has stopped.

    ``ranks`` are the ids of those that have ``parts``, by default all. The kernels are :class:`InstrumentedKernel`s of
    one observer, which has the findings. Raises ``BindingError`` for values that do not fit, ``ProgramError`` for a
    fault that no check covers.
    """
    numbers = range(len(parts)) if ranks is None else ranks
    bound = [bound_values(rank, part) for rank, part in zip(numbers, parts, strict=True)]
    kernels = [cast(InstrumentedKernel, part.kernel) for part in parts]
    observer = kernels[0].observer
    observer.part()
    arena = observer.windows_class(WindowArena(world.layout, world.content), observer)
    going: list[RunningRank] = []
    for rank, part, kernel, values in zip(numbers, parts, kernels, bound, strict=True):
        moved = [world.relocated(value, arena) for value in values]
        kernel.instrument_buffers(moved)
        started = kernel.start(moved, range(part.blocks), part.blocks)
        for block in started.device:
            block.join_rank(rank, arena)
        kernel.join_rank(rank, part.values, moved, started)
        going.append(RunningRank(rank, part, started))
    cores = [core for one in going for core in instrumented_cores(one.started)]
    observer.open_device(cores)
    programs = [program for one in going for program in one.started.programs]
    try:
        with np.errstate(all="ignore"):
            returned = run_queued(
                programs, lambda: any([core.relieve() for core in cores]), kernels[0].options.schedule
            )
    except Deadlock as fault:
        _deadlocked(fault, going, cores)
    except (QueuedFault, Fault) as error:
        _stop(error, going)
    else:
        results: list[list[Any]] = []
        for one, kernel in zip(going, kernels, strict=True):
            mine, returned = returned[: len(one.started.programs)], returned[len(one.started.programs) :]
            results.append(kernel.end(one.started, mine[one.started.first]))
        observer.end_launch()
        return results
    finally:
        observer.enter(None)
        for kernel in kernels:
            kernel.leave_ranks()
        for values in bound:
            hand_back(values)
    for kernel in kernels:
        kernel.stopped = True
    return [[] for _ in parts]


def _stop(error: QueuedFault | Fault, going: Sequence[RunningRank]) -> None:
    """Reports a violation as a finding; raises ``ProgramError`` for one that no check covers."""
    failed = program_error(error, going)
    kernel = cast(InstrumentedKernel, going[0].part.kernel)
    fault = error.fault if isinstance(error, QueuedFault) else error
    op: Operation | None = failed.operation
    if isinstance(error, QueuedFault) and kernel.observer.failed is not None and kernel.observer.failed.mark.site:
        op = kernel.observer.sites[kernel.observer.failed.mark.site].op
    kernel.stop(fault, op)


def _deadlocked(fault: Deadlock, going: Sequence[RunningRank], cores: Sequence[InstrumentedCore]) -> None:
    kernel = cast(InstrumentedKernel, going[0].part.kernel)
    if not kernel.observer.wants("deadlock"):
        raise program_error(fault, going)
    pairs = [pair for one in going for pair in stacks(one)]
    calls = {core.name: calls_text(stack) for core, stack in pairs}
    op = next((stack[-1] for _, stack in pairs if stack), kernel.function)
    kernel.observer.findings.add(deadlock_finding(kernel.observer, cores, span_of(op), calls))

"""Ranks that run concurrently: kernels with memory of their own and windows that their peers reach.

Source: docs/ranks.md, "Signals"; docs/reference/execution.md, "Communication".
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from xdsl.ir import Operation

from pto_dialect.diagnostics.origins import shown_line
from pto_dialect.ir.core.location import span_of

from ..errors import BindingError, ProgramError
from ..faults import Fault
from ..queues.run import Deadlock, QueueCore, QueuedFault, run_queued
from .arguments import hand_back
from .kernel import Started
from .launch import Kernel
from .per_core import prepare
from .threads import single_threaded_products
from .windows import WindowArena, World

Program = Generator[None, None, Any]


class Part(NamedTuple):
    """The work of one rank: a kernel on ``values``, one for each argument, in ``blocks`` blocks.

    Arrays in the windows of the world are windows, all others are memory of this rank.
    """

    kernel: Kernel
    values: Sequence[Any]
    blocks: int = 1


class RunningRank(NamedTuple):
    """A running rank: its id, and the programs of its cores."""

    rank: int
    part: Part
    started: Started


def run_ranks(parts: Sequence[Part], world: World, ranks: Sequence[int] | None = None) -> list[list[Any]]:
    """Runs ranks concurrently in this process, by default all of them; returns the result of the entry of each.

    ``ranks`` are the ids of those that have ``parts``. Raises ``BindingError`` for values that do not fit,
    ``ProgramError`` for an error in a program.
    """
    by_rank = dict(enumerate(parts) if ranks is None else zip(ranks, parts, strict=True))
    bound = {rank: bound_values(rank, part) for rank, part in by_rank.items()}
    try:
        return run_bound(by_rank, bound, list(by_rank), world, WindowArena(world.layout, world.content))
    finally:
        for values in bound.values():
            hand_back(values)


def bound_values(rank: int, part: Part) -> list[Any]:
    """Returns the run-time values of the arguments of a rank. Raises ``BindingError``."""
    kernel = part.kernel
    try:
        bound = kernel.bind(part.values)
        prepare(bound, kernel.arguments, kernel.core_positions, part.blocks)
        return bound
    except BindingError as error:
        raise BindingError(f"rank {rank}: {error}", error.subject, error.rule) from None


def run_bound(
    parts: Mapping[int, Part] | Sequence[Part],
    bound: Mapping[int, list[Any]] | Sequence[list[Any]],
    ranks: Sequence[int],
    world: World,
    arena: WindowArena,
    enter: Callable[[Started], None] | None = None,
    relieve: Callable[[], bool] | None = None,
) -> list[list[Any]]:
    """Runs ``ranks`` concurrently on bound values; returns the result of the entry of each.

    ``arena`` has the windows, ``enter`` is called with the blocks of each, ``relieve`` is called to make progress when
    nothing here can.
    """
    running_ranks: list[RunningRank] = []
    for rank in ranks:
        part = parts[rank]
        values = [world.relocated(value, arena) for value in bound[rank]]
        started = part.kernel.start(values, range(part.blocks), part.blocks)
        for block in started.device:
            block.join_rank(rank, arena)
        if enter is not None:
            enter(started)
        running_ranks.append(RunningRank(rank, part, started))
    programs = [
        (core, _with_core_in_faults(core, program)) for one in running_ranks for core, program in one.started.programs
    ]
    schedule = running_ranks[0].part.kernel.options.schedule
    try:
        with np.errstate(all="ignore"), single_threaded_products():
            returned = run_queued(programs, relieve, schedule)
    except (QueuedFault, Fault) as error:
        raise program_error(error, running_ranks) from None
    results: list[list[Any]] = []
    for one in running_ranks:
        mine, returned = returned[: len(one.started.programs)], returned[len(one.started.programs) :]
        results.append(one.part.kernel.end(one.started, mine[one.started.first]))
    return results


def _with_core_in_faults(core: QueueCore, program: Program) -> Program:
    """Returns ``program``, whose faults state the rank and core on which it ran."""
    try:
        return (yield from program)
    except Fault as fault:
        fault.notes = (*fault.notes, f"on {core.name}")
        raise


def program_error(error: QueuedFault | Fault, running_ranks: Sequence[RunningRank]) -> ProgramError:
    """Returns the error of a run at its operation, with what each rank waited for in a deadlock."""
    if isinstance(error, Deadlock):
        stops = [stop for one in running_ranks for stop in stopped_at(one)]
        notes = tuple(wait + stack_text(stack) for wait, stack in stops)
        fault = Fault(error.rule, "the ranks cannot continue", notes)
        operation = next((stack[-1] for _, stack in stops if stack), None)
        return running_ranks[0].part.kernel.located(fault, operation)
    fault, trace, line = error, error.__traceback__, 0
    kernels = [one.part.kernel for one in running_ranks]
    if isinstance(error, QueuedFault):
        fault, trace, line = error.fault, error.fault.__traceback__, error.line
        fault.notes = (*fault.notes, f"on {error.core.name}")
        kernels = [
            one.part.kernel for one in running_ranks if any(core is error.core for core, _ in one.started.programs)
        ]
    assert isinstance(fault, Fault)
    for kernel in kernels:
        operation = kernel.prepare_queues().locate(trace)
        if operation is not None:
            return kernel.located(fault, operation)
    return kernels[0].located(fault, kernels[0].prepare_queues().at_line(line) if line else None)


def stacks(one: RunningRank) -> list[tuple[QueueCore, list[Operation]]]:
    """Returns the current operations of the cores of a rank that have not ended, with the calls that lead to them."""
    compiled = one.part.kernel.prepare_queues()
    return [(core, stack) for core, program in one.started.programs if (stack := compiled.stack_of(program))]


def stopped_at(one: RunningRank) -> list[tuple[str, list[Operation]]]:
    """Returns what each unit of the cores of a rank waits for, and the operation that waits, after the calls that lead
    to it."""
    stops: list[tuple[str, list[Operation]]] = []
    stack_of = {id(core): stack for core, stack in stacks(one)}
    compiled = one.part.kernel.prepare_queues()
    for core, _ in one.started.programs:
        for wait, line in core.blocked():
            of_pipe = compiled.at_line(line)
            stops.append((wait, stack_of.get(id(core), []) if of_pipe is None else [of_pipe]))
    return stops


def stack_text(stack: Sequence[Operation]) -> str:
    """Returns ``, in pto.comm.twait at line 9, called at line 30``."""
    if not stack:
        return ""
    return f", in {stack[-1].name} at {_line(stack[-1])}{calls_text(stack)}"


def calls_text(stack: Sequence[Operation]) -> str:
    """Returns the calls that lead to the last operation: ``, called at line 30``."""
    return "".join(f", called at {_line(call)}" for call in reversed(stack[:-1]))


def _line(op: Operation) -> str:
    span = span_of(op)
    return op.name if span is None else f"line {shown_line(span)}"

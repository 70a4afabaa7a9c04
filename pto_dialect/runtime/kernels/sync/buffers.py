"""Buffer ids as locks between the pipes of one core. Source: docs/reference/execution.md, "Synchronisation".

In program order an instruction has finished before the next one starts, so locks are always free; with queues they
order the pipes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from pto_dialect.analysis.type_facts import integer_attribute
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.placement import named_pipe
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.queues.run import QueueCore
from pto_dialect.targets.sync_resources import A5_SYNC

from ..registry import kernels

BLOCKING, MARKING = 0, 1
"""Modes: ``get_buf`` waits for earlier releases; or it does not, and ``rls_buf`` waits for all bracketed work."""


class BufferKey(NamedTuple):
    """Key of a counter: releases of a buffer id, or marks after the work that it brackets."""

    kind: str
    number: int
    text: str


@dataclass
class Lock:
    """The lock of one buffer id: releases and marks that were issued, and how often each pipe holds it."""

    released: int = 0
    marks: int = 0
    holders: Counter[str] = field(default_factory=Counter)


def check_number(number: int) -> int:
    """Checks the range of a buffer id."""
    assert A5_SYNC.buf_ids is not None
    low, high = A5_SYNC.buf_ids
    if not low <= number <= high:
        raise Fault("sync-buf-range", f"buffer ids are {low} to {high}, found {number}")
    return number


def _lock(core: QueueCore, number: int) -> Lock:
    check_number(number)
    return core.state.setdefault(("buffer", number), Lock())


def _key(kind: str, number: int) -> BufferKey:
    what = "the release of" if kind == "release" else "what is bracketed with"
    return BufferKey(kind, number, f"{what} buffer {number}")


def get_buffer(core: QueueCore, pipe: str, number: int, mode: int, line: int = 0) -> None:
    """Makes ``pipe`` wait until every release that was issued before has happened; ``line`` is that of the generated
    source."""
    lock = _lock(core, number)
    lock.holders[pipe] += 1
    if mode == BLOCKING:
        core.await_level(pipe, _key("release", number), lock.released, line)


def release_buffer(core: QueueCore, pipe: str, number: int, mode: int, line: int = 0) -> None:
    """Releases the buffer once ``pipe`` reaches the release; in mode 1 also not before other pipes finish their work
    with the buffer."""
    lock = _lock(core, number)
    if mode == MARKING:
        for other, held in lock.holders.items():
            if held and other != pipe:
                core.signal(other, ((core, _key("mark", number)),))
                lock.marks += 1
        core.await_level(pipe, _key("mark", number), lock.marks, line)
        core.await_level(pipe, _key("release", number), lock.released, line)
    core.signal(pipe, ((core, _key("release", number)),))
    lock.released += 1
    if lock.holders[pipe]:
        lock.holders[pipe] -= 1


@kernels(
    {
        "pto.get_buf": get_buffer,
        "pto.get_buf_dyn": get_buffer,
        "pto.rls_buf": release_buffer,
        "pto.rls_buf_dyn": release_buffer,
    }
)
def token(op: PtoOp, g: Generator, function: Callable[[QueueCore, str, int, int, int], None]) -> None:
    """A pipe acquires a buffer id, or releases it."""
    pipe = named_pipe(op.attributes["op_type"])
    if pipe is None:
        raise g.error("sync-buf-range", "a buffer id is held by one pipe", op)
    static = integer_attribute(op, "buf_id")
    number = str(static) if static is not None else str(g.name(named(op, "buf_id")))
    if not g.queued:
        if static is None:
            g.emitter.line(f"{g.argument(check_number)}({number})")
        return
    mode = integer_attribute(op, "mode") or BLOCKING
    g.emitter.line(f"{g.argument(function)}(core, {pipe.value!r}, {number}, {mode}, {g.next_line()})")
    if pipe.value == "PIPE_S":
        g.emitter.line("yield from core.join_scalar()")

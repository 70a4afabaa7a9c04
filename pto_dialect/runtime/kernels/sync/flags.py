"""Flags and barriers between the pipes of one core. Source: docs/reference/execution.md, "Synchronisation".

In program order an instruction has finished before the next one starts, so flags only count tokens and barriers do
nothing; with queues they order the pipes.
"""

from __future__ import annotations

from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.placement import named_pipe
from pto_dialect.runtime.compile.generator import Generator

from ..registry import kernel, kernels


def _pipe(op: PtoOp, name: str) -> str:
    return op.attributes[name].data[1]  # pyright: ignore[reportAttributeAccessIssue]


def _event(op: PtoOp, g: Generator) -> str:
    static = op.attributes.get("event_id")
    if static is not None:
        return str(int(static.data[1].removeprefix("EVENT_ID")))  # pyright: ignore[reportAttributeAccessIssue]
    return str(g.name(named(op, "event_id")))


def _flag(method: str, op: PtoOp, g: Generator) -> None:
    _flag_between(method, _pipe(op, "src_pipe"), _pipe(op, "dst_pipe"), _event(op, g), g)


def _flag_between(method: str, source: str, target: str, event: str, g: Generator) -> None:
    if not g.queued:
        g.emitter.line(f"core.{method}({source!r}, {target!r}, {event})")
    elif method == "set_flag":
        g.emitter.line(f"core.queue_set({source!r}, {target!r}, {event})")
    else:
        g.emitter.line(f"core.queue_wait({source!r}, {target!r}, {event}, {g.next_line()})")
        if target == "PIPE_S":
            g.emitter.line("yield from core.join_scalar()")


@kernels(
    {
        **dict.fromkeys(("pto.set_flag", "pto.set_flag_dyn"), "set_flag"),
        **dict.fromkeys(("pto.wait_flag", "pto.wait_flag_dyn"), "wait_flag"),
    }
)
def flag(op: PtoOp, g: Generator, method: str) -> None:
    """One pipe sets a flag for another once its earlier work is complete, or waits for one and consumes it."""
    _flag(method, op, g)


@kernel("pto.barrier")
def barrier(op: PtoOp, g: Generator) -> None:
    """Waits for the earlier work of one pipe, or of all pipes."""
    if g.queued and _pipe(op, "pipe") == "PIPE_ALL":
        g.emitter.line("yield from core.join_all()")
    if g.queued and _pipe(op, "pipe") == "PIPE_S":
        g.emitter.line("core.drain()")


@kernels({"pto.record_event": "set_flag", "pto.wait_event": "wait_flag"})
def event(op: PtoOp, g: Generator, method: str) -> None:
    """The pipe of one operation class sets a flag for that of another, or waits for it."""
    pipes = [named_pipe(op.attributes[name]) for name in ("src_op", "dst_op")]
    source, target = (pipe.value for pipe in pipes if pipe is not None)
    _flag_between(method, source, target, _event(op, g), g)


@kernel("pto.barrier_sync", "pto.mem_bar")
def one_pipe(op: PtoOp, g: Generator) -> None:
    """Order within one pipe, which is always in order."""


@kernel("pto.dcci", "pto.cmo.cacheinvalid")
def maintain(op: PtoOp, g: Generator) -> None:
    """Lines of the data cache of the scalar unit are written back and invalidated: memory is coherent here."""


@kernel("pto.dsb", "pto.fence.barrier_all", "pto.tsync")
def fence(op: PtoOp, g: Generator) -> None:
    """Waits until all earlier work of the core is complete and visible."""
    if g.queued:
        g.emitter.line("yield from core.join_all()")

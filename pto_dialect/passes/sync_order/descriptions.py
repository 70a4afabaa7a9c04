"""How signals are named in messages. Source: docs/reference/synchronisation.md, "Judging a program"."""

from __future__ import annotations

from xdsl.ir import Operation

from pto_dialect.diagnostics.diagnostic import Note
from pto_dialect.diagnostics.origins import shown_line
from pto_dialect.ir.core.location import span_of
from pto_dialect.passes.accesses.items import PIPES, Leaf, Signal


def pipe_name(number: int) -> str:
    """``MTE2`` ..."""
    return PIPES[number].value.removeprefix("PIPE_")


def line_of(op: Operation) -> str:
    """`` (line 7)``; empty for an operation without a source location."""
    span = span_of(op)
    return "" if span is None else f" (line {shown_line(span)})"


def named(item: Leaf | Signal) -> str:
    """The operation of an item with its source location."""
    return f"{item.op.name}{line_of(item.op)}"


def title(signals: tuple[Signal, ...]) -> str:
    """A group of signals as text."""
    first = signals[0]
    if first.kind == "join":
        return "the barrier of all pipes"
    if first.kind == "barrier":
        return f"the barrier of {pipe_name(first.source)}"
    return f"flag EVENT_ID{first.number} from {pipe_name(first.source)} to {pipe_name(first.target)}"


def note_of(item: Leaf | Signal, message: str) -> Note:
    """A note at the source location of an item."""
    return Note(message, span_of(item.op))

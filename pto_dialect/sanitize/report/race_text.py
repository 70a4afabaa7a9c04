"""Messages of conflicts: what happened, between which operations, and what would order them.

The order of the text is what a program means, so messages name operations in that order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pto_dialect.analysis.target import profile_of
from pto_dialect.diagnostics.origins import is_translated

from .describe import bytes_text, from_tiles, operation_text
from .fixes import AddFlag, Change, RemoveStatements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pto_dialect.diagnostics.source import Span

    from ..state.arena import InstrumentedArena
    from ..state.clocks import Thread
    from .sites import Site


class Access(NamedTuple):
    """One side of a conflict: its thread, site, loop iteration, position in the text order, and event."""

    thread: Thread
    site: Site
    loops: tuple[int, ...]
    order: int
    event: int
    writes: bool

    @property
    def verb(self) -> str:
        """Returns the verb of the access: it reads, writes or overwrites."""
        return "writes" if self.writes else "reads"

    def handles(self, arena: InstrumentedArena) -> str:
        """Returns the operands through which the memory is accessed, in brackets."""
        return from_tiles(self.site.operands_in(arena.space, self.writes))

    @property
    def text(self) -> str:
        """Returns the operation with pipe, core, block and loop indices."""
        return operation_text(self.site, self.loops, self.thread)


class Conflict(NamedTuple):
    """Two accesses of the bytes in the ranges ``touched`` in text order; those of two cores in the order of the run."""

    rule: str
    first: Access
    second: Access
    arena: InstrumentedArena
    touched: Sequence[tuple[int, int]]


class Advice(NamedTuple):
    """The help, as text and, where possible, as changes of the program text."""

    text: str
    fix: tuple[Change, ...] = ()


def message(conflict: Conflict) -> str:
    """Returns the message, one sentence."""
    rule, first, second, arena, touched = conflict
    where = bytes_text(arena, touched)
    through = second.handles(arena)
    if rule == "l0c-handover":
        return (
            f"{second.thread.name} reads {where}{through} that {first.site.name} ({first.site.line_text}) produces, "
            "and nothing hands the accumulator over"
        )
    if rule == "race-inverted":
        return (
            f"flags let {second.thread.name} in {second.site.name} {second.verb.removesuffix('s')} {where}{through} "
            f"before {first.thread.name} {first.verb} them in {first.site.name} ({first.site.line_text}), which comes "
            "first in the program"
        )
    return (
        f"{second.thread.name} {second.verb} {where}{through} that {first.thread.name} {first.verb} in "
        f"{first.site.name} ({first.site.line_text}), and nothing orders the two"
    )


def notes(conflict: Conflict) -> list[tuple[str, Span | None]]:
    """Returns notes about both operations."""
    _, first, second, arena, _ = conflict
    return [
        (f"{first.text} {first.verb} them{first.handles(arena)}", first.site.span),
        (f"{second.text} {second.verb} them", None),
    ]


def _signals(site: Site) -> tuple[str, str]:
    """Returns the operations that send and await a signal to another core: C++ has others of its own on a5."""
    is_cpp = site.span is not None and is_translated(site.span.source)
    if is_cpp and profile_of(site.op, None).name == "a5":
        return "pto.set_intra_block", "pto.wait_intra_block"
    return "pto.sync.set", "pto.sync.wait"


def advice(conflict: Conflict, culprit: tuple[int, int] | None = None) -> Advice:
    """Returns what would order the two; ``culprit`` are the sites of wait and set that make them run in reverse."""
    rule, first, second, _, _ = conflict
    before, after = first.site, second.site
    if rule == "race-cross-rank":
        sides = [f"{one.thread.core.name} ({one.site.line_text})" for one in (first, second)]
        return Advice(
            f"a signal between {sides[0]} and {sides[1]} orders them: pto.comm.tnotify by the one that is meant to be "
            "first, after its access, and pto.comm.twait by the other one before its own"
        )
    if rule == "race-cross-block":
        return Advice(
            "pto.syncall between the two, where all blocks pass equally often, orders blocks; atomic stores of one "
            "kind do not conflict"
        )
    if rule == "race-cross-core":
        # The run shows which was first this time, not which is meant to be.
        sides = [f"<{one.thread.pipe}> of {one.thread.core.name} ({one.site.line_text})" for one in (first, second)]
        send, wait = _signals(before)
        return Advice(
            f"a signal between {sides[0]} and {sides[1]} orders them: {send} of the pipe that is meant to be "
            f"first after its access, {wait} of the other one before its own, with one ID and equally often"
        )
    flag = f"[<{first.thread.pipe}>, <{second.thread.pipe}>, <EVENT_IDn>]"
    carried = before.number > after.number and before.function is after.function
    order = "after (in the iteration before)" if carried else "after"
    text = f"pto.set_flag{flag} {order} {before.line_text} and pto.wait_flag{flag} before {after.line_text} order them"
    fix: tuple[Change, ...] = (AddFlag(before.op, after.op, first.thread.pipe, second.thread.pipe, carried),)
    if rule == "l0c-handover":
        text += "; so do unit_flag(check_and_set) on the producer and unit_flag(check_and_clear) on the write-back"
    if rule == "race-inverted":
        if culprit is None:
            return Advice(f"{text}; take out the flags that have them run the other way round")
        wait, set_ = (before.table[number] for number in culprit)
        text += f"; take out pto.wait_flag ({wait.line_text}) and pto.set_flag ({set_.line_text}), "
        text += "which order them against it"
        fix = (RemoveStatements((wait.op, set_.op)), *fix)
    return Advice(text, fix)

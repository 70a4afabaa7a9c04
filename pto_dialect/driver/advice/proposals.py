"""What may make a run faster, from what its pipes have waited for.  Source: docs/cycles.md, "Waits and advice"."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pto_dialect.analysis.cycles.waits import Wait
from pto_dialect.analysis.target import profile_of
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.origins import shown_line
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import MultiTileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.run import run_passes

from .edits import at_line, moved_down, moved_up, orders, without_addresses, without_order

LEAST_SHARE = 0.03
"""Waits that take less of the time than this give rise to no proposal."""

MOST_WAITS = 5
FARTHEST = 2
"""Operations that a wait or a signal is moved over at the most."""


@dataclass(frozen=True)
class Proposal:
    """A change of a copy of the program. ``change`` applies and describes it; the description is empty where nothing
    changes. The best of one ``group`` is reported. ``passes`` is the pipeline for users."""

    group: str
    passes: str
    change: Callable[[ModuleOp], str]
    lines: tuple[int, ...] = ()


def proposals(module: ModuleOp, target: str | None, waits: Sequence[Wait]) -> Iterator[Proposal]:
    """Yields what may help, from small changes to large ones."""
    longest = [one for one in waits if one.share >= LEAST_SHARE]
    if not longest:
        return
    arch = profile_of(module, target).arch
    ordered = any(orders(op) for op in walk(module))
    if ordered:
        yield _passes("redundant", "remove-redundant-sync", target, "without the flags and barriers that others cover")
        signals = [one for one in longest if one.kind == "flag" and one.through is not None][:MOST_WAITS]
        for number, wait in enumerate(signals):
            for over in range(1, FARTHEST + 1):
                yield Proposal(f"later {number}", "", _later(wait, arch, over), (wait.through or 0,))
            for over in range(1, FARTHEST + 1):
                yield Proposal(f"earlier {number}", "", _earlier(wait, arch, over), (wait.through or 0,))
        for wait in [one for one in longest if one.kind == "barrier" and one.through is not None][:MOST_WAITS]:
            yield _without_barrier(wait)
        yield _resynchronised(target)
    for count in (2, 3):
        yield _buffered(count, ordered, target)


def _applied(module: ModuleOp, passes: str, target: str | None) -> bool:
    engine = DiagnosticEngine()
    return run_passes(module, passes.split(","), engine, target)


def _passes(group: str, passes: str, target: str | None, text: str) -> Proposal:
    def change(module: ModuleOp) -> str:
        before = _size(module)
        return text if _applied(module, passes, target) and _size(module) != before else ""

    return Proposal(group, passes, change)


def _size(module: ModuleOp) -> int:
    return sum(1 for _ in walk(module))


def _resynchronised(target: str | None) -> Proposal:
    def change(module: ModuleOp) -> str:
        without_order(module)
        if not _applied(module, "insert-sync", target):
            return ""
        return "flags of insert-sync instead of its flags and barriers"

    return Proposal("order", "insert-sync", change)


def _buffered(count: int, ordered: bool, target: str | None) -> Proposal:
    word = {2: "a second buffer", 3: "a second and a third buffer"}[count]
    slots = f"double-buffer{{count={count}}}"

    def change(module: ModuleOp) -> str:
        placed = without_addresses(module)
        if ordered:
            without_order(module)
        if not _applied(module, slots, target):
            return ""
        tiles = [_tile(op) for op in walk(module) if _is_slots(op, count)]
        rest = [*(["assign-memory"] if placed or ordered else []), *(["insert-sync"] if ordered else [])]
        if not tiles or (rest and not _applied(module, ",".join(rest), target)):
            return ""
        gone = [*(["addresses"] if placed else []), *(["flags and barriers"] if ordered else [])]
        where = f", from the program without its {' and '.join(gone)}" if gone else ""
        return f"{word} for {'each of ' if len(tiles) > 1 else ''}{', '.join(tiles)}{where}"

    passes = ",".join([slots, "assign-memory", *(["insert-sync"] if ordered else [])])
    return Proposal("buffers", passes, change)


def _is_slots(op: Operation, count: int) -> bool:
    types = [result.type for result in op.results]
    return has_role(op, Role.TILE_ALLOCATION) and any(
        isinstance(type_, MultiTileBufType) and op.results[0].name_hint is not None
        and op.results[0].name_hint.endswith("_slots")
        for type_ in types
    )  # fmt: skip


def _tile(op: Operation) -> str:
    span, hint = span_of(op), op.results[0].name_hint or ""
    return f"%{hint.removesuffix('_slots')}{f' (line {shown_line(span)})' if span is not None else ''}"


def _without_barrier(wait: Wait) -> Proposal:
    def change(module: ModuleOp) -> str:
        found = at_line(module, wait.through, None, Role.BARRIER)
        for op in found:
            op.detach()
            op.erase()
        return f"without the barrier in line {wait.through}" if found else ""

    return Proposal(f"barrier {wait.through}", "", change, (wait.through or 0,))


def _later(wait: Wait, arch: str, over: int) -> Callable[[ModuleOp], str]:
    def change(module: ModuleOp) -> str:
        for op in at_line(module, wait.through, None, Role.WAITS):
            if moved_down(op, wait.pipe, arch, over):
                return f"{op.name} of line {wait.through} after {_operation_text(op.prev_op)}"
        return ""

    return change


def _earlier(wait: Wait, arch: str, over: int) -> Callable[[ModuleOp], str]:
    """Returns the signal after the operation that was waited for."""

    def change(module: ModuleOp) -> str:
        waits = at_line(module, wait.through, None, Role.WAITS)
        for op in walk(module):
            if not has_role(op, Role.SETS) or not waits or not _pair(op, waits[0]):
                continue
            span = span_of(op)
            if moved_up(op, wait.awaited, arch, over):
                line = shown_line(span) if span is not None else "?"
                return f"{op.name} of line {line} before {_operation_text(op.next_op)}"
        return ""

    return change


def _pair(sets: Operation, waits: Operation) -> bool:
    """Returns whether two operations name the same flag."""
    words = ("src_pipe", "dst_pipe", "src_op", "dst_op", "event_id")
    return all(sets.attributes.get(word) == waits.attributes.get(word) for word in words)


def _operation_text(op: Operation | None) -> str:
    if op is None:
        return "the end"
    span = span_of(op)
    return f"{op.name}{f' (line {shown_line(span)})' if span is not None else ''}"

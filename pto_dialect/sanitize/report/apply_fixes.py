"""Applies the fixes of findings to the text of the program. Source: docs/reference/instrumentation.md, "Reports".

Everything but the lines concerned is unchanged, comments included.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation

from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.ir.core.attributes import ENUMS
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.placement import named_pipe
from pto_dialect.ir.core.roles import Role, enclosing, has_role
from pto_dialect.ir.core.walk import ancestors, walk
from pto_dialect.ir.sync.flags import DynamicFlagOp, FlagOp, SetFlagOp, WaitFlagOp

from .fixes import AddFlag, Change, InsertBefore, MoveTile, RemoveStatements, SendFlag, TakeFlag

_EVENTS = len(ENUMS["event"].values)
_ADDRESS = re.compile(r"\baddr\s*=\s*(%[\w.$-]+)")


class CannotApplyError(ValueError):
    """A change that the text does not allow; the message states why."""


@dataclass
class _Edits:
    """Texts to insert at offsets, and ranges to remove."""

    inserted: dict[int, list[str]] = field(default_factory=dict)
    removed: list[tuple[int, int]] = field(default_factory=list)

    def insert(self, offset: int, text: str) -> None:
        """Inserts ``text`` at ``offset``; each text only once."""
        texts = self.inserted.setdefault(offset, [])
        if text not in texts:
            texts.append(text)

    def applied(self, text: str) -> str:
        """Returns the new text."""
        for offset in sorted({*self.inserted, *(start for start, _ in self.removed)}, reverse=True):
            stop = max((stop for start, stop in self.removed if start == offset), default=offset)
            text = text[:offset] + "".join(self.inserted.get(offset, ())) + text[stop:]
        return text


class Patch:
    """Changes of one program."""

    def __init__(self, text: str, functions: Iterable[Operation]) -> None:
        self.text = text
        self.edits = _Edits()
        self.used = _flags_of(functions)
        self.removed: set[Operation] = set()
        self.moved = 0

    def result(self) -> str:
        """Returns the changed text."""
        return self.edits.applied(self.text)

    def apply(self, changes: Sequence[Change]) -> None:
        """Adds the changes of one finding. Raises :class:`CannotApplyError`; then none of them is added."""
        edits, used = self.edits, self.used
        self.edits = _Edits({offset: list(texts) for offset, texts in edits.inserted.items()}, list(edits.removed))
        self.used = {pair: set(numbers) for pair, numbers in used.items()}
        try:
            for change in changes:
                match change:
                    case AddFlag():
                        self._flag(change)
                    case SendFlag(wait):
                        self._send(wait)
                    case TakeFlag(set_):
                        self._take(set_)
                    case MoveTile(op, address):
                        self._move(op, address)
                    case InsertBefore(op, statement):
                        self._before(op, statement)
                    case RemoveStatements(ops):
                        for op in ops:
                            self._remove(op)
        except CannotApplyError:
            self.edits, self.used = edits, used
            raise

    # ------------------------------------------------------------ changes

    def _flag(self, change: AddFlag) -> None:
        first, second = _in_one_block(change.first, change.second)
        number = self._number(change.source, change.target)
        flag = f'["{change.source}", "{change.target}", "EVENT_ID{number}"]'
        if not change.carried and first is not second and _precedes(first, second):
            self._after(first, f"pto.set_flag{flag}")
            self._before(second, f"pto.wait_flag{flag}")
            return
        # The next iteration waits for this one; the set for the first iteration is inserted before the loop.
        loop = first.parent_op()
        while loop is not None and not has_role(loop, Role.LOOP):
            first = second = loop
            loop = loop.parent_op()
        if loop is None:
            raise CannotApplyError("no loop contains both operations")
        self._before(loop, f"pto.set_flag{flag}")
        self._before(second, f"pto.wait_flag{flag}")
        self._after(first, f"pto.set_flag{flag}")
        self._after(loop, f"pto.wait_flag{flag}")

    def _send(self, wait: Operation) -> None:
        flag = _static_flag(wait)
        loop = enclosing(wait, Role.LOOP)
        carried = loop is not None and any(isinstance(op, SetFlagOp) and _key(op) == _key(wait) for op in walk(loop))
        self._before(loop if loop is not None and carried else wait, f"pto.set_flag{flag}")

    def _take(self, set_: Operation) -> None:
        flag = _static_flag(set_)
        loop = enclosing(set_, Role.LOOP)
        if loop is not None and any(isinstance(op, WaitFlagOp) and _key(op) == _key(set_) for op in walk(loop)):
            self._after(loop, f"pto.wait_flag{flag}")
        else:
            self._remove(set_)

    def _move(self, op: Operation, address: int) -> None:
        span = span_of(op)
        match = _ADDRESS.search(span.text) if span is not None else None
        if span is None or match is None:
            raise CannotApplyError("the allocation states no address")
        name = f"%place_{address}_{self.moved}"
        self.moved += 1
        self._before(op, f"{name} = arith.constant {address} : i64")
        self.edits.removed.append((span.start + match.start(1), span.start + match.end(1)))
        self.edits.insert(span.start + match.start(1), name)

    def _number(self, source: str, target: str) -> int:
        used = self.used.setdefault((source, target), set())
        for number in range(_EVENTS):
            if number not in used:
                used.add(number)
                return number
        raise CannotApplyError(f"all {_EVENTS} flags from {source} to {target} are in use")

    def _before(self, op: Operation, statement: str) -> None:
        start = _line_start(self.text, _start(op))
        self.edits.insert(start, f"{_indent(self.text, start)}{statement}\n")

    def _after(self, op: Operation, statement: str) -> None:
        self.edits.insert(
            _line_end(self.text, _stop(op)), f"{_indent(self.text, _line_start(self.text, _start(op)))}{statement}\n"
        )

    def _remove(self, op: Operation) -> None:
        if op in self.removed:
            return
        self.removed.add(op)
        start = _line_start(self.text, _start(op))
        self.edits.removed.append((start, _line_end(self.text, _stop(op))))


# ------------------------------------------------------------ positions in the text


def _start(op: Operation) -> int:
    span = span_of(op)
    if span is None:
        raise CannotApplyError(f"{op.name} has no source location")
    return span.start


def _line_start(text: str, offset: int) -> int:
    start = text.rfind("\n", 0, offset) + 1
    if text[start:offset].strip():
        raise CannotApplyError("the operation is not at the start of its line")
    return start


def _line_end(text: str, offset: int) -> int:
    """Returns the offset after the line in which an operation ends."""
    stop = text.find("\n", offset)
    rest = text[offset:stop].strip()
    if stop < 0 or (rest and not rest.startswith(("//", "loc("))):
        raise CannotApplyError("the operation is not at the end of its line")
    return stop + 1


def _indent(text: str, start: int) -> str:
    return text[start : len(text) - len(text[start:].lstrip(" \t"))]


def _stop(op: Operation) -> int:
    """Returns the offset after an operation with all its regions."""
    span = span_of(op)
    if span is None:
        raise CannotApplyError(f"{op.name} has no source location")
    return span.end


# ------------------------------------------------------------ positions in the program


def _in_one_block(first: Operation, second: Operation) -> tuple[Operation, Operation]:
    """Returns the operations around both that are in one block; one operation twice when they are in parts of it."""
    around = {op.parent: op for op in (first, *ancestors(first)) if op.parent is not None}
    for op in (second, *ancestors(second)):
        outer = around.get(op.parent) if op.parent is not None else None
        if outer is not None and not has_role(outer, Role.FUNCTION):
            return outer, op
    raise CannotApplyError("the operations are in different functions")


def _precedes(first: Operation, second: Operation) -> bool:
    op: Operation | None = first
    while op is not None:
        if op is second:
            return True
        op = op.next_op
    return False


def _flags_of(functions: Iterable[Operation]) -> dict[tuple[str, str], set[int]]:
    """Returns the ids of the flags that a program uses, by pipes; computed ids count as all."""
    used: dict[tuple[str, str], set[int]] = {}
    for function in functions:
        for op in walk(function):
            if not isinstance(op, (FlagOp, DynamicFlagOp)):
                continue
            source, target = (named_pipe(op.attributes.get(name)) for name in ("src_pipe", "dst_pipe"))
            if source is None or target is None:
                continue
            number = enumerator(op, "event_id").removeprefix("EVENT_ID")
            numbers = {int(number)} if number.isdecimal() else set(range(_EVENTS))
            used.setdefault((source.value, target.value), set()).update(numbers)
    return used


def _key(op: Operation) -> tuple[str, str, str]:
    pipes = (named_pipe(op.attributes.get(name)) for name in ("src_pipe", "dst_pipe"))
    source, target = (pipe.value if pipe is not None else "" for pipe in pipes)
    return source, target, enumerator(op, "event_id")


def _static_flag(op: Operation) -> str:
    """Returns the brackets of a flag with a fixed id."""
    source, target, number = _key(op)
    if not isinstance(op, FlagOp):
        raise CannotApplyError(f"the number of {op.name} is computed")
    return f'["{source}", "{target}", "{number}"]'

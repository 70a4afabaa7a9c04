"""One debugging session: its position in a recording, and the ways to move it.

A position is a number of completed steps: position p is before step p, and memory is that after step p - 1. Source:
docs/debugger.md, "Positions".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pto_dialect.recording import Handle, Recording, RecordingError, Step
from pto_dialect.recording.model import Change
from pto_dialect.recording.tiles import numbers_of
from pto_dialect.runtime.memory.spaces import Array

from .expressions import Expression, ExpressionError
from .frames import CoreOrder, Frame
from .points import Point
from .sources import SourceLines

Rerun = Callable[[Sequence[Change]], Recording]
"""Runs the program again with changes, and records it."""


class DebugError(Exception):
    """A command cannot be carried out; the text says why."""


class Stop(NamedTuple):
    """Why the session stopped: the breakpoint (``None``: none) and a text."""

    point: Point | None
    text: str


class Session:
    """A recording with a position in it.

    ``rerun`` is ``None`` where the program cannot be run again. ``arrays`` are those that the user has loaded.
    """

    def __init__(self, recording: Recording, rerun: Rerun | None = None) -> None:
        self.recording = recording
        self.sources = SourceLines(recording)
        self.rerun = rerun
        self.position = 0
        self.points: list[Point] = []
        self.arrays: dict[str, Any] = {}
        self.changes: list[Change] = []
        self._created = 0
        self._orders: dict[tuple[int, str], CoreOrder] = {}

    # ------------------------------------------------------------ places

    @property
    def end(self) -> int:
        """The position after the last step."""
        return len(self.recording)

    def step_at(self, position: int) -> Step | None:
        """Returns the step that comes next at a position; ``None`` at the end."""
        return self.recording.step(position) if 0 <= position < self.end else None

    @property
    def here(self) -> Step | None:
        """The step that comes next."""
        return self.step_at(self.position)

    def around(self) -> Step:
        """Returns the step that comes next, at the end the last one. Raises ``DebugError`` where there is none at
        all."""
        if not self.end:
            raise DebugError("nothing was executed")
        return self.recording.step(min(self.position, self.end - 1))

    def core_order(self, block: int, core: str) -> CoreOrder:
        """Returns the steps of a core in the order of the text."""
        key = (block, core)
        found = self._orders.get(key)
        if found is None:
            steps = self.recording.steps
            chosen = np.flatnonzero((steps.block == block) & (steps.core == core))
            found = self._orders[key] = CoreOrder(self.recording, chosen)
        return found

    def order_of(self, step: Step) -> CoreOrder:
        """That of the core of a step."""
        return self.core_order(step.thread.block, step.thread.core)

    def frames(self, step: Step) -> list[tuple[Frame, Step]]:
        """Returns the call stack of a step, innermost function first, each with the step it executes."""
        order = self.order_of(step)
        number = order.frame_of(step.number)
        found: list[tuple[Frame, Step]] = []
        while number >= 0:
            frame = order.frames[0][number]
            found.append((frame, step))
            number = frame.parent
            if frame.call >= 0:
                step = self.recording.step(frame.call)
        return found

    # ------------------------------------------------------------ moving

    def move(self, position: int) -> None:
        """Goes to a position."""
        self.position = min(max(position, 0), self.end)

    def next_line(self, forwards: bool) -> int:
        """Returns the position of the next statement on another line, or in another round of a loop, on the same
        core."""
        step = self.around()
        return self._search(step, forwards, lambda one: self._place(one) != self._place(step))

    def over(self) -> int:
        """Moves past the next loop, branch or call, or the innermost enclosing loop or function."""
        step = self.around()
        depth = len(self.frames(step))
        statement = step.statement
        depths = self.order_of(step).depths
        if statement.kind == "call":
            return self._search(step, True, likely=depths <= depth)
        inner = statement if statement.kind == "region" else self._loop_around(step)
        if inner is None:
            return self.out()

        begin, end = (inner.line, inner.col), (inner.end_line, inner.end_col)
        same = [one.function == inner.function for one in self.recording.statements]
        outside = [not begin <= (one.line, one.col) < end for one in self.recording.statements]
        statements = self.recording.steps.statement
        found = np.where(np.array(same)[statements], np.array(outside)[statements], depths < depth)
        return self._search(step, True, likely=found)

    def _loop_around(self, step: Step) -> Any:
        around = [
            one
            for one in self.recording.statements
            if one.kind == "region"
            and one.function == step.statement.function
            and (one.line, one.col) < (step.statement.line, step.statement.col) < (one.end_line, one.end_col)
        ]
        return max(around, key=lambda one: (one.line, one.col), default=None)

    def into(self) -> int:
        """Returns the first step of the next function that this core calls."""
        step = self.around()
        depths = self.order_of(step).depths
        return self._search(step, True, likely=depths > depths[step.number])

    def out(self) -> int:
        """Moves past the function."""
        step = self.around()
        depths = self.order_of(step).depths
        return self._search(step, True, likely=depths < depths[step.number])

    def idle(self, pipe: str) -> int:
        """Returns the position at which a pipe of the core has done all that it was given up to here."""
        step = self.around()
        steps = self.recording.steps
        ours = (steps.block == step.thread.block) & (steps.core == step.thread.core)
        if not (ours & (steps.pipe == pipe)).any():
            names = ", ".join(sorted(set(steps.pipe[ours].tolist())))
            raise DebugError(f"{step.thread.core} has used no pipe {pipe}; it has used {names}")
        before = ours.copy()
        before[self.position :] = False
        given = int(steps.order[before].max()) if before.any() else 0
        waiting = np.flatnonzero(ours & (steps.pipe == pipe) & (steps.order <= given))
        last = int(waiting[-1]) + 1 if waiting.size else self.position
        return max(last, self.position)

    @staticmethod
    def _place(step: Step) -> tuple[object, ...]:
        return step.statement.function, step.statement.line, step.loops

    def _search(
        self,
        start: Step,
        forwards: bool,
        wanted: Callable[[Step], bool] = lambda _: True,
        likely: Array | None = None,
    ) -> int:
        """Returns the position of the next step on the core of ``start`` that is ``wanted``; the end where there is
        none. ``likely`` says by step which ones to look at."""
        steps = self.recording.steps
        ours = (steps.block == start.thread.block) & (steps.core == start.thread.core)
        if likely is not None:
            ours &= likely
        numbers = np.flatnonzero(ours)
        place = int(np.searchsorted(numbers, self.position, side="right" if forwards else "left"))
        for number in map(int, numbers[place:] if forwards else numbers[:place][::-1]):
            if wanted(self.recording.step(number)):
                return number
        return self.end if forwards else 0

    # ------------------------------------------------------------ breakpoints

    def add(self, point: Point) -> Point:
        """Takes a breakpoint; it gets its number."""
        self._created += 1
        point.number = self._created
        self.points.append(point)
        return point

    def point(self, number: int) -> Point:
        """Returns a breakpoint by number. Raises ``DebugError``."""
        for point in self.points:
            if point.number == number:
                return point
        raise DebugError(f"there is no breakpoint {number}")

    def go(self, forwards: bool = True, until: int | None = None) -> Stop | None:
        """Moves to the next breakpoint, or to ``until``, at most to the end or the start; ``None`` where no breakpoint
        stopped it."""
        first = self.position + (1 if forwards else -1)
        limit = until if until is not None else self.end if forwards else 0
        found: tuple[int, Point] | None = None
        for point in self.points:
            if point.enabled:
                for position in point.stops(self.recording, first, 1 if forwards else -1, self._holds):
                    if found is None or ((position < found[0]) is forwards and position != found[0]):
                        found = (position, point)
                    break
        if found is None or (found[0] > limit if forwards else found[0] < limit):
            self.move(limit)
            return None
        position, point = found
        point.hits += 1
        self.move(position)
        return Stop(point, f"breakpoint {point.number}, {point.text}")

    def _holds(self, position: int, condition: Expression) -> bool:
        try:
            return bool(np.all(self.value(condition, position)))
        except ExpressionError:
            # A name that is not there yet.
            return False

    # ------------------------------------------------------------ values

    def variables(self, position: int | None = None) -> dict[str, Any]:
        """Returns the numbers and handles of the function that is carried out, by name, those of loops first."""
        position = self.position if position is None else position
        if not self.end:
            return {}
        step = self.recording.step(min(position, self.end - 1))
        found: dict[str, Any] = {}
        for number in self.order_of(step).latest(step.number):
            found.update(self.recording.handles_of(number))
            found.update(self.recording.scalars_of(number))
        found.update(zip(step.statement.loops, step.loops, strict=True))
        return found

    def handle(self, name: str, position: int | None = None) -> Handle | None:
        """Returns the tile, view or pointer called ``name``; ``None`` where there is none."""
        found = self.variables(position).get(name)
        return found if isinstance(found, Handle) else None

    def value(self, expression: Expression, position: int | None = None) -> Any:
        """Returns the value of an expression. Raises ``ExpressionError``."""
        position = self.position if position is None else position
        known: dict[str, Any] | None = None

        def lookup(name: str) -> Any:
            nonlocal known
            if name in self.arrays:
                return self.arrays[name]
            name = self.sources.value_name(name)
            if not name.startswith("%"):
                raise ExpressionError(f"there is no {name}; names of the program begin with %")
            if known is None:
                known = self.variables(position)
            found = known.get(name)
            if found is None:
                return self._argument(name, position)
            return self.content(found, position) if isinstance(found, Handle) else found

        return expression.value(lookup)

    def _argument(self, name: str, position: int) -> Any:
        try:
            return self.recording.argument_at(position - 1, name)
        except KeyError:
            raise ExpressionError(f"there is no {self.sources.shown_name(name)} here") from None

    def content(self, handle: Handle, position: int | None = None, valid: bool = True) -> Any:
        """Returns the values of a handle; for a pointer those of its memory from the address on. Raises
        ``ExpressionError``."""
        position = self.position if position is None else position
        recording = self.recording
        try:
            if handle.form.kind != "pointer":
                return recording.tile_at(position - 1, handle, valid)
            if handle.memory < 0 or not 0 <= handle.address <= recording.memories[handle.memory].size:
                raise ExpressionError("the pointer points to no memory")
            content = np.frombuffer(recording.memory_at(position - 1, handle.memory, first=handle.address), np.uint8)
            size = handle.form.item_bytes
            return numbers_of(content[: content.size // size * size], handle.form.element)
        except RecordingError as error:
            raise ExpressionError(str(error)) from None

    # ------------------------------------------------------------ changes

    def restart(self) -> None:
        """Goes to the begin of the run as it was before anything was changed. Raises ``DebugError``."""
        if self.changes:
            assert self.rerun is not None
            try:
                self.recording = self.rerun([])
            except RecordingError as error:
                raise DebugError(str(error)) from None
            self.changes = []
            self._orders.clear()
        self.position = 0

    def change(self, memory: str, first: int, content: bytes) -> None:
        """Gives bytes of a memory another content, and runs the program on from here. Raises ``DebugError``."""
        if self.rerun is None:
            raise DebugError("a recording cannot be changed; run the program with --debug")
        if self.position >= self.end:
            raise DebugError("the run is over; go back to where the change is to be made")
        change = Change(self.position, memory, first, content)
        kept = [one for one in self.changes if one.position <= self.position]
        try:
            recording = self.rerun([*kept, change])
        except RecordingError as error:
            raise DebugError(str(error)) from None
        self.changes = [*kept, change]
        self.recording = recording
        self._orders.clear()

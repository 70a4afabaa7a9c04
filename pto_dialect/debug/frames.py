"""Program order in a recording: the call stack of each step, and the last values.

Source: docs/debugger.md, "Positions".
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from pto_dialect.recording import Recording
from pto_dialect.runtime.memory.spaces import Array


class Frame(NamedTuple):
    """A function that is carried out: its name, the step of the call (-1 for an entry) and the frame of the caller (-1:
    none)."""

    function: str
    call: int
    parent: int


class CoreOrder:
    """The steps of one core in the order of the text."""

    def __init__(self, recording: Recording, chosen: Array) -> None:
        self.recording = recording
        order = recording.steps.order[chosen]
        places = np.lexsort((chosen, order))
        self.steps = chosen[places]
        self.orders = order[places]
        self.statements = recording.steps.statement[self.steps]

    @cached_property
    def frames(self) -> tuple[list[Frame], Array]:
        """The frames, and the frame of each step in the order of the text."""
        statements = self.recording.statements
        names = {name: number for number, name in enumerate(dict.fromkeys(one.function for one in statements))}
        functions = np.array([names[one.function] for one in statements], np.int64)[self.statements]
        calls = np.array([one.kind == "call" for one in statements], np.bool_)[self.statements]
        frames: list[Frame] = []
        found: list[int] = []
        current = -1
        # A new frame may start only where the function changes, or after a call.
        changes = np.flatnonzero((functions[1:] != functions[:-1]) | calls[:-1]) + 1
        places = [0, *changes.tolist()] if len(self.steps) else []
        for place in places:
            name = statements[int(self.statements[place])].function
            called = int(self.steps[place - 1]) if place and calls[place - 1] else -1
            if called >= 0 and frames[current].function != name:
                frames.append(Frame(name, called, current))
                current = len(frames) - 1
            else:
                while current >= 0 and frames[current].function != name:
                    current = frames[current].parent
                if current < 0:
                    frames.append(Frame(name, -1, -1))
                    current = len(frames) - 1
            found.append(current)
        return frames, np.repeat(np.array(found, np.int64), np.diff([*places, len(self.steps)]))

    @cached_property
    def depths(self) -> Array:
        """By step of the recording: the depth of its call stack; 0 for steps of other cores."""
        frames, numbers = self.frames
        deep: list[int] = []
        for frame in frames:
            deep.append(1 + (deep[frame.parent] if frame.parent >= 0 else 0))
        found = np.zeros(len(self.recording), np.int64)
        found[self.steps] = np.array(deep, np.int64)[numbers]
        return found

    def place(self, step: int) -> int:
        """Returns where a step stands in the order of the text."""
        order = int(self.recording.steps.order[step])
        first = int(np.searchsorted(self.orders, order))
        while first < len(self.steps) - 1 and self.steps[first] != step:
            first += 1
        return first

    def frame_of(self, step: int) -> int:
        """Returns the frame of a step."""
        return int(self.frames[1][self.place(step)])

    @cached_property
    def _of_statement(self) -> dict[int, Array]:
        found: dict[int, Array] = {}
        order = np.argsort(self.statements, kind="stable")
        numbers, starts = np.unique(self.statements[order], return_index=True)
        for number, places in zip(numbers.tolist(), np.split(order, starts[1:]), strict=True):
            found[number] = places
        return found

    def latest(self, step: int) -> list[int]:
        """For each statement of the function of ``step`` the last step of it up to that one, oldest first; none that
        belong to another frame."""
        place = self.place(step)
        frames = self.frames[1]
        frame = int(frames[place])
        function = self.recording.statements[int(self.statements[place])].function
        found: list[int] = []
        for number, places in self._of_statement.items():
            if self.recording.statements[number].function != function:
                continue
            last = int(np.searchsorted(places, place, side="right")) - 1
            if last >= 0 and int(frames[places[last]]) == frame:
                found.append(int(places[last]))
        return [int(self.steps[each]) for each in sorted(found)]

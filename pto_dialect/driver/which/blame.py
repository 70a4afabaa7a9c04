"""The operation at which two stages part: both are recorded, and what their operations write is compared."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from pto_dialect.debug.compare import compare
from pto_dialect.debug.sources import SourceLines
from pto_dialect.recording import Recording, RecordingError, Step
from pto_dialect.recording import open as open_recording

from .sides import Difference

Record = Callable[[str], None]
"""Runs a stage and records it in a file."""


class Operation(NamedTuple):
    """One execution of an operation: its name, where it is written, on which block and pipe, in which iteration."""

    name: str
    file: str
    line: int
    text: str
    block: int
    core: str
    pipe: str
    loops: dict[str, int]

    @property
    def where(self) -> str:
        """For people: two lines."""
        loops = f" [{', '.join(f'{name} = {value}' for name, value in self.loops.items())}]" if self.loops else ""
        return (
            f"{self.file}:{self.line}, block {self.block} {self.core} {self.pipe}{loops}\n  {self.line:>5}  {self.text}"
        )


class Blame(NamedTuple):
    """``one`` and ``other`` are the operations of the two stages that first write other numbers, to ``value``; or,
    where no such pair is found (``parts`` is false), those that have written the wrong element last."""

    parts: bool
    value: str
    one: Operation | None
    other: Operation | None

    def as_data(self) -> dict[str, object]:
        """Returns the same for JSON."""
        sides = [None if side is None else side._asdict() for side in (self.one, self.other)]
        return {"parts": self.parts, "value": self.value, "operations": sides}


def blame(records: tuple[Record, Record], found: Difference) -> Blame | None:
    """Returns where two stages part that differ at ``found``; ``None`` where their runs cannot be recorded."""
    with TemporaryDirectory(prefix="pto-which-") as folder:
        paths = [os.path.join(folder, f"{number}.pto-rec") for number in range(2)]
        try:
            for record, path in zip(records, paths, strict=True):
                record(path)
            with open_recording(paths[0]) as one, open_recording(paths[1]) as other:
                return _blame(one, other, found)
        except (RecordingError, OSError):
            return None


def last_writer(record: Record, found: Difference) -> Operation | None:
    """Returns the operation of a run that has written an element last."""
    with TemporaryDirectory(prefix="pto-which-") as folder:
        path = os.path.join(folder, "run.pto-rec")
        try:
            record(path)
            with open_recording(path) as recording:
                return _writer(recording, found)
        except (RecordingError, OSError):
            return None


def _blame(one: Recording, other: Recording, found: Difference) -> Blame:
    parting = compare(one, other, lambda _: (0.0, 0.0)).parting
    if parting is None or parting.one is None or parting.other is None:
        return Blame(False, f"%{found.name}", _writer(one, found), _writer(other, found))
    steps = one.step(parting.one.step), other.step(parting.other.step)
    name = f"{parting.one.name}[{', '.join(map(str, parting.place))}]"
    return Blame(True, name, _operation(one, steps[0]), _operation(other, steps[1]))


def _writer(recording: Recording, found: Difference) -> Operation | None:
    argument = next((one for one in recording.arguments if one.name == found.name and one.memory >= 0), None)
    if argument is None:
        return None
    item = np.dtype(argument.dtype).itemsize if argument.dtype else 1
    flat = int(np.ravel_multi_index(found.element, argument.shape)) if _fits(found.element, argument.shape) else 0
    first = argument.address + flat * item
    writers = recording.history(argument.memory).writers(recording.last, first, first + item)
    if not len(writers):
        return None
    return _operation(recording, recording.step(int(recording.accesses.step[writers[-1]])))


def _fits(index: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    return len(index) == len(shape) and math.prod(shape) > 0 and all(i < n for i, n in zip(index, shape, strict=True))


def _operation(recording: Recording, step: Step) -> Operation:
    seen = SourceLines(recording).place(step.statement)
    loops = dict(zip(step.statement.loops, step.loops, strict=True))
    thread = step.thread
    return Operation(
        step.statement.name, seen.file, seen.line, seen.text.strip(), thread.block, thread.core, thread.pipe, loops
    )

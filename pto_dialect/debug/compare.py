"""Two recordings side by side: the first operation and element where their numbers part.

Source: docs/debugger.md, "Two runs".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from pto_dialect.recording import Handle, Recording, RecordingError, Step
from pto_dialect.runtime.memory.spaces import Array

from . import show
from .sources import SourceLines

Tolerances = Callable[[str], tuple[float, float]]
"""Relative and absolute tolerance for an element format."""

Key = tuple[object, ...]


class Written(NamedTuple):
    """What a step has written through one of its handles."""

    step: int
    name: str
    handle: Handle


class Parting(NamedTuple):
    """Where two runs part: what both have written, or the name of an argument that differs in the end; the first index,
    and how many elements differ."""

    one: Written | None
    other: Written | None
    argument: str
    place: tuple[int, ...]
    values: tuple[object, object]
    wrong: int
    size: int


class Comparison(NamedTuple):
    """The first difference (``None``: there is none), and how many writes and elements were compared before it."""

    parting: Parting | None
    writes: int
    elements: int


def compare(one: Recording, other: Recording, tolerances: Tolerances) -> Comparison:
    """Compares what operations write through values of the same name, block, core and loop indices, in the order of
    ``one``; then the arguments in the end."""
    theirs = dict(_writes(other))
    writes = elements = 0
    for key, mine in _writes(one):
        match = theirs.get(key)
        if match is None or not _is_equal(mine.handle, match.handle):
            continue
        try:
            left = one.tile_at(mine.step, mine.handle)
            right = other.tile_at(match.step, match.handle)
        except RecordingError:
            continue
        found = _difference(left, right, tolerances(mine.handle.form.element))
        if found is not None:
            index, count = found
            values = left[index].item(), right[index].item()
            return Comparison(Parting(mine, match, "", index, values, count, left.size), writes, elements)
        writes += 1
        elements += left.size
    return _arguments(one, other, tolerances, writes, elements)


def _arguments(one: Recording, other: Recording, tolerances: Tolerances, writes: int, elements: int) -> Comparison:
    names = {argument.name for argument in other.arguments}
    for argument in one.arguments:
        if argument.memory < 0 or argument.name not in names:
            continue
        left, right = np.asarray(one.end(argument.name)), np.asarray(other.end(argument.name))
        if left.shape != right.shape or left.dtype != right.dtype:
            continue
        found = _difference(left, right, tolerances(argument.element))
        if found is not None:
            index, count = found
            values = left[index].item(), right[index].item()
            return Comparison(Parting(None, None, argument.name, index, values, count, left.size), writes, elements)
        elements += left.size
    return Comparison(None, writes, elements)


def _writes(recording: Recording) -> Iterator[tuple[Key, Written]]:
    """Yields what each step has written, by what stays the same between runs."""
    times: Counter[Key] = Counter()
    accesses = recording.accesses
    for number in np.unique(accesses.step[accesses.writes != 0]).tolist():
        step = recording.step(number)
        for name, handle in written_through(recording, step):
            loops = tuple(zip(step.statement.loops, step.loops, strict=True))
            key = (step.thread.block, step.statement.function, name, loops)
            times[key] += 1
            yield (*key, times[key]), Written(number, name, handle)


def written_through(recording: Recording, step: Step) -> list[tuple[str, Handle]]:
    """Returns the tiles and views through which a step has written, by name."""
    written = [access for access in recording.accesses_of(step.number) if access.writes]
    found: list[tuple[str, Handle]] = []
    for name, handle in recording.handles_of(step.number).items():
        form = handle.form
        if form.kind == "tile":
            low, high = handle.address, handle.address + form.layout[0] * form.layout[1] * form.item_bytes
        elif form.kind == "view":
            spans = sum((count - 1) * stride for count, stride in zip(form.shape, form.strides, strict=True))
            low, high = handle.address, handle.address + (spans + 1) * form.item_bytes
        else:
            continue
        if any(one.memory == handle.memory and low <= one.first and one.stop <= high for one in written):
            found.append((name, handle))
    return found


def _is_equal(one: Handle, other: Handle) -> bool:
    shapes = [form.valid if form.kind == "tile" else form.shape for form in (one.form, other.form)]
    return shapes[0] == shapes[1] and one.form.element == other.form.element


def _difference(left: Array, right: Array, tolerance: tuple[float, float]) -> tuple[tuple[int, ...], int] | None:
    """Returns the first index where two arrays differ, and at how many they do; ``None`` where they do not."""
    if left.shape != right.shape:
        return None
    a, b = left.astype(np.float64), right.astype(np.float64)
    relative, absolute = tolerance
    with np.errstate(all="ignore"):
        near = np.abs(a - b) <= absolute + relative * np.abs(b)
    wrong = ~(near | (left == right) | (np.isnan(a) & np.isnan(b)))
    if not wrong.any():
        return None
    return tuple(int(each) for each in np.argwhere(wrong)[0]), int(np.count_nonzero(wrong))


def comparison_text(one: Recording, other: Recording, found: Comparison) -> str:
    """Returns what a comparison has found, in lines."""
    compared = f"{found.writes} writes and {found.elements} elements"
    parting = found.parting
    if parting is None:
        return f"no difference in {compared}"
    index = ", ".join(map(str, parting.place))
    left, right = (f"{value:.9g}" if isinstance(value, float) else str(value) for value in parting.values)
    count = f"{parting.wrong} of {parting.size} elements differ"
    if parting.one is None or parting.other is None:
        return (
            f"%{parting.argument}[{index}] is {left} in the end, and {right}; {count}\n"
            f"{compared} of operations that both have are the same"
        )
    lines = [f"the runs part at {parting.one.name}[{index}]: {left} and {right}; {count}"]
    for recording, written in ((one, parting.one), (other, parting.other)):
        step = recording.step(written.step)
        lines.append(show.step_lines(SourceLines(recording), step))
    lines.append(f"{compared} before that are the same")
    return "\n".join(lines)

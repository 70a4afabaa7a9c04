"""What stands out in the numbers of tiles: NaN, infinities, ends of a range, and what a conversion could not hold.

Source: docs/debugger.md, "Values".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pto_dialect.recording import Handle, Recording, RecordingError, Step
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.numerics.format_table import Format, format_of


def remarks(values: Any, element: str) -> str:
    """What stands out among numbers of an element format, empty where nothing does."""
    array = np.asarray(values)
    form = _format(element)
    if form is None or array.dtype.kind not in "iuf":
        return ""
    found: list[str] = []
    if array.dtype.kind == "f":
        counts = ("NaN", np.isnan(array)), ("infinite", np.isinf(array))
        found = [f"{int(ones.sum())} {word}" for word, ones in counts if ones.any()]
    at_ends = [f"{int(ones.sum())} at {end:g}" for end in _ends(form) if (ones := array == end).any()]
    if at_ends:
        found.append(f"{' and '.join(at_ends)}, the end{'s' if len(at_ends) > 1 else ''} of {form.name}")
    return f"of {array.size} elements {'; '.join(found)}" if found else ""


def written(recording: Recording, step: Step) -> Iterator[str]:
    """Lines about the tiles and views that a step has written, and about the conversion that it was."""
    handles = recording.handles_of(step.number)
    reads, writes = (_touched(recording, step, handles, side) for side in (False, True))
    for name, handle in writes.items():
        told = remarks(_content(recording, step.number, handle), handle.form.element)
        if told:
            yield f"{name} afterwards: {told}"
    if "cvt" in step.statement.name and len(reads) == len(writes) == 1:
        (source, before), (result, after) = *reads.items(), *writes.items()
        told = _not_held(_content(recording, step.number - 1, before), _content(recording, step.number, after), after)
        if told:
            yield f"{source} to {result}: {told}"


def _not_held(source: Array | None, result: Array | None, after: Handle) -> str:
    """How many elements of a source the format of the result does not have in its range."""
    form = _format(after.form.element)
    if form is None or source is None or result is None or source.shape != result.shape:
        return ""
    low, high = _range(form)
    # Half a step above the largest integer is still rounded to it.
    margin = 0.0 if form.is_float else 0.5
    numbers = np.asarray(source, np.float64)
    outside = (numbers < low - margin) | (numbers > high + margin)
    if not outside.any():
        return ""
    places = np.argwhere(outside)
    first = tuple(int(each) for each in places[0])
    index = ", ".join(map(str, first))
    return (
        f"{len(places)} of {numbers.size} elements are outside of {form.name}, {low:g} to {high:g}; "
        f"first [{index}]: {numbers[first]:g} becomes {np.asarray(result)[first]:g}"
    )


def _touched(recording: Recording, step: Step, handles: dict[str, Handle], writes: bool) -> dict[str, Handle]:
    """The tiles and views whose bytes a step has read or written."""
    spans = [(one.memory, one.first, one.stop) for one in recording.accesses_of(step.number) if one.writes == writes]
    return {
        name: handle
        for name, handle in handles.items()
        if handle.form.kind in ("tile", "view")
        and any(memory == handle.memory and first <= handle.address < stop for memory, first, stop in spans)
    }


def _content(recording: Recording, step: int, handle: Handle) -> Array | None:
    try:
        return np.asarray(recording.tile_at(step, handle))
    except RecordingError:
        return None


def _format(element: str) -> Format | None:
    try:
        return format_of(element)
    except ValueError:
        return None


def _range(form: Format) -> tuple[float, float]:
    return (-form.max_finite, form.max_finite) if form.is_float else (form.min_value, form.max_value)


def _ends(form: Format) -> Iterator[float]:
    """The ends of the range; zero is the end of numbers without a sign, and an ordinary number."""
    return (end for end in _range(form) if end != 0)

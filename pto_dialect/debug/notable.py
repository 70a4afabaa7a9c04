"""Notable values of tiles: NaN, infinities, ends of a range, and values that a conversion could not represent.

Source: docs/debugger.md, "Values".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pto_dialect.recording import Handle, Recording, RecordingError, Step
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.numerics.format_table import Format, format_of

_EXACT = 2.0**53
"""Integers below this are exact in the numbers compared."""


def remarks(values: Any, element: str) -> str:
    """Returns the remarks on notable values of an element format; empty where there are none."""
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
    reads, writes = (_is_accessed(recording, step, handles, side) for side in (False, True))
    for name, handle in writes.items():
        told = remarks(_content(recording, step.number, handle), handle.form.element)
        if told:
            yield f"{name} afterwards: {told}"
    if "cvt" in step.statement.name and len(reads) == len(writes) == 1:
        (source, before), (result, after) = *reads.items(), *writes.items()
        given, made = _content(recording, step.number - 1, before), _content(recording, step.number, after)
        form = _format(after.form.element)
        if form is not None and given is not None and made is not None and given.shape == made.shape:
            for told in (not_held(given, made, form), not_nearest(given, made, form)):
                if told:
                    yield f"{source} to {result}: {told}"


def not_held(source: Array, result: Array, form: Format) -> str:
    """Returns how many elements of a source the format of the result does not have in its range."""
    numbers = np.asarray(source, np.float64)
    outside = _outside(numbers, form)
    if not outside.any():
        return ""
    low, high = _range(form)
    return (
        f"{int(outside.sum())} of {numbers.size} elements are outside of {form.name}, {low:g} to {high:g}; "
        f"{_first(outside, numbers, result)}"
    )


def not_nearest(source: Array, result: Array, form: Format) -> str:
    """Returns how many elements of a result are not the number of the format that is nearest to their source, and on
    which side of it they lie."""
    numbers, made = np.asarray(source, np.float64), np.asarray(result, np.float64)
    if form.is_float and form.storage.kind not in "fV":
        return ""  # numpy has no corresponding type that determines the nearest number.
    with np.errstate(all="ignore"):
        nearest = numbers.astype(form.storage).astype(np.float64) if form.is_float else np.rint(numbers)
        farther = np.abs(made - numbers) > np.abs(nearest - numbers)
    exact = np.abs(numbers) < _EXACT
    wrong = farther & exact & np.isfinite(nearest) & ~_outside(numbers, form)
    if not wrong.any():
        return ""
    change, sizes = (made - numbers)[wrong], (np.abs(made) - np.abs(numbers))[wrong]
    sides = {
        "below": (change < 0).all(),
        "above": (change > 0).all(),
        "nearer to 0": (sizes < 0).all(),
        "farther from 0": (sizes > 0).all(),
    }
    words = " and ".join(word for word, all_of_them in sides.items() if all_of_them)
    return (
        f"{int(wrong.sum())} of {numbers.size} elements are not rounded to the nearest of {form.name}"
        f"{f', all are {words}' if words else ''}; {_first(wrong, numbers, result)}"
    )


def _outside(numbers: Array, form: Format) -> Array:
    low, high = _range(form)
    # Half a step above the largest integer is still rounded to it.
    margin = 0.0 if form.is_float else 0.5
    return (numbers < low - margin) | (numbers > high + margin)


def _first(chosen: Array, numbers: Array, result: Array) -> str:
    place = tuple(int(each) for each in np.argwhere(chosen)[0])
    return f"first [{', '.join(map(str, place))}]: {numbers[place]:g} becomes {np.asarray(result)[place]:g}"


def _is_accessed(recording: Recording, step: Step, handles: dict[str, Handle], writes: bool) -> dict[str, Handle]:
    """Returns the tiles and views whose bytes a step has read or written."""
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
    """Returns the ends of the range; zero is the end of numbers without a sign, and an ordinary number."""
    return (end for end in _range(form) if end != 0)

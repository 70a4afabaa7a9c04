"""Texts of a debugging session. Source: docs/debugger.md, "Values"."""

from __future__ import annotations

from typing import Any

import numpy as np

from pto_dialect.recording import Handle, Recording, Step, Thread
from pto_dialect.runtime.memory.spaces import Array

from .sources import SourceLines


def place(thread: Thread) -> str:
    """Returns ``block 0 AIV0 MTE2``."""
    return f"block {thread.block} {thread.core} {thread.pipe}"


def loops_text(sources: SourceLines, step: Step) -> str:
    """Returns the indices of the loops around a step, in brackets."""
    pairs = zip(step.statement.loops, step.loops, strict=True)
    loops = ", ".join(f"{sources.shown_name(name)} = {value}" for name, value in pairs)
    return f" [{loops}]" if loops else ""


def step_lines(sources: SourceLines, step: Step) -> str:
    """Returns a step, and under it the line of the source."""
    seen = sources.place(step.statement)
    return f"{step_line(sources, step)}\n{seen.line:>5}  {seen.text}"


def step_line(sources: SourceLines, step: Step) -> str:
    """Returns a step in one line."""
    time = "" if np.isnan(step.start) else f" @{step.start:.0f}..{step.end:.0f}"
    kind = "" if step.kind == "operation" else f" ({step.kind})"
    seen = sources.place(step.statement)
    return f"#{step.number} {place(step.thread)}{time} {seen.file}:{seen.line}{loops_text(sources, step)}{kind}"


def handle_text(recording: Recording, handle: Handle) -> str:
    """Returns a handle in one line."""
    form = handle.form
    if handle.memory < 0:
        return handle.type or "no memory"
    memory = recording.memories[handle.memory].name
    at = f"{memory} + {handle.address}"
    if form.kind == "pointer":
        return f"pointer to {form.element} at {at}"
    shape = "x".join(map(str, form.shape))
    if form.kind == "view":
        return f"view {shape} of {form.element}, strides {'x'.join(map(str, form.strides))}, at {at}"
    valid = "" if form.valid == form.shape else f", valid {form.valid[0]}x{form.valid[1]}"
    corner = "" if form.corner == (0, 0) else f", from ({form.corner[0]}, {form.corner[1]})"
    _, _, blayout, slayout, fractal = form.layout
    layout = blayout if slayout == "none_box" else f"{blayout}/{slayout}, fractal {fractal}"
    return f"tile {shape} of {form.element}{valid}{corner}, {layout}, at {at}"


def value_text(value: Any) -> str:
    """Returns a number or an array; large ones are shortened."""
    if isinstance(value, tuple):
        return str(value)
    array = np.asarray(value)
    if array.ndim == 0:
        return f"{array.item():.9g}" if array.dtype.kind == "f" else str(array.item())
    with np.printoptions(threshold=64, edgeitems=3, linewidth=100, precision=6):
        head = f"{'x'.join(map(str, array.shape))} {array.dtype}"
        return f"{head}\n{np.array2string(array)}"


def bytes_text(content: bytes, first: int) -> str:
    """Bytes as sixteen in a line, each line with its address."""
    lines: list[str] = []
    for start in range(0, len(content), 16):
        part = content[start : start + 16]
        text = "".join(chr(one) if 32 <= one < 127 else "." for one in part)
        lines.append(f"{first + start:#08x}  {part.hex(' '):<47}  {text}")
    return "\n".join(lines)


def difference(one: Array, other: Array) -> str:
    """Returns where two arrays of one shape differ, and whether they are the same when one is transposed."""
    one, other = np.asarray(one), np.asarray(other)
    turned = one.ndim == other.ndim == 2 and one.shape == other.T.shape and bool(_same(one, other.T).all())
    hint = "; one transposed is the other" if turned else ""
    if one.shape != other.shape:
        return f"the shapes differ: {one.shape} and {other.shape}{hint}"
    same = _same(one, other)
    if same.all():
        return f"equal: {one.size} elements"
    places = np.argwhere(~same)
    first = tuple(int(each) for each in places[0])
    worst = np.abs(one.astype(np.float64) - other.astype(np.float64))
    index = ", ".join(map(str, first))
    largest = np.nanmax(worst) if not np.isnan(worst).all() else np.nan
    return (
        f"{len(places)} of {one.size} elements differ, by at most {largest:.6g}; first [{index}]: "
        f"{one[first].item()!r} and {other[first].item()!r}{hint}"
    )


def _same(one: Array, other: Array) -> Array:
    """Which elements are equal; NaN is equal to NaN."""
    return (one == other) | (np.isnan(one.astype(np.float64)) & np.isnan(other.astype(np.float64)))

"""What a tuning has found: a table, a document, a plot, and the program of the best.

Source: docs/tune.md, "What is done with each candidate".
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..aligned import aligned
from ..plot import axes
from ..sweep.points import value_text
from .measure import Measured


class PlotError(ValueError):
    """The plot cannot be drawn or written."""


def table_text(found: Sequence[Measured], reference: str, left: int) -> str:
    """Returns a row for each candidate in their order, then what they were compared with."""
    names = list(dict.fromkeys(name for one in found for name in one.candidate.point))
    spaces = sorted({space for one in found for space in one.memory})
    head = [*names, "cycles", "low", "high", "µs", *(f"{space} bytes" for space in spaces), "result"]
    rows = [head]
    for one in found:
        values = [value_text(one.candidate.point[name]) for name in names]
        memory = [str(one.memory[space]) if space in one.memory else "" for space in spaces]
        if one.reason:
            rows.append([*values, "", "", "", "", *memory, one.reason])
            continue
        whole = one.whole
        numbers = [f"{whole.cycles:.0f}", f"{whole.low:.0f}", f"{whole.high:.0f}", f"{one.microseconds:.2f}"]
        rows.append([*values, *numbers, *memory, "front" if one.front else "ok"])
    good = [one for one in found if not one.reason]
    lines = [*aligned(rows, ">" * (len(head) - 1) + "<"), _summary(good, len(found), reference, left)]
    return "".join(f"{line}\n" for line in lines)


def _summary(good: Sequence[Measured], count: int, reference: str, left: int) -> str:
    more = f", {left} left out" if left else ""
    if not good:
        return f"{count} candidates{more}: none is right"
    best = fastest(good)
    point = ", ".join(f"{name}={value_text(value)}" for name, value in best.candidate.point.items())
    against = f", compared with {reference}" if reference else ""
    return f"{count} candidates{more}: {len(good)} right{against}; the fastest is {point}"


def fastest(good: Sequence[Measured]) -> Measured:
    """Returns the one that takes the least time, of several the one with the least memory."""
    return min(good, key=lambda one: (one.whole.cycles, one.bytes))


def document(found: Sequence[Measured], file: str, reference: str, left: int) -> str:
    """Returns the same as JSON."""
    candidates = [candidate_data(one) for one in found]
    content = {"version": 1, "file": file, "reference": reference, "left_out": left, "candidates": candidates}
    return json.dumps(content, indent=2) + "\n"


def candidate_data(one: Measured) -> dict[str, Any]:
    """Returns what became of a candidate, for JSON."""
    told: dict[str, Any] = {"values": dict(one.candidate.point), "passes": list(one.candidate.passes)}
    if one.reason:
        return told | {"right": False, "reason": one.reason}
    whole = {key: round(getattr(one.whole, key), 1) for key in ("cycles", "low", "high")}
    times = {"microseconds": round(one.microseconds, 3)}
    return told | {"right": True} | whole | times | {"bytes": dict(one.memory), "front": one.front}


def plot(found: Sequence[Measured], path: str) -> None:
    """Draws time against memory, a point for each candidate with its band, and the front as steps. Raises
    :class:`PlotError`."""
    good = [one for one in found if not one.reason]
    if not good:
        raise PlotError("there is nothing to plot: no candidate is right")
    front = sorted((one for one in good if one.front), key=lambda one: one.bytes)
    rest = [one for one in good if not one.front]
    with axes(path, PlotError) as plot:
        for some, color, label in ((rest, "0.6", "others"), (front, "C0", "front")):
            if some:
                times = [one.microseconds for one in some]
                bars = [
                    [max(one.whole.cycles - one.whole.low, 0) / one.clock_mhz for one in some],
                    [max(one.whole.high - one.whole.cycles, 0) / one.clock_mhz for one in some],
                ]
                places = [one.bytes / 1024 for one in some]
                plot.errorbar(places, times, yerr=bars, fmt="o", color=color, label=label, elinewidth=0.8, capsize=2)
        plot.step([one.bytes / 1024 for one in front], [one.microseconds for one in front], where="post", color="C0")
        largest = max(one.bytes for one in good)
        for one in front:
            text = ", ".join(f"{name}={value_text(value)}" for name, value in one.candidate.point.items())
            side = "right" if one.bytes > 0.6 * largest else "left"
            place, shift = (one.bytes / 1024, one.microseconds), (-6 if side == "right" else 6, 8)
            plot.annotate(text, place, xytext=shift, fontsize=8, ha=side, textcoords="offset points")
        plot.margins(x=0.12, y=0.15)
        plot.set_xlabel("on-chip memory, KiB")
        plot.set_ylabel("time by the cycle model, µs")

"""What a comparison of stages has found, as text and as JSON."""

from __future__ import annotations

import json
from typing import Any

from ..aligned import aligned
from .blame import Blame
from .comparison import DEVICE, FAILS, NOT_RUN, SAME, Comparison, Row
from .sides import Difference


def as_text(found: Comparison) -> str:
    """Returns a table of the stages, then who is guilty, the element, and the operation."""
    has_device = bool(found.device)
    head = ("stage", "result", DEVICE, "") if has_device else ("stage", "result", "")
    rows = [head, *(_cells(row, has_device) for row in found.rows)]
    return "\n".join([*aligned(rows, "<" * len(head)), "", *_verdict(found)]) + "\n"


def _cells(row: Row, has_device: bool) -> tuple[str, ...]:
    why = row.why or ("" if row.difference is None else _counted(row.difference))
    if not has_device:
        return row.name, row.outcome, why
    device = "" if row.outcome in (FAILS, NOT_RUN) else SAME if row.device is None else "differs"
    return row.name, row.outcome, device, why


def _verdict(found: Comparison) -> list[str]:
    if not found.guilty:
        return ["no stage differs"]
    # A stage that refuses the program has made no wrong number.
    lines = [f"{'fails' if found.found is None else 'guilty'}: {found.guilty}"]
    if found.found is not None:
        lines += _element(found.found, "source", "device" if found.writer or _of_device(found) else "here")
    elif found.why:
        lines.append(f"  {found.why}")
    lines += _blame(found.blame) if found.blame is not None else []
    if found.writer is not None:
        lines.append(f"last written by {found.writer.name} at {found.writer.where}")
    if found.device and not _of_device(found):
        agrees = ", ".join(found.agrees)
        lines.append(f"the device agrees with: {agrees}" if agrees else "the device agrees with no stage")
    return lines


def _of_device(found: Comparison) -> bool:
    return all(row.difference is None and row.outcome != FAILS for row in found.rows)


def _element(one: Difference, left: str, right: str) -> list[str]:
    bits = ("", "") if one.bits is None else tuple(f"  {text}" for text in one.bits)
    apart = "" if one.ulp is None else f", {one.ulp} ulp apart"
    return [
        f"first element: {one.place}, {_counted(one)}{apart}",
        *aligned([(left, f"{one.shown[0]}{bits[0]}"), (right, f"{one.shown[1]}{bits[1]}")], "<<", "  "),
    ]


def _blame(blame: Blame) -> list[str]:
    sides = [("before", blame.one), ("here", blame.other)]
    if blame.parts:
        lines = [f"first operation: {blame.value}"]
    else:
        lines = [f"no operation that both runs have writes other numbers; {blame.value} is written last by"]
    for word, side in sides:
        if side is not None:
            lines.append(f"  {word}: {side.name} at {side.where}".replace("\n", "\n  "))
    return lines


def _counted(one: Difference) -> str:
    return f"{one.differing} of {one.size} elements differ"


def as_json(found: Comparison, path: str) -> str:
    """Returns the same for programs."""
    data: dict[str, Any] = {
        "file": path,
        "entry": found.course.entry,
        "target": found.course.target,
        "stages": [row.as_data() for row in found.rows],
        "guilty": found.guilty or None,
        "why": found.why or None,
        "difference": None if found.found is None else found.found.as_data(),
        "blame": None if found.blame is None else found.blame.as_data(),
        "writer": None if found.writer is None else found.writer._asdict(),
        "device_agrees": found.agrees if found.device else None,
    }
    return json.dumps(data, indent=2) + "\n"

"""What a search has found: the programs that it tried, and what each step of the best pipeline gains.

Source: docs/optimize.md, "The tables".
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..aligned import aligned
from ..tune.measure import Measured, mark_front
from ..tune.show import candidate_data
from .bench import NOT_TRIED, Bench, Tried

MOST_ROWS = 16
"""Programs that the table shows."""

Steps = Sequence[tuple[str, Measured]]


def bound_of(best: Measured) -> tuple[str, float]:
    """Returns the busiest pipe of a program and its cycles: without waits it would take as long."""
    return max(best.pipes.items(), key=lambda one: one[1], default=("", 0.0))


def tables(bench: Bench, steps: Steps, full: bool) -> str:
    """Returns the programs, the fastest one first, then the steps."""
    good = bench.good()
    mark_front(good)
    rows = good if full else good[:MOST_ROWS]
    spaces = sorted({space for one in rows for space in one.memory})
    lines = [["passes", "cycles", "low", "high", "µs", *(f"{space} bytes" for space in spaces), ""]]
    for one in rows:
        whole = one.whole
        numbers = [f"{whole.cycles:.0f}", f"{whole.low:.0f}", f"{whole.high:.0f}", f"{one.microseconds:.2f}"]
        memory = [str(one.memory.get(space, "")) for space in spaces]
        lines.append([",".join(one.candidate.passes), *numbers, *memory, "front" if one.front else ""])
    text = [*aligned(lines, "<" + ">" * (len(lines[0]) - 2) + "<"), *_failures(bench, full), _summary(bench, len(rows))]
    if good and steps:
        text += ["", *_steps(steps, good[0])]
    return "".join(f"{line}\n" for line in text)


def _failures(bench: Bench, full: bool) -> list[str]:
    """Why pipelines are no use, each reason once."""
    reasons: dict[str, list[str]] = {}
    for passes, one in bench.tried.items():
        if one.measured.reason and (full or not one.skipped):
            reasons.setdefault(one.measured.reason, []).append(",".join(passes))
    return [
        f"{names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''}: {reason}"
        for reason, names in reasons.items()
    ]


def _summary(bench: Bench, shown: int) -> str:
    tried = list(bench.tried.values())
    own = [one for one in tried if one.program and one.like is None]
    skipped = sum(one.skipped and one.measured.reason != NOT_TRIED for one in own)
    good = len(bench.good())
    parts = [f"{len(tried)} pipelines", f"{len(own)} programs"]
    parts += [f"{skipped} not run, because another one is faster than they can be"] if skipped else []
    parts += [f"{good} timed" if good else "none is right"]
    text = f"{': '.join(parts[:2])}, {', '.join(parts[2:])}"
    text += f"; {good - shown} slower ones are not shown" if good > shown else ""
    text += "; the time is over" if bench.out_of_time else ""
    return text + (f"\n{compared(bench)}" if good else "")


def compared(bench: Bench) -> str:
    """Returns what is known about the results of the fastest program."""
    if bench.good()[0].compared:
        return f"the fastest one is right, compared with {bench.tuner.reference or 'the same as in an earlier search'}"
    return (
        f"the results of the fastest one are not compared: a run with contents would take about "
        f"{bench.confirm_seconds:.0f} seconds (--compare has it run)"
    )


def _steps(steps: Steps, best: Measured) -> list[str]:
    """Returns a row for each stage that changes something, and one for the bound."""
    rows = [["step", "cycles", "µs", "saves", "busiest pipe"]]
    before: Measured | None = None
    for name, one in steps:
        if one.reason:
            rows.append([name, "", "", "", one.reason])
            continue
        pipe, busy = bound_of(one)
        saves = f"{100 * (1 - one.whole.cycles / before.whole.cycles):.0f} %" if before is not None else ""
        share = f"{pipe} {100 * busy / max(one.whole.cycles, 1):.0f} %"
        rows.append([name, f"{one.whole.cycles:.0f}", f"{one.microseconds:.2f}", saves, share])
        before = one
    pipe, busy = bound_of(best)
    rows.append(["bound", f"{busy:.0f}", f"{busy / best.clock_mhz:.2f}", "", f"{pipe} without waits"])
    return aligned(rows, "<>>><")


def document(bench: Bench, file: str, steps: Steps) -> str:
    """Returns the same as JSON."""
    good = bench.good()
    mark_front(good)
    content: dict[str, Any] = {"version": 2, "file": file, "reference": bench.tuner.reference}
    content["candidates"] = [_candidate(one) for one in bench.tried.values()]
    content["steps"] = [{"step": name, **candidate_data(one)} for name, one in steps]
    if good:
        pipe, busy = bound_of(good[0])
        content["best"] = candidate_data(good[0])
        content["compared"] = good[0].compared
        content["bound"] = {"pipe": pipe, "cycles": round(busy, 1)}
    return json.dumps(content | {"out_of_time": bench.out_of_time}, indent=2) + "\n"


def _candidate(one: Tried) -> dict[str, Any]:
    return candidate_data(one.measured) | {"skipped": one.skipped, "like": one.like and list(one.like)}

"""Cycles of programs as text and as JSON.  Source: docs/cycles.md, "Without a run"."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from pto_dialect.analysis.cycles.limiter import percent
from pto_dialect.analysis.cycles.summary import limits_data, limits_lines

from .aligned import aligned
from .inputs import CPP_SUFFIXES

if TYPE_CHECKING:
    from pto_dialect.analysis.cycles.static import Line, ModuleCycles, Total
    from pto_dialect.analysis.cycles.waits import Advice, Wait

_HEAD = ("operation", "line", "pipe", "times", "cycles", "low", "high", "evidence")


def document(programs: Iterable[ModuleCycles], form: str) -> str:
    """Returns all programs in the form ``text`` or ``json``."""
    if form == "json":
        return json.dumps({"version": 1, "programs": [as_data(each) for each in programs]}, indent=2) + "\n"
    return "\n".join(_text(each) for each in programs)


def as_data(program: ModuleCycles) -> dict[str, Any]:
    """Returns the machine form of one program: plain lists, dictionaries, strings and numbers."""
    return {
        "file": program.file,
        "target": program.target,
        "release": program.release,
        "clock_mhz": program.clock_mhz,
        "run": program.run,
        "operations": [_operation(line) for line in program.lines],
        "pipes": {_pipe(name): _total(total) for name, total in sorted(program.pipes.items())},
        "whole": _total(program.total) | {"microseconds": round(program.total.cycles / program.clock_mhz, 3)},
        "open": program.open,
        "without_figures": program.ranges,
        **(_of_run(program) if program.run else {}),
    }


def _of_run(program: ModuleCycles) -> dict[str, Any]:
    return {
        "task": {key: round(getattr(program.task, name), 3) for key, name in _TASK},
        "limits": None if program.limits is None else limits_data(program.limits, program),
        "waits": [_wait(one) for one in program.waits],
        "advice": [_advice(one) for one in program.advice],
        "untried": program.not_tried_reason or None,
        "contents": program.contents_reason or None,
    }


_TASK = (("microseconds", "cycles"), ("low", "low"), ("high", "high"))


def _wait(one: Wait) -> dict[str, Any]:
    return {
        "pipe": _pipe(one.pipe),
        "for": _pipe(one.awaited),
        "kind": one.kind,
        "cycles": round(one.cycles, 1),
        "share": round(one.share, 4),
        "cost": round(one.cost, 1),
        "critical": round(one.critical, 1),
        "operation": one.operation,
        "line": one.line,
        "other": one.other or None,
        "other_line": one.other_line,
        "through_line": one.through,
        "text": wait_text(one),
    }


def _advice(one: Advice) -> dict[str, Any]:
    return {
        "text": advice_text(one),
        "passes": one.passes or None,
        "lines": list(one.lines),
        "before": round(one.before, 1),
        "after": round(one.after, 1),
        "saved": round(one.saved, 4),
        "bytes": dict(one.more),
    }


def _operation(line: Line) -> dict[str, Any]:
    one = line.estimate
    return {
        "operation": line.operation,
        "line": line.line,
        "pipe": _pipe(line.pipe),
        "count": line.count,
        "open": line.open,
        "cycles": round(one.cycles, 1),
        "low": round(one.low, 1),
        "high": round(one.high, 1),
        "evidence": one.evidence,
    }


def _total(total: Total) -> dict[str, float]:
    return {"cycles": round(total.cycles, 1), "low": round(total.low, 1), "high": round(total.high, 1)}


def _pipe(name: str) -> str:
    return name.removeprefix("PIPE_")


def _text(program: ModuleCycles) -> str:
    rows: list[tuple[str, ...]] = [_HEAD]
    spell = _spelling(program.file)
    for line in program.lines:
        one = line.estimate
        times = f"{line.count}+" if line.open else str(line.count)
        numbers = (f"{one.cycles:.0f}", f"{one.low:.0f}", f"{one.high:.0f}")
        rows.append((spell(line.operation), str(line.line or ""), _pipe(line.pipe), times, *numbers, one.evidence))
    for name, total in sorted(program.pipes.items()):
        rows.append((f"pipe {_pipe(name)}", "", "", "", *_numbers(total), ""))
    rows.append(("whole", "", "", "", *_numbers(program.total), ""))
    time = program.total.cycles / program.clock_mhz
    made_for = f"{program.target}, release {program.release}"
    lines = [f"{program.file} ({made_for}): {time:.2f} µs at {program.clock_mhz:.0f} MHz"]
    if program.limits is not None:
        lines += [spell(line) for line in limits_lines(program.limits, program)]
    lines += aligned(rows, "<><>>>><")
    if program.open:
        lines.append(
            f"{program.open} operations are in loops or choices that a run decides; they count as one iteration"
        )
    lines += [f"no figures of {spell(name)}: a range, or the law of its family" for name in program.ranges]
    lines += [spell(costly_wait_text(one, program.total.cycles)) for one in shown_waits(program)]
    if program.contents_reason:
        lines.append(f"contents were computed: {spell(program.contents_reason)}")
    lines += [spell(advice_text(one)) for one in program.advice]
    if program.not_tried_reason:
        lines.append(f"no advice: {program.not_tried_reason}")
    return "".join(f"{line}\n" for line in lines)


def _spelling(file: str) -> Callable[[str], str]:
    """How operations and values are called in a file."""
    if not file.endswith(CPP_SUFFIXES):
        return str
    from pto_dialect.cpp.wording import in_cpp  # deferred: start-up

    return in_cpp


LEAST_SHOWN = 0.05
"""Fraction of the time from which waits are printed."""

LEAST_COST = 0.01
"""Fraction of the time that a run would be shorter by without a wait from which it is printed."""


def shown_waits(program: ModuleCycles) -> list[Wait]:
    """The wait of each pipe that costs the run most, where it costs something or takes long."""
    first: dict[str, Wait] = {}
    for one in program.waits:
        if one.share >= LEAST_SHOWN or one.cost >= LEAST_COST * program.total.cycles:
            first.setdefault(one.pipe, one)
    return list(first.values())


_WHY = {
    "reads": "{operation} reads what {other} writes",
    "overwrites": "{operation} overwrites what {other} reads",
    "rewrites": "{operation} writes what {other} writes as well",
    "unit-flag": "the unit flag of {operation} comes from {other}",
    "scalar": "the scalar unit issues {operation} late",
}


def wait_text(one: Wait) -> str:
    """``V waits 61 % of the time for MTE2: event 0 (line 12) comes after pto.tload (line 10)``."""
    operation = f"{one.operation} (line {one.line})"
    other = f"{one.other} (line {one.other_line})" if one.other else "what comes before"
    if one.kind in _WHY:
        why = _WHY[one.kind].format(operation=operation, other=other)
    else:
        what = {"flag": f"event {one.event}" if one.event else "the flag"}.get(one.kind, f"the {one.kind}")
        why = f"{what} (line {one.through}) comes after {other}"
    return f"{_pipe(one.pipe)} waits {100 * one.share:.0f} % of the time for {_pipe(one.awaited)}: {why}"


def costly_wait_text(one: Wait, whole: float) -> str:
    """A wait, and how much shorter the run would be without all such waits of its pipe."""
    cost = one.cost / whole if whole else 0.0
    return wait_text(one) + (
        f"; such waits cost {percent(cost)}" if cost >= LEAST_COST else "; such waits cost nothing"
    )


def advice_text(one: Advice) -> str:
    """Returns what helps, by how much, and what it takes."""
    memory = ", ".join(f"{abs(size)} {'more' if size > 0 else 'fewer'} bytes of {space}" for space, size in one.more)
    passes = f" (-p {one.passes})" if one.passes else ""
    numbers = f"{one.after:.0f} cycles instead of {one.before:.0f}"
    return f"saves {100 * one.saved:.0f} %: {one.text}{passes}: {numbers}{f', {memory}' if memory else ''}"


def _numbers(total: Total) -> tuple[str, str, str]:
    return f"{total.cycles:.0f}", f"{total.low:.0f}", f"{total.high:.0f}"

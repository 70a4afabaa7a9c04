"""Cycles of programs as text and as JSON.  Source: docs/cycles.md, "Without a run"."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pto_dialect.analysis.cycles.static import Line, ModuleCycles, Total

_HEAD = ("operation", "line", "pipe", "times", "cycles", "low", "high", "evidence")


def document(programs: Iterable[ModuleCycles], form: str) -> str:
    """All programs in the form ``text`` or ``json``."""
    if form == "json":
        return json.dumps({"version": 1, "programs": [as_data(each) for each in programs]}, indent=2) + "\n"
    return "\n".join(_text(each) for each in programs)


def as_data(program: ModuleCycles) -> dict[str, Any]:
    """The machine form of one program: plain lists, dictionaries, strings and numbers."""
    return {
        "file": program.file,
        "target": program.target,
        "clock_mhz": program.clock_mhz,
        "run": program.run,
        "operations": [_operation(line) for line in program.lines],
        "pipes": {_pipe(name): _total(total) for name, total in sorted(program.pipes.items())},
        "whole": _total(program.whole) | {"microseconds": round(program.whole.cycles / program.clock_mhz, 3)},
        "open": program.open,
        "without_figures": program.ranges,
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
    for line in program.lines:
        one = line.estimate
        times = f"{line.count}+" if line.open else str(line.count)
        numbers = (f"{one.cycles:.0f}", f"{one.low:.0f}", f"{one.high:.0f}")
        rows.append((line.operation, str(line.line or ""), _pipe(line.pipe), times, *numbers, one.evidence))
    for name, total in sorted(program.pipes.items()):
        rows.append((f"pipe {_pipe(name)}", "", "", "", *_numbers(total), ""))
    rows.append(("whole", "", "", "", *_numbers(program.whole), ""))
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    time = program.whole.cycles / program.clock_mhz
    lines = [f"{program.file} ({program.target}): {time:.2f} µs at {program.clock_mhz:.0f} MHz"]
    lines += [_aligned(row, widths) for row in rows]
    if program.open:
        lines.append(f"{program.open} operations stand in loops or choices that a run decides; they count as one turn")
    lines += [f"no figures of {name}: a range" for name in program.ranges]
    return "".join(f"{line}\n" for line in lines)


def _numbers(total: Total) -> tuple[str, str, str]:
    return f"{total.cycles:.0f}", f"{total.low:.0f}", f"{total.high:.0f}"


def _aligned(row: tuple[str, ...], widths: list[int]) -> str:
    cells = (
        cell.ljust(width) if column in (0, 2, 7) else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join(cells).rstrip()

"""Two recorded runs as one page, before and after: times, limits, pipes, operations, results and texts.

The page has no code: everything is text and pictures. Source: docs/report.md, "Two runs as one page".
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from pto_dialect.analysis.cycles.static import table_for
from pto_dialect.diagnostics.file_kinds import PAGE_MARK
from pto_dialect.recording import Recording, RecordingError
from pto_dialect.recording.format import KINDS
from pto_dialect.targets.choice import get_profile

_MOST_LANES = 28
_MOST_ROWS = 60
_MOST_LINES = 600
_WIDTH, _LEFT, _LANE = 1000, 120, 14
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_OPERATION = KINDS.index("operation")


@dataclass
class Side:
    """One of the runs: its cycles (0: not timed), busy cycles of each pipe where it works longest, executions and
    cycles of each operation, and the busy times of each thread."""

    recording: Recording
    whole: float = 0.0
    clock_mhz: float = 0.0
    pipes: dict[str, float] = field(default_factory=dict[str, float])
    operations: dict[str, tuple[int, float]] = field(default_factory=dict[str, tuple[int, float]])
    lanes: list[tuple[str, str, Any]] = field(default_factory=list[tuple[str, str, Any]])

    @property
    def microseconds(self) -> float:
        """The time of the run."""
        return self.whole / self.clock_mhz

    @property
    def limits(self) -> dict[str, Any]:
        """What limits the run; empty where the recording does not say."""
        return self.recording.limits or {}


def side_of(recording: Recording) -> Side:
    """Returns what a page shows of a recording."""
    try:
        table = table_for(get_profile(recording.program.target).arch, None)
    except ValueError as error:
        raise RecordingError(f"'{recording.path}' is damaged: {error}") from None
    side = Side(recording, clock_mhz=table.value_of("machine", "clock_mhz"))
    steps = recording.steps
    kinds = steps.kind == _OPERATION
    timed = kinds & ~np.isnan(steps.start)
    spent = np.where(timed, np.nan_to_num(steps.end) - np.nan_to_num(steps.start), 0.0)
    for statement in recording.statements:
        mine = kinds & (steps.statement == statement.number)
        count = int(np.count_nonzero(mine))
        if count and statement.pipe != "S":
            known, cycles = side.operations.get(statement.name, (0, 0.0))
            side.operations[statement.name] = known + count, cycles + float(spent[mine].sum())
    if not recording.timed:
        return side
    side.whole = float(np.nanmax(steps.end))
    for number, thread in enumerate(recording.threads):
        mine = timed & (steps.thread == number) & (spent > 0)
        if mine.any():
            spans = _joined(steps.start[mine], steps.end[mine])
            name = f"block {thread.block} {thread.core}" if len(_blocks(recording)) > 1 else thread.core
            side.lanes.append((f"{name} {thread.pipe}", thread.pipe, spans))
            busy = float((spans[:, 1] - spans[:, 0]).sum())
            side.pipes[thread.pipe] = max(side.pipes.get(thread.pipe, 0.0), busy)
    return side


def _blocks(recording: Recording) -> set[int]:
    return {one.block for one in recording.threads}


def _joined(starts: Any, ends: Any) -> Any:
    """Spans in their order, those that overlap as one."""
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], np.maximum.accumulate(ends[order])
    first = np.append(True, starts[1:] > ends[:-1])
    last = np.append(np.flatnonzero(first)[1:] - 1, len(ends) - 1)
    return np.stack([starts[first], ends[last]], axis=1)


# ------------------------------------------------------------ text


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a table; columns whose heads begin with # have numbers."""
    marks = [' class="number"' if one.startswith("#") else "" for one in heads]
    head = "".join(
        f'<th scope="col"{mark}>{escape(one.lstrip("#"))}</th>' for one, mark in zip(heads, marks, strict=True)
    )
    body = "".join(
        f"<tr>{''.join(f'<td{mark}>{escape(cell)}</td>' for cell, mark in zip(row, marks, strict=True))}</tr>"
        for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _change(before: float, after: float) -> str:
    """Returns how much more or less, as a text."""
    if abs(after - before) < 0.0005 * before or before == after:
        return "same"
    if not before:
        return "new"
    return f"{100 * (after / before - 1):+.1f} %"


def _head(before: Side, after: Side) -> str:
    if not before.whole or not after.whole:
        return "<p>A recording without times shows no times: record with --cycles beside --record.</p>"
    saved = 1 - after.microseconds / before.microseconds
    differs = abs(saved) >= 0.0005
    verdict = f"takes {abs(100 * saved):.1f} % {'less' if saved > 0 else 'more'}" if differs else "takes as long"
    times = [f"{side.microseconds:.2f} µs ({side.whole:,.0f} cycles)" for side in (before, after)]
    said = [
        f"<p><span class='quiet'>{name} limited by: </span><strong>{escape(side.limits['text'])}</strong></p>"
        for name, side in (("Before", before), ("After", after))
        if side.limits
    ]
    first = f"<p class='verdict'><strong>The run {verdict}</strong>: {times[0]} before, {times[1]} after.</p>"
    return first + "".join(said)


def _use(before: Side, after: Side) -> str:
    """Returns how much of the chip both use."""
    one, other = before.limits, after.limits
    if not one or not other:
        return ""
    kind = f"{one['cores'].get('kind', 'core')}s"
    rows = [(kind, *(f"{each['cores']['used']} of {each['cores']['of']}" for each in (one, other)))]
    for name in ("cube", "vector"):
        if name in one["busy"] or name in other["busy"]:
            shares = (each["busy"].get(name, {"core": 0.0})["core"] for each in (one, other))
            rows.append((f"{name} busy", *(f"{100 * share:.0f} %" for share in shares)))
    paths = [{path["path"]: path for path in each["paths"]} for each in (one, other)]
    for name in dict.fromkeys((*paths[0], *paths[1])):
        texts = (_path_text(each.get(name)) for each in paths)
        rows.append((name.upper().replace(":", "→"), *texts))
    facts = [{fact["name"]: fact["text"] for fact in each["facts"]} for each in (one, other)]
    for name in ("critical path", "waits cost", "balance"):
        if name in facts[0] or name in facts[1]:
            rows.append((name, *(each.get(name, "–") for each in facts)))
    return f"<h2>Use of the chip</h2>{_table(('', 'before', 'after'), rows)}"


def _path_text(path: dict[str, Any] | None) -> str:
    if path is None:
        return "–"
    of = f" of {path['limit_gbps']:.0f}" if path["limit_gbps"] else ""
    return f"{path['gbps']:.3g}{of} GB/s, {100 * path['busy']:.0f} % busy"


def _pipes(before: Side, after: Side) -> str:
    if not before.whole or not after.whole:
        return ""
    rows: list[tuple[str, ...]] = []
    for name in sorted({*before.pipes, *after.pipes}):
        one, other = before.pipes.get(name, 0.0), after.pipes.get(name, 0.0)
        shares = (f"{100 * one / before.whole:.0f} %", f"{100 * other / after.whole:.0f} %")
        rows.append((name, f"{one:,.0f}", f"{other:,.0f}", _change(one, other), *shares))
    heads = ("pipe", "#busy before", "#busy after", "#change", "#of the run before", "#of the run after")
    note = "<p class='quiet'>Cycles on the core where the pipe works longest.</p>"
    return f"<h2>Pipes</h2>{note}{_table(heads, rows)}"


def _operations(before: Side, after: Side) -> str:
    none = (0, 0.0)
    names = {*before.operations, *after.operations}
    pairs = {name: (before.operations.get(name, none), after.operations.get(name, none)) for name in names}
    order = sorted(names, key=lambda name: (-abs(pairs[name][1][1] - pairs[name][0][1]), name))[:_MOST_ROWS]
    rows = [
        (name, f"{one[0]:,}", f"{other[0]:,}", f"{one[1]:,.0f}", f"{other[1]:,.0f}", _change(one[1], other[1]))
        for name in order
        for one, other in [pairs[name]]
    ]
    heads = ("operation", "#times before", "#times after", "#cycles before", "#cycles after", "#change")
    return f"<h2>Operations</h2>{_table(heads, rows)}"


def _results(before: Recording, after: Recording) -> str:
    """Returns whether the buffers hold the same bits at the end."""
    others = {one.name: one for one in after.arguments if one.value is None and one.memory >= 0}
    rows: list[tuple[str, str]] = []
    for one in before.arguments:
        other = others.get(one.name)
        if one.value is not None or one.memory < 0 or other is None:
            continue
        if (one.shape, one.dtype) != (other.shape, other.dtype):
            rows.append((one.name, "another shape or type"))
            continue
        first, second = (np.asarray(each.end(one.name)) for each in (before, after))
        item = first.dtype.itemsize
        bits = [np.ascontiguousarray(each).view(np.uint8).reshape(-1, item) for each in (first, second)]
        differ = int(np.count_nonzero((bits[0] != bits[1]).any(axis=1)))
        rows.append((one.name, f"{differ:,} of {first.size:,} elements differ" if differ else "the same bits"))
    return f"<h2>Buffers at the end</h2>{_table(('buffer', 'after against before'), rows)}" if rows else ""


def _texts(before: Recording, after: Recording) -> str:
    """Returns the lines of the programs that differ."""
    one, other = before.program, after.program
    if one.text == other.text:
        return "<h2>Program</h2><p>Both runs have the same text.</p>"
    lines = list(
        difflib.unified_diff(one.text.splitlines(), other.text.splitlines(), one.file, other.file, "", "", 2, "")
    )
    marks = {"+": "added", "-": "removed", "@": "quiet"}
    shown = "".join(f"<span class='{marks.get(line[:1], '')}'>{escape(line)}</span>\n" for line in lines[:_MOST_LINES])
    more = f"<p class='quiet'>{len(lines) - _MOST_LINES} more lines.</p>" if len(lines) > _MOST_LINES else ""
    return f"<h2>Program</h2><div class='scroll'><pre>{shown}</pre></div>{more}"


# ------------------------------------------------------------ picture


def _timeline(before: Side, after: Side) -> str:
    """Both runs on one scale."""
    longest = max(before.whole, after.whole)
    if not longest:
        return ""
    parts = [_lanes(name, side, longest) for name, side in (("Before", before), ("After", after))]
    return (
        f"<h2>Timeline</h2><p class='quiet'>Both on one scale; a box is time in which a pipe works.</p>{''.join(parts)}"
    )


def _lanes(name: str, side: Side, longest: float) -> str:
    lanes = side.lanes[:_MOST_LANES]
    scale = (_WIDTH - _LEFT) / longest
    height = (_LANE + 3) * len(lanes)
    boxes: list[str] = []
    for row, (label, pipe, spans) in enumerate(lanes):
        y = row * (_LANE + 3)
        boxes.append(f"<text x='{_LEFT - 8}' y='{y + 11}' text-anchor='end' font-size='11'>{escape(label)}</text>")
        boxes.append(f"<rect x='{_LEFT}' y='{y}' width='{side.whole * scale:.2f}' height='{_LANE}' class='lane'/>")
        # Boxes that would share a point become one.
        pixels = _joined(np.floor(spans[:, 0] * scale * 2) / 2, np.ceil(spans[:, 1] * scale * 2) / 2)
        mark = f"height='{_LANE}' class='pipe-{escape(pipe.lower())}'"
        boxes += [
            f"<rect x='{_LEFT + low:.1f}' y='{y}' width='{high - low:.1f}' {mark}/>" for low, high in pixels.tolist()
        ]
    more = f"<p class='quiet'>{len(side.lanes) - len(lanes)} more pipes.</p>" if len(side.lanes) > len(lanes) else ""
    picture = (
        f"<svg viewBox='0 0 {_WIDTH} {height}' role='img' aria-label='Timeline, {name.lower()}'>{''.join(boxes)}</svg>"
    )
    return f"<h3>{name}</h3>{picture}{more}"


def comparison(before: Recording, after: Recording) -> str:
    """Returns the page of two recordings."""
    one, other = side_of(before), side_of(after)
    parts = (
        _head(one, other), _results(before, after), _use(one, other), _timeline(one, other), _pipes(one, other),
        _operations(one, other), _texts(before, after),
    )  # fmt: skip
    title = f"{before.program.entry} · {before.program.file} and {after.program.file}"
    style = (files("pto_dialect.report") / "page" / "compare.css").read_text(encoding="utf-8")
    names = " → ".join(f"{one.program.file} ({one.program.target})" for one in (before, after))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n{PAGE_MARK}\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n<title>{escape(title)}</title>\n'
        f"<style>{style}</style>\n</head>\n<body>\n<header><h1>@{escape(before.program.entry)}</h1> "
        f"<span class='quiet'>{escape(names)}</span></header>\n<main>{''.join(parts)}</main>\n</body>\n</html>\n"
    )

"""What a page shows, as one document of numbers and texts.  Source: docs/report.md, "What is in the page"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from pto_dialect.analysis.cycles.estimate import estimate
from pto_dialect.analysis.cycles.static import UNMEASURED
from pto_dialect.analysis.cycles.table import CycleTable
from pto_dialect.analysis.cycles.work import Work
from pto_dialect.analysis.release import release_of
from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.diagnostics.origins import shown, shown_span
from pto_dialect.diagnostics.source import SourceFile, Span
from pto_dialect.ir.core.location import span_of
from pto_dialect.runtime.numerics.decode import value_table
from pto_dialect.runtime.numerics.format_table import Format, format_of
from pto_dialect.sanitize.instrument.cycle_times import places as places_of_blocks
from pto_dialect.sanitize.report.findings import Finding
from pto_dialect.version import __version__

from .accessed import AccessedBytes
from .columns import encoded
from .instrumentation import ReportTimeline, operations_of
from .kernel import ReportKernel
from .locations import Buffer, Locations, SiteOperands
from .order import causes, shifted

VERSION = 1
"""Changes when a field of the document changes its meaning."""


class Remark(NamedTuple):
    """A wait or advice as text: ``share`` is the fraction of the time that it takes or saves, ``passes`` the pipeline
    that makes the change (empty where no pass does)."""

    text: str
    share: float
    passes: str = ""


@dataclass
class Run:
    """What only those know who have started the run: the file of the program, the buffers, what went wrong outside of
    the sanitizers, whether the run came to its end, what its pipes have waited for, and what would make it faster.
    ``advice`` is ``None`` where no changes were tried, and ``untried`` says why not. ``limits`` is what limits the
    run, as in JSON."""

    file: str
    buffers: Sequence[Buffer] = ()
    failures: Sequence[Diagnostic] = ()
    complete: bool = True
    checked: Sequence[str] = ()
    waits: Sequence[Remark] = ()
    advice: Sequence[Remark] | None = None
    untried: str = ""
    limits: Mapping[str, Any] | None = None


class Document:
    """Puts the parts of a page together; ``chunks`` are contents of memory, compressed, by number."""

    def __init__(self, kernel: ReportKernel, run: Run) -> None:
        self.kernel = kernel
        self.run = run
        self.observer = kernel.observed
        self.observer.settle()
        self.files: dict[str, int] = {}
        self.sources: list[SourceFile] = []
        self.chunks: dict[int, str] = {}

    def build(self) -> dict[str, Any]:
        """Returns the document."""
        kernel, observer, times = self.kernel, self.observer, self.observer.times
        self._place(span_of(kernel.function))
        table = times.table
        steps = times.steps
        threads = observer.log.threads
        columns = shifted(steps.rows, threads, places_of_blocks(threads, table))
        document: dict[str, Any] = {
            "version": VERSION,
            "tool": __version__,
            "file": self.run.file,
            "entry": kernel.entry,
            "target": kernel.profile.name,
            "release": str(release_of(kernel.function)),
            "clock_mhz": table.value_of("machine", "clock_mhz"),
            "complete": self.run.complete,
            "checked": list(self.run.checked),
            "sites": self._sites(),
            "threads": [
                {"block": one.core.block.index, "core": one.core.name, "kind": one.core.kind, "pipe": one.pipe}
                for one in threads
            ],
            "steps": {name: encoded(steps.rows.kinds[name], column) for name, column in columns.items()},
            "loops": steps.lists.document(),
        }  # fmt: skip
        document["steps"]["cause"] = encoded("i32", causes(columns, threads))
        places = Locations(observer.touched, SiteOperands(observer.sites), {one.name: one for one in self.run.buffers})
        memory, self.chunks = memory_parts(observer.touched, places, self.run.buffers)
        document |= memory
        document["findings"] = self._findings(places)
        document["blocked"] = [
            {"thread": one.thread, "site": one.site, "loops": list(one.loops), "text": one.awaited}
            for one in kernel.blocked
        ]
        document["roofs"] = roofs(times)
        document["waits"] = [one._asdict() for one in self.run.waits]
        document["advice"] = None if self.run.advice is None else [one._asdict() for one in self.run.advice]
        document["untried"] = self.run.untried
        document["limits"] = self.run.limits
        document["files"] = [
            {"name": one.name, "text": one.text, "first": one.first_line} for one in self.sources
        ]  # fmt: skip
        return document

    # ------------------------------------------------------------ program

    def _file(self, source: SourceFile) -> int:
        if source.name not in self.files:
            self.files[source.name] = len(self.sources)
            self.sources.append(source)
        return self.files[source.name]

    def _place(self, span: Span | None) -> dict[str, Any]:
        if span is None:
            return {"file": -1, "line": 0, "column": 0}
        span = shown_span(span)
        line, column = span.source.line_col(span.start)
        return {"file": self._file(span.source), "line": line, "column": column}

    def _sites(self) -> list[dict[str, Any]]:
        observer = self.observer
        counts = np.bincount(np.asarray(observer.log.site, np.int64), minlength=len(observer.sites.all))
        evidence = {site: one.evidence for (site, _), one in observer.times.executed.items()}
        reached = {site.number for site in observer.sites.reached()}
        found: list[dict[str, Any]] = [{"op": "", "loops": [], "count": 0, "file": -1, "line": 0, "column": 0}]
        for site in observer.sites:
            one: dict[str, Any] = {"op": site.name, "loops": list(site.loops), "count": int(counts[site.number])}
            one["reached"] = site.number in reached
            found.append(one | {"evidence": evidence.get(site.number, "")} | self._place(site.span))
        return found

    # ------------------------------------------------------------ findings

    def _findings(self, places: Locations) -> list[dict[str, Any]]:
        found = [self._finding(one, places) for one in self.kernel.kept]
        return [*found, *(self._diagnostic(one) for one in self.run.failures)]

    def _diagnostic(self, one: Diagnostic) -> dict[str, Any]:
        one = shown(one)
        return {
            "rule": one.rule,
            "severity": one.severity.name.lower(),
            "message": one.message,
            "help": one.help,
            "place": self._place(one.span),
            "notes": [{"text": note.message, "place": self._place(note.span)} for note in one.notes],
            "count": 1,
            "steps": [],
            "memory": -1,
            "ranges": [],
        }

    def _finding(self, one: Finding, places: Locations) -> dict[str, Any]:
        found = self._diagnostic(one.diagnostic())
        steps = self.observer.times.steps
        found["count"] = one.count
        found["sites"] = [site.number for site in one.sites if site is not None]
        if one.conflict is not None:
            conflict = one.conflict
            sides = (conflict.first, conflict.second)
            found["steps"] = [steps.step_of(side.event) for side in sides]
            found["writes"] = [side.writes for side in sides]
            found["memory"] = self.observer.touched.memory(conflict.arena)
            found["ranges"] = [list(pair) for pair in conflict.touched[:64]]
        elif one.event:
            found["steps"] = [steps.step_of(one.event)]
        return found


def memory_parts(
    touched: AccessedBytes, places: Locations, buffers: Sequence[Buffer]
) -> tuple[dict[str, Any], dict[int, str]]:
    """Returns the part of a document that is about memories, and the chunks of their contents."""
    contents, chunks = touched.contents.document()
    memories = [
        {"space": one.arena.space, "name": one.arena.name, "capacity": one.arena.capacity, "shared": one.arena.public}
        | {"block": one.block, "core": one.core, "content": one.content, "fill": one.arena.fill}
        for one in touched.memories
    ]
    formats = {one["format"] for one in (*places.boxes, *places.shapes) if one is not None}
    expected = {one.name: one.expected for one in buffers if one.expected is not None}
    document = {
        "memories": memories,
        "boxes": places.boxes,
        "shapes": places.shapes,
        "regions": touched.regions.document(),
        "dims": touched.lists.document(),
        "accesses": touched.accesses.document() | {"box": encoded("u32", places.of_access)},
        "contents": contents | {"dropped": touched.contents.dropped},
        "expected": {name: encoded("f64", np.asarray(one, np.float64)) for name, one in expected.items()},
        "formats": {name: _format(format_of(name)) for name in sorted(formats)},
    }
    return document, chunks


def _format(one: Format) -> dict[str, Any]:
    """Returns an element type as the page decodes it: up to 8 bits by a table of its values; the ends of its range."""
    found: dict[str, Any] = {"bits": one.bits, "bytes": one.bytes, "elements": one.elements, "kind": one.kind}
    found["ends"] = [-one.max_finite, one.max_finite] if one.is_float else [one.min_value, one.max_value]
    if one.is_float and one.bits <= 8:
        found["table"] = encoded("f32", value_table(one.name))
    return found


def failure(message: str, rule: str = "") -> Diagnostic:
    """Returns an error without a source location."""
    return Diagnostic(rule, Severity.ERROR, message, None)


_PATHS: Final = {"PIPE_M": ("gm:l1", "l0c:gm"), "PIPE_V": ("gm:ub", "ub:gm")}
"""How the cores with a pipe that computes read and write global memory."""

_SIDE = 2048
"""Rows and columns of the work that the limits are taken from: far more than any start-up."""

_LAWS: Final = ("operation", "repeat", "divide")
"""Laws of operations that compute one element from one of each source."""


class Roof(NamedTuple):
    """The most elementary operations in a cycle of one core, and what that figure rests on."""

    peak: float
    evidence: str


def roofs(times: ReportTimeline) -> dict[str, Any]:
    """Elementary operations in a cycle of one core, by pipe and element type, and bytes in a cycle from and to global
    memory: of all cores together, and for each pipe those that its core reads and writes."""
    table = times.table
    found: dict[tuple[str, str], Roof] = {}
    for work, one in times.estimates():
        pipe = "PIPE_M" if work.k else "" if work.path else "PIPE_V"
        if not pipe or not one.cycles:
            continue
        key = (pipe, work.source)
        if key not in found:
            found[key] = _best(table, *key)
        # No operation of the run is faster than the roof.
        rate = operations_of(work, pipe) / one.cycles
        if rate > found[key].peak:
            found[key] = Roof(rate, one.evidence)
    clock = table.value_of("machine", "clock_mhz")
    computing = {entry.pipe for entry in times.executed.values()}
    return {
        "compute": [
            {"pipe": pipe, "element": element, "peak": roof.peak, "evidence": roof.evidence}
            for (pipe, element), roof in found.items()
            if pipe in computing
        ],
        "memory": table.value_of("machine", "memory_gbps") * 1e3 / clock,
        "cores": int(table.value_of("machine", "cores")),
        "paths": {pipe: [_rate(table, path) for path in paths] for pipe, paths in _PATHS.items()},
    }


def _rate(table: CycleTable, path: str) -> float | None:
    return table.group("move", path, "*")["rate"] if table.type_of("move", path, "*") else None


def _best(table: CycleTable, pipe: str, element: str) -> Roof:
    """Returns the fastest operation on elements of this type, with endless work."""
    if pipe == "PIPE_M":
        works = [Work("tmatmul", element, "f32", _SIDE, _SIDE, _SIDE, _SIDE, "", 1, _SIDE)]
    else:
        names = sorted({name for law, name in table.types if law in _LAWS and "." not in name} | {"tadd"})
        works = [Work(name, element, element, 1, _SIDE * 16, 1, _SIDE * 16) for name in names]
    estimates = [(estimate(work, table), work) for work in works]
    known = [pair for pair in estimates if pair[0].evidence not in UNMEASURED] or estimates
    rates = [Roof(operations_of(work, pipe) / one.cycles, one.evidence) for one, work in known]
    return max(rates, key=lambda roof: roof.peak)

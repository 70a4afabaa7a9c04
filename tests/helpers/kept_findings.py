"""What is found in the faulty kernels and their twins, as kept in ``tests/faulty/findings``.

For each kernel: every finding of a watched run with its place, notes and advice, how long each pipe of each core is
busy in the simple model of costs, and what the text alone shows.

Usage: python tests/helpers/kept_findings.py [NAME ...] writes the files of the named kernels, or all of them, again.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[2] / "lit-tests"), str(Path(__file__).parent)]

from faulty_kernels import Kernel, kernels
from overlapping_programs import Overlapping, overlapping
from sanitize_programs import found

from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile, Span
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.launch import WatchedKernel
from pto_dialect.sanitize.options import SanitizeOptions
from pto_dialect.sanitize.report.timeline import Timeline
from pto_dialect.syntax.read.parser import parse_program

GENERATED = "overlapping"
"""Name of the file of generated programs."""
SEEDS = range(1000, 1024)
FOLDER = Path(__file__).parents[1] / "faulty" / "findings"


def said(diagnostic: Diagnostic) -> Iterator[str]:
    """A diagnostic, one line for each of its parts."""

    def place(span: Span | None) -> str:
        return "-" if span is None else ":".join(map(str, span.source.line_col(span.start)))

    severity = diagnostic.severity.name.lower()
    yield f"{severity} {diagnostic.rule} {place(diagnostic.span)} {diagnostic.message}"
    yield from (f"  note {place(note.span)} {note.message}" for note in diagnostic.notes)
    if diagnostic.help is not None:
        yield f"  help {diagnostic.help}"


def busy(timeline: Timeline) -> Iterator[str]:
    """For each core and pipe: slices, the end of the last one, and the sum of their lengths."""
    events = json.loads(timeline.document([]))["traceEvents"]
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    pipes = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    slices: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            key = names[event["pid"]], pipes[event["pid"], event["tid"]]
            slices[key].append((event["ts"] + event["dur"], event["dur"]))
    for (core, pipe), ends in sorted(slices.items()):
        yield f"{core} {pipe}: {len(ends)} until {max(ends)[0]:g}, {sum(length for _, length in ends):g} busy"
    flows = sum(event["ph"] == "s" for event in events)
    if flows:
        yield f"{flows} signals"


def rows(name: str, kernel: Kernel | Overlapping, sync: str) -> Iterator[str]:
    """All that is said about one program."""
    yield f"== {name}"
    module = parse_program(SourceFile("k.pto", kernel.text), DiagnosticEngine())
    assert module is not None
    timeline = Timeline(costs=True)
    options = SanitizeOptions(sync="strict" if sync == "strict" else "auto")
    watched = WatchedKernel(module, None, None, RunOptions(fill="poison"), options, timeline)
    try:
        watched.run(kernel.values(), kernel.blocks)
    except ProgramError as error:
        yield f"refused {error.rule} {error}"
    for finding in watched.watch.findings.all:
        yield from said(finding.diagnostic())
    yield from busy(timeline)
    for diagnostic in found(kernel.text, ("check-sync", "check-memory")):
        yield from (f"text {line}" for line in said(diagnostic))


def lines(name: str) -> list[str]:
    """The file of the kernels of one name, or of the generated programs."""
    if name == GENERATED:
        programs = [(f"seed {seed}", overlapping(seed)) for seed in SEEDS]
        return [row for title, program in programs for row in rows(title, program, program.sync)]
    named = [kernel for kernel in kernels() if kernel.name == name]
    return [row for kernel in named for row in rows(kernel.id, kernel, kernel.launch.get("sync", "auto"))]


def names() -> list[str]:
    """Names of the files."""
    return [*dict.fromkeys(kernel.name for kernel in kernels()), GENERATED]


def main() -> None:
    """Writes the files."""
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or names():
        text = "".join(f"{line}\n" for line in lines(name))
        (FOLDER / f"{name}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

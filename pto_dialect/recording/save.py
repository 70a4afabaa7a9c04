"""What a recorded run has left, as a file. Source: docs/reference/recording.md, "Members"."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pto_dialect.analysis.cycles.summary import limits_data
from pto_dialect.analysis.release import release_of
from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.origins import is_translated_diagnostic, shown, written_source, written_span
from pto_dialect.diagnostics.source import SourceFile, Span
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.location import span_of
from pto_dialect.runtime.queues.run import LEVEL, WAIT
from pto_dialect.runtime.run.arguments import HostTile, argument_format
from pto_dialect.runtime.run.per_core import InParts, PerCore
from pto_dialect.sanitize.report.findings import Finding as Found
from pto_dialect.sanitize.timed import CycleKernel
from pto_dialect.version import __version__

from .instrumentation import signal_text
from .kernel import RecordingKernel, pointer_of
from .log import Log, of_rank
from .model import Argument, Finding, Outcome, Program, Waiting
from .write import write

ENDED = "ended"
FAILED = "failed"
RUNNING = "running"
"""What has become of a run."""


def save(
    path: str | os.PathLike[str],
    kernel: RecordingKernel,
    blocks: int,
    findings: Iterable[Found] = (),
    failure: Diagnostic | None = None,
    running: bool = False,
) -> None:
    """Writes what the last run of ``kernel`` has done to ``path``. ``failure`` is what has ended
    it; or it is still ``running``. Raises ``RecordingError``."""
    log = kernel.record
    found = [_finding(one, log) for one in findings]
    outcome = Outcome(RUNNING, step=log.steps - 1) if running else _run_end(kernel, found, failure)
    waiting = _waiting(kernel) if outcome.kind == FAILED else []
    limits = None if running or outcome.kind == FAILED else _limits(kernel)
    write(path, log, _program(kernel, blocks), _arguments(kernel), found, outcome, waiting, limits)


def _limits(kernel: RecordingKernel) -> dict[str, Any] | None:
    """Returns what limits a run that was timed."""
    if not isinstance(kernel, CycleKernel):
        return None
    cycles = kernel.cycles("")
    return None if cycles.limits is None else limits_data(cycles.limits, cycles)


def _program(kernel: RecordingKernel, blocks: int) -> Program:
    span = span_of(kernel.function)
    source = written_source(span.source) if span is not None else SourceFile("", "")
    text, file = source.text, source.name
    backend = kernel.options.backend or ""
    return Program(
        text, file, kernel.entry, kernel.profile.name, backend, blocks, __version__, str(release_of(kernel.function))
    )


def _place(span: Span | None) -> tuple[int, int]:
    written = None if span is None else written_span(span)
    return written.source.line_col(written.start) if written is not None else (0, 0)


def _run_end(kernel: RecordingKernel, findings: Sequence[Finding], failure: Diagnostic | None) -> Outcome:
    last = kernel.record.steps - 1
    if failure is not None:
        notes = tuple(note.message for note in failure.notes)
        return Outcome(FAILED, failure.rule, failure.message, *_place(failure.span), last, notes)
    if kernel.stopped and findings:
        end = findings[-1]
        return Outcome(FAILED, end.rule, end.message, end.line, end.col, last, tuple(text for text, _ in end.notes))
    return Outcome(ENDED, step=last)


def _waiting(kernel: RecordingKernel) -> list[Waiting]:
    """Returns the statements at which the pipes of the last cores are blocked."""
    found: list[Waiting] = []
    for core in kernel.cores:
        places = [(pipe, kind, core.numbers[mark.order], keys) for pipe, kind, mark, keys in core.heads()]
        if core.scalar_wait or core.scalar_level:
            places.append(("PIPE_S", WAIT, core.noted, core.scalar_wait or (core.scalar_level or ())[:1]))
        polled = kernel.record.issued(core.noted) if core.polled is not None else None
        if core.polled is not None and polled is not None:
            found.append(Waiting(core.threads["PIPE_S"].number, *polled, (core.polled(),)))
        for pipe, kind, number, keys in places:
            issue = kernel.record.issued(number)
            if issue is not None:
                texts = {WAIT: keys, LEVEL: keys[:1]}.get(kind, ())
                signals = tuple(signal_text(key) for key in texts if not core.flags.get(key, 0) or kind == LEVEL)
                found.append(Waiting(core.threads[pipe].number, *issue, signals))
    return found


def _finding(found: Found, log: Log) -> Finding:
    original = found.diagnostic()
    diagnostic = shown(original) if is_translated_diagnostic(original) else original
    steps = [log.event_steps[found.event]] if found.event in log.event_steps else []
    notes = tuple((note.message, _place(note.span)[0]) for note in diagnostic.notes)
    place = _place(diagnostic.span)
    severity = diagnostic.severity.name.lower()
    return Finding(
        found.rule, severity, diagnostic.message, *place, tuple(steps), notes, diagnostic.help or ""
    )  # fmt: skip


def _arguments(kernel: RecordingKernel) -> list[Argument]:
    found: list[Argument] = []
    each = ((run, *one) for run in kernel.runs for one in zip(kernel.arguments, run.values, run.bound, strict=True))
    for run, (argument, type_), given, bound in each:
        name = argument if run.rank is None else of_rank(run.rank, argument)
        text, fmt = t.type_text(type_), argument_format(type_)
        element = "" if fmt is None else fmt.name
        pointer = pointer_of(bound)
        if pointer is None:
            found.append(Argument(name, text, _number(given), -1, 0, (), "", element))
            continue
        array: Any = given.array if isinstance(given, InParts) else given
        shape = tuple(getattr(array, "shape", ()))
        dtype = pointer.dtype.name
        if isinstance(bound, HostTile) and bound.layout.slayout != "none_box":
            # Only its handle states the layout of its elements.
            shape, dtype = (pointer.arena.capacity,), "uint8"
        memory = kernel.record.memory(pointer.arena)
        found.append(Argument(name, text, None, memory, pointer.offset, shape, dtype, element))
    return found


def _number(value: Any) -> int | float | None:
    if isinstance(value, PerCore) or not isinstance(value, (int, float, np.generic)):
        return None
    return value.item() if isinstance(value, np.generic) else value

"""Many inputs, in this process or in several."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.engine import Counts

from .inputs import Input
from .jobs import default_jobs, processors
from .options import Options
from .output import write_module
from .pipeline import cached_result, process_input
from .project.settings_path import folder_of, settings_file
from .report import JSON, SARIF, TEXT, render
from .result import Result

if TYPE_CHECKING:
    from pto_dialect.analysis.cycles.static import ModuleCycles

    from .memory_map import ProgramMap
    from .statistics import ModuleStatistics
    from .verdicts import Verdicts

HELD_CHARACTERS = 64_000_000
"""Printed modules of this size together are held at most before they are written."""


class Task(NamedTuple):
    """What is done to each input: ``options``, the folder for printed modules, and the form of the report.

    ``statistics`` is the form of the statistics, ``None`` for none, ``cycles`` that of the cycles. ``verdicts`` are
    results of earlier runs. ``stated`` are the options of the command line, which count more than the settings of
    projects; ``None`` does without these.
    """

    options: Options
    output: str | None
    format: str
    color: bool
    statistics: str | None = None
    verdicts: Verdicts | None = None
    cycles: str | None = None
    stated: frozenset[str] | None = None

    def options_of(self, item: Input) -> Options:
        """Returns the options for one input, with the settings of its project."""
        if self.stated is None or settings_file(folder_of(item.path)) is None:
            return self.options
        from .project.settings import configured  # deferred: start-up

        return configured(self.options, item.path, self.stated)


class FileResult(NamedTuple):
    """What one input gave; ``text`` is the rendered report (text form only), ``unwritten`` why there is no
    output."""

    ok: bool
    counts: Counts
    diagnostics: tuple[Diagnostic, ...]
    text: str | None
    unwritten: str | None
    statistics: tuple[ModuleStatistics | ProgramMap, ...] = ()
    cycles: tuple[ModuleCycles, ...] = ()


def check_files(inputs: Sequence[Input], task: Task, jobs: int | None) -> Generator[FileResult]:
    """Yields the results of all inputs, in their order, as they come; ``jobs`` is the number of processes for those
    whose results are not kept, ``None`` for what suits them.

    Raises ``WorkerError`` when a worker process dies.
    """
    kept = _kept(inputs, task)
    rest = [item for place, item in enumerate(inputs) if place not in kept] if kept else inputs
    with closing(_check(rest, task, default_jobs(rest) if jobs is None else jobs)) as checked:
        for place, item in enumerate(inputs):
            found = kept.pop(place, None)
            yield next(checked) if found is None else _finished(item, found, task)


def _kept(inputs: Sequence[Input], task: Task) -> dict[int, Result]:
    """Cached results of earlier runs, by path; a run with all results cached starts no process.

    Texts of modules are cached up to a limit: those beyond it are computed one by one.
    """
    found: dict[int, Result] = {}
    size = 0
    if task.verdicts is not None:
        for place, item in enumerate(inputs):
            result = cached_result(item, task.options_of(item), task.verdicts)
            if result is not None:
                found[place] = result
                size += len(result.text or "")
                if size > HELD_CHARACTERS:
                    break
    return found


def _check(inputs: Sequence[Input], task: Task, jobs: int) -> Generator[FileResult]:
    jobs = min(jobs, len(inputs), processors())
    if jobs > 1:
        from .workers import in_parallel  # deferred: start-up

        yield from in_parallel(inputs, partial(check_file, task=task), jobs, printing=task.options.printing)
        return
    for item in inputs:
        yield check_file(item, task)


def check_file(item: Input, task: Task) -> FileResult:
    """Processes one input and writes its printed module."""
    return _finished(item, process_input(item, task.options_of(item), task.verdicts), task)


def fixable(found: tuple[Diagnostic, ...], item: Input, task: Task) -> tuple[Diagnostic, ...]:
    """Returns ``found``, with fixes where the form of the report has room for them; they are kept as verdicts are."""
    if not found or task.format not in (JSON, SARIF):
        return found
    options = task.options_of(item)
    texts = dict.fromkeys(diag.span.source.text for diag in found if diag.span is not None)
    text, name = "\0".join(texts), f"{item.name}\0fixes"
    kept = task.verdicts.find(text, name, options) if task.verdicts is not None else None
    if kept is not None and len(kept.diagnostics) == len(found):
        return kept.diagnostics
    from .fixes.offer import with_fixes  # deferred: start-up

    fixed = with_fixes(found, options)
    if task.verdicts is not None:
        task.verdicts.keep(text, name, options, Result(False, fixed, Counts(), None))
    return fixed


def _finished(item: Input, result: Result, task: Task) -> FileResult:
    """Writes the printed module of an input and renders its diagnostics."""
    unwritten = None
    if task.output is not None and result.ok and result.text is not None:
        try:
            write_module(task.output, item, result.text, task.options.language)
        except OSError as error:
            unwritten = f"cannot write '{error.filename or task.output}': {error.strerror or error}"
    if task.format != TEXT:
        found = fixable(result.diagnostics, item, task)
        return FileResult(result.ok, result.counts, found, None, unwritten, result.statistics, result.cycles)
    text = render(result.diagnostics, task.color) if result.diagnostics else ""
    return FileResult(result.ok, result.counts, (), text, unwritten, result.statistics, result.cycles)

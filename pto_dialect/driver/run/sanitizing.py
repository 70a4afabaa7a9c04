"""Sanitizers of a launch: the instrumented kernel, and the reports of its findings."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from pto_dialect.analysis.release import release_of
from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.engine import Counts, DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.file_kinds import report_kind
from pto_dialect.diagnostics.files import atomic_write
from pto_dialect.ir.core.location import span_of
from pto_dialect.runtime.errors import BindingError
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.version import __version__

from ..report import rule_texts
from .files import FileError

if TYPE_CHECKING:
    from pto_dialect.recording.model import Change
    from pto_dialect.runtime.compile.group import Group
    from pto_dialect.sanitize.instrument.observer import RunObserver
    from pto_dialect.sanitize.launch import InstrumentedKernel
    from pto_dialect.sanitize.options import SanitizeOptions
    from pto_dialect.sanitize.report.findings import Finding

    from ..options import CycleRequest


@dataclass(frozen=True)
class Sanitizing:
    """Options of the sanitizers.

    ``limit``: errors shown, 0 for all. ``report``: file for the findings as JSON, or SARIF by its name.
    ``suppressions``: file with findings to leave out. ``trace``: file for a timeline, with ``costs`` by a simple model.
    ``fix``: file for the fixed program, ``-`` for standard output. ``cycles``: the run is timed, and the timeline has
    the durations of the cycle model. ``record``: file for a recording, of which at most ``record_limit`` bytes are
    retained (0: all), and ``changes`` of memories during the run; it is also written about every ``record_every``
    seconds of the run. ``html``: file for the page of the run. ``times_only``: nothing but the cycles is wanted.
    """

    options: SanitizeOptions
    limit: int = 20
    report: str | None = None
    suppressions: str | None = None
    trace: str | None = None
    costs: bool = False
    fix: str | None = None
    cycles: CycleRequest | None = None
    record: str | None = None
    record_limit: int = 0
    html: str | None = None
    record_every: float | None = None
    changes: tuple[Change, ...] = ()
    times_only: bool = False

    @property
    def observes(self) -> bool:
        """Whether more of the run is wanted than its time."""
        files = (self.report, self.trace, self.fix, self.record, self.html)
        return bool(self.options.checks) or any(file is not None for file in files)


def instrumented_kernel(
    module: ModuleOp,
    entry: str,
    target: str | None,
    run: RunOptions,
    request: Sanitizing,
    group: Group | None = None,
    observer: RunObserver | None = None,
    tasks: bool = False,
) -> InstrumentedKernel:
    """Returns the instrumented kernel, or group of functions, with the ``observer`` of others where it runs
    concurrently with them, for ``tasks`` in the one that reports the accesses of tasks; raises as ``Kernel`` does."""
    from pto_dialect.sanitize.launch import InstrumentedKernel  # deferred: start-up
    from pto_dialect.sanitize.report.timeline import Timeline  # deferred: start-up

    if (request.cycles is not None or request.html is not None) and observer is None and not tasks:
        return _timed_kernel(module, entry, target, run, request, group)
    timeline = Timeline(request.costs) if request.trace is not None else None
    if request.record is not None and observer is None and not tasks:
        from pto_dialect.recording.kernel import RecordingKernel  # deferred: start-up

        recorded = (module, entry, target, run, request.options, timeline, group)
        return RecordingKernel(*recorded, limit=request.record_limit, changes=request.changes)
    if tasks:
        from pto_dialect.sanitize.tasks import TaskKernel  # deferred: start-up

        return TaskKernel(module, entry, target, run, request.options, timeline, group)
    return InstrumentedKernel(module, entry, target, run, request.options, timeline, group, observer)


def _timed_kernel(
    module: ModuleOp,
    entry: str,
    target: str | None,
    run: RunOptions,
    request: Sanitizing,
    group: Group | None,
) -> InstrumentedKernel:
    """Returns the kernel whose runs are timed, and shown where a page is wanted."""
    from pto_dialect.analysis.cycles.static import table_for  # deferred: start-up
    from pto_dialect.analysis.cycles.table import CycleTableError  # deferred: start-up
    from pto_dialect.analysis.target import profile_of  # deferred: start-up
    from pto_dialect.sanitize.instrument.cycle_times import CycleTimeline  # deferred: start-up
    from pto_dialect.sanitize.timed import CycleKernel  # deferred: start-up

    kernel_class, timeline_class = CycleKernel, CycleTimeline
    if request.times_only:
        from pto_dialect.sanitize.times.kernel import TimesKernel  # deferred: start-up

        kernel_class = TimesKernel
    if request.html is not None:
        from pto_dialect.report.instrumentation import ReportTimeline  # deferred: start-up
        from pto_dialect.report.kernel import ReportKernel  # deferred: start-up

        kernel_class, timeline_class = ReportKernel, ReportTimeline
    cycles = request.cycles
    arch = profile_of(module, target).arch
    try:
        table = table_for(arch, cycles.table if cycles is not None else None)
    except CycleTableError as error:
        raise BindingError(str(error)) from None
    options = dict(cycles.options) if cycles is not None else {}
    timeline = timeline_class(table, arch, options, request.trace is not None)
    timed = (module, entry, target, run, request.options, timeline, group)
    if request.record is not None:
        from pto_dialect.recording.kernel import TimedRecordingKernel  # deferred: start-up

        recording_class = TimedRecordingKernel
        if request.html is not None:
            from pto_dialect.report.recording import ShownRecordingKernel  # deferred: start-up

            recording_class = ShownRecordingKernel
        return recording_class(*timed, limit=request.record_limit, changes=request.changes)
    return kernel_class(*timed)


def keep_recording(kernel: InstrumentedKernel, request: Sanitizing, blocks: int) -> None:
    """Writes the recording periodically during the run, if requested."""
    if request.record is None or request.record_every is None:
        return
    from pto_dialect.recording.kernel import RecordingKernel  # deferred: start-up
    from pto_dialect.recording.model import RecordingError  # deferred: start-up
    from pto_dialect.recording.save import save  # deferred: start-up

    path = request.record
    assert isinstance(kernel, RecordingKernel)

    def listener() -> None:
        # A file that cannot be written is reported at the end, when writing the whole recording fails as well.
        with suppress(RecordingError):
            save(path, kernel, blocks, kernel.observer.findings.all, running=True)

    kernel.record.notify_every(request.record_every, listener)


def save_recording(
    kernel: InstrumentedKernel, request: Sanitizing, blocks: int, failure: Diagnostic | None
) -> str | None:
    """Writes the requested recording of a run that ``failure`` has ended; returns the error, if that fails."""
    if request.record is None:
        return None
    from pto_dialect.recording.kernel import RecordingKernel  # deferred: start-up
    from pto_dialect.recording.model import RecordingError  # deferred: start-up
    from pto_dialect.recording.save import save  # deferred: start-up

    assert isinstance(kernel, RecordingKernel)
    try:
        save(request.record, kernel, blocks, kept_findings(kernel, request), failure)
    except RecordingError as error:
        return str(error)
    return None


def collected(
    kernel: InstrumentedKernel, request: Sanitizing, policy: DiagnosticOptions
) -> tuple[tuple[Diagnostic, ...], Counts]:
    """Returns the findings since the last call that are to be shown, and their numbers; writes the report.

    Raises ``BindingError`` for suppressions that cannot be read, ``FileError`` for a file that cannot be written.
    """
    kept = kept_findings(kernel, request)
    kernel.observer.findings.clear()
    if request.html is not None:
        from pto_dialect.report.kernel import ReportKernel  # deferred: start-up

        assert isinstance(kernel, ReportKernel)
        kernel.kept += kept
    if request.trace is not None and kernel.timeline is not None:
        _write(request.trace, kernel.timeline.document(kept), "trace")
    found = [finding.diagnostic() for finding in kept]
    everything = DiagnosticEngine(policy._replace(max_errors=0))
    shown = DiagnosticEngine(policy._replace(max_errors=request.limit))
    for diagnostic in found:
        everything.report(diagnostic)
        shown.report(diagnostic)
    if request.report is not None:
        facts = {
            "reference_release": str(release_of(kernel.function)),
            "pipes_ordered_by": "compiler" if kernel.compiler_orders else "program",
        }
        text = document(everything.diagnostics, everything.counts(), request.report, facts)
        _write(request.report, text, report_kind(request.report))
    return shown.diagnostics, shown.counts()


def unchecked_lines(kernel: InstrumentedKernel) -> list[str]:
    """Returns what a run did not check, one line each; nothing for runs that only write a timeline."""
    from pto_dialect.sanitize.unchecked import unchecked  # deferred: start-up

    return unchecked(kernel) if kernel.sanitize.checks else []


def assumed_lines(kernel: InstrumentedKernel) -> list[str]:
    """Returns what was assumed about a run and the text leaves open, one line each."""
    from pto_dialect.sanitize.unchecked import assumed  # deferred: start-up

    line = assumed(kernel) if kernel.sanitize.checks else ""
    return [line] if line else []


def kept_findings(kernel: InstrumentedKernel, request: Sanitizing) -> list[Finding]:
    """Returns the findings so far that no suppression covers. Raises ``BindingError`` for suppressions that cannot be
    read."""
    from pto_dialect.sanitize.report.suppress import (  # deferred: start-up
        SuppressionError,
        comments_of,
        read_suppressions,
        unsuppressed,
    )

    try:
        spans = [span_of(root.function) for root in kernel.program.roots.values()]
        sources = {span.source.name: span.source for span in spans if span is not None}
        suppressions = [one for source in sources.values() for one in comments_of(source)]
        if request.suppressions is not None:
            suppressions += read_suppressions(_text_of(request.suppressions), request.suppressions)
    except SuppressionError as error:
        raise BindingError(str(error)) from None
    return unsuppressed(kernel.observer.findings.all, suppressions)


def document(diagnostics: tuple[Diagnostic, ...], counts: Counts, path: str, facts: dict[str, str]) -> str:
    """Returns the report: SARIF for names that end in ``.sarif``, else JSON."""
    from pto_dialect.diagnostics.formats import to_json, to_sarif  # deferred: start-up

    if not path.endswith(".sarif"):
        return to_json(diagnostics, counts, facts)
    return to_sarif(diagnostics, rule_texts(), version=__version__, tool="pto-run", facts=facts)


def _text_of(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as stream:
            return stream.read()
    except OSError as error:
        raise BindingError(f"cannot read '{path}': {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise BindingError(f"'{path}' is not UTF-8 text") from None


def _write(path: str, text: str, kind: str) -> None:
    try:
        atomic_write(path, text, kind)
    except OSError as error:
        raise FileError(f"cannot write '{path}': {error.strerror or error}") from None

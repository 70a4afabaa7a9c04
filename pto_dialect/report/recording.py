"""Runs that are recorded and shown at once. Source: docs/report.md, "From a recording"."""

from __future__ import annotations

from pto_dialect.recording.instrumentation import RecordingInstrumentation
from pto_dialect.recording.kernel import TimedRecordingKernel

from .instrumentation import ReportInstrumentation
from .kernel import ReportKernel


class ShownRecordingInstrumentation(RecordingInstrumentation, ReportInstrumentation):
    """Writes down what a recording has, and what a page shows."""


class ShownRecordingKernel(TimedRecordingKernel, ReportKernel):
    """An entry function that is ready to run and be recorded and shown."""

    recording_watch = ShownRecordingInstrumentation

"""``pto-run --debug``: runs a program, records it, and debugs the recording."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from tempfile import TemporaryDirectory

from pto_dialect.debug.commands import Debugger
from pto_dialect.debug.points import FindingPoint
from pto_dialect.debug.session import Rerun, Session
from pto_dialect.recording import Recording, RecordingError
from pto_dialect.recording import open as open_recording
from pto_dialect.recording.model import Change

from ..inputs import Input
from .command import run_program
from .request import Request
from .sanitizing import Sanitizing
from .status import WRONG_LAUNCH, Streams

SUFFIX = ".pto-rec"


def debug_program(item: Input, request: Request, streams: Streams, break_on_finding: bool) -> int:
    """Carries out ``request`` as ``run_program`` does, and debugs what it has done, also after an error."""
    sanitizing = request.sanitizing
    assert sanitizing is not None
    with TemporaryDirectory(prefix="pto-debug-") as folder:
        kept = sanitizing.record
        path = kept if kept is not None else os.path.join(folder, f"run{SUFFIX}")
        code = run_program(item, replace(request, sanitizing=replace(sanitizing, record=path)), streams)
        if not os.path.exists(path):
            return code

        def rerun(changes: Sequence[Change]) -> Recording:
            again = os.path.join(folder, f"run-{len(os.listdir(folder))}{SUFFIX}")
            run_program(
                item, _quiet(request, sanitizing, again, changes), Streams(_nothing, streams.err, streams.color)
            )
            return open_recording(again)

        # What was read from files that the run has written may be something else now.
        again = None if any(given.write_back for _, given in request.arguments) else rerun
        return max(code, debug_recording(path, streams, break_on_finding, again))


def debug_recording(
    path: str, streams: Streams, break_on_finding: bool, rerun: Rerun | None = None, max_memory: int | None = None
) -> int:
    """Debugs the recording in ``path``; programs can be run again only with ``rerun``."""
    try:
        recording = open_recording(path, max_memory)
    except RecordingError as error:
        streams.err(f"error: {error}\n")
        return WRONG_LAUNCH
    with recording:
        session = Session(recording, rerun)
        debugger = Debugger(session, sys.stdin, sys.stdout, echo=not sys.stdin.isatty())
        debugger.start()
        if break_on_finding:
            session.add(FindingPoint("finding"))
            if recording.findings and recording.outcome.kind == "ended":
                debugger.onecmd("continue")
        _dialogue(debugger, sys.stdin.isatty())
    return 0


def _dialogue(debugger: Debugger, terminal: bool) -> None:
    """Reads commands until the end; in a terminal Ctrl-C ends what a command does, and nothing else."""
    while True:
        try:
            debugger.cmdloop()
            return
        except KeyboardInterrupt:
            debugger.say("")
            if not terminal:
                return
            debugger.say("interrupted; quit or Ctrl-D leaves the debugger")


def _quiet(request: Request, sanitizing: Sanitizing, path: str, changes: Sequence[Change]) -> Request:
    """Returns the run once more: without files, reports and summaries."""
    again = replace(sanitizing, record=path, report=None, trace=None, changes=tuple(changes))
    return replace(request, sanitizing=again, outputs=(), expectations=(), quiet=True, dump=False,
                   cycles=None, reference=None)  # fmt: skip


def _nothing(_: str) -> None:
    """Discards repeated output."""

"""What becomes of a launch: codes, where text goes, and what has ended a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.diagnostics.engine import Counts
from pto_dialect.diagnostics.source import Span

from ..inputs import Input
from .request import Request

if TYPE_CHECKING:
    from pto_dialect.analysis.cycles.static import ModuleCycles

OK = 0
WRONG_PROGRAM = 1
WRONG_LAUNCH = 2
FINDINGS = 3
TIMED_OUT = 4
"""Exit states of a launch; ``exit_status`` maps them to exit codes."""


class Streams(NamedTuple):
    """Where text goes: results to ``out``, diagnostics to ``err``; ``color`` allows ANSI codes in ``err``."""

    out: Callable[[str], None]
    err: Callable[[str], None]
    color: bool = False
    collect: Callable[[Sequence[Diagnostic], Counts], None] | None = None
    """Takes the diagnostics where they are not wanted as text."""


class Failure(Exception):
    """Ends the launch; the error was already reported."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def exit_status(code: int) -> int:
    """Returns the exit code of the command for what became of a launch."""
    return WRONG_PROGRAM if code == TIMED_OUT else code


def out_of_time(place: Span | None) -> Diagnostic:
    """Returns the error for a launch that takes too long; ``place`` is where it was, ``None`` for before or after the
    run."""
    where = "the run was here" if place is not None else "the program was not running"
    return Diagnostic("run-timeout", Severity.ERROR, f"the time limit of --timeout is over; {where}", place)


class LaunchState:
    """The state of one launch: ``failures`` have ended the run, ``mismatches`` are reports of unexpected outputs,
    ``timed`` are durations where requested."""

    def __init__(self, item: Input, request: Request) -> None:
        self.item = item
        self.request = request
        self.failures: list[Diagnostic] = []
        self.mismatches: list[str] = []
        self.timed: ModuleCycles | None = None

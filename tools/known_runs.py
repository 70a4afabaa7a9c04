"""Runs of ``pto-opt`` that came before: what they wrote, for as long as nothing has changed that they looked at.

See docs/performance.md, "The same command again". Nothing is imported here that takes long: neither ``click`` nor
``typing``, nor anything that checks programs.
"""

from __future__ import annotations

import os
import sys
from time import time_ns

from pto_dialect.driver.verdicts import LARGEST, Verdicts, open_verdicts
from pto_dialect.versions import folder_identity, installed_version

from .streams import BROKEN_PIPE, discard_output, shown_error, stderr_is_terminal, wants_color, write_stdout

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pto_dialect.driver.batch import Task
    from pto_dialect.driver.inputs import Input

    State = tuple[int, ...] | None

FRESH = 2_500_000_000
"""Nanoseconds after a change in which a file may change again without a trace: some file systems count in steps of two
seconds."""

ENCODING = "utf-8"

WRONG_COMMAND_LINE = 2


class Known:
    """A run that may be kept: what it looks at as it is before, and what it writes."""

    def __init__(self, paths: Sequence[str], inputs: Sequence[Input], batch: bool, task: Task) -> None:
        self._inputs = inputs
        self._task = task
        self._said: list[str] = []
        self._written: list[str] = []
        # A terminal shows how far a run over many inputs is.
        usual = _usual() and not (batch and stderr_is_terminal())
        alone = task.verdicts is not None and task.output is None and all(item.data is None for item in inputs)
        self._began = time_ns()
        # What a pattern names changes in folders that are not looked at.
        alone = alone and set(paths) <= set(sys.argv)
        self._states = _states(paths, inputs) if usual and alone else {}

    def recording(self, write: Callable[[str], None]) -> Callable[[str], None]:
        """Escapes text for standard error once, records it, and passes it to ``write``."""

        def record(text: str) -> None:
            text = shown_error(text)
            self._said.append(text)
            write(text)

        return record

    def write(self, text: str) -> None:
        """Writes a text to standard output."""
        self._written.append(text)
        write_stdout(text)

    def keep(self, code: int) -> None:
        """Keeps the run, which ended with this exit code, where the results of all inputs are kept and nothing has
        changed too short a time ago."""
        verdicts, states = self._task.verdicts, self._states
        if verdicts is None or not states or time_ns() - _newest(states) < FRESH:
            return
        if sum(map(len, (*self._said, *self._written))) > LARGEST:
            return
        from pto_dialect.driver.pipeline import is_kept  # deferred: start-up

        options = self._task.options_of
        if not all(is_kept(item, options(item), verdicts) for item in self._inputs):
            return
        compiled, variables = self._looked_at_by_compilers()
        # What a compiler has looked at is known afterwards only.
        if compiled is None or self._began - _newest(compiled) < FRESH:
            return
        answer = "".join(self._said), "".join(self._written), code
        verdicts.keep_note(_name(), (tuple((states | compiled).items()), variables, *answer))

    def _looked_at_by_compilers(self) -> tuple[dict[str, State] | None, tuple[tuple[str, str | None], ...]]:
        """The files and the variables that decide what C++ kernels become; ``None`` where that is not known."""
        kernels = [item for item in self._inputs if item.is_cpp]
        if not kernels:
            return {}, ()
        from pto_dialect.cpp.stored import VARIABLES  # deferred: start-up
        from pto_dialect.driver.inputs import looked_at  # deferred: start-up

        paths: set[str] = set()
        for item in kernels:
            found = looked_at(item, self._task.options_of(item).target)
            if found is None:
                return None, ()
            paths.update(found)
        return {path: _state(path) for path in paths}, tuple((name, os.environ.get(name)) for name in VARIABLES)


def answer() -> int | None:
    """Writes what the same command wrote before; its exit code. ``None``, with nothing written, where something has
    changed or is not known."""
    verdicts = opened() if _usual() else None
    known = None if verdicts is None else _unchanged(verdicts)
    if known is None:
        _opened[:] = [] if verdicts is None else [verdicts]
        return None
    said, written, code = known
    try:
        _say(said)
        if written:
            write_stdout(written)
    except BrokenPipeError:
        discard_output()
        return BROKEN_PIPE
    except OSError as error:
        _say(f"error: cannot write standard output: {error.strerror or error}\n")
        return WRONG_COMMAND_LINE
    return code


_opened: list[Verdicts | None] = []


def opened() -> Verdicts | None:
    """The results of earlier runs, which :func:`answer` has opened already if it was called: that looks at all sources
    of the package."""
    return _opened.pop() if _opened else open_verdicts()


def _say(text: str) -> None:
    if text:
        sys.stderr.write(text)
        sys.stderr.flush()


def _unchanged(verdicts: Verdicts) -> tuple[str, str, int] | None:
    try:
        known = verdicts.note(_name())
    except OSError:
        # The current folder was removed.
        return None
    if known is None or sys.stdout is None:
        return None
    states, variables, *answer = known
    if any(os.environ.get(name) != value for name, value in variables):
        return None
    return None if any(_state(path) != state for path, state in states) else tuple(answer)


def _usual() -> bool:
    """Whether standard error takes every text, and no shell requests completions."""
    stream = sys.stderr
    if sys.platform == "win32" or stream is None or stream.encoding.lower() != ENCODING:
        return False
    return not any(name.startswith("_") and name.endswith("_COMPLETE") for name in os.environ)


def _name() -> str:
    """The command line, the current folder, who sees the answer, and what reads it."""
    reader = (folder_identity(os.path.dirname(__file__)), installed_version("click"))
    return ascii(("run", *reader, os.getcwd(), stderr_is_terminal(), wants_color("auto"), *sys.argv))


def _states(paths: Sequence[str], inputs: Sequence[Input]) -> dict[str, State]:
    """What a run over ``inputs`` looks at: the files, the folders that were searched for them, and where settings of
    projects may be."""
    from pto_dialect.driver.project.settings_path import OWN, SHARED, folder_of  # deferred: start-up

    found = [item.path for item in inputs]
    for path in paths:
        for folder, below, _ in os.walk(path):
            below[:] = [name for name in below if not name.startswith(".")]
            found.append(folder)
    settled: set[str] = set()
    for item in inputs:
        folder = folder_of(item.path)
        while folder not in settled:
            settled.add(folder)
            folder = os.path.dirname(folder)
    found += [os.path.join(folder, name) for folder in settled for name in (OWN, SHARED)]
    return {path: _state(path) for path in found}


def _newest(states: dict[str, State]) -> int:
    """When the last of the files changed."""
    return max((max(state[-2:]) for state in states.values() if state), default=0)


def _state(path: str) -> State:
    """What differs as soon as a file, or the list of the files of a folder, does; ``None`` where there is nothing. The
    times of changes come last."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns

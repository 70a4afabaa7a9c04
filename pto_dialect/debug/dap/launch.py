"""Launch requests: a program that runs in a process of its own, or a recording.

Source: docs/debugger.md, "Editors".
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from pto_dialect.children import run_child
from pto_dialect.recording import Recording, RecordingError
from pto_dialect.recording import open as open_recording

from ..session import DebugError

Say = Callable[[str], None]


class Launcher:
    """Runs programs with ``command``, that of ``pto-run``; recordings go to ``folder``, and ``say`` shows what the run
    writes."""

    def __init__(self, command: Sequence[str], folder: str, say: Say) -> None:
        self.command = command
        self.folder = folder
        self.say = say

    def __call__(self, given: dict[str, Any]) -> tuple[Recording, str]:
        """Returns the recording that ``program`` with ``args`` leaves, or that of ``recording``, and the program."""
        if given.get("recording"):
            return self._opened(str(given["recording"]), given.get("program"))
        program = given.get("program")
        if not isinstance(program, str) or not program:
            raise DebugError("launch needs a program, or a recording")
        arguments = given.get("args") or []
        if not isinstance(arguments, list) or not all(isinstance(one, str) for one in arguments):
            raise DebugError("args of a launch are texts")
        path = os.path.join(self.folder, "run.pto-rec")
        command = [*self.command, program, *arguments, "--record", path]
        try:
            done = run_child(command, given.get("cwd") or None)
        except OSError as error:
            raise DebugError(f"cannot run {command[0]}: {error.strerror or error}") from None
        self.say(done.stdout)
        if not os.path.exists(path):
            lines = [line for line in done.stdout.split("\n") if "rror: " in line]
            raise DebugError(lines[0] if lines else f"the run left no recording (exit code {done.returncode})")
        return self._opened(path, program)

    @staticmethod
    def _opened(path: str, program: object) -> tuple[Recording, str]:
        try:
            recording = open_recording(path)
        except RecordingError as error:
            raise DebugError(str(error)) from None
        if isinstance(program, str) and program:
            try:
                with open(program, encoding="utf-8") as stream:
                    text = stream.read()
            except (OSError, UnicodeDecodeError):
                text = None
            if text is not None and recording.program.text and text != recording.program.text:
                recording.close()
                raise DebugError(f"'{path}' is the recording of another program than '{program}', or of an older text")
            return recording, program
        return recording, recording.program.file

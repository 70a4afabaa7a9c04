"""Ctrl-C in a terminal ends what a command does, and not the debugger. Source: docs/debugger.md, "Commands"."""

from __future__ import annotations

import os
import pty
import select
import signal
import sys
import time
from pathlib import Path

import numpy as np
from recorded_runs import recorded, recording_kernel
from sanitize_programs import load, program, store, ub

import pto_dialect

TEXT = program(ub("x", 0), "scf.for %i = %i0 to %i3 step %i1 {", load("%x"), store("%x"), "}")
START = "import sys; sys.path[:0] = {path!r}; from tools.pto_run import main; main()"
PROMPT = b"(pto) "
PATIENCE = 120.0


def said(terminal: int, end: bytes) -> str:
    """The output of a terminal up to some bytes."""
    found = b""
    limit = time.monotonic() + PATIENCE
    while not found.endswith(end):
        assert select.select([terminal], [], [], max(0.0, limit - time.monotonic()))[0], found
        found += os.read(terminal, 1024)
    return found.decode()


def wait_until_it_waits(process: int) -> None:
    """Python prints a prompt just before it waits for a line, and hears of a signal that comes in between with the next
    key only."""
    state = Path(f"/proc/{process}/stat")
    if not state.exists():
        time.sleep(1.0)
        return
    limit = time.monotonic() + PATIENCE
    while state.read_text().rpartition(")")[2].split()[0] != "S":
        assert time.monotonic() < limit
        time.sleep(0.01)


def test_an_interrupt_leaves_the_session_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "run.pto-rec"
    kernel = recording_kernel(pto_dialect.parse(TEXT), None, None)
    recorded(path, kernel, [np.arange(64, dtype=np.float32), np.zeros(64, np.float32)]).close()
    child, terminal = pty.fork()
    if child == 0:  # pragma: no cover
        code = START.format(path=sys.path)
        os.execv(sys.executable, [sys.executable, "-c", code, "--debug", str(path)])
    try:
        said(terminal, PROMPT)
        os.write(terminal, b"goto 3\n")
        place = [line for line in said(terminal, PROMPT).splitlines() if line.startswith("#3 ")]
        wait_until_it_waits(child)
        os.write(terminal, b"\x03")
        told = said(terminal, PROMPT)
        assert "interrupted; quit or Ctrl-D leaves the debugger" in told
        os.write(terminal, b"where\n")
        assert place and "[%i = 1]" in said(terminal, PROMPT)
        os.write(terminal, b"quit\n")
        _, status = os.waitpid(child, 0)
        child = 0
        assert os.waitstatus_to_exitcode(status) == 0
    finally:
        if child:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        os.close(terminal)

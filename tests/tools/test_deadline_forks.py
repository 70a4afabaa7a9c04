"""Limits of time do not cut off what libraries do around a fork: one of their locks would stay locked for ever."""

from __future__ import annotations

import subprocess
import sys

import pytest

FORKS = """
import os, sys, threading, time
from pto_dialect.deadline import TimedOut, deadline, quiet_fork

lock = threading.RLock()

def slowly():
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        pass

def release():
    slowly()
    lock.release()

os.register_at_fork(before=lock.acquire, after_in_parent=release)
ended = []

def busy():
    end = time.monotonic() + 30
    while time.monotonic() < end:
        pass

def work():
    try:
        with deadline(0.1):
            with quiet_fork():
                child = os.fork()
            if not child:
                os._exit(0)
            os.waitpid(child, 0)
            busy()
    except TimedOut:
        ended.append("over")

if sys.argv[1] == "main":
    work()
else:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
other = threading.Thread(target=lambda: ended.append(lock.acquire(timeout=5)))
other.start()
other.join()
print(ended)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no fork on Windows")
@pytest.mark.parametrize("thread", ["main", "other"])
def test_hooks_of_a_fork_are_carried_out_whole(thread: str) -> None:
    done = subprocess.run([sys.executable, "-c", FORKS, thread], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr, done.returncode) == ("['over', True]\n", "", 0)

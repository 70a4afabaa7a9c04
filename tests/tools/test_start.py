"""The beginning of the installed commands: Ctrl-C while the program is still being loaded."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

import pytest

CHECKOUT = Path(__file__).parents[2]

# The signal comes when the module WHEN is imported.
SCRIPT = """
import os, signal, sys
sys.path.insert(0, {checkout!r})
import pto_dialect
pto_dialect.__path__.append({checkout!r})
from pto_dialect.tools import start

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == {when!r}:
            os.kill(os.getpid(), signal.SIGINT)

{before}
sys.meta_path.insert(0, Interrupt())
sys.argv = [{command!r}, "--version"]
start.{command}()
"""


def interrupted(command: str, when: str, before: str = "") -> subprocess.CompletedProcess[str]:
    script = SCRIPT.format(checkout=str(CHECKOUT), when=when, command=command, before=before)
    # Modules whose code is cached do not come to the finder of the script.
    plain = {**os.environ, "PTO_PLAIN": "module-code"}
    line = [sys.executable, "-c", script]
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=60, env=plain)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("command", ["pto_opt", "pto_run"])
def test_ctrl_c_while_modules_load_is_silent(command: str) -> None:
    done = interrupted(command, "click.core")
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_afterwards_gives_the_exit_code_of_the_command() -> None:
    done = interrupted("pto_opt", "pto_dialect.versions")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_ignored_signal_stays_ignored() -> None:
    done = interrupted("pto_opt", "click.core", before="signal.signal(signal.SIGINT, signal.SIG_IGN)")
    assert done.returncode == 0
    assert done.stdout.startswith("pto-opt ")


def test_the_scripts_begin_there() -> None:
    scripts = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    for name, entry in scripts.items():
        module, _, function = entry.partition(":")
        assert callable(getattr(import_module(module), function)), name
    assert set(import_module("pto_dialect.tools.start").SCRIPTS) == set(scripts)


ENDING = """
import atexit, cProfile, os, sys, threading
sys.path.insert(0, {checkout!r})
import pto_dialect
pto_dialect.__path__.append({checkout!r})
from pto_dialect.tools import start

leave = os._exit
os._exit = lambda code: (os.write(1, b"LEFT;"), leave(code))
atexit.register(os.write, 1, b"at the end;")
threading.Thread(target=lambda: (threading.main_thread().join(), os.write(1, b"thread;"))).start()
sys.argv = ["pto-opt", {word!r}]
{call}
"""


def ended(
    call: str, word: str, stdout: IO[str] | int = subprocess.PIPE, name: str = "pto-opt"
) -> subprocess.CompletedProcess[str]:
    buffered = {**os.environ, "PYTHONUNBUFFERED": ""}
    with TemporaryDirectory() as folder:
        script = Path(folder, name)
        script.write_text(ENDING.format(checkout=str(CHECKOUT), word=word, call=call))
        line = [sys.executable, str(script)]
        return subprocess.run(line, stdout=stdout, stderr=subprocess.PIPE, env=buffered, text=True, timeout=60)


@pytest.mark.parametrize(("word", "code"), [("--version", 0), ("--no-such-option", 2)])
def test_a_command_ends_in_order_and_leaves_its_memory(word: str, code: int) -> None:
    """What is printed, threads and what is registered for the end come first."""
    done = ended("print('first'); start.pto_opt()", word)
    assert done.returncode == code and ("No such option" in done.stderr) == (code == 2)
    assert [done.stdout.count(text) for text in ("first", "thread;", "at the end;", "LEFT;")] == [1] * 4
    assert done.stdout.index("thread;") < done.stdout.index("at the end;") < done.stdout.index("LEFT;")


def test_below_a_profiler_python_ends_as_ever() -> None:
    done = ended("cProfile.run('start.pto_opt()')", "--version")
    assert done.returncode == 0 and "function calls" in done.stdout
    assert [done.stdout.count(text) for text in ("thread;", "at the end;", "LEFT;")] == [1, 1, 0]


def test_below_a_program_of_somebody_else_python_ends_as_ever() -> None:
    done = ended("try:\n    start.pto_opt()\nfinally:\n    print('mine')", "--version", name="wrapper.py")
    assert done.returncode == 0
    assert [done.stdout.count(text) for text in ("mine", "thread;", "at the end;", "LEFT;")] == [1, 1, 1, 0]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_stream_that_cannot_be_written_is_reported_by_python() -> None:
    with open("/dev/full", "w") as full:
        done = ended("atexit.register(print, 'late'); start.pto_opt()", "--no-such-option", stdout=full)
    assert done.returncode == 120 and "No space left" in done.stderr

"""The beginning of the installed commands: Ctrl-C while the program is still being loaded."""

from __future__ import annotations

import signal
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

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
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)


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

"""Runs pytest again and again in one tree, each time in a new process that has the libraries loaded already.

Started by `mutate.py` in the folder of the tree.  Reads lines of JSON, `[seconds, argument, ...]`, and answers each
with the exit code of pytest, or `late` when it took longer.  Modules of the project are loaded by nobody but the run
itself, so that a changed file is read again.
"""

from __future__ import annotations

import json
import os
import pkgutil
import signal
import sys
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest

OWN = ("pto_dialect", "tools", "grammar", "lit_format", "run_lines", "conftest")
"""Top modules of the project."""


def used_libraries() -> list[str]:
    """Modules of others that the package imports, determined in a process of its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        before = set(sys.modules)
        package = import_module("pto_dialect")
        for module in pkgutil.walk_packages(package.__path__, "pto_dialect."):
            # Parts for other projects change these when they are imported, or need them.
            if not module.name.endswith("__main__") and ".integrations." not in module.name:
                # Extras that are not installed have no tests to run either.
                with suppress(ModuleNotFoundError):
                    import_module(module.name)
        new = [name for name in sys.modules if name not in before and name.partition(".")[0] not in OWN]
        with os.fdopen(writer, "w") as out:
            json.dump(new, out)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        found = json.load(answer)
    os.waitpid(child, 0)
    return found


def run(arguments: list[str]) -> None:
    """Becomes a run of pytest; what it prints is dropped, and what it starts ends with it."""
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nowhere, number)
    os._exit(int(pytest.main(arguments)))


def waited(child: int, seconds: float) -> int | None:
    """Exit code of a child; ``None`` when it took too long and was ended."""
    stop = time.monotonic() + seconds
    while time.monotonic() < stop:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def main() -> None:
    """Serves until the input ends."""
    sys.path.insert(0, str(Path.cwd()))
    for name in (*used_libraries(), "hypothesis", "lit.formats", "filecheck"):
        # Compiled libraries put modules of their own making among those that were imported.
        with suppress(ModuleNotFoundError):
            import_module(name)
    # Libraries that pytest would like to load itself are loaded already.
    quiet = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
    for line in sys.stdin:
        seconds, *arguments = json.loads(line)
        child = os.fork()
        if child == 0:
            run([*quiet, *arguments])
        code = waited(child, seconds)
        print("late" if code is None else code, flush=True)


if __name__ == "__main__":
    main()

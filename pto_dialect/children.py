"""Starts the child processes of the package; nothing else does.

A child imports the package by its path, its dependencies from the folders in which this process has found them, and
nothing from the current folder, whatever lies there: ``python -m`` and ``python -c`` would put that folder first. Nor
does it inherit variables that change what Python loads or runs at its start. SECURITY.md promises so.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import MappingProxyType

TYPE_CHECKING = False

if TYPE_CHECKING:
    from multiprocessing.context import BaseContext
    from subprocess import CompletedProcess, Popen
    from typing import IO

_START = os.path.join(os.path.dirname(os.path.abspath(__file__)), "child_start.py")

_DEPENDENCIES = (
    *("click", "lark", "ml_dtypes", "numpy", "threadpoolctl", "xdsl"),
    *("cryptography", "dask", "distributed", "matplotlib", "mcp", "pyarrow", "pygls", "torch", "watchfiles"),
)
"""Modules that the package and its extras need."""


class UncleanStart(OSError):
    """A child that would import from the current folder."""


def python_command(function: str, *arguments: str) -> list[str]:
    """Returns the command line that calls ``function``, ``MODULE:NAME`` of the package, in an interpreter like this
    one."""
    if not sys.executable:
        raise UncleanStart(2, "Python does not know its own path")
    # The standard library may not be where the interpreter looks for it by itself.
    isolation = ["-P", "-s"] if _needs_home() else ["-I"]
    utf8 = ["-X", "utf8"] if sys.flags.utf8_mode else []
    return [sys.executable, *isolation, *utf8, _START, os.pathsep.join(dependency_folders()), function, *arguments]


def child_environment() -> dict[str, str]:
    """Returns the variables of this process without those of Python, but for one that an installation may need."""
    kept = ("PYTHONHOME",) if _needs_home() else ()
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON") or name in kept}


def dependency_folders() -> list[str]:
    """Returns the folders of ``sys.path`` that hold the dependencies of the package, the current folder left out."""
    path = _clean_path()
    found: dict[str, None] = {}
    for name in _DEPENDENCIES:
        for folder in path:
            place = os.path.join(folder, name)
            if os.path.isfile(os.path.join(place, "__init__.py")) or os.path.isfile(f"{place}.py"):
                found[folder] = None
                break
    return list(found)


def run_child(command: Sequence[str], folder: str | None = None, *, shown: bool = False) -> CompletedProcess[str]:
    """Runs a command to its end in ``folder``; its output is kept, both streams together, unless it is ``shown``.
    Raises ``OSError`` where it cannot start."""
    import subprocess  # deferred: start-up

    if shown:
        return subprocess.run(command, cwd=folder, env=child_environment(), text=True, check=False)
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", cwd=folder, env=child_environment(), check=False,
    )  # fmt: skip


_LIMITS = 'ulimit -t "$1" && ulimit -v "$2" && ulimit -f "$3" && ulimit -c 0; shift 3; exec "$@"'
_SHELL = "/bin/sh"
_MOST_OUTPUT = 1 << 20
_MOST_WRITTEN = 1 << 20
"""Blocks of 512 bytes."""


def run_limited(
    command: Sequence[str], folder: str | None, *, seconds: float, megabytes: int = 0,
    variables: Mapping[str, str] | None = None,
) -> tuple[int, str]:  # fmt: skip
    """Runs a program that is none of the package, and whatever it starts, within limits of time and memory.

    ``seconds`` is processor time where the system has ``ulimit``; by the clock it is twice as much. Answers the
    exit code, negative or at least 126 where a limit ended the program, and the beginning of its output.
    """
    import tempfile  # deferred: start-up

    with tempfile.TemporaryFile() as output:
        code, why = _limited(command, folder, seconds, megabytes, variables, output, output)
        return code, why or _beginning(output)


def run_limited_apart(
    command: Sequence[str], folder: str | None, *, seconds: float, megabytes: int, variables: Mapping[str, str]
) -> tuple[int, str, str]:
    """As :func:`run_limited`, with the beginnings of standard output and of standard error."""
    import tempfile  # deferred: start-up

    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        code, why = _limited(command, folder, seconds, megabytes, variables, output, errors)
        return code, _beginning(output), why or _beginning(errors)


def _limited(
    command: Sequence[str], folder: str | None, seconds: float, megabytes: int, variables: Mapping[str, str] | None,
    output: IO[bytes], errors: IO[bytes],
) -> tuple[int, str]:  # fmt: skip
    """Returns the exit code of a program within limits, and why it did not start."""
    import subprocess  # deferred: start-up

    limited = list(command)
    if megabytes and os.path.exists(_SHELL):
        numbers = (str(int(seconds)), str(megabytes * 1024), str(_MOST_WRITTEN))
        limited = [_SHELL, "-c", _LIMITS, "sh", *numbers, *command]
    try:
        process = subprocess.Popen(
            limited, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, cwd=folder,
            env=dict(child_environment() if variables is None else variables), start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        return 127, str(error)
    return _wait(process, 2 * seconds), ""


def _beginning(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read(_MOST_OUTPUT).decode(errors="replace")


def _wait(process: Popen[bytes], seconds: float) -> int:
    """Returns the exit code of a process, which is ended after so many seconds. ``Popen.wait`` with a limit sleeps for
    up to 50 ms after the end of the process."""
    from threading import Timer  # deferred: start-up

    late = Timer(seconds, _end_group, (process,))
    late.daemon = True
    late.start()
    try:
        return process.wait()
    except BaseException:
        _end_group(process)
        raise
    finally:
        late.cancel()


def _end_group(process: Popen[bytes]) -> None:
    """Ends a process that was started in its own session, with all that it has started."""
    if sys.platform == "win32":
        process.kill()
    else:
        import signal  # deferred: start-up

        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


async def run_child_async(
    command: Sequence[str], given: bytes | None = None, folder: str | None = None
) -> tuple[int, str]:
    """The exit code and the output of a command that runs in ``folder``, both streams together; of one that is
    ``given`` its standard input, the standard output alone."""
    import asyncio  # deferred: start-up

    pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        *command, stdin=nothing if given is None else pipe, stdout=pipe,
        stderr=asyncio.subprocess.STDOUT if given is None else nothing, env=child_environment(), cwd=folder,
    )  # fmt: skip
    output, _ = await process.communicate(given)
    return process.returncode or 0, output.decode(errors="replace")


def process_context(method: str) -> BaseContext:
    """Returns the context of ``multiprocessing`` for a method; other methods than ``fork`` start inside
    :func:`clean_start`."""
    import multiprocessing  # deferred: start-up

    return multiprocessing.get_context(method)


def start_fork_server(modules: Sequence[str], variables: Mapping[str, str]) -> None:
    """Starts the fork server of ``multiprocessing``, which loads ``modules`` while this process continues, with
    ``variables`` in addition to its own. Raises ``UncleanStart``."""
    from multiprocessing import forkserver, get_context  # deferred: start-up

    get_context("forkserver").set_forkserver_preload([*modules])
    with clean_start(variables):
        forkserver.ensure_running()


@contextmanager
def clean_start(more: Mapping[str, str] = MappingProxyType({})) -> Iterator[None]:
    """Around starts by ``multiprocessing``, which runs ``python -c`` with the variables and the path of this process.

    ``more`` are further variables. Raises ``UncleanStart`` where Python ignores the variable that keeps the current
    folder out.
    """
    if sys.flags.ignore_environment and not sys.flags.safe_path:
        raise UncleanStart(1, "Python was started with -E and without -P; use -I, which is both")
    variables, path = dict(os.environ), list(sys.path)
    clean = {**child_environment(), **more, "PYTHONSAFEPATH": "1"}
    if folders := [folder for folder in dependency_folders() if not _is_usual(folder)]:
        clean["PYTHONPATH"] = os.pathsep.join(folders)
    try:
        _set_variables(clean)
        sys.path[:] = _clean_path()
        yield
    finally:
        _set_variables(variables)
        sys.path[:] = path


def _set_variables(variables: dict[str, str]) -> None:
    for name in set(os.environ) - set(variables):
        del os.environ[name]
    os.environ.update(variables)


def _needs_home() -> bool:
    return "PYTHONHOME" in os.environ and not sys.flags.ignore_environment


def _clean_path() -> list[str]:
    """Returns ``sys.path`` without the current folder, unless this package is in it, and without what depends on it."""
    try:
        current = os.path.realpath(os.getcwd())
    except OSError:
        current = None
    if current == os.path.realpath(os.path.dirname(os.path.dirname(_START))):
        current = None
    return [folder for folder in sys.path if os.path.isabs(folder) and os.path.realpath(folder) != current]


def _is_usual(folder: str) -> bool:
    """Returns whether this interpreter looks into ``folder`` by itself."""
    from site import getsitepackages  # deferred: start-up

    return folder in getsitepackages()

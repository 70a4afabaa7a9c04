"""Runs of a command on programs that are tried: each in a copy of this process, with limits of time and memory."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import NamedTuple

import click

from pto_dialect.deadline import quiet_fork

from .command_line import stated_options
from .subcommands import SUBCOMMANDS

COMMANDS = ("check", "opt", "lower", "run", "prove")
"""Sub-commands of ``pto`` that a reduction may run."""

WRITING = frozenset(
    (
        *("output", "outputs", "fix", "layout", "results", "junit", "init_launch", "html", "trace", "record", "report"),
        *("watch", "debug", "cluster", "ranks", "server", "explained", "list_rules", "list_ops", "listing", "compare"),
    )
)
"""Options that write files, start something that stays, or look at no program."""

HELP = frozenset(("-h", "--help", "--version"))
"""Options that print something by themselves."""

KILLED = -1
"""Exit code of a run that took too long or ended without one."""

MEGABYTES = 4096
"""Memory that a run may use beyond that of this process."""

_FINDING = re.compile(r"^\S.*?: (error|warning): .*\[([\w-]+)\]$", re.MULTILINE)


VERDICTS = frozenset(("prove",))
"""Sub-commands that write their findings to standard output."""


class Outcome(NamedTuple):
    """What a command gave: its exit code and both streams; ``told`` are its findings."""

    code: int
    out: str
    err: str
    told: str

    def rules(self, *severities: str) -> frozenset[str]:
        """The rules of its findings of some severities, all by default."""
        wanted = severities or ("error", "warning")
        return frozenset(rule for severity, rule in _FINDING.findall(self.told) if severity in wanted)


class CommandError(ValueError):
    """A command that a reduction cannot run; the message says why."""


class Command:
    """A sub-command of ``pto`` with its arguments, without the file. Raises :class:`CommandError`."""

    def __init__(self, name: str, arguments: Sequence[str]) -> None:
        if name not in COMMANDS:
            raise CommandError(f"a reduction runs one of {', '.join(COMMANDS)}, not '{name}'")
        self.name = name
        entry = SUBCOMMANDS[name]
        self._main: click.Command = import_module(f".{entry.module}", __package__).main
        self.arguments = (*entry.before, *arguments)
        self._check()

    def _check(self) -> None:
        """Refuses arguments that the command does not have, and those that write or name further files."""
        if HELP & {*self.arguments}:
            raise CommandError(f"pto {self.name} looks at no program with these options")
        try:
            context = self._main.make_context(f"pto {self.name}", [*self.arguments, os.devnull])
        except click.ClickException as error:
            raise CommandError(f"pto {self.name}: {error.format_message()}") from None
        except click.exceptions.Exit:
            raise CommandError(f"pto {self.name} ends at once with these options") from None
        with context:
            stated = stated_options(context)
            if len(context.params["paths"]) != 1:
                raise CommandError("the program is the FILE of pto reduce; the command names no other")
            if any(one.endswith(":inout") for one in self.arguments):
                raise CommandError("an argument with :inout writes its file in every run")
        if unfit := sorted(stated & WRITING):
            names = ", ".join(
                max(one.opts, key=len) for one in self._main.params if one.name in unfit
            )  # fmt: skip
            raise CommandError(f"pto reduce runs the command many times, without {names}")

    def call(self, path: str, more: Sequence[str] = ()) -> None:
        """Runs the command in this process; ends with SystemExit."""
        self._main.main([*self.arguments, *more, path], prog_name=f"pto {self.name}")


class Trials:
    """A folder with the programs that are tried, under the name of the original one, and its settings."""

    def __init__(self, name: str, settings: str | None, seconds: float) -> None:
        self.folder = tempfile.mkdtemp(prefix="pto-reduce-")
        self.path = os.path.join(self.folder, name)
        self.seconds = seconds
        self.runs = 0
        if settings is not None:
            shutil.copy(settings, self.folder)

    def __enter__(self) -> Trials:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, text: str) -> str:
        """Makes ``text`` the program that is tried; its path."""
        with open(self.path, "w", encoding="utf-8", errors="surrogatepass", newline="") as stream:
            stream.write(text)
        return self.path

    def warm(self, command: Command) -> None:
        """Loads what the command needs into this process, so that its copies need not."""
        self.write("module {\n  func.func @f() {\n    return\n  }\n}\n")
        kept = os.dup(1), os.dup(2)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            with suppress(SystemExit, Exception):
                command.call(self.path)
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
        finally:
            for number, copy in enumerate(kept, 1):
                os.dup2(copy, number)
                os.close(copy)
            os.close(nowhere)

    def run(self, command: Command, text: str, more: Sequence[str] = ()) -> Outcome:
        """What the command gives for a program."""
        path = self.write(text)
        self.runs += 1
        out, err = (os.path.join(self.folder, f".{name}") for name in ("out", "err"))
        code = _forked(command, path, more, out, err, self.seconds)
        texts = _read(out), _read(err)
        return Outcome(code, *texts, texts[0] if command.name in VERDICTS else texts[1])


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read(1 << 22)
    except OSError:
        return ""


def _forked(command: Command, path: str, more: Sequence[str], out: str, err: str, seconds: float) -> int:
    """The exit code of a command in a copy of this process; ``KILLED`` where it took longer than ``seconds``."""
    with quiet_fork():
        process = os.fork()
    if process == 0:
        _child(command, path, more, out, err)
    end = time.monotonic() + seconds
    pause = 0.001
    while time.monotonic() < end:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else KILLED
        time.sleep(pause)
        pause = min(0.02, pause * 1.5)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return KILLED


def _child(command: Command, path: str, more: Sequence[str], out: str, err: str) -> None:
    code = 1
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        _limit_memory()
        for number, file in enumerate((os.devnull, out, err)):
            mode = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            os.dup2(os.open(file, mode, 0o600), number)
        command.call(path, more)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):
                stream.flush()
        os._exit(code & 0xFF)


def _limit_memory() -> None:
    import resource  # deferred: start-up

    with suppress(OSError, ValueError), open("/proc/self/statm", encoding="ascii") as stream:
        used = int(stream.read().split()[0]) * resource.getpagesize()
        limit = used + (MEGABYTES << 20)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

"""How commands of the integrations start a Python program: its arguments, its name, its errors, and the sanitizers.

See docs/builders.md and docs/pypto.md.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import runpy
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import NoReturn

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIBRARY = os.path.dirname(os.__file__) + os.sep
SANITIZE = "--sanitize"
INTERRUPTED = 130
"""Exit code after Ctrl-C."""


def command_parser(name: str, description: str) -> argparse.ArgumentParser:
    """Returns the parser of `python -m NAME [OPTIONS] FILE [ARGS]`, without its arguments."""
    return argparse.ArgumentParser(
        prog=f"python -m {name}", description=description, usage="%(prog)s [OPTIONS] FILE [ARGS]", allow_abbrev=False
    )


def add_program(parser: argparse.ArgumentParser) -> None:
    """Adds the last arguments: whether the program is a module, the program, and what it gets."""
    parser.add_argument("-m", dest="module", action="store_true", help="FILE is the name of a module")
    parser.add_argument("file", nargs="?", metavar="FILE", help="the program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGS", help="its arguments")


def add_checks(parser: argparse.ArgumentParser) -> None:
    """Adds the option that sanitizes; see :func:`with_checks`."""
    parser.add_argument(SANITIZE, metavar="CHECKS", help="sanitize each launch; --sanitize=race,init selects checks")


def check_program(parser: argparse.ArgumentParser, options: argparse.Namespace, is_command: bool = False) -> None:
    """Ends with a message where there is no program, or no check of a name."""
    if options.file is None:
        parser.error("FILE is missing")
    if not options.module and not is_command and not os.path.isfile(options.file):
        parser.error(f"there is no file {options.file!r}")
    if options.sanitize is not None:
        _check_checks(parser, options.sanitize)


def with_checks(arguments: list[str], valued: Sequence[str] = ()) -> list[str]:
    """Returns the arguments with all checks where `--sanitize` before the program names none: the program follows it.

    ``valued`` are options whose values are arguments of their own.
    """
    made = list(arguments)
    position = 0
    while position < len(made) and made[position].startswith("-"):
        if made[position] == SANITIZE:
            made[position] = f"{SANITIZE}=all"
        position += 2 if made[position] in valued else 1
    return made


def _check_checks(parser: argparse.ArgumentParser, checks: str) -> None:
    """Ends with a message for names of checks that there are not."""
    from pto_dialect.sanitize.options import UnknownCheckError, parse_checks  # deferred: start-up

    try:
        parse_checks([checks])
    except UnknownCheckError as error:
        parser.error(f"{SANITIZE}: {error}")


def watched(checks: str | None) -> AbstractContextManager[None]:
    """Returns the sanitizers for the launches inside the ``with`` block; ``None``: no checks."""
    if checks is None:
        return nullcontext()
    from .sanitized import sanitized  # deferred: start-up

    return sanitized(checks)


def run_program(file: str, is_module: bool) -> None:
    """Runs a file, or a module of this name, as Python runs a program."""
    if is_module:
        _check_module(file)
        runpy.run_module(file, run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(file))
        runpy.run_path(file, run_name="__main__")


def _check_module(name: str) -> None:
    """Ends as Python does where there is no module ``name``."""
    try:
        found = not name.startswith(".") and importlib.util.find_spec(name) is not None
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        found = False
    except ValueError:
        found = False
    if not found:
        sys.exit(f"{sys.executable}: No module named {name}")


def end_with(error: BaseException, here: str) -> NoReturn:
    """Shows an exception of a program without frames that are not the program's, and ends the process.

    ``here`` is the folder of the command, whose frames are never shown.
    """
    error.with_traceback(_own_frames(error, here))
    sys.excepthook(type(error), error, error.__traceback__)
    sys.exit(INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1)


def _own_frames(error: BaseException, here: str) -> TracebackType | None:
    """Returns the traceback without the frames of this package, of what it calls, and of what starts programs.

    Exceptions that are not about the program may be faults of the package: they keep what is outside of this file and
    of the folder ``here``.
    """
    is_told = isinstance(error, KeyboardInterrupt) or type(error).__module__.startswith(("pto_dialect.", "mlir."))
    ours = PACKAGE if is_told else here
    kept: list[TracebackType] = []
    trace, is_inside = error.__traceback__, False
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        is_library = is_told and is_inside and ("site-packages" in file or file.startswith((LIBRARY, "<")))
        is_inside = file.startswith((ours + os.sep, __file__, "<frozen runpy>")) or is_library
        if not is_inside:
            kept.append(trace)
        trace = trace.tb_next
    found: TracebackType | None = None
    for one in reversed(kept):
        found = TracebackType(found, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return found

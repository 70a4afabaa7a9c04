"""`python -m pto_dialect.integrations.builders FILE [ARGS]`: runs a Python program that builds `.pto`."""

from __future__ import annotations

import argparse
import importlib.util
import os
import runpy
import subprocess
import sys
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType

from . import VARIABLE, install

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.dirname(os.path.dirname(HERE))
LIBRARY = os.path.dirname(os.__file__) + os.sep
STUBS = os.path.join(HERE, "path")

SANITIZE, SAVE, RELEASES = "--sanitize", "--save", "--reference-release"
INTERRUPTED = 130
"""Exit code after Ctrl-C."""


def main(arguments: list[str]) -> None:
    """Runs the program that the arguments name."""
    parser = _parser()
    options = parser.parse_args(_with_checks(arguments))
    if options.path:
        print(STUBS)
        return
    _check(parser, options)
    try:
        install(force=options.force, quiet=options.quiet, release=options.release)
    except ValueError as error:
        parser.error(f"--reference-release: {error}")
    _pass_on("force" if options.force else "1")
    sys.argv = [options.file, *options.arguments]
    try:
        if options.command:
            sys.exit(_code_of(parser, sys.argv))
        with _watched(options.sanitize):
            _run(options.file, options.module)
    except (Exception, KeyboardInterrupt) as error:
        error.with_traceback(_own_frames(error))
        sys.excepthook(type(error), error, error.__traceback__)
        sys.exit(INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m pto_dialect.integrations.builders",
        description="Runs a Python program that builds .pto with MLIR's bindings, without the bindings.",
        usage="%(prog)s [OPTIONS] FILE [ARGS]",
        allow_abbrev=False,
    )
    parser.add_argument("--force", action="store_true", help="use pto-dialect also where the bindings are installed")
    parser.add_argument("--quiet", action="store_true", help="do not say which bindings are used")
    parser.add_argument("--path", action="store_true", help="print the folder for PYTHONPATH that does the same")
    parser.add_argument(
        RELEASES, dest="release", metavar="RELEASE", help="make modules for a release of the reference, such as 0.44"
    )
    parser.add_argument(SANITIZE, metavar="CHECKS", help="sanitize each launch; --sanitize=race,init selects checks")
    parser.add_argument(SAVE, metavar="DIR", help="write each launch into a folder below DIR, with a launch file")
    parser.add_argument("-m", dest="module", action="store_true", help="FILE is the name of a module")
    parser.add_argument("-c", dest="command", action="store_true", help="FILE is a command, as in -c bash compile.sh")
    parser.add_argument("file", nargs="?", metavar="FILE", help="the program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGS", help="its arguments")
    return parser


def _with_checks(arguments: list[str]) -> list[str]:
    """The arguments with all checks where an option before the program names none: the program follows it."""
    made = list(arguments)
    position = 0
    while position < len(made) and made[position].startswith("-"):
        if made[position] == SANITIZE:
            made[position] = f"{SANITIZE}=all"
        position += 2 if made[position] in (SAVE, RELEASES) else 1
    return made


def _check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Ends with a message for options that cannot be followed, and makes the folder of launches."""
    if options.file is None:
        parser.error("FILE is missing")
    if not options.module and not options.command and not os.path.isfile(options.file):
        parser.error(f"there is no file {options.file!r}")
    if options.sanitize is not None:
        from pto_dialect.sanitize.options import UnknownCheckError, parse_checks  # deferred: start-up

        try:
            parse_checks([options.sanitize])
        except UnknownCheckError as error:
            parser.error(f"{SANITIZE}: {error}")
    if options.save is not None:
        from .launch.saved import save_launches  # deferred: start-up

        try:
            save_launches(options.save)
        except OSError as error:
            parser.error(f"{SAVE}: cannot write below {options.save!r}: {error.strerror or error}")


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


def _code_of(parser: argparse.ArgumentParser, command: list[str]) -> int:
    """Runs a command and returns its exit code."""
    try:
        return subprocess.run(command, check=False).returncode
    except OSError as error:
        parser.error(f"cannot run {command[0]!r}: {error.strerror or error}")


def _run(file: str, is_module: bool) -> None:
    if is_module:
        _check_module(file)
        runpy.run_module(file, run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(file))
        runpy.run_path(file, run_name="__main__")


def _own_frames(error: BaseException) -> TracebackType | None:
    """Returns the traceback without the frames of this package, of what it calls, and of what starts programs.

    Exceptions that are not about the program may be faults of the package: they keep what is outside of this folder.
    """
    is_told = isinstance(error, KeyboardInterrupt) or type(error).__module__.startswith(("pto_dialect.", "mlir."))
    ours = PACKAGE if is_told else HERE
    kept: list[TracebackType] = []
    trace, is_inside = error.__traceback__, False
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        is_library = is_told and is_inside and ("site-packages" in file or file.startswith((LIBRARY, "<")))
        is_inside = file.startswith((ours + os.sep, "<frozen runpy>")) or is_library
        if not is_inside:
            kept.append(trace)
        trace = trace.tb_next
    found: TracebackType | None = None
    for one in reversed(kept):
        found = TracebackType(found, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return found


def _watched(checks: str | None) -> AbstractContextManager[None]:
    if checks is None:
        return nullcontext()
    from .launch.sanitized import sanitized  # deferred: start-up

    return sanitized(checks)


def _pass_on(choice: str) -> None:
    """Has Python programs that this one starts do the same."""
    os.environ[VARIABLE] = choice
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = STUBS if not before else os.pathsep.join((STUBS, before))


if __name__ == "__main__":
    main(sys.argv[1:])

"""`python -m pto_dialect.integrations.builders FILE [ARGS]`: runs a Python program that builds `.pto`."""

from __future__ import annotations

import argparse
import os
import runpy
import subprocess
import sys
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType

from . import VARIABLE, install

HERE = os.path.dirname(os.path.abspath(__file__))
STUBS = os.path.join(HERE, "path")


def main(arguments: list[str]) -> None:
    """Runs the program that the arguments name."""
    parser = argparse.ArgumentParser(
        prog="python -m pto_dialect.integrations.builders",
        description="Runs a Python program that builds .pto with MLIR's bindings, without the bindings.",
    )
    parser.add_argument("--force", action="store_true", help="use pto-dialect also where the bindings are installed")
    parser.add_argument("--quiet", action="store_true", help="do not say which bindings are used")
    parser.add_argument("--path", action="store_true", help="print the folder for PYTHONPATH that does the same")
    parser.add_argument(
        "--sanitize", metavar="CHECKS", nargs="?", const="all", help="sanitize each launch (--sanitize=race,init)"
    )
    parser.add_argument("--save", metavar="DIR", help="write each launch into a folder below DIR, with a launch file")
    parser.add_argument("-m", dest="module", action="store_true", help="FILE is the name of a module")
    parser.add_argument("-c", dest="command", action="store_true", help="FILE is a command, as in -c bash compile.sh")
    parser.add_argument("file", nargs="?", metavar="FILE", help="the program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGS", help="its arguments")
    options = parser.parse_args(arguments)
    if options.path:
        print(STUBS)
        return
    if options.file is None:
        parser.error("FILE is missing")
    if not options.module and not options.command and not os.path.isfile(options.file):
        parser.error(f"there is no file {options.file!r}")
    install(force=options.force, quiet=options.quiet)
    _pass_on("force" if options.force else "1")
    if options.command:
        sys.exit(subprocess.run([options.file, *options.arguments], check=False).returncode)
    sys.argv = [options.file, *options.arguments]
    if options.save:
        from .launch.saved import save_launches  # deferred: start-up

        save_launches(options.save)
    try:
        with _watched(options.sanitize):
            _run(options.file, options.module)
    except Exception as error:
        error.with_traceback(_own_frames(error.__traceback__))
        sys.excepthook(type(error), error, error.__traceback__)
        sys.exit(1)


def _run(file: str, is_module: bool) -> None:
    if is_module:
        runpy.run_module(file, run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(file))
        runpy.run_path(file, run_name="__main__")


def _own_frames(trace: TracebackType | None) -> TracebackType | None:
    """Returns a traceback without the frames of this package, and of what starts programs."""
    kept: list[TracebackType] = []
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith((HERE, "<frozen runpy>")):
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

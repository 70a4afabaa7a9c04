"""`python -m pto_dialect.integrations.builders FILE [ARGS]`: runs a Python program that builds `.pto`."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

from pto_dialect.integrations.starting import (
    add_checks,
    add_program,
    check_program,
    command_parser,
    end_with,
    run_program,
    watched,
    with_checks,
)

from . import VARIABLE, install

HERE = os.path.dirname(os.path.abspath(__file__))
STUBS = os.path.join(HERE, "path")
SAVE, RELEASES = "--save", "--reference-release"


def main(arguments: list[str]) -> None:
    """Runs the program that the arguments name."""
    parser = _parser()
    options = parser.parse_args(with_checks(arguments, (SAVE, RELEASES)))
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
        with watched(options.sanitize):
            run_program(options.file, options.module)
    except (Exception, KeyboardInterrupt) as error:
        end_with(error, HERE)


def _parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "pto_dialect.integrations.builders",
        "Runs a Python program that builds .pto with MLIR's bindings, without the bindings.",
    )
    parser.add_argument("--force", action="store_true", help="use pto-dialect also where the bindings are installed")
    parser.add_argument("--quiet", action="store_true", help="do not say which bindings are used")
    parser.add_argument("--path", action="store_true", help="print the folder for PYTHONPATH that does the same")
    parser.add_argument(
        RELEASES, dest="release", metavar="RELEASE", help="make modules for a release of the reference, such as 0.44"
    )
    add_checks(parser)
    parser.add_argument(SAVE, metavar="DIR", help="write each launch into a folder below DIR, with a launch file")
    parser.add_argument("-c", dest="command", action="store_true", help="FILE is a command, as in -c bash compile.sh")
    add_program(parser)
    return parser


def _check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Ends with a message for options that cannot be followed, and makes the folder of launches."""
    check_program(parser, options, options.command)
    if options.save is not None:
        from .launch.saved import save_launches  # deferred: start-up

        try:
            save_launches(options.save)
        except OSError as error:
            parser.error(f"{SAVE}: cannot write below {options.save!r}: {error.strerror or error}")


def _code_of(parser: argparse.ArgumentParser, command: list[str]) -> int:
    """Runs a command and returns its exit code."""
    try:
        return subprocess.run(command, check=False).returncode
    except OSError as error:
        parser.error(f"cannot run {command[0]!r}: {error.strerror or error}")


def _pass_on(choice: str) -> None:
    """Has Python programs that this one starts do the same."""
    os.environ[VARIABLE] = choice
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = STUBS if not before else os.pathsep.join((STUBS, before))


if __name__ == "__main__":
    main(sys.argv[1:])

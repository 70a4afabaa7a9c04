"""`python -m pto_dialect.integrations.pypto FILE [ARGS]`: runs a program of PyPTO on numpy."""

from __future__ import annotations

import argparse
import os
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

from . import install

HERE = os.path.dirname(os.path.abspath(__file__))


def main(arguments: list[str]) -> None:
    """Runs the program that the arguments name."""
    parser = _parser()
    options = parser.parse_args(with_checks(arguments))
    check_program(parser, options)
    try:
        install()
    except ImportError as error:
        parser.error(f"PyPTO cannot be imported: {error}")
    sys.argv = [options.file, *options.arguments]
    try:
        with watched(options.sanitize):
            run_program(options.file, options.module)
    except (Exception, KeyboardInterrupt) as error:
        end_with(error, HERE)


def _parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "pto_dialect.integrations.pypto",
        "Runs a program of PyPTO on numpy, without an assembler, a run time of boards, or a board.",
    )
    add_checks(parser)
    add_program(parser)
    return parser


if __name__ == "__main__":
    main(sys.argv[1:])

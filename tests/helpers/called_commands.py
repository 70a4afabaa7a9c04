"""Commands of the package, called in this process: the same streams and exit code without the start of Python.

Tests of the start, of signals and pipes, and of what a process finds in its environment start processes instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from click.testing import CliRunner, Result

routed = import_module("pto_dialect.tools.start").routed

MODULES = {"pto-opt": "pto_opt", "pto-run": "pto_run", "pto-fmt": "pto_fmt"}
"""Installed commands other than ``pto``, with their modules."""


def call(words: Sequence[str], text: str | bytes | None = None) -> Result:
    """How the command of a line ends that gets the text on standard input; an exception that leaves it is raised."""
    name, *arguments = words
    module = MODULES.get(name)
    if module is None:
        assert name == "pto", name
        found, short, arguments = routed(arguments)
        module, name = ("pto", "pto") if found is None else (found.module, f"pto {short}")
    main = import_module(f"pto_dialect.tools.{module}").main
    result = CliRunner().invoke(main, arguments, input=text, prog_name=name)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result

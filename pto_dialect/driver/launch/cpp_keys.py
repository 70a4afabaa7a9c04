"""The keys of launch files that say how a C++ kernel is compiled. Source: docs/launch-files.md, "Keys".

No key names the compiler: it is a program that runs, so only the command line and the environment do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ..inputs import CPP_SUFFIXES, Input
from .document import Table

DEFINES, INCLUDES = "defines", "includes"
KEYS = (DEFINES, INCLUDES)

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


class CppKeys(NamedTuple):
    """Definitions, written as after ``-D``, and folders of headers."""

    defines: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()


class CppCommand(NamedTuple):
    """What a command line says about C++ kernels: it adds to launch files, and its definitions prevail."""

    keys: CppKeys = CppKeys()
    cxx: str | None = None


Place = Callable[[Table, str, str], str]
"""Gives the path from here of a file that a key of a table names."""


def read_keys(around: Sequence[Table], place: Place) -> CppKeys:
    """Returns what the tables ``around`` a launch say, the outermost first; an inner definition replaces an outer
    one."""
    defines: dict[str, str] = {}
    includes: list[str] = []
    for table in around:
        entries = table.table(DEFINES)
        defines |= {name: _definition(entries, name) for name in entries.content}
        includes += [place(table, INCLUDES, folder) for folder in table.texts(INCLUDES)]
    return CppKeys(tuple(defines.values()), tuple(dict.fromkeys(includes)))


def check_keys(table: Table, programs: Iterable[str]) -> None:
    """Complains about keys of a table that is about none but other ``programs``."""
    if any(program.endswith(CPP_SUFFIXES) for program in programs):
        return
    for name in KEYS:
        if name in table.content:
            table.fail(name, "it is about C++ kernels, and there is none")


def _definition(entries: Table, name: str) -> str:
    if not _NAME.fullmatch(name):
        entries.fail(name, "a macro has letters, digits and _")
    value = entries.content[name]
    if value is True:
        return name
    if isinstance(value, bool) or not isinstance(value, int | float | str) or "\n" in str(value) or "\0" in str(value):
        entries.fail(name, "expected a number, a string of one line, or true for a macro without a value")
    return f"{name}={value}"


def cpp_input(program: str, entry: str | None, keys: CppKeys, command: CppCommand) -> Input:
    """Returns the input of a program; a C++ kernel is compiled as launch file and command line say."""
    item = Input(program, program, program)
    if not item.is_cpp:
        return item
    from pto_dialect.cpp.options import CppOptions  # deferred: start-up

    more = command.keys
    options = CppOptions(entry, None, (*keys.defines, *more.defines), (*keys.includes, *more.includes), command.cxx)
    return item._replace(cpp=options)

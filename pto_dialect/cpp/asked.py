"""Files that a kernel has found with ``__has_include``: it may learn of no file that it may not include.

A compiler lists them among the files on which its output depends, not among those that were included.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from .compilers import is_zig
from .limits import run_compiler

_LIST = "asked.d"
_WORD = re.compile(r"(?:\\.|[^\s\\])+")
_ESCAPED = re.compile(r"\\([ #\\])|\$(\$)")
_SPLICE = re.compile(r"\\[ \t]*\n")
_MAY_ASK = re.compile(r"has_include|##|%:%:|\?\?=")
"""A name of the directive, or what may put it together."""


def asked_option(command: Sequence[str], folder: str) -> tuple[str, ...]:
    """Returns the option that writes the list into ``folder``; none for a program around a compiler, which uses it
    itself."""
    if is_zig(command[:2]):
        return ()
    option = ("-dependency-file", os.path.join(folder, _LIST), "-MT", "kernel", "-sys-header-deps")
    return tuple(word for one in option for word in ("-Xclang", one))


def asked_files(call: Sequence[str], folder: str, text: str) -> list[str]:
    """Returns the files of the list that the compiler of ``call`` has written, with :func:`asked_option`, or writes
    now; ``text`` is what the kernel and the files that it includes contain."""
    path = os.path.join(folder, _LIST)
    if is_zig(call[:2]) and _MAY_ASK.search(_SPLICE.sub("", text)):
        run_compiler([*call, "-MD", "-MF", path, "-o", os.path.join(folder, "asked.ll")], folder)
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as stream:
            return files_of_rule(stream.read())
    except FileNotFoundError:
        return []


def files_of_rule(text: str) -> list[str]:
    """Returns the files on which the target of a rule for ``make`` depends."""
    _, _, listed = text.replace("\\\n", " ").partition(": ")
    return [_ESCAPED.sub(lambda match: match[1] or match[2], word) for word in _WORD.findall(listed)]

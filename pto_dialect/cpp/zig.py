"""The compiler in ziglang without the program around it.

``zig c++`` queries other compilers about the libraries of the system and keeps a cache of its own before it calls the
compiler that it contains, ``zig clang``. That one needs the folders and macros of the standard library that comes with
it.
"""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections.abc import Iterator, Sequence
from itertools import pairwise

from .compilers import Compiler, is_zig, system_folders
from .limits import run_compiler

_CALL = re.compile(r'^ "[^"\n]*" -cc1 .*$', re.MULTILINE)
_TAKEN = {"-triple": "-target", "-isystem": "-isystem", "-D": "-D"}
"""Options of the inner call that matter, and what they are called outside of it."""
_FIXED = ("--no-default-config", "-O2", "-fPIC", "-nostdinc", "-nostdinc++")
"""The level is what ``zig c++`` makes of ``-O1``."""


def direct_compiler(compiler: Compiler) -> Compiler:
    """Returns the compiler that does what ``compiler`` does and nothing else; ``compiler`` itself where that is
    unknown."""
    if not is_zig(compiler.command):
        return compiler
    with tempfile.TemporaryDirectory(prefix="pto-cpp-") as folder:
        empty, made = os.path.join(folder, "empty.cpp"), os.path.join(folder, "empty.ll")
        with open(empty, "w", encoding="utf-8"):
            pass
        asked = ("-v", "-S", "-emit-llvm", empty, "-o", made)
        _, output = run_compiler([*compiler.command, *compiler.options, *asked], folder)
    call = _CALL.search(output)
    taken = list(_taken(shlex.split(call[0]))) if call else []
    if "-target" not in taken or "-isystem" not in taken:
        return compiler
    return Compiler((compiler.command[0], "clang"), (*_FIXED, *taken, *system_folders()))


def _taken(words: Sequence[str]) -> Iterator[str]:
    for option, value in pairwise(words):
        if option in _TAKEN:
            yield from (_TAKEN[option], value)

"""A C++ kernel as the text of a `.pto` program, whose statements name the lines of the C++ text. Source: docs/cpp.md,
"Use it on C++ kernels".

A program that is kept needs neither the compiler nor the translation, so their modules are imported for others only.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.diagnostics.origins import Origins

from .compilers import CompilerMissing
from .errors import CppError
from .includes import INCLUDE
from .ir_cache import IrCache
from .options import CppOptions, check_options
from .stored import stored_program
from .wording import in_cpp

COMPILER = "cpp-compiler"


@dataclass(frozen=True)
class Compiled:
    """A kernel as a program: its ``text``, and errors of kernels that are not in it."""

    text: str
    errors: tuple[Diagnostic, ...] = ()


def compile_kernel(text: str, name: str, options: CppOptions, *, every: bool = False) -> Compiled:
    """Returns the program of a C++ text; its locations show lines of ``text``. ``name`` is the file as its user calls
    it. Where ``every`` is set and no entry is chosen, the program has all kernels of the file that have a translation,
    else the file must have one. Raises :class:`CppError`."""
    every = every and options.entry is None
    files = origins_of_kernel(text, name)
    errors: tuple[Diagnostic, ...] = ()
    try:
        entry, program = _found.pop((text, name, options, every), None) or _kept_program(text, name, options, every)
        if program is None:
            from .program import compile_now  # deferred: start-up

            program, errors = compile_now(text, name, options, every, entry, files)
    except CompilerMissing as error:
        raise CppError((Diagnostic(COMPILER, Severity.ERROR, str(error)),)) from None
    files.register(program)
    return Compiled(program, errors)


def origins_of_kernel(text: str, name: str) -> Origins:
    """Returns the files that the locations of the program of a C++ text name; ``name`` is that of the text."""
    folder = os.path.dirname(name) or "."
    return Origins(folder, {name: text}, translated=True, hidden=(INCLUDE + os.sep, "<"), spell=in_cpp)


def compile_early(text: str, name: str, options: CppOptions, modules: Sequence[str], *, every: bool = False) -> None:
    """Compiles a kernel for the next :func:`compile_kernel` of it, and imports ``modules`` while the compiler runs;
    does nothing where its program is kept. Errors of the compiler are those of that call. Raises ``CompilerMissing`` or
    ``BadOption``."""
    every = every and options.entry is None
    check_options(options.defines, options.includes)
    entry, program = _kept_program(text, name, options, every)
    _found[text, name, options, every] = entry, program
    if program is None:
        from .program import start_compilers  # deferred: start-up

        start_compilers(text, name, options, modules)


_Found = tuple[IrCache | None, str | None]
_found: dict[tuple[str, str, CppOptions, bool], _Found] = {}
"""What :func:`compile_early` has found for the next :func:`compile_kernel`."""


def _kept_program(text: str, name: str, options: CppOptions, every: bool) -> _Found:
    """Returns the entry of a program, and the program where it is kept. Raises ``CompilerMissing``."""
    entry = stored_program(text, name, options, every)
    made = None if entry is None else entry.read()
    return entry, None if made is None else made.text


__all__ = ["Compiled", "CppError", "compile_early", "compile_kernel", "origins_of_kernel"]

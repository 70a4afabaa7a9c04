"""The Python interface: programs as text, modules, diagnostics and callables.

>>> module = parse('''
... func.func @twice(%x: i32) -> i32 {
...   %0 = arith.addi %x, %x : i32
...   return %0 : i32
... }
... ''')
>>> check("func.func @f() { return }").ok
True
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

from xdsl.dialects.builtin import ModuleOp as Module

from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.refused import ParseError, VerifyError
from pto_dialect.diagnostics.render import render_text
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.driver.inputs import SUFFIX, Input
from pto_dialect.driver.options import Options
from pto_dialect.driver.pipeline import process, process_input

if TYPE_CHECKING:
    from pto_dialect.runtime.api import CompiledKernel
    from pto_dialect.targets.backend import Backend

__all__ = ["CheckResult", "Module", "ParseError", "VerifyError", "check", "compile", "parse", "print_module", "run"]

_ALL = DiagnosticOptions(max_errors=0)
_MARK = "\ufeff"
"""A byte order mark, as editors of some systems leave it at the beginning of a text."""


class CheckResult(NamedTuple):
    """Whether a program is right (``ok``: no errors) and everything that was found, by position.

    ``str()`` shows the diagnostics as ``pto-opt`` does.
    """

    ok: bool
    diagnostics: tuple[Diagnostic, ...]

    def __str__(self) -> str:
        return render_text(self.diagnostics).rstrip("\n")


def parse(
    text: str,
    filename: str = "<string>",
    *,
    schematic: bool = False,
    plans: bool = True,
    release: str | None = None,
) -> Module:
    """Returns the module that ``text`` describes; it is not verified (see :func:`check`).

    A text in assembly form, or one with operations outside a module, gets a module around it. ``filename`` is
    the name in diagnostics. ``schematic`` accepts snippets of documentation, with ``...`` in types.
    ``release`` states the release of the reference that the program is made for, as ``--reference-release`` does: the
    attribute ``pto.release`` of the module, which is checked, compiled and run accordingly.
    Without ``plans`` the grammar reads every statement, also those like earlier ones; the module is the same.

    Raises :class:`ParseError` with all syntax errors of the text, and ValueError for an unknown release. Source:
    docs/reference/language.md, "Modules and functions".
    """
    from pto_dialect.syntax.read.parser import parse_program  # deferred: start-up

    engine = DiagnosticEngine(_ALL)
    source = SourceFile(filename, text.removeprefix(_MARK))
    module = parse_program(source, engine, schematic=schematic, plans=plans)
    if module is None or engine.has_errors:
        raise ParseError(engine.diagnostics)
    if release is not None:
        from pto_dialect.analysis.release import set_release  # deferred: start-up

        set_release(module, _known_release(release))
    return module


def check(
    path_or_text: str | os.PathLike[str],
    target: str | None = None,
    *,
    plans: bool = True,
    release: str | None = None,
) -> CheckResult:
    """Parses and verifies a program.

    ``path_or_text`` is a file if it is a path object, or a string of one line that ends in ``.pto`` or names
    an existing file; any other string is the program itself. ``target`` is a2, a3, a2a3, a5 or cpu-sim; by
    default the module's own (docs/reference/targets.md, "Choice of the target"). ``plans`` and ``release`` are those of
    :func:`parse`.

    Raises FileNotFoundError for a file that does not exist and ValueError for an unknown target or release.
    """
    from pto_dialect.targets.choice import get_profile  # deferred: start-up

    if target is not None:
        get_profile(target)
    stated = None if release is None else _known_release(release)
    options = Options(target=target, printing=False, plans=plans, policy=_ALL, release=stated)
    path = _as_path(path_or_text)
    if path is None:
        assert isinstance(path_or_text, str)
        result = process(path_or_text.removeprefix(_MARK), "<string>", options)
    else:
        if not os.path.exists(path):
            raise FileNotFoundError(2, os.strerror(2), path)
        result = process_input(Input(path, path, os.path.basename(path)), options)
    return CheckResult(result.ok, result.diagnostics)


def _known_release(text: str) -> str:
    """Returns a release of the reference as it is written. Raises ValueError for an unknown one."""
    from pto_dialect.targets.release import release_named, unknown_release  # deferred: start-up

    if release_named(text) is None:
        raise ValueError(unknown_release(text))
    return text


def _as_path(path_or_text: str | os.PathLike[str]) -> str | None:
    if not isinstance(path_or_text, str):
        return os.fspath(path_or_text)
    one_line = "\n" not in path_or_text and "\0" not in path_or_text
    if one_line and (path_or_text.endswith(SUFFIX) or os.path.isfile(path_or_text)):
        return path_or_text
    return None


def _require_module(function: str, value: object) -> None:
    """Raises TypeError where ``function`` got something else than a module, such as the text of a program."""
    if not isinstance(value, Module):
        how = "parse(text) makes one of a text, parse(Path(file).read_text(), file) of a file"
        raise TypeError(f"{function} takes a module, found {type(value).__name__}; {how}")


def print_module(module: Module, generic: bool = False) -> str:
    """Prints the canonical text of ``module``, ending with a newline; ``generic`` writes every operation in generic
    form.

    Reading the text back gives the same module, and printing that gives the same text. Raises TypeError for anything
    but a module.
    """
    _require_module("print_module", module)
    from pto_dialect.syntax.print.printer import print_module as print_text  # deferred: start-up

    return print_text(module, generic=generic)


def compile(
    module: Module,
    entry: str | None = None,
    target: str | None = None,
    *,
    accumulate: str = "fast",
    backend: Backend | None = None,
    verify: bool = True,
) -> CompiledKernel:
    """Returns a callable on numpy arrays for function ``entry`` of ``module``, which is verified first.

    See :func:`pto_dialect.runtime.api.compile`. Raises TypeError for anything but a module.
    """
    _require_module("compile", module)
    from pto_dialect.runtime.api import compile as compile_module  # deferred: start-up

    return compile_module(module, entry, target, accumulate=accumulate, backend=backend, verify=verify)


class CompiledCpp(NamedTuple):
    """A C++ kernel as a program: its ``module`` and ``text``, the name of its ``entry`` function (empty if there are
    several), and the ``commands`` that compiled it."""

    module: Module
    text: str
    entry: str
    commands: tuple[tuple[str, ...], ...]


def compile_cpp(
    path_or_text: str | os.PathLike[str],
    entry: str | None = None,
    defines: Mapping[str, object] | None = None,
    includes: Sequence[str | os.PathLike[str]] = (),
    target: str = "a2a3",
    *,
    filename: str = "<kernel>.cpp",
    cxx: str | None = None,
) -> CompiledCpp:
    """Compiles a C++ kernel to a module, which :func:`compile` and :func:`run` take; its diagnostics name C++ lines.

    ``path_or_text`` is a file if it is a path object or a string of one line; any other string is the C++ text itself,
    called ``filename``. ``entry`` is a function, or a template with its arguments such as ``kernel<half, 128>``.
    ``defines`` are macros with their values, ``includes`` folders of headers, ``cxx`` is the command of a compiler.

    Raises FileNotFoundError for a file that does not exist, and ``CppError``, a ValueError with all diagnostics, for a
    kernel that cannot be compiled or translated, or where there is no compiler. Source: docs/cpp.md, "Python".
    """
    from pto_dialect.cpp.kernel import compile_kernel  # deferred: start-up
    from pto_dialect.cpp.options import CppOptions, macros_of  # deferred: start-up
    from pto_dialect.cpp.program import compile_commands  # deferred: start-up
    from pto_dialect.ir.core.roles import Role, has_role  # deferred: start-up
    from pto_dialect.targets.choice import get_profile  # deferred: start-up

    get_profile(target)
    text = path_or_text
    if not isinstance(path_or_text, str) or "\n" not in path_or_text:
        filename = os.fspath(path_or_text)
        with open(filename, encoding="utf-8", errors="surrogateescape") as stream:
            text = stream.read()
    assert isinstance(text, str)
    macros = macros_of(defines or {})
    folders = tuple(os.fspath(folder) for folder in includes)
    text, options = text.removeprefix(_MARK), CppOptions(entry, target, macros, folders, cxx)
    made = compile_kernel(text, filename, options)
    commands = tuple(compile_commands(text, filename, options))
    module = parse(made.text, filename)
    names = [getattr(op.properties.get("sym_name"), "data", "") for op in module.walk() if has_role(op, Role.FUNCTION)]
    return CompiledCpp(module, made.text, names[0] if len(names) == 1 else "", commands)


def emit_cpp(module: Module, filename: str = "", target: str | None = None) -> str:
    """Returns the C++ text of a program of tiles against the public interface, for the compiler of a chip. ``filename``
    is the program's, for the comment at the beginning; ``target`` is the chip where the module does not say it.

    Raises :class:`VerifyError` with the diagnostic of the first operation that has no form in C++, and TypeError for
    anything but a module. Source: docs/cpp.md, "From .pto to C++".
    """
    _require_module("emit_cpp", module)
    from pto_dialect.cpp.emit import EmitError, emit_module  # deferred: start-up

    try:
        return emit_module(module, filename, target)
    except EmitError as error:
        raise VerifyError((error.diagnostic(),)) from None


def run(
    module: Module,
    arguments: Mapping[str, Any],
    entry: str | None = None,
    target: str | None = None,
    *,
    blocks: int = 1,
    jobs: int = 1,
    accumulate: str = "fast",
    backend: Backend | None = None,
    verify: bool = True,
    record: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """Compiles a function of ``module``, which is verified first, and calls it once; see
    :func:`pto_dialect.runtime.api.run`. ``record`` is a file for a recording of the run
    (:func:`pto_dialect.recording.launch.record`). Raises TypeError for anything but a module."""
    _require_module("run", module)
    from pto_dialect.runtime.api import run as run_module  # deferred: start-up

    recording: AbstractContextManager[None] = nullcontext()
    if record is not None:
        from pto_dialect.recording.launch import record as record_launches  # deferred: start-up

        recording = record_launches(record)
    with recording:
        return run_module(
            module,
            arguments,
            entry,
            target,
            blocks=blocks,
            jobs=jobs,
            accumulate=accumulate,
            backend=backend,
            verify=verify,
        )

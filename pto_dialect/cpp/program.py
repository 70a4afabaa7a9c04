"""Compiles and translates a C++ kernel, with what is wrong about it as diagnostics. Source: docs/cpp.md,
"Use it on C++ kernels".
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from threading import Thread
from typing import NoReturn

from pto_dialect.diagnostics.diagnostic import Diagnostic, Note, Severity
from pto_dialect.diagnostics.locations import Frame
from pto_dialect.diagnostics.origins import CALLED, Origins
from pto_dialect.diagnostics.source import Span

from .advice import advice_for
from .below import named_below
from .compiler import ENTRY_FILE, CompileError, IncludeError, IrText, compile_command, compile_to_ir, cores_of
from .compilers import CompilerMissing
from .entries import list_of
from .errors import CppError, TranslationError
from .includes import INCLUDE, included_files
from .ir_cache import IrCache, Made
from .launches import is_template, kernel_names
from .llvm.location import SourceLocation
from .options import BadOption, CppOptions

COMPILE = "cpp-compile"
INCLUDED = "cpp-include"
TRANSLATE = "cpp-translate"
OPTION = "cpp-option"

_MESSAGE = re.compile(
    r"(?P<file>.+?):(?P<line>\d+):(?:(?P<column>\d+):)? (?P<kind>fatal error|error|note): (?P<text>.*)"
)
_ASSERTION = re.compile(r"static assertion failed(?: due to requirement '.*?')?: ")
_KERNEL = re.compile(r"^[^/#\n]*?\b(__global__|AICORE|__aicore__)\b", re.MULTILINE)


def compile_now(
    text: str, name: str, options: CppOptions, every: bool, entry: IrCache | None, files: Origins
) -> tuple[str, tuple[Diagnostic, ...]]:
    """Returns the program of a kernel, and errors of kernels that are not in it; ``entry`` keeps the program, ``files``
    are those that its locations name. Raises :class:`CppError` or ``CompilerMissing``."""
    try:
        program, wrong = _program(text, name, options, every, entry)
    except BadOption as error:
        raise CppError((Diagnostic(OPTION, Severity.ERROR, str(error)),)) from None
    except CompileError as error:
        rule = INCLUDED if isinstance(error, IncludeError) else COMPILE
        found = tuple(_compiler_messages(str(error), files, rule))
        if options.entry is not None and all(one.span and one.span.source.name == ENTRY_FILE for one in found):
            raise CppError((_entry_message(options.entry, text, found),)) from None
        found = tuple(named_below(found))
        advised = (one._replace(help=one.help or advice_for(one.message, text, name, options.chip)) for one in found)
        raise CppError(tuple(advised)) from None
    except TranslationError as error:
        raise CppError((_translation_message(error, files, _first_kernel(text, name)),)) from None
    errors = tuple(dict.fromkeys(_translation_message(error, files, _first_kernel(text, name)) for error in wrong))
    if not program:
        raise CppError(errors)
    return program, errors


def start_compilers(text: str, name: str, options: CppOptions, modules: Sequence[str]) -> None:
    """Compiles a kernel for the next :func:`compile_now`, and imports ``modules`` while the compiler runs. Errors of
    the compiler are those of that call."""
    loading = Thread(target=_load, args=(modules,), daemon=True)
    loading.start()
    try:
        irs = _irs(text, name, options)
        _early[text, name, options] = lambda: irs
    except (CompilerMissing, BadOption, CompileError) as error:
        _early[text, name, options] = partial(_raised, error)
    # Two threads that import may see modules that are not complete.
    loading.join()


def _load(modules: Sequence[str]) -> None:
    for module in modules:
        import_module(module)


def _raised(error: Exception) -> NoReturn:
    raise error


def _unknown() -> None:
    return None


_early: dict[tuple[str, str, CppOptions], Callable[[], list[IrText] | None]] = {}
"""What came of the compilers that were started early."""


def _irs(text: str, name: str, options: CppOptions) -> list[IrText]:
    """Returns the text of each core; both compilers run at once."""

    def compiled(core: str) -> IrText:
        return compile_to_ir(
            text, name, core=core, defines=options.defines, includes=options.includes, target=options.chip,
            cxx=options.cxx, entry=options.entry,
        )  # fmt: skip

    cores = _cores(text, name, options)
    if len(cores) == 1:
        return [compiled(cores[0])]
    from concurrent.futures import ThreadPoolExecutor  # deferred: start-up

    with ThreadPoolExecutor(len(cores)) as pool:
        return list(pool.map(compiled, cores))


def compile_commands(text: str, name: str, options: CppOptions) -> list[tuple[str, ...]]:
    """Returns the commands that compile a kernel, one for each core. Raises ``CompilerMissing`` or ``BadOption``."""
    defines, includes = options.defines, options.includes
    return [
        compile_command(text, name, core=core, defines=defines, includes=includes, target=options.chip, cxx=options.cxx)
        for core in _cores(text, name, options)
    ]


def _cores(text: str, name: str, options: CppOptions) -> tuple[str, ...]:
    return cores_of(text, name, options.includes) if options.core is None else (options.core,)


def _program(
    text: str, name: str, options: CppOptions, every: bool, entry: IrCache | None
) -> tuple[str, list[TranslationError]]:
    """Returns the program, and the errors of kernels that it leaves out."""
    irs = _early.pop((text, name, options), _unknown)()
    irs = _irs(text, name, options) if irs is None else irs
    program, errors = _translated(text, name, options, irs, every)
    if entry and not errors:
        entry.write(Made(program, tuple({file for one in irs for file in one.files})))
    return program, errors


def _translated(
    text: str, name: str, options: CppOptions, irs: Sequence[IrText], every: bool
) -> tuple[str, list[TranslationError]]:
    from .translate import translate_kernels, translate_module  # deferred: start-up

    pairs = [(one.core, one.text) for one in irs]
    sources = {name: text} | included_files(text, name, options.includes).files
    if every:
        return translate_kernels(pairs, target=options.chip, headers=(INCLUDE,), sources=sources)
    program = translate_module(pairs, entry=options.entry, target=options.chip, headers=(INCLUDE,), sources=sources)
    return program, []


def _compiler_messages(output: str, files: Origins, rule: str) -> Iterator[Diagnostic]:
    """Yields what a compiler has printed, as diagnostics; notes belong to the error before them."""
    found: list[Diagnostic] = []
    rest: list[str] = []
    for line in output.splitlines():
        message = _MESSAGE.fullmatch(line)
        if message is None:
            rest.append(line)
            continue
        span = files.span(Frame(message["file"], max(int(message["line"]), 1), int(message["column"] or 1)))
        if message["kind"] == "note" and found:
            found[-1] = found[-1]._replace(notes=(*found[-1].notes, Note(message["text"], span)))
        else:
            found.append(Diagnostic(rule, Severity.ERROR, message["text"], span))
    found = [_at_line_of_user(one) for one in found]
    # A mistake of the user may leave declarations of the headers incomplete.
    own = [one for one in found if one.span is None or not _is_ours(one.span)]
    yield from own or found or [Diagnostic(COMPILE, Severity.ERROR, "\n".join(rest) or "the compiler failed")]


def _entry_message(entry: str, text: str, found: tuple[Diagnostic, ...]) -> Diagnostic:
    """Returns an error of the compiler about ``--entry`` alone, as one of the command line."""
    names = kernel_names(text)
    known = list_of([f"{name}<...>" if is_template(name, text) else name for name in names])
    if entry.partition("<")[0].strip().rpartition("::")[2] in names:
        reasons = (one.message for one in found if "__pto_entry" not in one.message)
        reason = next(reasons, "they do not fit its parameters")
        return Diagnostic(OPTION, Severity.ERROR, f"--entry: the arguments of {entry} are wrong: {reason}", help=known)
    return Diagnostic(OPTION, Severity.ERROR, f"--entry: the file has no kernel {entry}", help=known or None)


def _is_ours(span: Span) -> bool:
    return span.source.name.startswith((INCLUDE + os.sep, "<scratch"))


def _at_line_of_user(found: Diagnostic) -> Diagnostic:
    """Returns an error at the line of the user that leads to it, without the lines of the headers; what they say of
    functions that were candidates stays, once."""
    notes: list[Note] = []
    for note in found.notes:
        if note.span is None or not _is_ours(note.span):
            notes.append(note)
        elif note.message.startswith("candidate") and all(note.message != one.message for one in notes):
            notes.append(Note(note.message, None))
    first = next((note for note in notes if note.span is not None), None)
    if found.span is None or not _is_ours(found.span) or first is None:
        return found._replace(notes=tuple(notes))
    message = _ASSERTION.sub("", found.message)
    return found._replace(message=message, span=first.span, notes=tuple(one for one in notes if one is not first))


def _first_kernel(text: str, name: str) -> SourceLocation:
    """Returns where errors about the whole file are shown: at its first kernel, at its beginning where it has none."""
    found = list(_KERNEL.finditer(text))
    match = next((one for one in found if one[1] == "__global__"), next(iter(found), None))
    before = text[: match.start(1)] if match else ""
    return SourceLocation(name, before.count("\n") + 1, len(before) - before.rfind("\n"))


def _translation_message(error: TranslationError, files: Origins, otherwise: SourceLocation) -> Diagnostic:
    def frame(location: SourceLocation) -> Frame:
        return Frame(location.file, max(location.line, 1), max(location.column, 1))

    stack = (error.location or otherwise).frames()
    span = files.span(frame(stack[0]))
    notes = [Note(text, files.span(frame(where)) if where is not None else None) for text, where in error.notes]
    notes += [Note(CALLED, files.span(frame(caller))) for caller in stack[1:]]
    return Diagnostic(TRANSLATE, Severity.ERROR, error.message, span, tuple(notes), error.help or None)

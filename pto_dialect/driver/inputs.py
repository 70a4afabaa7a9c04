"""Which inputs a command line names, and reading them."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.diagnostics.source import SourceFile, Span

if TYPE_CHECKING:
    from pto_dialect.cpp.options import CppOptions

SUFFIX = ".pto"
"""Files that are taken from a folder; a file that is named itself may be called anything."""

CPP_SUFFIXES = (".cpp", ".cc", ".cxx", ".cce")
"""Files that are C++ kernels."""

OF_COMMAND_LINE = frozenset(("cpp-compiler", "cpp-option"))
"""Rules about inputs that a command line breaks, not a program."""

MOST_PIPED = 1 << 26
"""Bytes of an input that is no regular file."""

STDIN = "-"
STDIN_NAME = "<stdin>"

_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class InputError(ValueError):
    """The command line names something that cannot be an input."""


class Input(NamedTuple):
    """One input: its path, its display name, and its relative path in an output folder.

    ``data`` is the content where it was already read (standard input). ``cpp`` states how a C++ kernel is compiled.
    """

    path: str
    name: str
    relative: str
    data: bytes | None = None
    cpp: CppOptions | None = None

    @property
    def is_cpp(self) -> bool:
        """Whether it is a C++ kernel."""
        return self.path.endswith(CPP_SUFFIXES)


_PYTHON = ".py"


def collect(paths: Sequence[str], read_stdin: Callable[[], bytes]) -> list[Input]:
    """Returns the inputs that ``paths`` (files, folders, ``-``) name, in order and each once; folders are searched
    for ``*.pto`` at any depth, hidden folders left out.

    Raises :class:`InputError` for a path that does not exist, and for a folder without such files.
    """
    inputs: dict[str, Input] = {}
    for path in paths:
        if path == STDIN:
            if STDIN not in inputs:
                inputs[STDIN] = Input(STDIN, STDIN_NAME, "stdin" + SUFFIX, read_stdin())
        elif os.path.isdir(path):
            found = [Input(file, file, os.path.relpath(file, path)) for file in _files_below(path)]
            if not found:
                raise InputError(f"folder '{path}' has no {SUFFIX} files{_cpp_hint(path)}")
            for item in found:
                inputs.setdefault(os.path.normpath(item.path), item)
        elif path.endswith(_PYTHON) and os.path.isfile(path):
            how = "python -m pto_dialect.integrations.builders runs what builds programs"
            raise InputError(f"'{path}' is Python: {how}")
        elif os.path.lexists(path):
            inputs.setdefault(os.path.normpath(path), Input(path, path, os.path.basename(path)))
        else:
            raise InputError(f"no such file or folder: '{path}'")
    return list(inputs.values())


def _cpp_hint(folder: str) -> str:
    """Advice for a folder of C++ files, of which only the user knows which are kernels."""
    has_cpp = any(file.endswith(CPP_SUFFIXES) for file in os.listdir(folder))
    return "; name the C++ kernels in it one by one" if has_cpp else ""


def _files_below(folder: str) -> Iterator[str]:
    for directory, subfolders, files in os.walk(folder):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        for file in sorted(files):
            path = os.path.normpath(os.path.join(directory, file))
            if file.endswith(SUFFIX) and not _is_special(path):
                yield path


def _is_special(path: str) -> bool:
    """Returns whether a path names a pipe, a socket or a device; none of them ends as files do."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False


def total_size(inputs: Sequence[Input]) -> int:
    """Returns the bytes of all inputs; what cannot be looked at counts nothing."""
    size = 0
    for item in inputs:
        try:
            size += os.stat(item.path).st_size if item.data is None else len(item.data)
        except OSError:
            continue
    return size


def read(item: Input, target: str | None = None) -> tuple[str, Diagnostic | None]:
    """Returns the text of the program of an input, and why it cannot be used or what is odd about it (rules
    ``input-*``).

    That of a C++ kernel is compiled for ``target``; why it cannot be compiled is the first of several diagnostics.
    """
    text, found = read_program(item, target)
    return text, found[0] if found else None


def read_program(item: Input, target: str | None = None, *, every: bool = False) -> tuple[str, tuple[Diagnostic, ...]]:
    """As :func:`read`, with all diagnostics of the compiler of a C++ kernel; with ``every``, the program of a C++ file
    has all its kernels, and where some have no translation, the text is that of the others."""
    text, remark = read_text(item)
    if remark is not None:
        return "" if item.is_cpp else text, (remark,)
    if not item.is_cpp:
        return text, ()
    from pto_dialect.cpp.kernel import CppError, compile_kernel  # deferred: start-up
    from pto_dialect.cpp.options import CppOptions, with_target  # deferred: start-up

    try:
        options = with_target(item.cpp or CppOptions(), target)
        made = compile_kernel(text, item.name, options, every=every)
    except CppError as error:
        return "", error.diagnostics
    return made.text, made.errors


def looked_at(item: Input, target: str | None) -> list[str] | None:
    """Returns the files that decide what the C++ kernel of an input becomes, beside its own text; see
    :func:`pto_dialect.cpp.stored.looked_at`."""
    from pto_dialect.cpp.options import CppOptions, with_target  # deferred: start-up
    from pto_dialect.cpp.stored import looked_at as found  # deferred: start-up

    text, remark = read_text(item)
    return None if remark else found(text, item.name, with_target(item.cpp or CppOptions(), target), every=True)


def read_text(item: Input) -> tuple[str, Diagnostic | None]:
    """Returns the text of an input as it is, and why it cannot be used or what is odd about it."""
    data = item.data
    if data is None:
        try:
            data = _content(item)
        except OSError as error:
            message = f"cannot read '{item.path}': {error.strerror or error}"
            return "", Diagnostic("input-unreadable", Severity.ERROR, message)
    return decode(data, item.name)


def _content(item: Input) -> bytes:
    """Returns the bytes of a file, or of what a pipe has until its end. Raises ``OSError``."""
    is_file = stat.S_ISREG(os.stat(item.path).st_mode)
    if not is_file and item.is_cpp:
        raise OSError("a C++ kernel is a regular file")
    with open(item.path, "rb") as stream:
        if is_file:
            return stream.read()
        data = stream.read(MOST_PIPED + 1)
    if len(data) > MOST_PIPED:
        raise OSError(f"it is no regular file and has more than {MOST_PIPED >> 20} MiB")
    return data


def decode(data: bytes, name: str) -> tuple[str, Diagnostic | None]:
    """Returns ``data`` as text; see :func:`read`. A UTF-8 byte order mark is dropped."""
    if data.startswith(_UTF16_MARKS):
        message, help = "the input is UTF-16 text, programs are UTF-8", "save it as UTF-8"
        return "", Diagnostic("input-encoding", Severity.ERROR, message, _start(name), help=help)
    data = data.removeprefix(_UTF8_MARK)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        text = data.decode("utf-8", "backslashreplace")
        place = len(data[: error.start].decode("utf-8"))
        message = f"the input is not UTF-8 text, found byte 0x{data[error.start]:02x}"
        span = Span(SourceFile(name, text), place, place + len("\\xff"))
        return text, Diagnostic("input-encoding", Severity.ERROR, message, span)
    place = text.find("\0")
    if place >= 0:
        span = Span(SourceFile(name, text), place, place + 1)
        return text, Diagnostic("input-binary", Severity.ERROR, "the input is not text, found a NUL character", span)
    if not text or text.isspace():
        return text, Diagnostic("input-empty", Severity.WARNING, "the input is empty", _start(name))
    return text, None


def _start(name: str) -> Span:
    return Span(SourceFile(name, ""), 0, 0)

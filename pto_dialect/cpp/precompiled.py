"""The headers of this package as a compiler keeps them once it has read them, in the user's cache folder.

Reading the headers takes three quarters of a small compilation, and they are the same for all kernels of a core. A
kernel whose text cannot change them is compiled after them; where that fails, it is compiled as its text says, so the
order of includes never decides whether a kernel is accepted. The compiler of ziglang is called here without the program
around it, which looks for libraries of the system that no kernel needs.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
import zlib
from collections.abc import Sequence
from contextlib import suppress

from pto_dialect.accel import enabled
from pto_dialect.accel.cache import cache_folder, is_private, private_folder, read_private, write_private

from .compilers import Compiler
from .includes import INCLUDE, IncludedFiles
from .ir_cache import header_version
from .limits import is_over, run_compiler
from .zig import direct_compiler

MOST_HEADERS = 24
_FOLDER = "cpp-headers"
_ENDING = ".pch"

_SIZES = tuple(
    f"PTO_{memory}_SIZE_BYTES"
    for memory in ("UBUF", "CBUF", "L0A", "L0B", "L0C", "BIAS", "FBUF", "SCALELEFT", "SCALERIGHT")
)
_READ = ("PTO_NPU_ARCH_A2A3", "PTO_NPU_ARCH_A5", "__DAV_CUBE__", "__PTO_UNPLACED__", "__PTO_AUTO__", *_SIZES, "NDEBUG")
"""Macros that the headers test."""
_CHANGED = re.compile(rf"(?:#|%:)[ \t]*(?:define|undef)[ \t]+(?:{'|'.join(_READ[:-1])})\b")
_TEXT_OPTIONS = ("-S", "-emit-llvm")


def can_come_first(included: IncludedFiles, defines: Sequence[str]) -> bool:
    """Returns whether a kernel includes the interface, and neither its text nor ``defines`` changes what that
    contains."""
    if not included.has_interface or any(one.partition("=")[0] in _READ for one in defines):
        return False
    return _CHANGED.search(included.whole) is None


def precompiled(compiler: Compiler, options: Sequence[str]) -> tuple[str, ...] | None:
    """Returns the command that compiles a text after the headers, which are compiled now unless they are there already;
    ``None`` where that is not possible. ``options`` are those of the headers, without those of the compiler."""
    folder = cache_folder() if enabled("cpp-headers") else None
    folder = None if folder is None else private_folder(os.path.join(folder, _FOLDER))
    if folder is None:
        return None
    parts = (compiler.identity, *compiler.options, header_version(INCLUDE), *options)
    path = os.path.join(folder, hashlib.sha256(json.dumps(parts).encode()).hexdigest()) + _ENDING
    command = _stored(path)
    if command is None:
        command = _made(direct_compiler(compiler), options, path)
    return (*command, "-include-pch", path) if command else None


def _stored(path: str) -> list[str] | None:
    """Returns the command that belongs to compiled headers; nothing in it where this compiler cannot compile headers,
    ``None`` where the headers are not there, or not as they were written."""
    noted = read_private(path + ".json")
    try:
        note = json.loads(noted or b"null")
        if not note["command"]:
            return []
        if not is_private(path):
            return None
        with open(path, "rb") as stream:
            return note["command"] if zlib.crc32(stream.read()) == note["checksum"] else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _made(compiler: Compiler, options: Sequence[str], path: str) -> list[str]:
    """Compiles the headers into the file ``path``; the answer is that of :func:`_stored`."""
    with tempfile.TemporaryDirectory(prefix="pto-cpp-") as folder:
        command = [*compiler.command, *compiler.options, *options]
        text, made = os.path.join(INCLUDE, "pto_first.hpp"), os.path.join(folder, "headers.pch")
        # The contents of the headers are a part of the key; their times change with each installation.
        asked = ("-Xclang", "-fno-pch-timestamp", "-x", "c++-header", text, "-o", made)
        code, _ = run_compiler([*(word for word in command if word not in _TEXT_OPTIONS), *asked], folder)
        if code != 0 or not os.path.exists(made):
            if not is_over(code):
                _note(path, {"command": []})
            return []
        with open(made, "rb") as stream:
            note = {"command": command, "checksum": zlib.crc32(stream.read())}
        if not _moved(made, path) or not _note(path, note):
            return []
        _remove_oldest(os.path.dirname(path))
        return command


def _note(path: str, note: dict[str, object]) -> bool:
    return write_private(path + ".json", json.dumps(note).encode())


def _moved(made: str, path: str) -> bool:
    """Returns whether a file is at ``path`` now, all or nothing."""
    temporary = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    try:
        shutil.copyfile(made, temporary)
        os.chmod(temporary, 0o600)
        os.replace(temporary, path)
    except OSError:
        with suppress(OSError):
            os.unlink(temporary)
        return False
    return True


def _remove_oldest(folder: str) -> None:
    with suppress(OSError):
        entries = [entry for entry in os.scandir(folder) if entry.name.endswith(_ENDING)]
        entries.sort(key=lambda entry: entry.stat(follow_symlinks=False).st_mtime, reverse=True)
        for entry in entries[MOST_HEADERS:]:
            for path in (entry.path, entry.path + ".json"):
                with suppress(OSError):
                    os.unlink(path)

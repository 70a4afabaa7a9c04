"""What was made of kernels before, in the user's cache folder: LLVM IR, and programs.

An entry belongs to one text, one command and one version of the headers, the compiler and this package; it names the
files that were included with the checksums of their contents, and is used only while these are the same.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

from pto_dialect.accel import enabled
from pto_dialect.accel.cache import cache_folder, digest, private_folder, read_private, write_private
from pto_dialect.version import __version__
from pto_dialect.versions import folder_identity

MOST_ENTRIES = 400
_FOLDER = "cpp"
_MOST_BYTES = 1 << 28


@lru_cache(maxsize=4)
def header_version(folder: str) -> str:
    """Returns a checksum of all headers in a folder."""
    state = [__version__]
    for directory, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(directory, name)
            state += [os.path.relpath(path, folder), _checksum(path) or ""]
    return digest(*state)


@lru_cache(maxsize=1)
def compiling_code() -> str:
    """Returns what differs as soon as a source file of this front end does."""
    return folder_identity(os.path.dirname(os.path.abspath(__file__)))


def _checksum(path: str) -> str | None:
    try:
        with open(path, "rb") as stream:
            return digest(stream.read())
    except OSError:
        return None


class Made(NamedTuple):
    """A text, and the files that were included."""

    text: str
    files: tuple[str, ...]


class IrCache:
    """The entry of one compilation; ``parts`` is everything that decides what is made of it."""

    def __init__(self, parts: Sequence[str]) -> None:
        folder = cache_folder() if enabled("cpp-code") else None
        self._folder = None if folder is None else private_folder(os.path.join(folder, _FOLDER))
        self._path = "" if self._folder is None else os.path.join(self._folder, digest(*parts))

    def read(self) -> Made | None:
        """Returns what was made, if it is there and no included file has changed."""
        stored = read_private(self._path) if self._path else None
        if stored is None:
            return None
        try:
            unpacker = zlib.decompressobj()
            entry = json.loads(unpacker.decompress(stored, _MOST_BYTES))
            files, text = entry["files"], entry["text"]
        except (zlib.error, ValueError, KeyError, TypeError):
            return None
        if not isinstance(files, dict) or not isinstance(text, str):
            return None
        is_same = all(_checksum(path) == checksum for path, checksum in files.items())
        return Made(text, tuple(files)) if is_same else None

    def write(self, made: Made) -> None:
        """Keeps what was made."""
        if self._folder is None:
            return
        entry = {"files": {path: _checksum(path) for path in made.files}, "text": made.text}
        write_private(self._path, zlib.compress(json.dumps(entry).encode(), 1))
        self._remove_oldest(self._folder)

    @staticmethod
    def _remove_oldest(folder: str) -> None:
        with suppress(OSError):
            entries = [entry for entry in os.scandir(folder) if entry.is_file(follow_symlinks=False)]
            if len(entries) > MOST_ENTRIES:
                entries.sort(key=lambda entry: entry.stat(follow_symlinks=False).st_mtime)
                for entry in entries[: len(entries) - MOST_ENTRIES // 2]:
                    with suppress(OSError):
                        os.unlink(entry.path)

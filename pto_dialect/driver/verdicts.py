"""What checking found in a text, kept between processes in the user's cache folder.

The name of an entry is a digest of everything that a result depends on: the text, the name that it is shown under, the
options, and the versions of this package (every source file of it), of xDSL and of Python. So an entry is never out of
date. It is JSON; nothing in it is executed.
"""

from __future__ import annotations

import marshal
import os
from collections.abc import Callable, Mapping
from contextlib import suppress

from pto_dialect.accel import enabled
from pto_dialect.accel.cache import cache_folder, digest, read_private, write_private
from pto_dialect.version import __version__

# What type checkers take for true; commands that came before have no time for ``typing``.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from .options import Options
    from .result import Result

FORMAT = 2
"""Raised by every change of what an entry looks like."""

FOLDER = "verdicts"

LARGEST = 1 << 17
"""Bytes of an entry beyond which it is not kept: a module of this size takes long to write, and fills the cache."""

SHELF_BYTES, SHELF_ENTRIES = 1 << 18, 256
"""What one of the 256 folders of entries may hold, 64 MB and 65,536 entries in all; the oldest ones make place."""


class Verdicts:
    """The entries of one version of the package, ``identity``, in a folder."""

    def __init__(self, folder: str, identity: str) -> None:
        self.folder = folder
        self.identity = digest(str(FORMAT), identity)
        self._by_options: dict[Options, str] = {}

    def find(self, text: str, name: str, options: Options) -> Result | None:
        """Returns the result of checking ``text`` under ``name``, if it is kept."""
        if not _is_kept(options):
            return None
        from .verdict_data import decode  # deferred: start-up

        key = self._key(text, name, options)
        stored = read_private(self._path(key))
        return None if stored is None else decode(stored, key, text)

    def has(self, text: str, name: str, options: Options) -> bool:
        """Returns whether there is a result of checking ``text`` under ``name``; it is not read."""
        return _is_kept(options) and os.path.exists(self._path(self._key(text, name, options)))

    def keep(self, text: str, name: str, options: Options, result: Result) -> None:
        """Keeps what checking ``text`` under ``name`` gave; does nothing where that is not possible."""
        if not _is_kept(options) or len(result.text or "") > LARGEST:
            return
        from .verdict_data import encode  # deferred: start-up

        key = self._key(text, name, options)
        self._write(key, encode(key, text, result))

    def rule_texts(self, load: Callable[[], Mapping[str, str]]) -> Mapping[str, str]:
        """Returns the descriptions of all rules; ``load`` finds them where they are not kept."""
        import json  # deferred: start-up

        key = digest(self.identity, "rules")
        stored = read_private(self._path(key))
        if stored is not None:
            with suppress(ValueError, KeyError, TypeError):
                data = json.loads(stored)
                if data["key"] == key:
                    return {str(id): str(text) for id, text in data["rules"].items()}
        texts = dict(load())
        self._write(key, json.dumps({"key": key, "rules": texts}).encode("ascii"))
        return texts

    def note(self, name: str) -> Any:
        """Returns what :meth:`keep_note` has kept under ``name``, ``None`` where there is nothing."""
        key = digest(self.identity, "note", name)
        stored = read_private(self._path(key))
        if stored is not None:
            with suppress(EOFError, ValueError, TypeError):
                found, value = marshal.loads(stored)
                if found == key:
                    return value
        return None

    def keep_note(self, name: str, value: Any) -> None:
        """Keeps a tuple of tuples, texts and numbers under ``name``."""
        key = digest(self.identity, "note", name)
        self._write(key, marshal.dumps((key, value)))

    def _key(self, text: str, name: str, options: Options) -> str:
        settings = self._by_options.get(options)
        if settings is None:
            settings = self._by_options[options] = digest(self.identity, ascii(_plain(options)))
        return digest(settings, name, text)

    def _path(self, key: str) -> str:
        return os.path.join(self.folder, key[:2], key)

    def _write(self, key: str, data: bytes) -> None:
        if len(data) > LARGEST:
            return
        path = self._path(key)
        shelf = os.path.dirname(path)
        try:
            os.makedirs(shelf, mode=0o700, exist_ok=True)
        except OSError:
            return
        if write_private(path, data):
            _make_place(shelf)


def _is_kept(options: Options) -> bool:
    """Returns whether results under these options are kept."""
    return not options.statistics and options.cycles is None


def open_verdicts() -> Verdicts | None:
    """Returns the verdicts of this version of the package; ``None`` without a cache folder."""
    from pto_dialect.versions import installed_version, process_identity, python_build  # deferred: start-up

    folder = cache_folder() if enabled("results") else None
    if folder is None:
        return None
    identity = ascii((__version__, process_identity(), installed_version("xdsl"), python_build()))
    return Verdicts(os.path.join(folder, FOLDER), identity)


def _plain(value: Any) -> Any:
    """Returns the options in a form that is written the same way in every process."""
    if isinstance(value, (set, frozenset)):
        return ("set", *sorted(value))
    if isinstance(value, tuple):
        names = getattr(value, "_fields", None)
        parts = tuple(_plain(part) for part in value)
        return parts if names is None else tuple(zip(names, parts, strict=True))
    return value


def _make_place(shelf: str) -> None:
    """Removes the oldest entries of a folder that holds too much."""
    found: list[tuple[int, int, str]] = []
    with suppress(OSError), os.scandir(shelf) as entries:
        for entry in entries:
            status = entry.stat()
            found.append((status.st_mtime_ns, status.st_size, entry.path))
    size, number = sum(size for _, size, _ in found), len(found)
    if size <= SHELF_BYTES and number <= SHELF_ENTRIES:
        return
    for _, bytes, path in sorted(found):
        with suppress(OSError):
            os.unlink(path)
        size, number = size - bytes, number - 1
        if size <= SHELF_BYTES and number <= SHELF_ENTRIES:
            return

"""A table of computed values in a file of the user's cache folder.

The first lookup reads the file, which has the values of all versions and commands that this user starts. Each value is
encoded on its own, so that a process decodes only those that it needs.
"""

from __future__ import annotations

import marshal
import os
import sys
from typing import Any

from pto_dialect.accel import enabled
from pto_dialect.accel.cache import cache_folder, read_private, write_private


def table_file(name: str) -> str | None:
    """Returns where this Python keeps a table of values that depend on its version and on how it compiles; ``None``
    without a cache folder."""
    tag = sys.implementation.cache_tag
    folder = cache_folder()
    if tag is None or folder is None:
        return None
    return os.path.join(folder, f"{name}-{tag}-{sys.hexversion:x}-{sys.flags.optimize}.values")


def table_for(name: str, versions: tuple[tuple[int, int], tuple[int, int]], most_bytes: int) -> CacheTable | None:
    """Returns the table in :func:`table_file` for a Python from the first to the last of ``versions``, else
    ``None``."""
    known = enabled(f"{name}-code") and versions[0] <= sys.version_info[:2] <= versions[1]
    path = table_file(name) if known else None
    return None if path is None else CacheTable(path, most_bytes)


class CacheTable:
    """Values by key; ``added`` are those that the file does not have yet.

    A file of more than ``most_bytes`` is replaced by an empty one: it has become a collection of many versions.
    """

    def __init__(self, path: str, most_bytes: int) -> None:
        self.path = path
        self.most_bytes = most_bytes
        self.added: dict[Any, Any] = {}
        self._stored: dict[Any, bytes] | None = None
        self._decoded: dict[Any, Any] = {}

    def get(self, key: Any) -> Any:
        """Returns the value of ``key``, ``None`` where there is none."""
        value = self._decoded.get(key)
        if value is None:
            if self._stored is None:
                self._stored = self.read()
            data = self._stored.get(key)
            if data is not None:
                value = self._decoded[key] = _decode(data)
        return value

    def add(self, key: Any, value: Any) -> None:
        """Adds a value that the table does not have."""
        self.added[key] = self._decoded[key] = value

    def read(self) -> dict[Any, bytes]:
        """Returns the encoded values in the file now; nothing when it is damaged or holds something else."""
        data = read_private(self.path)
        stored = None if data is None else _decode(data)
        return stored if type(stored) is dict else {}

    def save(self) -> None:
        """Adds what is new to the file; what other processes have added in the meantime stays."""
        if self.added:
            added = {key: marshal.dumps(value) for key, value in self.added.items()}
            data = marshal.dumps({**self.read(), **added})
            write_private(self.path, data if len(data) <= self.most_bytes else marshal.dumps(added))


def _decode(data: Any) -> Any:
    """Returns the value of ``data``; ``None`` where it is no encoded value."""
    try:
        return marshal.loads(data)
    except (EOFError, TypeError, ValueError):
        return None

"""Parse tables on disk, as plain data that loads in a few milliseconds."""

from __future__ import annotations

import marshal
import os
import zlib

from .lalr import Rule, Tables

FORMAT = 4
"""Raised by every change of what ``store`` writes, so that other versions' files are left alone."""

_ENCODING = 4
"""The form of ``marshal`` that every Python since 3.4 reads."""


def store(tables: Tables, path: str) -> None:
    """Writes tables to ``path``, all or nothing; raises OSError."""
    rules = tuple(tuple(rule) for rule in tables.rules)
    payload = marshal.dumps((FORMAT, *tables._replace(rules=rules)), _ENCODING)
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as stream:
            stream.write(zlib.crc32(payload).to_bytes(4, "little") + payload)
        os.replace(temporary, path)
    except OSError:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def load(path: str) -> Tables | None:
    """The tables stored at ``path``; ``None`` when there are none or the file is damaged."""
    try:
        with open(path, "rb") as stream:
            stored = stream.read()
    except OSError:
        return None
    if len(stored) < 4 or zlib.crc32(stored[4:]).to_bytes(4, "little") != stored[:4]:
        return None
    try:
        version, *fields = marshal.loads(stored[4:])
        if version != FORMAT:
            return None
        tables = Tables(*fields)
        return tables._replace(rules=tuple(Rule(*rule) for rule in tables.rules))
    except (EOFError, TypeError, ValueError):
        return None

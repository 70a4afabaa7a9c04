"""Parse tables as bytes, in plain data that loads in a few milliseconds."""

from __future__ import annotations

import marshal

from pto_dialect.syntax.read.lalr import Rule, Tables

FORMAT = 4
"""Raised by every change of what ``encode`` makes, so that other versions' files are left alone."""

_ENCODING = 4
"""The form of ``marshal`` that every Python since 3.4 reads."""


def encode(tables: Tables) -> bytes:
    """Returns the tables as bytes."""
    rules = tuple(tuple(rule) for rule in tables.rules)
    return marshal.dumps((FORMAT, *tables._replace(rules=rules)), _ENCODING)


def decode(data: bytes) -> Tables | None:
    """Returns the tables that ``data`` holds; ``None`` when it is something else."""
    try:
        version, *fields = marshal.loads(data)
        if version != FORMAT:
            return None
        tables = Tables(*fields)
        return tables._replace(rules=tuple(Rule(*rule) for rule in tables.rules))
    except (EOFError, TypeError, ValueError):
        return None

"""A cache for compiled regular expressions.

A start compiles some 90 expressions. Python code turns each into a list of numbers and hands that list to
``_sre.compile``, which checks it. :func:`cached_regex_code` takes the list from a file in the user's cache folder; the
expression is equal to one that was compiled.

On a Python whose modules are not known to work this way nothing is done.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pto_dialect.accel.cache_table import CacheTable, table_for

KNOWN = ((3, 11), (3, 13))
"""The first and the last version of Python whose ``re._compiler.compile`` was looked at: it parses, makes code, and
calls ``_sre.compile(pattern, flags, code, groups, groupindex, indexgroup)``."""

MOST_BYTES = 1_000_000
"""Size of the file; a start needs an eighth of it, programs with expectations may bring expressions of their own."""


class CachedExpressions:
    """Replaces ``re._compiler.compile``."""

    def __init__(self, table: CacheTable, compiler: Any) -> None:
        self.table = table
        self.compiler = compiler
        self.original = compiler.compile

    def __call__(self, pattern: Any, flags: int = 0) -> Any:
        """Returns the compiled expression; raises ``re.error`` for what is none."""
        if type(pattern) not in (str, bytes) or flags & self.compiler.SRE_FLAG_DEBUG or _is_of_this_process(pattern):
            return self.original(pattern, flags)
        # Without the type, -bb would refuse to compare bytes with text of the same hash.
        key = (type(pattern).__name__, pattern, int(flags))
        parts = self.table.get(key)
        if parts is not None:
            try:
                return self.compiler._sre.compile(pattern, *parts)
            except (RuntimeError, TypeError, ValueError, OverflowError):
                # Not what was kept; the file will have it right from now on.
                pass
        parts = self._parts(pattern, flags)
        self.table.add(key, parts)
        return self.compiler._sre.compile(pattern, *parts)

    def _parts(
        self, pattern: str | bytes, flags: int
    ) -> tuple[int, list[int], int, dict[str, int], tuple[str | None, ...]]:
        """Returns what the original hands on: flags, code, number of groups, numbers by name and names by number."""
        parsed = self.compiler._parser.parse(pattern, flags)
        code = [int(number) for number in self.compiler._code(parsed, flags)]
        state = parsed.state
        names: list[str | None] = [None] * state.groups
        for name, number in state.groupdict.items():
            names[number] = name
        return int(flags | state.flags), code, state.groups - 1, dict(state.groupdict), tuple(names)


def _is_of_this_process(pattern: str | bytes) -> bool:
    """Returns whether the expression differs from process to process: that of ``tokenize`` joins a set."""
    tokenize = sys.modules.get("tokenize")
    return tokenize is not None and pattern == getattr(tokenize, "PseudoToken", None)


@contextmanager
def cached_regex_code() -> Iterator[None]:
    """Regular expressions that are compiled in this block take their code from the file.

    For processes of our own: others that compile some in the meantime would be helped as well.
    """
    table = table_for("regex", KNOWN, MOST_BYTES)
    if table is None:
        yield
        return
    from re import _compiler  # deferred: start-up  # pyright: ignore[reportAttributeAccessIssue]

    compiler: Any = _compiler
    if isinstance(compiler.compile, CachedExpressions):
        # Already in force.
        yield
        return
    expressions = CachedExpressions(table, compiler)
    compiler.compile = expressions
    try:
        yield
    finally:
        if compiler.compile is expressions:
            compiler.compile = expressions.original
        expressions.table.save()

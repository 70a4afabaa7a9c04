"""Locations in C++ texts, as debug information of LLVM IR states them."""

from __future__ import annotations

from typing import NamedTuple


class SourceLocation(NamedTuple):
    """A line and column of a C++ file, in the body of ``function``, which was inlined at ``caller``.

    Lines and columns count from 1; 0 is unknown.
    """

    file: str
    line: int
    column: int
    function: str = ""
    caller: SourceLocation | None = None

    def frames(self) -> list[SourceLocation]:
        """Returns the location and its callers, innermost first."""
        found: list[SourceLocation] = [self]
        while found[-1].caller is not None:
            found.append(found[-1].caller)
        return found

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

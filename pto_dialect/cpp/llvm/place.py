"""Places in C++ texts, as debug locations of LLVM IR state them."""

from __future__ import annotations

from typing import NamedTuple


class Place(NamedTuple):
    """A line and column of a C++ file, in the body of ``function``, which was inlined at ``caller``.

    Lines and columns count from 1; 0 is unknown.
    """

    file: str
    line: int
    column: int
    function: str = ""
    caller: Place | None = None

    def frames(self) -> list[Place]:
        """Returns the source location and its callers, innermost first."""
        found = [self]
        while found[-1].caller is not None:
            found.append(found[-1].caller)
        return found

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

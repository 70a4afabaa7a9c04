"""Waiting times of pipes in a run, and changes that would avoid them.

Source: docs/cycles.md, "Waits and advice".
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wait:
    """Total waiting time of ``pipe``: ``cycles``, and their ``share`` of the run.

    ``operation`` in ``line`` waited for ``other`` on the pipe ``awaited`` in ``other_line``. ``kind``: ``flag``,
    ``lock``, ``unit-flag``, ``barrier``, ``scalar``, or the data dependence where the compiler orders the pipes:
    ``reads`` (read after write), ``overwrites`` (write after read), ``rewrites`` (write after write). ``through``: line
    of the flag, lock or barrier. ``cost``: cycles that the run would be shorter by without
    all waits of ``pipe`` for ``awaited`` of this kind. ``critical``: cycles of this wait on the critical path.
    """

    pipe: str
    awaited: str
    kind: str
    cycles: float
    share: float
    operation: str
    line: int | None
    other: str
    other_line: int | None
    through: int | None = None
    event: str = ""
    cost: float = 0.0
    critical: float = 0.0


@dataclass(frozen=True)
class Advice:
    """A change that was applied to a copy of the program, verified, run and timed: from ``before`` to ``after`` cycles.

    ``passes``: the pipeline that makes it, empty for a change that no pass makes. ``lines``: the lines concerned.
    ``more``: additional bytes by memory, negative for fewer.
    """

    text: str
    passes: str
    lines: tuple[int, ...]
    before: float
    after: float
    more: tuple[tuple[str, int], ...] = ()

    @property
    def saved(self) -> float:
        """The fraction of the time that the change saves."""
        return 1 - self.after / self.before

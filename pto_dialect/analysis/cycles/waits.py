"""What pipes have waited for in a run, and what would spare them the wait.

Source: docs/cycles.md, "Waits and advice".
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wait:
    """What ``pipe`` has waited for, in total: ``cycles``, and their ``share`` of the whole run.

    ``operation`` in ``line`` had to wait for ``other`` on the pipe ``awaited`` in ``other_line``. ``kind``: ``flag``,
    ``lock``, ``unit-flag``, ``barrier``, ``scalar``, or how the data depend on each other where the compiler orders the
    pipes: ``reads`` (what the other writes), ``overwrites`` (what the other reads), ``rewrites`` (what it writes).
    ``through``: line of the flag, lock or barrier that says so.
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


@dataclass(frozen=True)
class Advice:
    """A change that was made in a copy of the program, verified, run and timed: from ``before`` to ``after`` cycles.

    ``passes``: the pipeline that makes it, empty for a change that no pass makes. ``lines``: what it is about.
    ``more``: by memory the bytes that it needs besides, negative for fewer.
    """

    text: str
    passes: str
    lines: tuple[int, ...]
    before: float
    after: float
    more: tuple[tuple[str, int], ...] = ()

    @property
    def saved(self) -> float:
        """The part of the time that it saves."""
        return 1 - self.after / self.before

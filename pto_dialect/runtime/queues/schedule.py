"""Schedules: which of the possible next steps is taken, within the order that flags, barriers and signals allow.

Hardware decides that again in each run. A program that orders its pipes gives the same results under every schedule;
one whose results change has a race.  Source: docs/reference/execution.md, "Scheduling".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

KINDS = ("text", "oldest", "newest")
_RANDOM = "random"
_MOST_STEPS = 6
_SLOWNESS = (0.0, 0.5, 0.95)


class ScheduleError(ValueError):
    """A text that is not the name of a schedule."""


@dataclass(frozen=True)
class Schedule:
    """The order in which pipes and cores run.

    ``text``: everything in program order. ``oldest``: the scalar unit runs ahead, and of the instructions that may run
    the one that was issued first does. ``newest``: the one that was issued last. ``random``: any, determined by
    ``seed``. ``strict`` also reorders the pipes of programs that leave their order to the compiler.
    """

    kind: str = "text"
    seed: int = 0
    strict: bool = False

    @property
    def queued(self) -> bool:
        """Returns whether instructions wait in queues from the start."""
        return self.kind != "text"

    @classmethod
    def parse(cls, text: str, strict: bool = False) -> Schedule:
        """Returns the schedule that ``text`` names. Raises :class:`ScheduleError`."""
        kind, colon, seed = text.partition(":")
        if kind in KINDS and not colon:
            return cls(kind, strict=strict)
        if kind == _RANDOM and (not colon or (seed.isdecimal() and len(seed) < 20)):
            return cls(kind, int(seed or 0), strict)
        raise ScheduleError(f"there is no schedule '{text}'; schedules are {', '.join(KINDS)}, random:SEED")

    def chooser(self, salt: str) -> Chooser | None:
        """Returns the chooser of one core, or, with another ``salt``, between cores; ``None`` for the usual order."""
        return Chooser(self, salt) if self.kind in ("newest", _RANDOM) else None


class Chooser:
    """Chooses between the possible next steps."""

    def __init__(self, schedule: Schedule, salt: str) -> None:
        self._random = Random(f"{schedule.seed} {salt}") if schedule.kind == _RANDOM else None
        self._ahead = self._random is not None and self._random.random() < 0.5
        self._slowness: dict[int, float] = {}

    def head(self, issued: Sequence[int]) -> int:
        """Returns the position of the instruction that runs among those with these issue numbers."""
        if self._random is not None:
            return self._random.randrange(len(issued))
        return issued.index(max(issued))

    def steps(self) -> int:
        """Returns how many instructions the pipes run before the scalar unit issues more."""
        if self._random is None or self._ahead:
            return 0
        return max(0, self._random.randint(-_MOST_STEPS, _MOST_STEPS))

    def holds(self) -> bool:
        """Returns whether a store that hardware may complete later is held back: one of the scalar unit until it sets
        its next flag, the end of an unaligned stream until its flush."""
        return self._random is None or self._random.random() < 0.5

    def quantum(self) -> int:
        """Returns how many instructions a core runs before another core runs; 0 for all that it can."""
        return 0 if self._random is None else self._random.randint(1, _MOST_STEPS)

    def skips(self, core: int) -> bool:
        """Returns whether a core is skipped this time; some cores are slower than others."""
        if self._random is None:
            return False
        slowness = self._slowness.setdefault(core, self._random.choice(_SLOWNESS))
        return self._random.random() < slowness

    def order(self, count: int) -> list[int]:
        """Returns the order in which ``count`` cores run."""
        order = list(reversed(range(count)))
        if self._random is not None:
            self._random.shuffle(order)
        return order

"""Tasks of an orchestration: which of them wait for which, and the orders in which they may run.

Tasks are submitted one after the other, each with the memory that it takes in and gives out. A task waits for the tasks
that have last written what it takes in or overwrites, and for those that it names. It does not wait for earlier readers
of what it overwrites: whoever needs that names them. Source: docs/reference/execution.md, "Tasks".
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from .errors import BindingError
from .memory.spaces import Array

Direction = Literal["in", "out", "inout", "none"]
DIRECTIONS: tuple[str, ...] = get_args(Direction)
"""What a task does with an array: ``none`` keeps it out of the dependencies."""

SUBMITTED = "submitted"


@dataclass(frozen=True)
class Use:
    """A contiguous array that a task takes, and what the task does with it."""

    array: Array
    direction: str

    @property
    def span(self) -> tuple[int, int]:
        """First address, and the one behind the last."""
        start = self.array.__array_interface__["data"][0]
        return start, start + self.array.nbytes


@dataclass(eq=False)
class Task:
    """One task; ``after`` are earlier ones that it waits for whatever they do."""

    name: str
    uses: Sequence[Use] = ()
    after: Sequence[Task] = ()
    waits: set[Task] = field(default_factory=set)
    """Tasks that this one waits for directly, once ``connect`` has found them."""


def connect(tasks: Sequence[Task]) -> None:
    """Finds out which tasks wait for which, from the order in which they were submitted."""
    writers: list[tuple[int, int, Task]] = []
    for task in tasks:
        task.waits = set(task.after)
        spans = [(*use.span, use.direction) for use in task.uses if use.direction in ("in", "out", "inout")]
        for low, high, _ in spans:
            task.waits |= {other for first, last, other in writers if first < high and low < last}
        for low, high, direction in spans:
            if direction != "in":
                # What is overwritten as a whole has one last writer.
                writers = [entry for entry in writers if not (low <= entry[0] and entry[1] <= high)]
                writers.append((low, high, task))
        task.waits.discard(task)


def earlier(tasks: Sequence[Task]) -> dict[Task, set[Task]]:
    """For each task all those that have ended when it starts, in whichever order they run."""
    found: dict[Task, set[Task]] = {}
    for task in tasks:
        found[task] = set(task.waits).union(*(found[other] for other in task.waits))
    return found


def in_order(tasks: Sequence[Task], order: str) -> list[Task]:
    """The tasks in one of the orders that they may run in: as ``submitted``, or ``random:SEED``.

    Raises ``BindingError`` for another word.
    """
    seed = parse_order(order)
    if seed is None:
        return list(tasks)
    chooser = random.Random(seed)
    left, done, result = list(tasks), set[Task](), list[Task]()
    while left:
        ready = [task for task in left if task.waits <= done]
        task = chooser.choice(ready)
        left.remove(task)
        done.add(task)
        result.append(task)
    return result


def parse_order(text: str) -> int | None:
    """The seed of a random order, ``None`` for that of submission. Raises ``BindingError`` for another word."""
    if text == SUBMITTED:
        return None
    word, _, digits = text.partition(":")
    if word != "random" or not (digits.isdecimal() and digits.isascii() and len(digits) <= 20):
        raise BindingError(f"'{text}' is no order of tasks, expected submitted or random:SEED")
    return int(digits)

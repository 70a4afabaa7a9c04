"""Tasks of an orchestration: their dependencies, and the orders in which they may run.

Tasks are submitted in sequence, each with the memory that it reads and writes. A task waits for the last writers of
what it reads or overwrites, and for the tasks that it names. It does not wait for earlier readers of what it
overwrites: a program that needs this order names them. Source: docs/reference/execution.md, "Tasks".
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
"""The access of a task to an array: ``none`` excludes it from the dependencies."""

SUBMITTED = "submitted"


@dataclass(frozen=True)
class Use:
    """A contiguous array that a task takes, and the access to it."""

    array: Array
    direction: str

    @property
    def span(self) -> tuple[int, int]:
        """Returns the first address, and the end address."""
        start = self.array.__array_interface__["data"][0]
        return start, start + self.array.nbytes


@dataclass(eq=False)
class Task:
    """One task; ``after`` are earlier tasks that it waits for whatever they access."""

    name: str
    uses: Sequence[Use] = ()
    after: Sequence[Task] = ()
    waits: set[Task] = field(default_factory=set)
    """Tasks that this one directly waits for, once ``connect`` has computed them."""


def connect(tasks: Sequence[Task]) -> None:
    """Computes the dependencies of tasks from the order of submission."""
    writers: list[tuple[int, int, Task]] = []
    for task in tasks:
        task.waits = set(task.after)
        spans = [(*use.span, use.direction) for use in task.uses if use.direction in ("in", "out", "inout")]
        for low, high, _ in spans:
            task.waits |= {other for first, last, other in writers if first < high and low < last}
        for low, high, direction in spans:
            if direction != "in":
                # An array that is overwritten completely has one last writer.
                writers = [entry for entry in writers if not (low <= entry[0] and entry[1] <= high)]
                writers.append((low, high, task))
        task.waits.discard(task)


def earlier(tasks: Sequence[Task]) -> dict[Task, set[Task]]:
    """Returns for each task all tasks that have ended when it starts, in every order of execution."""
    predecessors: dict[Task, set[Task]] = {}
    for task in tasks:
        predecessors[task] = set(task.waits).union(*(predecessors[other] for other in task.waits))
    return predecessors


def in_order(tasks: Sequence[Task], order: str) -> list[Task]:
    """Returns the tasks in one of the orders that they may run in: as ``submitted``, or ``random:SEED``.

    Raises ``BindingError`` for another order.
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
    """Returns the seed of a random order, ``None`` for that of submission. Raises ``BindingError`` for
    another order."""
    if text == SUBMITTED:
        return None
    kind, _, digits = text.partition(":")
    if kind != "random" or not (digits.isdecimal() and digits.isascii() and len(digits) <= 20):
        raise BindingError(f"'{text}' is no order of tasks, expected submitted or random:SEED")
    return int(digits)

"""Tasks of a launch file by name, and which of them wait for which. Source: docs/reference/execution.md, "Launches"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pto_dialect.diagnostics.suggest import nearest_or

from .document import Document, Key


class TaskFacts(NamedTuple):
    """What a launch is among tasks: ``after`` are names of earlier ones, ``directions`` what it does with arguments."""

    name: str
    after: tuple[str, ...]
    directions: Mapping[str, str]


def check_tasks(document: Document, tasks: Iterable[tuple[Key, TaskFacts]]) -> None:
    """Names of tasks are different, and tasks wait for earlier ones. Raises ``LaunchError``."""
    known: list[str] = []
    for key, task in tasks:
        if task.name in known:
            raise document.error((*key, "name"), f"there are two tasks called {task.name}")
        for name in task.after:
            if name not in known:
                hint = nearest_or(name, known, f"there are: {', '.join(known) or 'none'}")
                raise document.error((*key, "after"), f"no earlier task is called {name}; {hint}")
        known.append(task.name)

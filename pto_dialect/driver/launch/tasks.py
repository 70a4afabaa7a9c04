"""Launches that are tasks: what they wait for, the order they run in, and what they touch without order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.runtime.compile.usage import directions_of as text_directions
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.tasks import Task, Use, connect, in_order

from ..run.program import Launch
from ..run.status import FINDINGS, Failure
from .plan import Plan

if TYPE_CHECKING:
    from pto_dialect.sanitize.tasks import Footprint

    from .prepared import Prepared


def directions_of(kernel: Kernel) -> list[str]:
    """Returns the directions of each argument of the functions of a kernel, as far as their text states."""
    return ["none" if direction == "unused" else direction for direction in text_directions(kernel.program)]


class TaskRun:
    """The tasks of a launch file."""

    def __init__(self, plan: Plan, prepared: Sequence[Prepared]) -> None:
        self.plan = plan
        self.of: dict[Task, Prepared] = {}
        names: dict[str, Task] = {}
        for one in prepared:
            facts = one.step.task
            assert facts is not None
            directions = self._directions(one)
            uses = [Use(argument.value, directions[argument.name]) for argument in one.bound if argument.is_array]
            task = Task(facts.name, uses, [names[name] for name in facts.after])
            names[facts.name] = task
            self.of[task] = one
        self.tasks = list(self.of)
        connect(self.tasks)
        self.by_launch = {id(one): task for task, one in self.of.items()}
        self.footprints: dict[Task, Footprint] = {}

    def _directions(self, one: Prepared) -> dict[str, str]:
        """By argument: what the launch file states, else what the text of the function states."""
        facts = one.step.task
        assert facts is not None
        names = [name for name, _ in one.kernel.arguments]
        found = dict(zip(names, directions_of(one.kernel), strict=True))
        for asked, direction in facts.directions.items():
            chosen = [name for name in names if name == asked or name.partition(".")[2] == asked]
            if not chosen:
                key = (*one.step.key, "directions", asked)
                raise self.plan.document.error(key, f"@{one.kernel.entry} has no argument {asked}")
            found |= dict.fromkeys(chosen, direction)
        return found

    def in_order(self) -> list[Prepared]:
        """Returns the launches in the order of the plan."""
        return [self.of[task] for task in in_order(self.tasks, self.plan.order)]

    def start(self, one: Prepared) -> None:
        """A launch is about to run."""
        if one.launch.request.sanitizing is not None:
            from pto_dialect.sanitize.tasks import TaskKernel  # deferred: start-up

            assert isinstance(one.kernel, TaskKernel)
            self.footprints[self.by_launch[id(one)]] = one.kernel.new_footprint()

    def report(self, launch: Launch) -> None:
        """Shows the tasks that touch the same memory in no order. Raises ``Failure`` where there are some."""
        sanitizing = launch.request.sanitizing
        if sanitizing is None or "race" not in sanitizing.options.checks:
            return
        from pto_dialect.sanitize.tasks import task_findings  # deferred: start-up

        places = {task: self.plan.document.span(one.step.key) for task, one in self.of.items()}
        found: list[Diagnostic] = task_findings(self.tasks, self.footprints, places)
        engine = DiagnosticEngine(launch.request.policy._replace(max_errors=sanitizing.limit))
        for diagnostic in found:
            engine.report(diagnostic)
        launch.report(engine.diagnostics, engine.counts())
        if engine.has_errors:
            raise Failure(FINDINGS)

"""Task graphs from Python: kernels with the arrays that they take in and give out, run in any order that is left."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.runtime.api import checked_options, verify_checked
from pto_dialect.runtime.compile.group import Member, join
from pto_dialect.runtime.errors import BindingError
from pto_dialect.runtime.group_api import arguments_in_order
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.runtime.run.per_core import InParts
from pto_dialect.runtime.tasks import DIRECTIONS, Task, Use, connect, in_order
from pto_dialect.targets.backend import Backend

from .launch.tasks import directions_of

__all__ = ["TaskGraph", "TaskResult"]

Arguments = Sequence[Any] | Mapping[str, Any]


class TaskResult(NamedTuple):
    """``order``: names of the tasks as they ran. ``findings``: what the sanitizers say, if they watched; tasks that
    touch the same memory in no order are among them, under the rule ``race-task``."""

    order: tuple[str, ...]
    findings: tuple[Diagnostic, ...] = ()


class _Call(NamedTuple):
    kernel: Kernel
    values: list[Any]
    blocks: int


class TaskGraph:
    """Tasks, submitted one after the other.

    A task waits for those that last wrote what it reads or overwrites, and for those it names; dependences are by the
    bytes of arrays, not by names. ``sanitize`` enables the sanitizers. The other arguments are those of
    ``pto_dialect.compile``.
    """

    def __init__(
        self,
        target: str | None = None,
        *,
        sanitize: bool = False,
        accumulate: str = "fast",
        backend: Backend | None = None,
        verify: bool = True,
    ) -> None:
        self.target = target
        self.sanitize = sanitize
        self.verify = verify
        options = checked_options(accumulate, backend)
        self._options = RunOptions(accumulate, "poison" if sanitize else "zero", backend=options.backend)
        self._calls: dict[Task, _Call] = {}
        self._kernels: dict[tuple[object, ...], tuple[object, Kernel]] = {}

    @property
    def tasks(self) -> list[Task]:
        """The tasks in the order in which they were submitted."""
        return list(self._calls)

    def submit(
        self,
        module: ModuleOp,
        arguments: Arguments,
        entry: str | None = None,
        *,
        name: str | None = None,
        after: Iterable[Task] = (),
        directions: Mapping[str, str] | None = None,
        blocks: int = 1,
    ) -> Task:
        """Returns a task that runs function ``entry`` of ``module``, by default the only one.

        ``arguments`` are by position or name, ``directions`` states how the task accesses arrays: ``in``, ``out``,
        ``inout``, or ``none`` for memory without dependences; the default follows from the text of the function. Raises
        ``VerifyError``, ``ProgramError`` and ``BindingError`` as ``compile`` does, ``BindingError`` for arguments and
        directions that do not match.
        """
        kernel = self._kernel((id(module), entry), module, lambda: self._made(module, entry))
        values = arguments_in_order(kernel.entry, kernel.arguments, arguments)
        return self._submitted(kernel, values, name, after, directions or {}, blocks)

    def submit_group(
        self,
        members: Iterable[tuple[ModuleOp, str] | tuple[ModuleOp, str, str]],
        arguments: Sequence[Arguments],
        *,
        name: str | None = None,
        after: Iterable[Task] = (),
        directions: Mapping[str, str] | None = None,
        blocks: int = 1,
    ) -> Task:
        """Returns a task that runs functions together, as ``compile_group`` does; ``arguments`` has those of each
        function. Names in ``directions`` are ``function.argument``."""
        chosen = [Member(one[0], one[1], one[2] if len(one) > 2 else None) for one in members]
        key = tuple((id(one.module), one.entry, one.core) for one in chosen)
        kernel = self._kernel(key, chosen, lambda: self._made(None, None, chosen))
        assert kernel.group is not None
        if len(arguments) != len(kernel.group.starts):
            raise BindingError(f"the group has {len(chosen)} functions, found arguments for {len(arguments)}")
        values: list[Any] = []
        for start, given in zip(kernel.group.starts, arguments, strict=True):
            values += arguments_in_order(start.label, start.arguments, given)
        return self._submitted(kernel, values, name, after, directions or {}, blocks)

    def run(self, order: str = "submitted") -> TaskResult:
        """Runs all tasks: in the order of submission, or with ``random:SEED`` in another one that their waits allow.

        Raises ``BindingError`` for another order and for arguments that do not fit, ``ProgramError`` for a fault of a
        program.
        """
        tasks = self.tasks
        connect(tasks)
        sequence = in_order(tasks, order)
        footprints: dict[Task, Any] = {}
        findings: list[Diagnostic] = []
        for task in sequence:
            call = self._calls[task]
            if self.sanitize:
                findings += self._instrumented(task, call, footprints)
            else:
                call.kernel.run(call.values, call.blocks)
        if self.sanitize:
            from pto_dialect.sanitize.tasks import task_findings  # deferred: start-up

            findings += task_findings(tasks, footprints, {})
        return TaskResult(tuple(task.name for task in sequence), tuple(findings))

    def _instrumented(self, task: Task, call: _Call, footprints: dict[Task, Any]) -> list[Diagnostic]:
        from pto_dialect.sanitize.tasks import TaskKernel  # deferred: start-up

        kernel = call.kernel
        assert isinstance(kernel, TaskKernel)
        footprints[task] = kernel.new_footprint()
        kernel.run(call.values, call.blocks)
        found = [finding.diagnostic() for finding in kernel.observer.findings.all]
        kernel.observer.findings.clear()
        return found

    def _kernel(self, key: tuple[object, ...], keep: object, make: Any) -> Kernel:
        # What the key is made from is kept, so that no other object gets its identity.
        if key not in self._kernels:
            self._kernels[key] = keep, make()
        return self._kernels[key][1]

    def _made(self, module: ModuleOp | None, entry: str | None, members: Sequence[Member] = ()) -> Kernel:
        group = join(members) if members else None
        if self.verify:
            whole = group.module if group is not None else module
            assert whole is not None
            verify_checked(whole, self.target)
        if not self.sanitize:
            return Kernel(module, entry, self.target, self._options, group=group)
        from pto_dialect.sanitize.options import SanitizeOptions  # deferred: start-up
        from pto_dialect.sanitize.tasks import TaskKernel  # deferred: start-up

        return TaskKernel(module, entry, self.target, self._options, SanitizeOptions(), group=group)

    def _submitted(
        self,
        kernel: Kernel,
        values: list[Any],
        name: str | None,
        after: Iterable[Task],
        directions: Mapping[str, str],
        blocks: int,
    ) -> Task:
        names = [argument for argument, _ in kernel.arguments]
        for argument, direction in directions.items():
            if argument not in names:
                raise BindingError(f"@{kernel.entry} has no argument {argument}")
            if direction not in DIRECTIONS:
                raise BindingError(f"a task does {', '.join(DIRECTIONS)} with {argument}, not '{direction}'")
        waits = list(after)
        if any(task not in self._calls for task in waits):
            raise BindingError("a task waits for tasks of its own graph")
        known = dict(zip(names, directions_of(kernel), strict=True)) | dict(directions)
        arrays = [(argument, _array(value)) for argument, value in zip(names, values, strict=True)]
        uses = [Use(array, known[argument]) for argument, array in arrays if array is not None]
        task = Task(name or f"task{len(self._calls) + 1}", uses, waits)
        self._calls[task] = _Call(kernel, values, blocks)
        return task


def _array(value: Any) -> Array | None:
    if isinstance(value, InParts):
        return value.array
    return value if isinstance(value, np.ndarray) else None

"""Orchestrations of several chips side by side: each in a thread of its own, of which one runs at a time.

A task that waits for signals of other chips is put off until no orchestration gets on without it; then all tasks that
wait run together, as ranks. See docs/pypto.md.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any, NamedTuple

from pto_dialect.ir.core.base import symbol_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.runtime.errors import BindingError
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.ranks import Part, run_ranks

from ..base import Function, group_kernel
from ..events import Launched, tell, watching
from ..instrumented import collect
from .domains import Domain


class Launch(NamedTuple):
    """A task of one rank of a domain: functions, by the cores that they are for, on ``values``."""

    functions: Mapping[str, Function]
    values: Sequence[Any]
    blocks: int

    @property
    def filename(self) -> str:
        """The program of the first function, for the events of the launch."""
        return self.functions[min(self.functions)].program.filename


class Stopped(Exception):
    """Another chip has failed."""


class Chip:
    """An orchestration at work on chip ``worker``: ``body`` runs in a thread, and gives way where it has to wait."""

    def __init__(self, worker: int, domains: Sequence[Domain], body: Callable[[Chip], None]) -> None:
        self.worker = worker
        self.domains = domains
        self.done = False
        self.error: BaseException | None = None
        self.waiting: tuple[Domain, Launch] | None = None
        self.blocked: Callable[[], bool] | None = None
        """Where the orchestration waits for others: whether it may continue."""
        self._alone = False
        self._stopped = False
        self._mine = threading.Semaphore(0)
        self._others = threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, args=(body,), daemon=True)
        self._thread.start()

    def _run(self, body: Callable[[Chip], None]) -> None:
        self._mine.acquire()
        try:
            if not self._stopped:
                body(self)
        except BaseException as error:
            self.error = error
        finally:
            self.done = True
            self._others.release()

    def go_on(self) -> None:
        """Lets the orchestration run until it ends or waits. Raises what it raises."""
        self._mine.release()
        self._others.acquire()
        if self.done:
            self._thread.join()
        if self.error is not None and not self._stopped:
            raise self.error

    def stop(self) -> None:
        """Ends an orchestration that has not ended."""
        self._stopped = True
        if not self.done:
            self.go_on()

    def domain_of(self, values: Sequence[Any]) -> Domain | None:
        """Returns the domain that a task takes part in; ``None`` for one that no other chip knows of."""
        found = [one for one in self.domains if any(one.holds(value) for value in values)]
        if len(found) > 1:
            names = ", ".join(one.name for one in found)
            raise BindingError(f"a task has buffers of several communication domains: {names}")
        return found[0] if found else None

    @property
    def may_continue(self) -> bool:
        """True for an orchestration that waits for nothing."""
        return self.waiting is None and (self.blocked is None or self.blocked())

    def until(self, condition: Callable[[], bool]) -> bool:
        """Lets other chips continue until ``condition`` holds; False when none of them can."""
        self.blocked = condition
        self._give_way()
        self.blocked = None
        return not self._alone

    def give_up(self) -> None:
        """Ends the wait of an orchestration for others, none of which can continue."""
        self._alone = True
        self.go_on()

    def _give_way(self) -> None:
        self._others.release()
        self._mine.acquire()
        if self._stopped:
            raise Stopped

    def carry_out(self, domain: Domain, launch: Launch) -> None:
        """Runs a task of a domain once the orchestration can continue past it."""
        kernel = group_kernel(launch.functions, watching())
        if not waits(kernel):
            run_together(domain, [(self.worker, launch)])
            return
        self.waiting = domain, launch
        self._give_way()


def waits(kernel: Kernel) -> bool:
    """Returns True for a kernel that waits for signals of others."""
    return any(has_role(op, Role.SIGNAL) and has_role(op, Role.WAITS) for op in kernel.program.operations)


def meet(chips: Sequence[Chip]) -> None:
    """Runs the tasks that chips wait for, those of each domain together.

    A chip of several domains may be busy in one of them: while there are domains whose chips are all there, the others
    wait for theirs.
    """
    domains = {id(one.waiting[0]): one.waiting[0] for one in chips if one.waiting is not None}
    there = {(id(one.waiting[0]), one.worker) for one in chips if one.waiting is not None}
    complete = [one for one in domains.values() if all((id(one), worker) in there for worker in one.workers)]
    for domain in complete or domains.values():
        here = [one for one in chips if one.waiting is not None and one.waiting[0] is domain]
        run_together(domain, [(one.worker, one.waiting[1]) for one in here if one.waiting is not None])
        for one in here:
            one.waiting = None


def run_together(domain: Domain, launches: Sequence[tuple[int, Launch]]) -> None:
    """Runs tasks of chips of a domain concurrently, and reports them to the observers.

    Raises ``BindingError`` and ``ProgramError``.
    """
    ranks = [rank for worker, _ in launches if (rank := domain.rank_of(worker)) is not None]
    options = watching()
    first: Kernel | None = None
    parts: list[Part] = []
    for _, one in launches:
        kernel = group_kernel(one.functions, options)
        if first is not None and kernel is not first and options is not None:
            kernel = group_kernel(one.functions, options, first)
        first = first or kernel
        parts.append(Part(kernel, one.values, one.blocks))
    started = perf_counter()
    finished = False
    try:
        if options is None:
            run_ranks(parts, domain.world, ranks)
        else:
            from pto_dialect.sanitize.ranks import run_sanitized_ranks  # deferred: start-up

            run_sanitized_ranks(parts, domain.world, ranks)
        finished = True
    finally:
        seconds = perf_counter() - started
        for part, (_, one) in zip(parts, launches, strict=True):
            findings, stopped = collect(part.kernel)
            functions = tuple(dict.fromkeys(symbol_of(root.function) for root in part.kernel.program.roots.values()))
            ended = stopped or not finished
            tell(Launched("pypto", one.filename, functions, part.blocks, seconds, findings, ended))

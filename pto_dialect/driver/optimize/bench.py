"""Measures the pipelines of a search: each program once, and none that cannot be the fastest. The fastest one runs with
contents under all checks.

Source: docs/optimize.md, "What is done with each pipeline".
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import TypeVar

from pto_dialect.deadline import TimedOut, can_limit, deadline
from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.syntax.print.printer import print_module

from ..launch.document import LaunchError
from ..tune.measure import Measured, Tuner
from ..tune.space import Candidate
from .bound import least_cycles
from .kept import Kept, digest_of

CHUNK = 8
"""Programs that run before the others are compared with the fastest one again."""

MOST_OPERATIONS = 2_000_000
"""Executions of operations of a program that is timed."""

RUN_SECONDS = 2e-5
"""About how long a run with contents takes for each cycle that a pipe works."""

BUILDS = 10
"""Pipelines that are tried for each program that may run."""

MOST_KEPT = 400_000
"""Characters of a program that stays in memory from its verification to its run."""

EQUAL = 1.002
"""Programs that take up to so many times as long as the fastest one count as equally fast."""

NOT_TRIED = "not tried"
"""Why a pipeline has no result when the search ends first."""

TOO_LONG = "the time of the search ends before its run does"
"""Why a pipeline has no result when its run is ended."""

Passes = tuple[str, ...]
Given = TypeVar("Given")
Result = TypeVar("Result")
Work = Callable[[Tuner, str | None, Given], Result | Diagnostic]


def _processor_time() -> float:
    """Returns the seconds of the processor of this process and of those that it has started."""
    return sum(os.times()[:4])


@dataclass
class Tried:
    """A pipeline: what became of its program, and what that is. ``least`` are the cycles that it takes at least,
    ``skipped`` states that it did not run for that reason, ``like`` an earlier pipeline with the same program,
    ``operations`` how many run in every call."""

    measured: Measured
    program: str = ""
    least: float = 0.0
    skipped: bool = False
    like: Passes | None = None
    operations: int = 0

    @property
    def is_short(self) -> bool:
        """Whether timing it takes no longer than a search has."""
        return self.operations <= MOST_OPERATIONS

    @property
    def cycles(self) -> float:
        """The time; infinite for what is no use."""
        return float("inf") if self.measured.reason else self.measured.whole.cycles


@dataclass
class Bench:
    """The pipelines of one launch. At most ``limit`` programs run, none after ``seconds`` of the processor in each
    process; ``first`` is the pipeline that others are compared with where the program does not run without passes."""

    tuner: Tuner
    first: Candidate
    entry: str | None = None
    jobs: int = 1
    limit: int = 60
    seconds: float = float("inf")
    kept: Kept | None = None
    tried: dict[Passes, Tried] = field(default_factory=dict[Passes, Tried])
    runs: int = 0
    out_of_time: bool = False
    confirm_seconds: float = 0.0
    started: float = field(default_factory=_processor_time)

    def measure(self, pipelines: Iterable[Passes], slow: bool = False) -> None:
        """Tries what has not been tried; with ``slow`` also what cannot be the fastest. Raises ``LaunchError`` and
        ``WorkerError``."""
        new = [one for one in dict.fromkeys(pipelines) if one not in self.tried]
        new = new[: max(0, self.limit * BUILDS - len(self.tried))]
        if not new or self.over:
            return
        # Programs of other processes do not come with their results.
        build = partial(_build, keeping=self.jobs == 1)
        built = self._spread([self._candidate(one) for one in new], build)
        waiting: list[Tried] = []
        programs = {one.program: passes for passes, one in self.tried.items() if one.like is None and not one.skipped}
        for passes, one in zip(new, built, strict=True):
            self.tried[passes] = one
            if one.measured.reason:
                continue
            one.like = programs.get(one.program)
            if one.like is None:
                programs[one.program] = passes
                waiting.append(one)
            else:
                one.measured.module = None
        self._run(waiting, slow)
        for passes in new:
            one = self.tried[passes]
            if one.like is not None:
                _copy(self.tried[one.like], one)

    def good(self) -> list[Measured]:
        """Returns the programs that are right, each once, the fastest one first; of those that take hardly longer than
        it the one with the shortest pipeline."""
        found = [one.measured for one in self.tried.values() if one.like is None and not one.measured.reason]
        least = min((one.whole.cycles for one in found), default=0.0) * EQUAL

        def order(one: Measured) -> tuple[float, int, float, int]:
            cycles = one.whole.cycles
            return max(cycles, least), len(",".join(one.candidate.passes)), cycles, one.bytes

        return sorted(found, key=order)

    def program(self, passes: Passes) -> str:
        """Returns the program of a pipeline, empty where there is none. Raises ``LaunchError``."""
        if passes not in self.tried:
            self.tried[passes] = _raised(_build(self.tuner, self.entry, self._candidate(passes)))
            self.tried[passes].skipped = True
            self.tried[passes].measured.reason = self.tried[passes].measured.reason or NOT_TRIED
        return self.tried[passes].program

    def prefer(self, passes: Passes, program: str) -> None:
        """Has ``passes`` stand for all pipelines with the same program."""
        same = [(name, one) for name, one in self.tried.items() if one.program == program]
        source = next(one for _, one in same if one.like is None)
        for name, one in same:
            _copy(source, one)
            one.like = None if name == passes else passes

    def _candidate(self, passes: Passes) -> Candidate:
        return self.first._replace(passes=passes, point={"passes": ",".join(passes)})

    @property
    def over(self) -> bool:
        """Whether nothing more runs."""
        self.out_of_time = self.out_of_time or _processor_time() - self.started > self.seconds * self.jobs
        return self.out_of_time or self.runs >= self.limit

    def _run(self, waiting: list[Tried], slow: bool) -> None:
        """Runs programs, those with the least bound first; with ``slow`` all of them."""
        waiting.sort(key=lambda one: one.least)
        while waiting:
            best = float("inf")
            if not slow:
                best = min((one.cycles for one in self.tried.values() if one.measured.whole.cycles), default=best)
            # One alone, as long as there is nothing to compare the others with.
            size = 1 if best == inf and not slow else CHUNK
            chunk = [one for one in waiting[:size] if self._may_win(one, best) and not self.over and one.is_short]
            chunk = chunk[: self.limit - self.runs]
            for one in waiting[:size]:
                if one not in chunk:
                    one.skipped, one.measured.module = True, None
                    out = self._may_win(one, best) and one.is_short
                    one.measured.reason = NOT_TRIED if out else f"takes at least {one.least:.0f} cycles"
            del waiting[:size]
            if chunk:
                self.runs += len(chunk)
                self._measure(chunk)

    @staticmethod
    def _may_win(one: Tried, best: float) -> bool:
        """Returns whether a program may be faster than one of ``best`` cycles, and not only as fast."""
        return one.least * EQUAL < best or not one.least

    def _measure(self, chunk: Sequence[Tried]) -> None:
        left: list[Tried] = []
        for one in chunk:
            if self.kept is not None and self.kept.fill(one.program, one.measured):
                one.measured.module = None
            else:
                left.append(one)
        if self.jobs == 1:
            found = [_raised(_timed(self.tuner, self.entry, one.measured, self._left)) for one in left]
        else:
            found = self._spread([one.measured for one in left], partial(_timed, seconds=self._left))
        for one, result in zip(left, found, strict=True):
            result.candidate, result.memory = one.measured.candidate, one.measured.memory
            one.measured = result
            if self.kept is not None and result.reason != TOO_LONG:
                self.kept.keep(one.program, result)

    @property
    def _left(self) -> float:
        """Seconds of the processor that a run may take now."""
        return max(1.0, self.seconds - (_processor_time() - self.started) / self.jobs)

    def confirm(self, always: bool = False) -> None:
        """Compares the results of the fastest program, and of the next one as long as they are wrong; none that takes
        longer than the search has, unless ``always``. Raises ``LaunchError``."""
        while good := self.good():
            one = good[0]
            tried = self.tried[one.candidate.passes]
            if one.compared or (self.kept is not None and self.kept.fill(tried.program, one, True) and not one.reason):
                return
            self.confirm_seconds = 2 * RUN_SECONDS * sum(one.pipes.values())
            if self.confirm_seconds > self.seconds and not always:
                return
            self._reference()
            tried.measured = self.tuner.measure(one.candidate)
            tried.measured.module = None
            if self.kept is not None:
                self.kept.keep(tried.program, tried.measured)

    def _reference(self) -> None:
        """Makes sure that there is something to compare with."""
        if not self.tuner.reference:
            self.tuner.compare_with(self.first)
        for one in list(self.tried.values()):
            if self.tuner.reference:
                return
            if not one.measured.reason:
                one.measured = self.tuner.measure(one.measured.candidate)

    def _spread(self, given: Sequence[Given], work: Work[Given, Result]) -> list[Result]:
        """Returns what ``work`` gives for each of ``given``, here or in other processes."""
        if self.jobs == 1 or len(given) < 2:
            return [_raised(work(self.tuner, self.entry, one)) for one in given]
        from ..workers import in_parallel  # deferred: start-up

        call = partial(work, self.tuner, self.entry)
        return [_raised(one) for one in in_parallel(given, call, min(self.jobs, len(given)))]


def _raised(found: Result | Diagnostic) -> Result:
    if isinstance(found, Diagnostic):
        raise LaunchError(found)
    return found


def _build(tuner: Tuner, entry: str | None, candidate: Candidate, keeping: bool = False) -> Tried | Diagnostic:
    """Returns the program of a pipeline, in whatever process; ``keeping`` retains it for its run, unless it is long."""
    try:
        found = tuner.build(candidate)
    except LaunchError as error:
        return error.diagnostic
    if found.reason or found.module is None:
        return Tried(found)
    least, operations = least_cycles(found.module, entry, tuner.target, tuner.cycles)
    text = print_module(found.module)
    if not keeping or len(text) > MOST_KEPT:
        found.module = None
    return Tried(found, digest_of(text), least, operations=operations)


def _timed(tuner: Tuner, entry: str | None, built: Measured, seconds: float) -> Measured | Diagnostic:
    """Returns the times of a pipeline whose program is verified, in whatever process, within ``seconds`` of the
    processor."""
    try:
        found = built if built.module is not None else tuner.build(built.candidate)
        if not found.reason:
            _time(tuner, found, seconds)
    except LaunchError as error:
        return error.diagnostic
    found.module = None
    return found


def _time(tuner: Tuner, found: Measured, seconds: float) -> None:
    try:
        with deadline(seconds if can_limit() and seconds < inf else None, processor=True):
            tuner.time(found)
    except TimedOut:
        found.reason = TOO_LONG


def _copy(one: Tried, other: Tried) -> None:
    """The result of a pipeline for another one with the same program."""
    source, target = one.measured, other.measured
    target.reason, target.whole, target.pipes = source.reason, source.whole, source.pipes
    target.clock_mhz, target.memory, target.compared = source.clock_mhz, source.memory, source.compared
    other.skipped = one.skipped

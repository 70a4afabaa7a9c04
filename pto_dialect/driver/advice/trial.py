"""Tries proposals on copies of a program: verified, run on the same arguments, compared bit by bit, timed.

Source: docs/cycles.md, "Waits and advice".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from functools import cached_property
from io import StringIO
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException

from pto_dialect.analysis.cycles.static import ModuleCycles
from pto_dialect.analysis.cycles.waits import Advice
from pto_dialect.deadline import TimedOut
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.accesses.items import UnsupportedError
from pto_dialect.passes.assign_memory.plan import memory_plans
from pto_dialect.runtime.errors import BindingError, ProgramError
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.sanitize.report.findings import Finding
from pto_dialect.sanitize.timed import CycleKernel
from pto_dialect.verify.verifier import verify_module

from .proposals import Proposal, proposals

LEAST_SAVING = 0.01
"""Changes that save a smaller fraction of the time are not reported."""

MOST_TRIALS = 32
MOST_EVENTS = 20_000
"""Accesses of a run up to which changes are tried: each trial runs the program again."""


@dataclass
class Subject:
    """A program that has run. ``again`` makes the kernel of another module, sanitized by all checks, ``values`` fresh
    arguments; ``results`` returns the outputs and results of the run, ``time_of`` the cycles of another module."""

    module: ModuleOp
    target: str | None
    blocks: int
    again: Callable[[ModuleOp], CycleKernel]
    values: Callable[[], list[Any]]
    results: Callable[[], list[Any]]
    time_of: Callable[[ModuleOp], float]
    _before: frozenset[object] | None = field(default=None, init=False)

    @cached_property
    def expected(self) -> list[Any]:
        """The outputs and results of the run."""
        return self.results()

    def advise(self, found: ModuleCycles, events: int) -> None:
        """Adds to ``found``, which is what the run has taken with so many ``events``, the advice that helps."""
        if events > MOST_EVENTS:
            found.not_tried_reason = f"the run is long: {events} accesses, changes are tried up to {MOST_EVENTS}"
            return
        best: dict[str, Advice] = {}
        try:
            for number, proposal in enumerate(proposals(self.module, self.target, found.waits)):
                if number >= MOST_TRIALS:
                    break
                advice = self._tried(proposal, found)
                known = best.get(proposal.group)
                if advice is not None and (known is None or advice.after < known.after - LEAST_SAVING * advice.before):
                    # More slots need more memory, so fewer slots are reported as well.
                    key = f"{proposal.group} {number}" if known is not None and advice.more else proposal.group
                    best[key] = advice
        except TimedOut:
            found.not_tried_reason = "the time limit is over"
        found.advice = sorted(worthwhile(list(best.values())), key=lambda one: (one.after, one.text))

    def _tried(self, proposal: Proposal, found: ModuleCycles) -> Advice | None:
        """Returns the advice, if the change is right and helps."""
        copy = self.module.clone()
        try:
            text = proposal.change(copy)
        except (UnsupportedError, DiagnosticException):
            return None
        if not text or not verified(copy, self.target) or not self._saves(copy, found):
            return None
        changed = self.cycles_of(copy, found)
        if changed is None or changed.total.cycles > found.total.cycles * (1 - LEAST_SAVING):
            return None
        try:
            more = difference(peaks(self.module, self.target), peaks(copy, self.target))
        except UnsupportedError:
            more = ()
        return Advice(text, proposal.passes, proposal.lines, found.total.cycles, changed.total.cycles, more)

    def _saves(self, module: ModuleOp, found: ModuleCycles) -> bool:
        """Returns whether a changed program is faster, by a run for times alone."""
        try:
            return self.time_of(module) <= found.total.cycles * (1 - LEAST_SAVING)
        except (ProgramError, BindingError, MemoryError):
            return False

    def cycles_of(self, module: ModuleOp, found: ModuleCycles) -> ModuleCycles | None:
        """Returns what a changed program takes; ``None`` where it fails, leaves other bits or has findings of its
        own."""
        try:
            kernel = self.again(module)
            results = run_quietly(kernel, self.values(), self.blocks)
        except (ProgramError, BindingError, MemoryError):
            return None
        news = keys(kernel.observer.findings.all)
        if kernel.stopped or not same_bits(self.expected, results) or (news and news - self.before()):
            return None
        return kernel.cycles(found.file)

    def before(self) -> frozenset[object]:
        """Returns the findings of the unchanged program."""
        if self._before is None:
            kernel = self.again(self.module)
            run_quietly(kernel, self.values(), self.blocks)
            self._before = keys(kernel.observer.findings.all)
        return self._before


def worthwhile(advice: Sequence[Advice]) -> list[Advice]:
    """Without the advice that takes more memory than another one and saves no more."""

    def size(one: Advice) -> int:
        return sum(more for _, more in one.more)

    def beaten(one: Advice) -> bool:
        return any(size(other) < size(one) and other.after <= one.after + 0.01 * one.before for other in advice)

    return [one for one in advice if not beaten(one)]


def run_quietly(kernel: Kernel, values: list[Any], blocks: int) -> list[Any]:
    """Runs a kernel, without what its program prints; the arguments after that, and what it returns."""
    with redirect_stdout(StringIO()):
        returned = kernel.run(values, blocks)
    return [*values, *returned]


def same_bits(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Returns whether two runs have left the same bits."""
    pairs = list(zip(one, other, strict=True))
    return all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in pairs if _is_data(a))


def _is_data(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic | int | float)


def keys(findings: Sequence[Finding]) -> frozenset[object]:
    """Returns what makes findings the same in two forms of a program."""
    return frozenset((one.rule, None if one.span is None else one.span.line) for one in findings)


def verified(module: ModuleOp, target: str | None) -> bool:
    """Returns whether no rule is broken."""
    engine = DiagnosticEngine()
    verify_module(module, engine, target=target)
    return not engine.has_errors


def peaks(module: ModuleOp, target: str | None) -> dict[str, int]:
    """Returns the bytes that the tiles of a program need, by memory: of its functions the one that needs most. Tiles
    without addresses lie where assign-memory would put them. Raises ``UnsupportedError``."""
    found: dict[str, int] = {}
    for function in walk(module):
        if has_role(function, Role.FUNCTION) and function.regions[0].blocks:
            for plan in memory_plans(function, target, "auto"):
                found[plan.space] = max(found.get(plan.space, 0), plan.peak)
    return found


def difference(before: dict[str, int], after: dict[str, int]) -> tuple[tuple[str, int], ...]:
    """By memory what is needed besides."""
    spaces = sorted(before.keys() | after.keys())
    changes = ((space, after.get(space, 0) - before.get(space, 0)) for space in spaces)
    return tuple((space, change) for space, change in changes if change)

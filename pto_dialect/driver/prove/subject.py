"""One function of a program before the passes: its inputs, what it computes from them, what the sanitizers find.

Source: docs/reference/proving.md, "What is compared".
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from xdsl.dialects.builtin import ModuleOp

from pto_dialect.diagnostics.source import Span
from pto_dialect.passes.insert_sync.insert import ordered
from pto_dialect.runtime.errors import BindingError, ProgramError
from pto_dialect.runtime.memory.spaces import Array, Fill
from pto_dialect.sanitize.report.findings import Finding

from .inputs import Input, inputs_of
from .runs import SCHEDULES, Runs, difference

UNWRITTEN = "mem-uninit"
ORDER = frozenset(
    (
        *("race-raw", "race-war", "race-waw", "race-same-pipe", "race-inverted", "l0c-handover"),
        *("sync-flag-unconsumed", "sync-flag-depth", "sync-deadlock", "sync-mte3-reorder"),
    )
)
"""Rules about the order of the pipes of a core, which a program without flags leaves to the passes."""
CROSSING = "race-cross-block"
"""Findings on races between blocks, which passes do not affect."""
FILLS: tuple[Fill, ...] = ("zero", "random")
"""Initial contents of memory in runs that determine whether it affects the results."""

Key = tuple[str, Span | None]


@dataclass
class Trial:
    """An input, and the memory of the function after a run on it; ``findings`` are those of the sanitizers,
    ``unwritten`` one of them on uninitialized memory, ``crossing`` one on a race between blocks. ``unseen``: the
    initial contents of memory do not affect the results."""

    input: Input
    expected: list[Array]
    findings: frozenset[Key]
    unwritten: Finding | None
    crossing: Finding | None
    unseen: bool = False


@dataclass
class Subject:
    """A function that a launch may start. ``ordered``: it orders its pipes itself, and no pass does that for it;
    ``unsteady`` are schedules under which it computes something else before any pass; ``crossing`` is a race between
    its blocks, and ``swayed`` that their order shows in its results without one, for which it is run on one."""

    name: str
    span: Span | None
    target: str | None
    blocks: int
    ordered: bool = False
    names: list[str] = field(default_factory=list)
    trials: list[Trial] = field(default_factory=list)
    unsteady: set[str] = field(default_factory=set)
    crossing: Finding | None = None
    swayed: bool = False
    _filled: list[Runs] = field(default_factory=list)

    def prepare(self, module: ModuleOp) -> None:
        """Runs the function before any pass. Raises ``ProgramError`` and ``BindingError`` where it does not run."""
        self._prepare(module)
        self.crossing = next((one.crossing for one in self.trials if one.crossing is not None), None)
        if self.blocks > 1 and (self.crossing is not None or self.unsteady):
            self.blocks = 1
            self.trials.clear()
            self.unsteady.clear()
            self._prepare(module)
            self.swayed = self.crossing is None and not self.unsteady

    def _prepare(self, module: ModuleOp) -> None:
        runs = Runs(module, self.name, self.target, self.blocks, False)
        kernel = runs.kernel()
        self.ordered = any(ordered(root.function) for root in kernel.program.roots.values())
        self.names = runs.names()
        self._filled.clear()
        # With strict scheduling, a function without flags has findings that no pass fixes either.
        instrumented = runs if self.ordered else Runs(module, self.name, self.target, self.blocks, True)
        for number, input in enumerate(inputs_of(kernel, self.blocks)):
            try:
                self.trials.append(self._trial(runs, instrumented, input))
            except (ProgramError, BindingError):
                if not number:
                    raise

    def _trial(self, runs: Runs, instrumented: Runs, input: Input) -> Trial:
        expected = runs.results(input)
        findings = instrumented.findings(input)
        unwritten, crossing = (
            next((one for one in findings if one.rule == rule), None) for rule in (UNWRITTEN, CROSSING)
        )
        # Without flags only the order of its blocks and cores matters, which the first input determines.
        for schedule in SCHEDULES[1:] if self.ordered or (self.blocks > 1 and not self.trials) else ():
            try:
                same = difference(expected, runs.results(input, schedule)) is None
            except ProgramError:
                same = False
            if not same:
                self.unsteady.add(schedule)
        unseen = unwritten is not None and self._is_unseen(runs, input, expected)
        return Trial(input, expected, frozenset(map(key_of, findings)), unwritten, crossing, unseen)

    def _is_unseen(self, runs: Runs, input: Input, expected: list[Array]) -> bool:
        """Returns whether the results are the same whatever memory holds before."""
        if not self._filled:
            self._filled += [replace(runs, fill=fill) for fill in FILLS]
        try:
            return all(difference(expected, other.results(input)) is None for other in self._filled)
        except ProgramError:
            return False


def key_of(finding: Finding) -> Key:
    """Returns what makes a finding the same before and after a pass."""
    return finding.rule, finding.span

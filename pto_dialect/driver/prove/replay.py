"""Witnesses replayed: does a sanitized run of the call show what the proof refutes?

The run shares no code with the prover. Source: docs/reference/order-proof.md, "Replays".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from enum import StrEnum
from io import StringIO
from time import process_time
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pto_dialect.deadline import TimedOut, deadline
from pto_dialect.diagnostics.source import Span
from pto_dialect.diagnostics.wording import count
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.walk import ancestors, walk
from pto_dialect.prove.concrete import Fault, FaultKind
from pto_dialect.prove.decide import Verdict, Witness
from pto_dialect.runtime.errors import BindingError, ProgramError
from pto_dialect.runtime.queues.schedule import Schedule
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.runtime.run.per_core import copied
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions
from pto_dialect.sanitize.report.findings import Finding

from ..explore.synthesized import zeros_of

SECONDS = 5.0
"""Processor time for the replay of one witness."""
SCHEDULES = ("text", "oldest", "newest", "random:1", "random:2", "random:3")
"""Schedules under which a call is run, until one shows the fault."""
_CALLS = tuple((contents, schedule) for contents in ("zeros", "ones") for schedule in SCHEDULES)
MOST_BLOCKS = 64
"""Blocks of a launch that is replayed."""
_LEAST = 0.05
"""Seconds that each run gets at least."""

_RACES = frozenset(("race-raw", "race-war", "race-waw", "race-inverted", "race-same-pipe", "l0c-handover"))
RULES: dict[FaultKind, frozenset[str]] = {
    FaultKind.RACE_RAW: _RACES,
    FaultKind.RACE_WAR: _RACES,
    FaultKind.RACE_WAW: _RACES,
    FaultKind.RACE_INVERTED: _RACES,
    FaultKind.RACE_SAME_PIPE: frozenset(("race-same-pipe", "sync-mte3-reorder")),
    FaultKind.RACE_CROSS_CORE: frozenset(("race-cross-core",)),
    FaultKind.DEADLOCK: frozenset(("sync-deadlock",)),
    FaultKind.LEFTOVER_FLAG: frozenset(("sync-flag-unconsumed",)),
    FaultKind.OVERFULL_FLAG: frozenset(("sync-flag-depth",)),
    FaultKind.FLAG_AHEAD: frozenset(("sync-flag-depth",)),
    FaultKind.ID_RANGE: frozenset(("sync-flag-range", "sync-buf-range", "sync-sem-range")),
    FaultKind.BUF_NESTING: frozenset(("sync-buf-nesting",)),
}
"""Rules of the sanitizers that report a kind of fault."""


class Outcome(StrEnum):
    """What a replay has shown."""

    CONFIRMED = "confirmed"
    NOT_SHOWN = "not shown"
    NOT_RUN = "not run"


@dataclass(frozen=True)
class Replay:
    """A call that was run as the witness says. ``rule`` is what the run reports under ``schedule`` on ``blocks``
    blocks, ``reason`` why it is not confirmed; ``contents`` of its integer buffers are zeros, or ones where the calls
    with zeros wait for others."""

    outcome: Outcome
    blocks: int
    schedule: str | None = None
    rule: str | None = None
    reason: str | None = None
    contents: str = "zeros"

    @property
    def text(self) -> str:
        """What a report says about it."""
        blocks = count(self.blocks, "block")
        if self.outcome is Outcome.CONFIRMED:
            buffers = "" if self.contents == "zeros" else f", {self.contents} in integer buffers"
            return f"confirmed by a run on {blocks}{buffers}, schedule {self.schedule}: {self.rule}"
        if self.outcome is Outcome.NOT_SHOWN:
            return f"a run on {blocks} does not show it: {self.reason}"
        return f"not run: {self.reason}"

    def as_data(self) -> dict[str, object]:
        """Returns the same for programs that read JSON."""
        return asdict(self)


def replay(verdict: Verdict, target: str | None, seconds: float = SECONDS) -> Replay | None:
    """Runs the call of a witness, for at most ``seconds`` of processor time; ``None`` without a witness."""
    witness = verdict.witness
    if witness is None:
        return None
    index, count = witness.arguments.get("block_idx", 0), witness.arguments.get("block_num", 0)
    blocks = max(index + 1, count, 1)
    if blocks > MOST_BLOCKS:
        return Replay(Outcome.NOT_RUN, blocks, reason=f"it needs {blocks} blocks, and {MOST_BLOCKS} are run")
    module = next((one for one in reversed([*ancestors(verdict.function)]) if isinstance(one, ModuleOp)), None)
    if module is None:
        return Replay(Outcome.NOT_RUN, blocks, reason="the function is in no module")
    try:
        with redirect_stdout(StringIO()):
            return _replayed(module, verdict, witness, target, blocks, seconds)
    except ProgramError as error:
        return Replay(Outcome.NOT_RUN, blocks, reason=f"{error.message} [{error.rule}]")
    except (BindingError, MemoryError, RecursionError) as error:
        return Replay(Outcome.NOT_RUN, blocks, reason=str(error) or "it does not fit into memory")


def _replayed(
    module: ModuleOp, verdict: Verdict, witness: Witness, target: str | None, blocks: int, seconds: float
) -> Replay:
    end = process_time() + seconds
    wanted = _operations(witness.fault)
    values = _arguments(module, verdict, witness, target, blocks, seconds / 4)
    others: set[str] = set()
    failed: ProgramError | None = None
    is_whole = True
    for number, (contents, schedule) in enumerate(_CALLS):
        if contents == "ones" and not _waits_for_memory(others, values):
            break
        options = RunOptions(fill="zero", schedule=Schedule.parse(schedule, strict=True))
        sanitize = SanitizeOptions(frozenset(("race", "deadlock", "sync")), "strict")
        kernel = InstrumentedKernel(module, verdict.name, target, options, sanitize)
        left = (end - process_time()) / (len(_CALLS) - number)
        try:
            with deadline(max(left, _LEAST), processor=True):
                kernel.run([_filled(value, contents) for value in values], blocks)
        except TimedOut:
            is_whole = False
        except ProgramError as error:
            failed = failed or error
        for finding in kernel.observer.findings.all:
            if _shows(finding, witness.fault, wanted):
                return Replay(Outcome.CONFIRMED, blocks, schedule, finding.rule, contents=contents)
            others.add(finding.rule)
    if not is_whole:
        return Replay(Outcome.NOT_RUN, blocks, reason=f"it takes more than {seconds:g} s of processor time")
    if failed is not None and not others:
        raise failed
    reason = f"it reports {', '.join(sorted(others))} of other operations" if others else "it reports nothing"
    return Replay(Outcome.NOT_SHOWN, blocks, reason=f"{reason} under {len(SCHEDULES)} schedules")


def _waits_for_memory(rules: AbstractSet[str], values: Sequence[Any]) -> bool:
    """Returns whether runs with these findings may have waited for a number in one of the buffers."""
    return "sync-deadlock" in rules and any(isinstance(one, np.ndarray) and one.dtype.kind in "iu" for one in values)


def _filled(value: Any, contents: str) -> Any:
    """Returns a copy of an argument; a buffer of integers has the ``contents``."""
    if contents == "ones" and isinstance(value, np.ndarray) and value.dtype.kind in "iu":
        return np.ones_like(value)
    return copied(value)


def _arguments(
    module: ModuleOp, verdict: Verdict, witness: Witness, target: str | None, blocks: int, seconds: float
) -> list[Any]:
    """Returns the arguments of the call; buffers have the bytes that it touches, or touches in ``seconds``."""
    kernel = Kernel(module, verdict.name, target, RunOptions(fill="zero"))
    numbers = _by_name(kernel, verdict, witness.arguments)
    try:
        with deadline(seconds, processor=True):
            return zeros_of(kernel, numbers, blocks)
    except TimedOut:
        return zeros_of(kernel, numbers, 0)


def _by_name(kernel: Kernel, verdict: Verdict, numbers: dict[str, int]) -> dict[str, int]:
    """Returns the numbers of a witness by the names of the run: arguments without a name have another one there."""
    arguments = verdict.function.regions[0].blocks[0].args
    found = dict(numbers)
    for place, ((name, _), value) in enumerate(zip(kernel.arguments, arguments, strict=False)):
        if value.name_hint is None and f"arg{place}" in numbers:
            found[name] = numbers[f"arg{place}"]
    return found


def _operations(fault: Fault) -> list[frozenset[Span | None]]:
    """Returns the operations of a fault: for each side the locations that a report may name."""
    ends = [fault.first] if fault.second is None else [fault.first, fault.second]
    if fault.kind is FaultKind.OVERFULL_FLAG:
        ends = ends[-1:]
    found: list[frozenset[Span | None]] = []
    for number, one in enumerate(ends):
        ops: list[Operation] = list(walk(one.statement.op))
        if fault.accesses is not None:
            ops.append(fault.accesses[number].op)
        found.append(frozenset(map(span_of, ops)) - {None})
    return found


def _shows(finding: Finding, fault: Fault, wanted: Sequence[frozenset[Span | None]]) -> bool:
    """Returns whether a finding is of the kind of a fault, and names both of its operations."""
    places = set(_places(finding))
    return finding.rule in RULES[fault.kind] and not any(places.isdisjoint(one) for one in wanted)


def _places(finding: Finding) -> Iterator[Span | None]:
    yield finding.span
    for site in finding.sites:
        if site is not None:
            yield site.span
    for _, span in finding.notes:
        yield span

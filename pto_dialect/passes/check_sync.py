"""``check-sync``: flags and hazards on every path through a function. Source: docs/reference/execution.md,
"Synchronisation"; docs/reference/instrumentation.md, "Order of events".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from pto_dialect.analysis.abstract_interpreter import AbstractInterpreter, AnalysisLimitExceeded
from pto_dialect.analysis.assumptions import Assumption, zero_trip_assumptions
from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.pipe_order import has_manual_synchronization
from pto_dialect.analysis.symbols import Symbols
from pto_dialect.analysis.target import profile_of
from pto_dialect.diagnostics.diagnostic import Diagnostic, Note, Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.origins import shown_line
from pto_dialect.diagnostics.remedies.synchronization import barrier_before, order_with_flag, other_end
from pto_dialect.diagnostics.remedy import Remedy
from pto_dialect.ir.core.attributes import ENUMS
from pto_dialect.ir.core.base import section_of, symbol_of
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.verify.buffers.alloc import address_operand, space_of
from pto_dialect.verify.engine.rule import Rule, read_rules

from .accesses.pops import popped_slots
from .base import PtoPass
from .cross_core import unordered_cores
from .queue_counts import unequal_ends
from .sync_flow import Access, Flow, Key, Place, order_of

_RULES = read_rules("passes")
STUCK = _RULES["sync-static-deadlock"]
PATH = _RULES["sync-path-unmatched"]
REUSE = _RULES["sync-event-reuse"]
HAZARD = _RULES["sync-static-hazard"]

_BALANCE = "a set and its wait belong under the same conditions, each as often as the other"
_DONE = {"raw": "has written", "war": "has read", "waw": "has written"}
_VERBS = {"raw": ("writes", "reads"), "war": ("reads", "overwrites"), "waw": ("writes", "overwrites")}


@dataclass(frozen=True)
class CheckSyncPass(PtoPass):
    """Follows flags and accesses along the paths of every function that no other calls.

    ``judge``: ``true`` remarks besides which flags and barriers are needless or make work wait that need not, and
    whether the order of a function is proved for all numbers of iterations.
    """

    name: ClassVar[str] = "check-sync"
    judge: str = "false"

    def run(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        """Reports what the functions of ``module`` do wrong with flags and barriers."""
        symbols = Symbols()
        for function in entry_functions(module):
            calls = [op for op in walk(function) if has_role(op, Role.CALL)]
            reached = dict.fromkeys([function, *(each for call in calls for each in symbols.reachable_from(call))])
            if has_manual_synchronization([op for each in reached for op in walk(each)]):
                followed = _check(function, self.target, engine)
                if not followed and self.judge != "true":
                    from .sync_order.findings import report_incomplete  # deferred: start-up

                    engine.report(report_incomplete(function))
            for diagnostic in (*unordered_cores(function), *unequal_ends(function, STUCK)):
                engine.report(diagnostic)
            if self.judge == "true":
                self._judge(module, function, engine)

    def _judge(self, module: ModuleOp, function: Operation, engine: DiagnosticEngine) -> None:
        from .sync_order.findings import has_signals, judged  # deferred: start-up
        from .sync_order.rules import UNDECIDED  # deferred: start-up

        if not has_signals(function):
            return
        found = list(judged(function, self.target))
        open_ = [one for one in found if one.rule == UNDECIDED.id]
        proofs = self._proofs(module, function) if open_ else []
        # What is wrong at one source location is reported once.
        known = {one.span for one in (*engine.diagnostics, *found) if one not in open_}
        for diagnostic in (*found, *proofs):
            if diagnostic in proofs and diagnostic.span in known:
                continue
            if not proofs or diagnostic not in open_:
                engine.report(diagnostic)

    def _proofs(self, module: ModuleOp, function: Operation) -> list[Diagnostic]:
        """Returns the verdicts of the prover about a function: proofs if all are, else those that refute its order."""
        from pto_dialect.prove.decide import Answer  # deferred: start-up
        from pto_dialect.prove.functions import verdicts  # deferred: start-up
        from pto_dialect.prove.report import diagnostic_of  # deferred: start-up

        found = list(verdicts(module, self.target, entry=symbol_of(function)))
        refuted = [one for one in found if one.answer is Answer.REFUTED]
        proven = [] if any(one.answer is not Answer.PROVEN for one in found) else found
        return [diagnostic_of(one) for one in refuted or proven]


def entry_functions(module: Operation) -> Iterator[Operation]:
    """Yields the functions with a body that no other function calls."""
    called: set[str] = set()
    for op in walk(module):
        if has_role(op, Role.CALL):
            called.add(str(op.properties["callee"]))
    for op in walk(module):
        if has_role(op, Role.FUNCTION) and op.regions[0].blocks and f"@{symbol_of(op)}" not in called:
            yield op


def _starts(function: Operation, target: str | None) -> dict[int, Place]:
    """Returns where the tiles begin that have an address."""
    starts: dict[int, Place] = {}
    profile = profile_of(function, target)
    for op in walk(function):
        if has_role(op, Role.TILE_ALLOCATION) and isinstance(tile := op.results[0].type, TileBufType):
            address = address_operand(op)
            start = constant_of(address) if address is not None else None
            if isinstance(start, int):
                starts[id(op.results[0])] = ("tile", space_of(tile, profile), start)
    return starts


def _check(function: Operation, target: str | None, engine: DiagnosticEngine) -> bool:
    """Reports what is wrong; whether every way was followed to its end."""
    arch = profile_of(function, target).arch
    sections = {section_of(op) for op in walk(function)}
    starts, pops = _starts(function, target), popped_slots(function, arch)
    sides = [name for name in ("cube", "vector") if name in sections] or [None]
    complete = True
    for side in sides:
        reporter = _Reporter(engine)

        def follow(
            assumption: Assumption, side: str | None = side, reporter: _Reporter = reporter
        ) -> AbstractInterpreter[Flow]:
            nonlocal complete
            ways = AbstractInterpreter(function, side, Flow(arch, reporter, starts, pops), assumption)
            try:
                ways.run()
            except AnalysisLimitExceeded:
                complete = False
            complete &= not ways.partial
            return ways

        opened = follow({}).unknown_trip_counts
        numbers = _passed(function)
        for assumption in zero_trip_assumptions(numbers, [bounds for op, bounds in opened.items() if _has_order(op)]):
            reporter.assumed = _assumed(numbers, assumption)
            follow(assumption)
    return complete


def _has_order(loop: Operation) -> bool:
    """Returns whether a loop may order the pipes, so that it matters whether it runs at all."""
    return any(order_of(op) is not None or has_role(op, Role.CALL) for op in walk(loop))


def _passed(function: Operation) -> list[SSAValue]:
    """Returns the values of a function that are up to its caller: arguments, and what it loads from memory."""
    loads = [op.results[0] for op in walk(function) if has_role(op, Role.ELEMENT_LOAD) and op.results]
    return [*function.regions[0].blocks[0].args, *loads]


def _assumed(numbers: list[SSAValue], assumption: Assumption) -> str:
    """Returns an assumption as text."""
    named = [(one.name_hint or f"arg{position}", assumption.get(id(one))) for position, one in enumerate(numbers)]
    return " where " + " and ".join(f"%{name} = {value}" for name, value in named if value is not None)


class _Reporter:
    """Converts the findings of a path into diagnostics, one per location; the first counts."""

    def __init__(self, engine: DiagnosticEngine) -> None:
        self.engine = engine
        self.seen: set[tuple[object, ...]] = set()
        self.assumed = ""
        """The assumed arguments, as text: findings hold for such calls only."""

    def _where(self, certain: bool) -> str:
        return self.assumed or ("" if certain else " on some path")

    def stuck(self, op: Operation, key: Key, certain: bool) -> None:
        message = f"this wait for {flag_text(key)} is never ended{self._where(certain)}: no set comes before it"
        always = certain and not self.assumed
        if always or (STUCK.id, id(op)) not in self.seen:
            self.report(STUCK if always else PATH, op, message, (), _BALANCE, remedies=_other_end(key, False))

    def left(self, op: Operation, key: Key, certain: bool) -> None:
        message = f"{flag_text(key)} is set here and not waited for{self._where(certain)}"
        self.report(PATH, op, message, (), _BALANCE, remedies=_other_end(key, True))

    def again(self, first: Operation, second: Operation, key: Key, certain: bool) -> None:
        message = f"{flag_text(key)} is set again before the first one is waited for{self._where(certain)}"
        note = Note("it is still pending from here", span_of(first))
        self.report(REUSE, second, message, (note,), "another EVENT_ID for one of the two", first)

    def nesting(self, op: Operation, number: int, held: bool, certain: bool) -> None:
        problem = "is got again before it is released" if held else "is released and was not got"
        message = f"buffer id {number} {problem}{self._where(certain)}"
        advice = "a pipe gets a buffer id before its access and releases it afterwards"
        self.report(read_rules("run")["sync-buf-nesting"], op, message, (), advice, certain=certain)

    def hazard(self, kind: str, first: Access, second: Access, inverted: bool, certain: bool) -> None:
        before, now = _VERBS[kind]
        source, target = (access.pipe.removeprefix("PIPE_") for access in (first, second))
        flag = f'["{first.pipe}", "{second.pipe}", "EVENT_IDn"]'
        advice = f"pto.set_flag{flag} after the first and pto.wait_flag{flag} before the second"
        remedy = order_with_flag(first.pipe, second.pipe, *ENUMS["event"].values)
        if first.pipe == second.pipe:
            remedy = barrier_before(first.pipe)
            message = f"{target} {now} what {first.op.name} {before} on the same pipe, with no barrier between"
            advice = f"pto.barrier #pto.pipe<{first.pipe}> between the two"
        elif inverted:
            message = f"{target} {now} what {source} {before}, but the flags let the second run first"
        else:
            message = f"{target} {now} what {source} {before}, and nothing orders the two"
        notes = (Note(f"{first.op.name} on {source} {before} it", span_of(first.op)), *_iterations(kind, first, second))
        self.report(
            HAZARD,
            second.op,
            message + self._where(certain),
            notes,
            advice,
            first.op,
            certain=certain,
            remedies=(remedy,),
        )

    def report(
        self,
        declared: Rule,
        op: Operation,
        message: str,
        notes: tuple[Note, ...],
        help: str,
        *others: Operation,
        certain: bool = True,
        remedies: tuple[Remedy, ...] = (),
    ) -> None:
        key = (declared.id, id(op), *map(id, others))
        if key not in self.seen:
            self.seen.add(key)
            # A path may be one that no run takes.
            severity = declared.severity if certain and not self.assumed else Severity.WARNING
            self.engine.report(declared.at(op, message, notes, help, remedies=remedies, severity=severity))


def _iterations(kind: str, first: Access, second: Access) -> Iterator[Note]:
    """In which iterations it happens, of the innermost loop that matters."""
    _, now = _VERBS[kind]
    around: Note | None = None
    for (loop, one), (other, two) in zip(first.turns, second.turns, strict=False):
        if loop is not other:
            break
        span = span_of(loop)
        line = "" if span is None else f" at line {shown_line(span)}"
        if one != two:
            yield Note(f"iteration {two} of the loop{line} {now} it before iteration {one} {_DONE[kind]} it", span)
            return
        around = Note(f"both are in iteration {one} of the loop{line}", span)
    if around is not None:
        yield around


def _other_end(key: Key, wait: bool) -> tuple[Remedy, ...]:
    """Returns the set or the wait that a flag with a known event lacks."""
    source, target, number = key
    return (other_end(source, target, f"EVENT_ID{number}", wait),) if isinstance(number, int) else ()


def flag_text(key: Key) -> str:
    """Returns a flag as text."""
    source, target, number = key
    event = f"EVENT_ID{number}" if isinstance(number, int) else "a computed EVENT_ID"
    return f"flag {event} from {source} to {target}"

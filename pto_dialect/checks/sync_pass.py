"""``check-sync``: flags and hazards on every path through a function. Source: execution page, sections 5 and 6."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ..diagnostics.diagnostic import Diagnostic, Note
from ..diagnostics.engine import DiagnosticEngine
from ..ir.base import Pipe
from ..ir.location import span_of
from ..ir.walk import walk
from ..targets.profile import resolve_target
from ..transforms.module_pass import PtoPass
from ..verify.module_rules import uses_micro_level
from ..verify.rule import ERROR, SYNC, WARNING, Rule, rule
from .flow import GETS, RELEASES, SETS, WAITS, Flow, Key, Outcome
from .paths import TooMuch, paths

_PAGE = "execution page, section 6.3"

_FLAGS = '"PIPE_MTE2", "PIPE_V", "EVENT_ID0"'


def _conditional(*lines: str) -> str:
    """A function with a condition that only a run knows."""
    return "\n".join(("func.func @f(%some: i1) {", *(f"  {line}" for line in lines), "  return", "}"))


STUCK = rule(
    "sync-static-deadlock",
    ERROR,
    SYNC,
    "on no path a wait is left without its set",
    source=_PAGE,
    bad=f"pto.wait_flag[{_FLAGS}]\npto.set_flag[{_FLAGS}]\npto.wait_flag[{_FLAGS}]",
    good=f"pto.set_flag[{_FLAGS}]\npto.wait_flag[{_FLAGS}]",
)
PATH = rule(
    "sync-path-unmatched",
    WARNING,
    SYNC,
    "on every path a flag is set as often as it is waited for",
    source=_PAGE,
    bad=_conditional(f"pto.set_flag[{_FLAGS}]", "scf.if %some {", f"  pto.wait_flag[{_FLAGS}]", "}"),
    good=_conditional("scf.if %some {", f"  pto.set_flag[{_FLAGS}]", f"  pto.wait_flag[{_FLAGS}]", "}"),
)
REUSE = rule(
    "sync-event-reuse",
    WARNING,
    SYNC,
    "a flag is not set again before it is waited for",
    source=_PAGE,
    bad=f"pto.set_flag[{_FLAGS}]\npto.set_flag[{_FLAGS}]\npto.wait_flag[{_FLAGS}]\npto.wait_flag[{_FLAGS}]",
    good=f"pto.set_flag[{_FLAGS}]\npto.wait_flag[{_FLAGS}]\npto.set_flag[{_FLAGS}]\npto.wait_flag[{_FLAGS}]",
)
HAZARD = rule(
    "sync-static-hazard",
    WARNING,
    SYNC,
    "in a function that orders its pipes, what one pipe writes and another uses is ordered",
    source="verifier-rules page, section 17",
)

_ORDERING = SETS | WAITS | GETS | RELEASES
_VERBS = {"raw": ("writes", "reads"), "war": ("reads", "overwrites"), "waw": ("writes", "overwrites")}


@dataclass(frozen=True)
class CheckSyncPass(PtoPass):
    """Follows flags and accesses along the paths of every function that no other calls."""

    name: ClassVar[str] = "check-sync"

    def run(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        arch = resolve_target(self.target, None, None, uses_micro_level(module)).profile.arch
        for function in entry_functions(module):
            if any(op.name in _ORDERING for op in walk(function)):
                _check(function, arch, engine)


def entry_functions(module: Operation) -> Iterator[Operation]:
    """Functions with a body that no other function calls."""
    called: set[str] = set()
    for op in walk(module):
        if op.name == "func.call":
            called.add(str(op.properties["callee"]))
    for op in walk(module):
        if op.name == "func.func" and op.regions[0].blocks and f"@{_symbol(op)}" not in called:
            yield op


def _symbol(function: Operation) -> str:
    return function.properties["sym_name"].data  # pyright: ignore[reportAttributeAccessIssue]


def _check(function: Operation, arch: str, engine: DiagnosticEngine) -> None:
    names = {op.name for op in walk(function)}
    sides = [name for name in ("cube", "vector") if f"pto.section.{name}" in names] or [None]
    for side in sides:
        reporter = _Reporter(engine)
        try:
            for path in paths(function, side):
                reporter.take(Flow(arch).run(path), path.assumed)
        except TooMuch:
            # Nothing is said about functions that are too long to follow.
            continue


class _Reporter:
    """Reports each place once."""

    def __init__(self, engine: DiagnosticEngine) -> None:
        self.engine = engine
        self.seen: set[tuple[object, ...]] = set()

    def take(self, outcome: Outcome, assumed: bool) -> None:
        """What one path has shown; ``assumed`` paths depend on conditions."""
        where = " on some path" if assumed else ""
        for op, key in outcome.stuck:
            message = f"this wait for {flag_text(key)} is never ended{where}: no set comes before it"
            advice = "a set and its wait belong under the same conditions, each as often as the other"
            self.report(STUCK if not assumed else PATH, op, message, (), advice)
        for op, key in outcome.left:
            message = f"{flag_text(key)} is set here and not waited for{where}"
            advice = "a set and its wait belong under the same conditions, each as often as the other"
            self.report(PATH, op, message, (), advice)
        for first, second, key in outcome.again:
            message = f"{flag_text(key)} is set again before the first one is waited for{where}"
            note = Note("it is still pending from here", span_of(first))
            self.report(REUSE, second, message, (note,), "another EVENT_ID for one of the two", first)
        for kind, first, second in outcome.hazards:
            before, now = _VERBS[kind]
            source, target = (access.pipe.removeprefix("PIPE_") for access in (first, second))
            message = f"{target} {now} what {source} {before}, and nothing orders the two{where}"
            note = Note(f"{first.op.name} on {source} {before} it", span_of(first.op))
            flag = f'["{first.pipe}", "{second.pipe}", "EVENT_IDn"]'
            if Pipe.S.value in (first.pipe, second.pipe):
                continue
            advice = f"pto.set_flag{flag} after the first and pto.wait_flag{flag} before the second"
            self.report(HAZARD, second.op, message, (note,), advice, first.op)

    def report(
        self, declared: Rule, op: Operation, message: str, notes: tuple[Note, ...], help: str, *others: Operation
    ) -> None:
        key = (declared.id, id(op), *map(id, others))
        if key not in self.seen:
            self.seen.add(key)
            self.engine.report(Diagnostic(declared.id, declared.severity, message, span_of(op), notes, help))


def flag_text(key: Key) -> str:
    """A flag in words."""
    source, target, number = key
    event = f"EVENT_ID{number}" if isinstance(number, int) else "a computed EVENT_ID"
    return f"flag {event} from {source} to {target}"

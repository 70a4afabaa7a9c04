"""Verdicts as diagnostics and as data. Source: docs/prove.md, "Reports"."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from pto_dialect.analysis.pipe_order import has_manual_synchronization
from pto_dialect.diagnostics.diagnostic import Diagnostic, Note, Severity
from pto_dialect.diagnostics.origins import shown_line, shown_span
from pto_dialect.diagnostics.source import Span
from pto_dialect.ir.core.facts.pipe import Pipe
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.walk import walk
from pto_dialect.verify.engine.rule import read_rules

from .concrete import Fault, FaultKind, Instance
from .decide import BLOCK, Answer, Verdict, Witness
from .expressions import UnknownValueError, evaluate
from .overlap import interval_of

_RULES = read_rules("passes")
PROVEN = _RULES["order-proven"]
REFUTED = _RULES["order-refuted"]
UNDECIDED = _RULES["order-undecided"]

_RUN_RULES = read_rules("run")
_REPORTED = {FaultKind.LEFTOVER_FLAG: "sync-flag-unconsumed", FaultKind.OVERFULL_FLAG: "sync-flag-depth",
             FaultKind.FLAG_AHEAD: "sync-flag-depth"}  # fmt: skip
"""Rules of a run about faults that need not be errors."""

_PROBLEMS = {
    "deadlock": "this wait is never ended",
    "leftover-flag": "nothing waits for this flag",
    "overfull-flag": "this flag is set again before it is waited for",
    "flag-ahead": "this flag may be set again before the wait for it is over",
    "id-range": "this id does not exist",
    "buf-nesting": "buffer ids are not got and released in turn here",
    "race-raw": "{second} reads what {first} writes, and nothing orders the two",
    "race-war": "{second} overwrites what {first} reads, and nothing orders the two",
    "race-waw": "{second} overwrites what {first} writes, and nothing orders the two",
    "race-same-pipe": "{second} touches what {first} has touched on the same pipe, with no barrier between",
    "race-cross-core": "{first} and {second} of two cores touch the same bytes, and nothing orders the two",
    "race-inverted": "{second} needs what {first} does, but the flags let it run first",
}
"""What is wrong, by the kind of a fault."""
_ADVICE = {
    "deadlock": "a set and its wait belong under the same conditions, each as often as the other",
    "leftover-flag": "a set and its wait belong under the same conditions, each as often as the other",
    "overfull-flag": "a wait between the two sets, or another id for one of them",
    "flag-ahead": "a flag in the other direction after the wait, and a wait for it before the next set, or another id",
    "id-range": "flags have the ids 0 to 7, buffers 0 to 31",
    "buf-nesting": "a pipe gets a buffer id before its access and releases it afterwards",
    "race-same-pipe": "a barrier of the pipe between the two",
    "race-cross-core": "a signal to the other core after the first access, and a wait for it before the second",
}


def diagnostic_of(verdict: Verdict) -> Diagnostic:
    """Returns a verdict as a diagnostic."""
    where = f"@{verdict.name}" + _on(verdict.core)
    notes = tuple(Note(f"assumed: {text}") for text in verdict.assumptions)
    if verdict.answer is Answer.PROVEN:
        message = f"the order of the pipes in {where} is proven for all arguments and numbers of iterations"
        return PROVEN.at(verdict.function, message, notes)
    if verdict.witness is None:
        op = verdict.op or verdict.function
        message = f"the order of the pipes in {where} is undecided: {verdict.reason}"
        return UNDECIDED.at(op, message, notes)
    fault = verdict.witness.fault
    late = fault.second or fault.first
    message = f"{_problem(fault)}{_call(verdict.witness)}, in {where}"
    notes = (*_places(fault), *notes)
    span = _span(late, fault, fault.second is not None)
    return REFUTED.at(span, message, notes, _advice(fault, verdict.function), severity=_severity(fault))


def _severity(fault: Fault) -> Severity:
    """That of the rule by which a run reports the fault."""
    reorders = fault.kind is FaultKind.RACE_SAME_PIPE and fault.first.statement.pipe is Pipe.MTE3
    rule = "sync-mte3-reorder" if reorders else _REPORTED.get(fault.kind)
    return REFUTED.severity if rule is None else _RUN_RULES[rule].severity


def _on(core: str | None) -> str:
    if core == BLOCK:
        return " on the cores of a block"
    return f" on the {core} core" if core else ""


def _op(one: Instance, fault: Fault, second: bool) -> Operation:
    return one.statement.op if fault.accesses is None else fault.accesses[second].op


def _span(one: Instance, fault: Fault, second: bool) -> Span | None:
    return span_of(_op(one, fault, second)) or span_of(one.statement.op)


def _problem(fault: Fault) -> str:
    first = f"{_op(fault.first, fault, False).name} on {_pipe(fault.first)}"
    second = "" if fault.second is None else f"{_op(fault.second, fault, True).name} on {_pipe(fault.second)}"
    return _PROBLEMS[fault.kind].format(first=first, second=second)


def _pipe(one: Instance) -> str:
    return one.statement.pipe.value.removeprefix("PIPE_")


def _advice(fault: Fault, function: Operation) -> str | None:
    if fault.kind is FaultKind.RACE_CROSS_CORE or fault.second is None:
        return _ADVICE.get(fault.kind)
    if not has_manual_synchronization([*walk(function)]):
        return "insert-sync orders the pipes of a program without flags: pto-opt -p insert-sync"
    if fault.kind in _ADVICE:
        return _ADVICE[fault.kind]
    flag = f'["{fault.first.statement.pipe.value}", "{fault.second.statement.pipe.value}", "EVENT_IDn"]'
    return f"pto.set_flag{flag} after the first and pto.wait_flag{flag} before the second"


def _call(witness: Witness) -> str:
    if not witness.arguments:
        return ""
    return " where " + " and ".join(f"%{name} = {value}" for name, value in witness.arguments.items())


def _places(fault: Fault) -> tuple[Note, ...]:
    notes: list[Note] = []
    for one, second in ((fault.first, False), (fault.second, True)):
        if one is None:
            continue
        turns = _turns(one)
        which = "the second" if second else "the first"
        text = f"{which} is {_op(one, fault, second).name}" if fault.second is not None else ""
        text = f"{text}{' ' if text and turns else ''}{turns}"
        if text:
            notes.append(Note(text, _span(one, fault, second)))
    bytes_ = shared_bytes(fault)
    if bytes_ is not None:
        notes.append(Note(f"both touch bytes [{bytes_[1]}, {bytes_[2]}) of {bytes_[0]}"))
    return tuple(notes)


def _turns(one: Instance) -> str:
    loops = zip(one.statement.loops, counters(one), strict=True)
    parts: list[str] = []
    for loop, value in loops:
        span = span_of(loop.op)
        line = "" if span is None else f" (line {shown_line(span)})"
        parts.append(f"%{loop.ordinal.name} = {value}{line}")
    return f"in the iteration {', '.join(parts)}" if parts else ""


def counters(one: Instance) -> list[int]:
    """Returns the values of the counters of the loops around an execution, from the outermost inwards."""
    return [one.values[loop.ordinal] if loop.counter is None else evaluate(loop.counter, one.values)
            for loop in one.statement.loops]  # fmt: skip


def shared_bytes(fault: Fault) -> tuple[str, int, int] | None:
    """Memory, begin and end of the bytes that both accesses of a fault touch; ``None`` where they are not known."""
    if fault.accesses is None or fault.second is None:
        return None
    low, high = 0, None
    for access, one in zip(fault.accesses, (fault.first, fault.second), strict=True):
        interval = interval_of(access)
        if interval is None:
            return None
        try:
            low = max(low, evaluate(interval.low, one.values))
            end = None if interval.high is None else evaluate(interval.high, one.values)
        except UnknownValueError:
            return None
        high = end if high is None else high if end is None else min(high, end)
    return None if high is None or high <= low else (fault.accesses[0].space, low, high)


# ------------------------------------------------------------ data


def summary_of(verdicts: Sequence[Verdict]) -> dict[str, int]:
    """Returns the number of verdicts of each class."""
    return {answer.value: sum(one.answer is answer for one in verdicts) for answer in Answer}


def as_data(verdict: Verdict) -> dict[str, object]:
    """Returns a verdict for programs that read JSON."""
    return {
        "name": verdict.name,
        "core": verdict.core,
        "location": _location(span_of(verdict.function)),
        "verdict": verdict.answer.value,
        "reason": verdict.reason,
        "operation": None if verdict.op is None else _operation(verdict.op),
        "assumptions": list(verdict.assumptions),
        "witness": None if verdict.witness is None else _witness(verdict.witness),
    }


def _operation(op: Operation) -> dict[str, object]:
    return {"location": _location(span_of(op)), "operation": op.name}


def _witness(witness: Witness) -> dict[str, object]:
    fault = witness.fault
    bytes_ = shared_bytes(fault)
    return {
        "arguments": witness.arguments,
        "kind": fault.kind,
        "first": _execution(fault.first, fault, False),
        "second": None if fault.second is None else _execution(fault.second, fault, True),
        "bytes": None if bytes_ is None else list(bytes_),
    }


def _execution(one: Instance, fault: Fault, second: bool) -> dict[str, object]:
    return {
        "location": _location(_span(one, fault, second)),
        "operation": _op(one, fault, second).name,
        "pipe": _pipe(one),
        "iteration": counters(one),
    }


def _location(span: Span | None) -> str | None:
    if span is None:
        return None
    shown = shown_span(span)
    line, column = shown.source.line_col(shown.start)
    return f"{shown.source.name}:{line}:{column}"

"""The verdict about a function: proven, refuted with a witness, or undecided with the reason.

Source: docs/reference/order-proof.md, "Verdicts".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import product
from time import process_time
from typing import Any

from xdsl.ir import Operation

from .concrete import Fault, FaultKind, Run
from .expressions import Ordinal, Symbol, UnknownValueError, Varying, holds, symbols_of
from .flow import Flow, OpenError
from .limit import Limit
from .model import UNDETERMINED, Model, Statement, UndecidedError
from .relations import AHEAD, Relations, Suspicion, library

BLOCK = "block"
"""Stands for the cube core and both vector cores of a block."""
SECONDS = 2.0
"""Processor time for one function by default."""
_STEPS = 60_000
"""Executions of statements that one replay follows, and pairs of accesses that it compares."""
_LONG = 600_000
"""The same for the first replay of a suspicion."""
_SHARE = 0.8
"""The part of the time that sets may take; replays take the rest."""
_SHARE_OF_PATHS = 0.4
"""The part that the walk along all control-flow paths may take, where sets may decide after it."""
_REPLAYS = 60
"""Calls of which each is replayed before a suspicion is left undecided."""


class Answer(StrEnum):
    """The classes of verdicts."""

    PROVEN = "proven"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Witness:
    """A call in which something is wrong: its arguments, and the fault."""

    arguments: dict[str, int]
    fault: Fault


@dataclass(frozen=True)
class Verdict:
    """What holds for a function on one kind of core. ``op`` is the operation that ``reason`` is about."""

    name: str
    core: str | None
    function: Operation
    answer: Answer
    reason: str | None = None
    op: Operation | None = None
    witness: Witness | None = None
    assumptions: tuple[str, ...] = ()


def decide(model: Model, seconds: float = SECONDS) -> Verdict:
    """Returns the verdict about ``model`` within some processor time. Raises :class:`UndecidedError`, and
    ``ModuleNotFoundError`` where the library for sets is needed and not installed."""
    started = process_time()
    relations = _Lazy(model, seconds)
    signal = model.undetermined
    open_ = _on_all_paths(model, relations, started + (1 if signal else _SHARE_OF_PATHS) * seconds)
    if isinstance(open_, Flow):
        return _proven(model, open_)
    if signal is not None:
        reason = f"whether it runs, or how often, {UNDETERMINED}"
        raise UndecidedError(open_.op or signal.op, open_.reason if open_.op is not None else reason)
    if not used_symbols(model) and not any(loop.goes_on is None for one in model.statements for loop in one.loops):
        try:
            return _of_run(model, process_time() + _SHARE * seconds / 2)
        except UndecidedError as error:
            if error.op is not None:
                raise
    return _for_all(model, relations, started + seconds)


class _Lazy:
    """The relations of a model, made when they are needed."""

    def __init__(self, model: Model, seconds: float) -> None:
        self.model = model
        self.seconds = seconds
        self._found: Relations | None = None

    def get(self) -> Relations:
        """Raises :class:`UndecidedError`, and ``ModuleNotFoundError`` where the library is not installed."""
        if self._found is None:
            self._found = _relations(self.model, self.seconds)
        return self._found

    def conflicts(self, one: Statement, other: Statement, level: int | None) -> bool:
        """Returns whether two statements need an order; also where nothing says that they do not."""
        try:
            return self.get().conflicts(one, other, level)
        except (UndecidedError, ModuleNotFoundError):
            return True


def _on_all_paths(model: Model, relations: _Lazy, end: float) -> OpenError | Flow:
    """Returns what does not follow whatever conditions and trip counts are; the walk where all does."""
    if model.cores > 1:
        return OpenError(None, "several cores")
    try:
        flow = Flow(model, relations.conflicts, end)
        flow.run()
    except OpenError as error:
        return error
    return flow


def _proven(model: Model, by: Flow | Relations | Run) -> Verdict:
    """Returns the verdict that an order is proven; two flags that may be pending under one id are stated."""
    pairs = sorted((source.value, target.value) for source, target in by.counted)
    counted = (
        f"two flags from {source.removeprefix('PIPE_')} to {target.removeprefix('PIPE_')} with one id count as two"
        for source, target in pairs
    )
    return replace(_verdict(model, Answer.PROVEN), assumptions=(*model.assumptions, *counted))


def _verdict(model: Model, answer: Answer, **rest: Any) -> Verdict:
    return Verdict(model.name, model.core, model.function, answer, assumptions=model.assumptions, **rest)


def _of_run(model: Model, end: float) -> Verdict:
    """Returns the verdict about a function that has one course only."""
    run = Run(model, {}, Limit(_LONG, end))
    faults = run.faults
    if not faults:
        return _proven(model, run)
    fault = _shown(model, {}, Limit(_LONG, end)) if model.is_vague else smallest(faults)
    if fault is not None:
        return _verdict(model, Answer.REFUTED, witness=Witness({}, fault))
    if smallest(faults) is not None:
        faults = [one for one in faults if one.certain]
        reason = "it may be out of order, unless other cores, or other forms of an operation, order it"
        return _verdict(model, Answer.UNDECIDED, reason=reason, op=(faults[0].second or faults[0].first).statement.op)
    return _widened(model, faults[0].first.statement.op, faults[0])


def _shown(model: Model, arguments: dict[Symbol, int], limit: Limit, ahead: bool = True) -> Fault | None:
    """Returns the smallest fault of a call that is wrong whatever other cores do; without ``ahead`` no flag that is set
    before the wait for an earlier one is over."""
    fault = smallest(Run(model, arguments, limit, model.is_vague).faults)
    return None if fault is not None and fault.kind is FaultKind.FLAG_AHEAD and not ahead else fault


def _widened(model: Model, op: Operation, fault: Fault) -> Verdict:
    second = fault.second.statement.op if fault.second is not None else op
    reason = f"{second.name} may touch bytes of {op.name}, and the text does not determine all of them"
    return _verdict(model, Answer.UNDECIDED, reason=reason, op=second)


def smallest(faults: Iterable[Fault]) -> Fault | None:
    """Returns the certain fault that the fewest iterations lead to, if possible one between two pipes; a flag that is
    set too early only where nothing else is wrong."""
    certain = (fault for fault in faults if fault.certain)
    return min(certain, key=_precedence, default=None)


def _precedence(fault: Fault) -> tuple[bool, int, bool]:
    return fault.kind is FaultKind.FLAG_AHEAD, fault.size, fault.kind is FaultKind.RACE_SAME_PIPE


def used_symbols(model: Model) -> list[Symbol]:
    """Returns the symbols that matter for the order."""
    found: dict[Symbol, None] = {}
    for statement in model.statements:
        parts: list[Any] = [statement.condition, *(loop.goes_on for loop in statement.loops)]
        if statement.signal is not None:
            parts.append(statement.signal.number)
        for access in statement.accesses:
            parts += access.depends_on
        for part in parts:
            if part is not None:
                found.update(dict.fromkeys(symbols_of(part)))
    pending = list(found)
    while pending:
        for source in pending.pop().sources:
            new = [one for one in symbols_of(source) if one not in found]
            found.update(dict.fromkeys(new))
            pending += new
    return [one for one in found if not isinstance(one, (Ordinal, Varying))]


# ------------------------------------------------------------ all arguments


def _for_all(model: Model, made: _Lazy, end: float) -> Verdict:
    try:
        relations = made.get()
        suspicions = [*_guarded(relations, relations.signals())]
        suspicions += _guarded(relations, relations.races())
    except UndecidedError as error:
        verdict = _small_calls(model, end)
        if verdict is not None:
            return verdict
        raise error
    if not suspicions:
        return _proven(model, relations)
    # What is an error goes before what is a warning.
    errors = [one for one in suspicions if one.kind != AHEAD]
    found = _replayed(model, relations, errors, end) if errors else None
    if len(errors) < len(suspicions) and (found is None or found.answer is Answer.UNDECIDED):
        ahead = _replayed(model, relations, [one for one in suspicions if one.kind == AHEAD], end)
        found = ahead if found is None or ahead.answer is Answer.REFUTED else found
    assert found is not None
    return found


def _relations(model: Model, seconds: float) -> Relations:
    """Returns the relations of a model. Raises :class:`UndecidedError` where they are too large, or nothing fits what
    is assumed."""
    try:
        relations = Relations(model, _SHARE * seconds)
        is_empty = relations.facts.is_empty()
    except library().Error:
        raise UndecidedError(None, "what is assumed is too large for sets") from None
    if is_empty:
        raise UndecidedError(None, "no call fits what is assumed")
    return relations


def _guarded(relations: Relations, found: Iterator[Suspicion]) -> Iterator[Suspicion]:
    """Yields ``found``, with the end of the budget of the library as an undecided verdict."""
    try:
        yield from found
    except relations.isl.Error:
        raise UndecidedError(None, "the sets of its iterations are too large") from None


def _small_calls(model: Model, end: float) -> Verdict | None:
    """Returns a refutation by one of the smallest calls, after sets were of no use."""
    given = [one for one in used_symbols(model) if one.given]
    if len(given) != len([one for one in used_symbols(model) if one.meaning is None]):
        return None
    try:
        for arguments in _smallest_calls(given):
            if process_time() > end:
                return None
            if not _fits(model, arguments):
                continue
            fault = _shown(model, arguments, Limit(_STEPS // 10, end), ahead=False)
            if fault is not None:
                return _verdict(model, Answer.REFUTED, witness=Witness(_named(model, arguments), fault))
    except UndecidedError:
        return None
    return None


def _fits(model: Model, arguments: dict[Symbol, int]) -> bool:
    """Returns whether a call is one that the verdict is about; arguments that do not matter are 0."""
    values = {**{one: 0 for one in model.symbols if one.given}, **arguments}
    try:
        return all(holds(condition, values) for _, condition in model.facts)
    except UnknownValueError:
        return False


def _smallest_calls(given: list[Symbol]) -> Iterator[dict[Symbol, int]]:
    """Calls by the sum of the sizes of their arguments."""
    for total in range(7):
        for sizes in product(range(total + 1), repeat=len(given)):
            if sum(sizes) == total:
                for signs in product(*((size, -size) if size else (0,) for size in sizes)):
                    arguments = dict(zip(given, signs, strict=True))
                    if all(_is_admissible(one, arguments) for one in given):
                        yield arguments


def _is_admissible(one: Symbol, arguments: dict[Symbol, int]) -> bool:
    value = arguments[one]
    below = None if one.below is None else arguments.get(one.below, value + 1)
    return (
        (one.low is None or value >= one.low)
        and (one.high is None or value <= one.high)
        and (below is None or value < below)
    )


def _named(model: Model, arguments: dict[Symbol, int]) -> dict[str, int]:
    """Returns the arguments that matter, by name."""
    used = used_symbols(model)
    return {one.name: value for one, value in arguments.items() if one.given and one in used}


def _replayed(model: Model, relations: Relations, suspicions: list[Suspicion], end: float) -> Verdict:
    """Returns the smallest call that some suspicion is about and in which a run shows a fault."""
    reason, op = _reason(suspicions[0]), (suspicions[0].second or suspicions[0].first).op
    try:
        relations.check(None)
        union = suspicions[0].arguments
        for one in suspicions[1:]:
            union = union.union(one.arguments)
        for number, arguments in zip(range(_REPLAYS), smallest_points(relations, union), strict=False):
            if number and process_time() > end:
                break
            limit = Limit(_STEPS if number else _LONG, end)
            fault = _shown(model, arguments, limit, suspicions[0].kind == AHEAD)
            if fault is not None:
                return _verdict(model, Answer.REFUTED, witness=Witness(_named(model, arguments), fault))
    except UndecidedError as error:
        if error.op is None:
            reason = error.reason
    except relations.isl.Error:
        pass
    return _verdict(model, Answer.UNDECIDED, reason=reason, op=op)


def _reason(one: Suspicion) -> str:
    if one.kind == AHEAD:
        return "its flag may be set again before the wait for it is over"
    if one.second is not None:
        return f"{one.second.op.name} may touch bytes of {one.first.op.name}, and nothing is known to order the two"
    return f"the flags of {one.first.op.name} may not fit together"


def smallest_points(relations: Relations, arguments: Any) -> Iterator[dict[Symbol, int]]:
    """Yields the arguments in a set, those with the least sum of sizes first, then 0, 1, -1, 2 ... in the order of the
    symbols."""
    symbols = relations.model.symbols
    names = list(relations.text.parameters.values())
    chosen = [one for one in symbols if one.given]
    if any(not one.given and one.meaning is None for one in symbols):
        arguments = _for_each_unknown(relations, arguments)
    for index, one in enumerate(symbols):
        if one.meaning is not None:
            # It follows from the others, which a replay computes.
            arguments = _any_value(relations, arguments, index)
    used = used_symbols(relations.model)
    idle = [one for one in symbols if one.meaning is not None or (one not in used and _may_be_zero(one))]
    zeros = " and ".join(f"{relations.text.parameters[one]} = 0" for one in idle)
    arguments = arguments.intersect(relations.set(f"{{ : {zeros or 'true'} }}").params())
    space = relations.isl.Set.read_from_str(relations.context, f"{relations.text.prefix}{{ [] }}")
    points = space.intersect_params(arguments)
    while not points.is_empty():
        sizes = ", ".join(["s", *(f"a{i}, n{i}" for i, _ in enumerate(names))])
        parts = [f"s = {' + '.join(f'a{i}' for i, one in enumerate(symbols) if one in chosen) or '0'}"]
        for index, name in enumerate(names):
            parts.append(f"(({name} >= 0 and a{index} = {name} and n{index} = 0) or "
                         f"({name} < 0 and a{index} = 0 - {name} and n{index} = 1))")  # fmt: skip
        measured = f"{relations.text.prefix}{{ [{sizes}] : {' and '.join(parts)} }}"
        found = relations.isl.Set.read_from_str(relations.context, measured).intersect_params(points.params())
        flat = found.project_out_all_params().lexmin().sample_point()
        several = flat.get_multi_val() if hasattr(flat, "get_multi_val") else None
        values = coordinates(flat, several, 1 + 2 * len(names))
        numbers = {
            one: values[1 + 2 * index] * (-1 if values[2 + 2 * index] else 1) for index, one in enumerate(symbols)
        }
        yield {one: value for one, value in numbers.items() if one.meaning is None}
        equal = " and ".join(f"{name} = {numbers[one]}" for name, one in zip(names, symbols, strict=True)) or "true"
        points = points.subtract(relations.set(f"{{ [] : {equal} }}"))


def _may_be_zero(one: Symbol) -> bool:
    return one.below is None and (one.low is None or one.low <= 0)


def coordinates(point: Any, values: Any, count: int) -> list[int]:
    """Returns the numbers of a point. Raises :class:`UndecidedError` where the budget of the library ends."""
    try:
        if values is not None:
            return [values.get_at(index).to_python() for index in range(count)]
        return [point.get_coordinate_val(3, index).to_python() for index in range(count)]
    except TypeError:
        raise UndecidedError(None, "the sets of its iterations are too large") from None


def _for_each_unknown(relations: Relations, arguments: Any) -> Any:
    """Returns the arguments that are in a set whatever the unknown numbers are."""
    outside = relations.facts.subtract(arguments)
    for index, one in reversed(list(enumerate(relations.model.symbols))):
        if not one.given and one.meaning is None:
            outside = _any_value(relations, outside, index)
    return arguments.subtract(outside)


def _any_value(relations: Relations, arguments: Any, index: int) -> Any:
    """Returns a set of arguments without what it says about one of them."""
    kind = relations.isl.dim_type.param
    name = arguments.get_dim_name(kind, index)
    projected = arguments.project_out(kind, index, 1)
    return projected.insert_dims(kind, index, 1).set_dim_name(kind, index, name)

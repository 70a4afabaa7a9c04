"""The verdicts about all functions of a module. Source: docs/reference/order-proof.md, "Verdicts"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from xdsl.ir import Operation

from .assumed import condition_of
from .decide import SECONDS, Answer, Verdict, decide
from .model import Access, Model, UndecidedError
from .overlap import Overlap, are_apart, share_object
from .places import GLOBAL
from .reader import cores_of, entry_functions, read_function

EXTRA = "pip install 'pto-dialect[prove]'"
"""What brings the library for sets."""


def verdicts(
    module: Operation, target: str | None = None, assumptions: Sequence[str] = (), seconds: float = SECONDS
) -> Iterator[Verdict]:
    """The verdict about each function that no other calls, for each kind of core that runs it.

    ``assumptions`` are conditions on arguments, by their names; a function without one of these arguments is judged
    without the condition. ``seconds`` is the processor time for each verdict. Raises :class:`AssumptionError`.
    """
    for function in entry_functions(module):
        cores = cores_of(function)
        shared = _shared(function, cores, target) if len(cores) > 1 else None
        for core in cores:
            verdict = verdict_of(function, core, target, assumptions, seconds)
            if shared is not None and verdict.answer is Answer.PROVEN:
                reason = f"{shared.name}: the cores of a block share memory that one of them writes"
                verdict = replace(verdict, answer=Answer.UNDECIDED, reason=reason, op=shared)
            yield verdict


def _shared(function: Operation, cores: Sequence[str | None], target: str | None) -> Operation | None:
    """An operation on one kind of core that may touch bytes that the other kind writes; ``None`` if there is none."""
    try:
        one, other = ([*_accesses(read_function(function, core, target))] for core in cores)
    except (UndecidedError, RecursionError):
        return None
    for first in one:
        for second in other:
            if (
                (first.writes or second.writes)
                and first.space == second.space == GLOBAL
                and share_object(first, second) is not Overlap.NEVER
                and not are_apart(first, second)
            ):
                return second.op
    return None


def _accesses(model: Model) -> Iterator[Access]:
    for statement in model.statements:
        yield from statement.accesses


def verdict_of(
    function: Operation,
    core: str | None,
    target: str | None = None,
    assumptions: Sequence[str] = (),
    seconds: float = SECONDS,
) -> Verdict:
    """The verdict about one function on one kind of core."""
    name = function.properties["sym_name"].data  # pyright: ignore[reportAttributeAccessIssue]
    facts: tuple[str, ...] = ()
    try:
        model = read_function(function, core, target)
        _assume(model, assumptions)
        facts = model.assumptions
        return decide(model, seconds)
    except UndecidedError as error:
        reason, op = error.reason, error.op
    except ModuleNotFoundError:
        reason, op = f"the package islpy is not installed: {EXTRA}", None
    except RecursionError:
        reason, op = "its expressions are nested too deeply", None
    if op is not None:
        reason = f"{op.name}: {reason}"
    return Verdict(name, core, function, Answer.UNDECIDED, reason, op, assumptions=facts)


def _assume(model: Model, assumptions: Sequence[str]) -> None:
    symbols = {one.name: one for one in model.symbols if one.given}
    for text in assumptions:
        condition = condition_of(text, symbols)
        if condition is not None:
            model.facts.append((text, condition))

"""The verdicts about all functions of a module. Source: docs/reference/order-proof.md, "Verdicts"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import Operation

from .assumed import condition_of
from .decide import SECONDS, Answer, Verdict, decide
from .model import Model, UndecidedError
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
        for core in cores_of(function):
            yield verdict_of(function, core, target, assumptions, seconds)


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
        facts = tuple(text for text, _ in model.facts if text)
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

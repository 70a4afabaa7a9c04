"""The verdicts about all functions of a module. Source: docs/reference/order-proof.md, "Verdicts"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import Operation

from pto_dialect.analysis.queues import action_of
from pto_dialect.ir.core.base import symbol_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk

from .assumed import condition_of
from .decide import BLOCK, SECONDS, Answer, Verdict, decide
from .model import Model, UndecidedError
from .order_rules import competing
from .reader import cores_of, entry_functions, read_block, read_function
from .values import LAUNCH_NAMES, width_of

EXTRA = "pip install 'pto-dialect[prove]'"
"""What brings the library for sets."""


def verdicts(
    module: Operation,
    target: str | None = None,
    assumptions: Sequence[str] = (),
    seconds: float = SECONDS,
    entry: str | None = None,
) -> Iterator[Verdict]:
    """Yields the verdict about each function that no other calls, for each kind of core that runs it; one about all
    cores of a block where these signal each other or share memory. If that is undecided, those about each core come
    before it.

    ``assumptions`` are conditions on arguments, by their names; a function without one of these arguments is judged
    without the condition. ``seconds`` is the processor time for each verdict. ``entry`` names the only function that is
    judged. Raises :class:`AssumptionError`.
    """
    for function in entry_functions(module):
        if entry is not None and symbol_of(function) != entry:
            continue
        cores = cores_of(function)
        found = _together(function, target, assumptions, seconds) if len(cores) > 1 else None
        if found is not None and found.answer is not Answer.UNDECIDED:
            yield found
            continue
        for core in cores:
            yield verdict_of(function, core, target, assumptions, seconds)
        if found is not None:
            yield found


def _together(function: Operation, target: str | None, assumptions: Sequence[str], seconds: float) -> Verdict | None:
    """Returns the verdict about all cores of a block; ``None`` where they have nothing to do with each other."""
    if any(has_role(op, Role.CORES | Role.BLOCKS) or action_of(op) is not None for op in walk(function)):
        return verdict_of(function, BLOCK, target, assumptions, seconds)
    try:
        model = read_block(function, target)
    except (UndecidedError, RecursionError):
        return verdict_of(function, BLOCK, target, assumptions, seconds)
    shares = any(
        any(competing(one, other, model.arch))
        for one in model.statements
        for other in model.statements
        if one.core < other.core
    )
    return verdict_of(function, BLOCK, target, assumptions, seconds) if shares else None


def verdict_of(
    function: Operation,
    core: str | None,
    target: str | None = None,
    assumptions: Sequence[str] = (),
    seconds: float = SECONDS,
) -> Verdict:
    """Returns the verdict about one function on one kind of core, or on all cores of a block (``BLOCK``)."""
    name = symbol_of(function)
    facts: tuple[str, ...] = ()
    try:
        model = read_block(function, target) if core == BLOCK else read_function(function, core, target)
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


def names_of_arguments(module: Operation) -> frozenset[str]:
    """Returns the names that conditions may have in some function of a module."""
    found = set(LAUNCH_NAMES)
    for function in entry_functions(module):
        for position, value in enumerate(function.regions[0].blocks[0].args):
            if width_of(value.type):
                found.add(value.name_hint or f"arg{position}")
    return frozenset(found)


def _assume(model: Model, assumptions: Sequence[str]) -> None:
    symbols = {one.name: one for one in model.symbols if one.given}
    for text in assumptions:
        condition = condition_of(text, symbols)
        if condition is not None:
            model.facts.append((text, condition))

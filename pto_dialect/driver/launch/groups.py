"""Launches of several functions that start together. Source: docs/reference/execution.md, "Launches"."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from pto_dialect.diagnostics.engine import Counts, DiagnosticEngine
from pto_dialect.diagnostics.suggest import nearest
from pto_dialect.passes.run import run_passes
from pto_dialect.runtime.compile.group import Group, Member, Start, join
from pto_dialect.runtime.errors import BindingError
from pto_dialect.runtime.run.arguments import argument_format
from pto_dialect.runtime.run.launch import Kernel

from ..inputs import Input
from ..options import Options
from ..run.binding import Held, hold
from ..run.memory_budget import MemoryBudget
from ..run.program import Launch
from ..run.status import WRONG_PROGRAM, Failure
from ..run.value_text import Given
from .document import Document, Key
from .plan import Argument, Part, Step

Value = Callable[[str, Sequence[tuple[str, Attribute]], str, Argument], Given | Held]
"""Gives the value of an argument of a function, which has these arguments with their types."""


def group_of(document: Document, step: Step, launch: Launch, modules: Sequence[ModuleOp]) -> Group:
    """Returns the functions of a launch, whose programs are ``modules`` in their order, verified together if they are
    several.

    Raises ``LaunchError`` for functions that cannot start together, ``Failure`` for programs that are wrong.
    """
    members: list[Member] = []
    for part, module in zip(step.group, modules, strict=True):
        single = Launch(Input(part.program, part.program, part.program), launch.request, launch.streams)
        try:
            entry = single.entry(module, part.entry)
        except BindingError as error:
            raise document.error((*part.key, "entry"), str(error), rule=error.rule) from None
        members.append(Member(module, entry, part.core))
    try:
        group = join(members)
    except BindingError as error:
        raise document.error(_part_key(step, error), str(error), rule=error.rule) from None
    if len({id(member.module) for member in members}) > 1:
        # Functions of one module name buffers of another.
        engine = DiagnosticEngine(launch.request.policy)
        run_passes(group.module, Options().passes, engine, launch.request.target)
        launch.report(engine.diagnostics, engine.counts() if engine.has_errors else Counts())
        if engine.has_errors:
            raise Failure(WRONG_PROGRAM)
    return group


def _part_key(step: Step, error: BindingError) -> Key:
    return step.key if error.subject is None else step.group[int(error.subject)].key


def kernel_of(document: Document, step: Step, launch: Launch, group: Group) -> Kernel:
    """Returns the compiled group. Raises ``LaunchError`` for functions of different chips."""
    try:
        return launch.kernel(group.module, group.name, group)
    except BindingError as error:
        raise document.error(_part_key(step, error), str(error)) from None


def group_arguments(
    document: Document, step: Step, group: Group, value: Value, budget: MemoryBudget
) -> tuple[list[tuple[str, Given | Held]], dict[str, Key]]:
    """Returns the values of the arguments of a launch by their names in the kernel, and their source locations.

    A value of the launch is passed to every function with an argument of the name, and is one memory for all of them; a
    value in the table of a function is for that function alone. Raises ``LaunchError``.
    """
    given: list[tuple[str, Given | Held]] = []
    keys: dict[str, Key] = {}
    for name, argument in step.arguments.items():
        takers = [start for start in group.starts if name in dict(start.arguments)]
        if not takers:
            names = [known for start in group.starts for known, _ in start.arguments]
            raise document.error(argument.key, f"no function of the group has an argument {name}{nearest(name, names)}")
        _check_shared(document, takers, name, argument)
        shared = _shared(document, takers[0], name, argument, value, budget)
        for number, start in enumerate(takers):
            full = f"{start.label}.{name}"
            later = number and isinstance(shared, Held)
            given.append((full, shared._replace(write_back=None) if later else shared))
            keys[full] = argument.key
    for start, part in zip(group.starts, step.group, strict=True):
        for full, argument in _own(document, start, part, value, keys):
            given.append((full, argument))
    return given, keys


def _check_shared(document: Document, takers: Sequence[Start], name: str, argument: Argument) -> None:
    """Requires an argument to be a buffer for all functions, or for none: only then it is one thing for all of them."""
    first, *others = [(start.label, _kind(dict(start.arguments)[name])) for start in takers]
    for label, kind in others:
        if kind != first[1]:
            message = f"argument {name} is {first[1]} of @{first[0]} and {kind} of @{label}"
            raise document.error(argument.key, message, "the table of each function gives it a value of its own")


def _kind(type_: Attribute) -> str:
    return "a number" if argument_format(type_) is None else "a buffer"


def _shared(
    document: Document, start: Start, name: str, argument: Argument, value: Value, budget: MemoryBudget
) -> Given | Held:
    type_ = dict(start.arguments)[name]
    found = value(start.label, start.arguments, name, argument)
    if isinstance(found, Held) or argument_format(type_) is None:
        return found
    try:
        return hold(name, type_, found, budget)
    except BindingError as error:
        raise document.error(argument.key, str(error)) from None


def _own(
    document: Document, start: Start, part: Part, value: Value, keys: dict[str, Key]
) -> list[tuple[str, Given | Held]]:
    """Returns what the table of one function gives; ``keys`` are the names that have a value, and are added to."""
    names = [name for name, _ in start.arguments]
    found: list[tuple[str, Given | Held]] = []
    for asked, argument in part.arguments.items():
        position = asked.isdecimal() and asked not in names and int(asked) < len(names)
        name = names[int(asked)] if position else asked
        if name not in names:
            raise document.error(argument.key, f"@{start.label} has no argument {asked}{nearest(asked, names)}")
        full = f"{start.label}.{name}"
        if full in keys:
            raise document.error(argument.key, f"argument {name} of @{start.label} is given twice")
        keys[full] = argument.key
        found.append((full, value(start.label, start.arguments, name, argument)))
    return found

"""Launches with synthesized arguments: ``--auto`` and ``--init-launch``."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from pto_dialect.diagnostics.engine import Counts
from pto_dialect.runtime.errors import BindingError, ProgramError
from pto_dialect.runtime.run.launch import Kernel

from ..launch.run_outputs import numbered_outputs
from ..run.binding import bind_given
from ..run.files import FileError
from ..run.memory_budget import memory_budget
from ..run.prepared import with_signature
from ..run.program import Launch
from ..run.status import OK, WRONG_PROGRAM, Failure
from ..run.value_text import Given
from .first_launch import FirstLaunch, launch_text, write_new
from .launched import launched_functions
from .listing import list_functions
from .synthesized import first_arguments, synthesize_arguments

_ONE = Counts(errors=1)
_HELP = "no generated arguments let it run; --arg gives some of them"


def run_all(launch: Launch, module: ModuleOp) -> int:
    """Runs the selected function, or all candidates, on synthesized arguments; returns the worst exit code."""
    names = _functions(launch, module)
    asked = launch.request
    codes: list[int] = []
    for number, name in enumerate(names, 1):
        launch.request = replace(asked, sanitizing=numbered_outputs(asked.sanitizing, number, len(names)))
        codes.append(_carefully(launch, module, name, len(names) > 1))
    return max(codes, default=OK)


def write_launch(launch: Launch, module: ModuleOp, path: str) -> int:
    """Writes a launch file with arguments made up for these functions. Raises ``FileError``."""
    request = launch.request
    listed = {one.name: one for one in list_functions(module, request.target)}
    if os.path.exists(path):
        # Reported before anything is tried, which may take long.
        raise FileError(f"'{path}' exists, and a launch file is never overwritten")
    found: list[FirstLaunch] = []
    for name in _functions(launch, module):
        found.append(FirstLaunch(listed[name], completed(launch, module, name)))
    write_new(path, launch_text(launch.item, path, found, request.target, request.blocks))
    if not request.quiet:
        launch.streams.out(f"{path}: {', '.join(f'@{one.function.name}' for one in found)}\n")
    return OK


def _functions(launch: Launch, module: ModuleOp) -> list[str]:
    """Returns the function of the request, else the only one, else all that may be meant; of functions that start
    together the first."""
    if launch.request.entry is not None:
        return [launch.entry(module)]
    return launched_functions(module, launch.request.target) or [launch.entry(module)]


def _carefully(launch: Launch, module: ModuleOp, name: str, several: bool) -> int:
    if several:
        launch.streams.out(f"@{name}\n")
    try:
        given = completed(launch, module, name)
        if not launch.request.quiet and given:
            words = [shlex.quote(f"{one}={value.content.text}") for one, value in given]
            launch.streams.out(" ".join(f"--arg {word}" for word in words) + "\n")
        return launch.run_entry(module, name, given)
    except Failure as failure:
        return failure.code


def completed(launch: Launch, module: ModuleOp, name: str) -> Sequence[tuple[str, Given]]:
    """Returns the arguments of the request, and what is made up for the others. Raises ``Failure`` where nothing lets
    the function run."""
    request = launch.request
    kernel = launch.kernel(module, name, plain=True)
    try:
        budget = memory_budget(request.max_memory, shown=False, instrumented=False)
        known = {one.name: one.launched for one in bind_given(kernel, request.arguments, budget)}
    except BindingError as error:
        raise with_signature(error, kernel) from None
    try:
        made = synthesize_arguments(kernel, known, request.seed, request.blocks)
    except ProgramError as error:
        shown = _shown_anyway(launch, kernel, known)
        if shown is None:
            launch.report([error.diagnostic()._replace(help=_HELP)], _ONE)
            raise Failure(WRONG_PROGRAM) from None
        made = shown
    order = {argument: number for number, (argument, _) in enumerate(kernel.arguments)}
    return sorted([*request.arguments, *made], key=lambda one: order.get(one[0], -1))


def _shown_anyway(launch: Launch, kernel: Kernel, known: Mapping[str, Any]) -> Sequence[tuple[str, Given]] | None:
    """Returns the arguments with which a run that fails is recorded or shown; ``None`` where that is not requested."""
    request, sanitizing = launch.request, launch.request.sanitizing
    if sanitizing is None or not (sanitizing.record or sanitizing.html or sanitizing.trace):
        return None
    try:
        made = first_arguments(kernel, known, request.seed, request.blocks)
    except (ProgramError, BindingError, MemoryError):
        return None
    launch.streams.err("assumed: no generated arguments let it run; what is written shows the first ones\n")
    return made

"""The launch that a search measures: a launch file, or a program with arguments, which are generated where none are
given.

Source: docs/optimize.md, "Arguments".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from pto_dialect.runtime.compile.program import find_entry
from pto_dialect.runtime.errors import BindingError, ProgramError
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.runtime.run.per_core import launcher_value

from ..explore.synthesized import synthesize_arguments
from ..launch.document import Document
from ..run.binding import bind_given
from ..run.memory_budget import memory_budget
from ..run.value_text import parse_given
from ..tune.measure import LAUNCH_SUFFIX, Tuner
from ..tune.space import Candidate, SpaceError, document_of
from .space import changes, pipeline_of, stages_for

ARGUMENTS = "arguments"
USUAL = ("assign-memory", "insert-sync")


def pairs_of(texts: Sequence[str]) -> dict[str, str]:
    """Returns the values of options NAME=VALUE. Raises ``SpaceError``."""
    found: dict[str, str] = {}
    for text in texts:
        name, equal, value = text.partition("=")
        if not name or not equal:
            raise SpaceError(f"'{text}' is not written as NAME=VALUE")
        found[name] = value
    return found


def first_of(tuner: Tuner, launch: Mapping[str, Any], seed: int) -> Candidate:
    """Returns the launch with the plain pipeline; ``launch`` has the keys of a launch file. Arguments without a value
    are generated. Raises ``SpaceError`` and ``LaunchError``."""
    if tuner.path.endswith(LAUNCH_SUFFIX):
        with open(tuner.path, "rb") as stream:
            return Candidate({}, Document(tuner.path, stream.read().decode("utf-8-sig", "replace")), USUAL)
    given = _candidate(tuner, launch)
    module = tuner.program(given) or _legal(tuner, given)
    if module is None:
        return given
    try:
        made = _generated(tuner, given, module, launch, seed)
    except (ProgramError, BindingError) as error:
        message = str(error) if isinstance(error, BindingError) else error.message
        raise SpaceError(f"no generated arguments let it run ({message}); --arg gives some of them") from None
    return _candidate(tuner, {**launch, ARGUMENTS: {**made, **launch[ARGUMENTS]}})


def _legal(tuner: Tuner, given: Candidate) -> ModuleOp | None:
    """Returns the program after some pipeline with which it is legal."""
    stages = stages_for(tuner.program(given, verified=False), tuner.target)
    plain = tuple(one.ways[0] for one in stages)
    for ways in (tuple(one.usual for one in stages), *changes(plain, stages)):
        found = tuner.build(given._replace(passes=pipeline_of(ways)))
        if not found.reason:
            return found.module
    return None


def _candidate(tuner: Tuner, launch: Mapping[str, Any]) -> Candidate:
    document = document_of(tuner.path, (), (",".join(USUAL),), launch)
    document.content.pop("tune")
    return Candidate({}, document, USUAL)


def _generated(
    tuner: Tuner, first: Candidate, module: ModuleOp, launch: Mapping[str, Any], seed: int
) -> dict[str, str]:
    """Returns the values for the arguments that are not given."""
    try:
        name = find_entry(module, launch.get("entry"))
    except ProgramError as error:
        raise first.document.error(("entry",), error.message) from None
    kernel = Kernel(module, name, tuner.target, RunOptions(accumulate=tuner.accumulate or "fast"))
    known = {
        one.name: one.launched
        for one in bind_given(
            kernel,
            [(name, parse_given(text)) for name, text in launch[ARGUMENTS].items()],
            memory_budget(None, shown=False, instrumented=False),
        )
    }
    if all(one in known or launcher_value(one, type_) is not None for one, type_ in kernel.arguments):
        return {}
    made = synthesize_arguments(kernel, known, seed, launch.get("blocks", 1))
    return {name: value.content.text for name, value in made}

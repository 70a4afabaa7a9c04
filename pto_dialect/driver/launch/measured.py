"""The times of launches by the cycle model.  Source: docs/cycles.md, "With a run"."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from ..run.binding import Bound
from ..run.value_text import Given
from .plan import Plan
from .prepared import Prepared


def wants_results(plan: Plan) -> bool:
    """Returns whether later launches, expectations or files need what the launches compute."""
    given = [one.value for step in plan.steps for one in step.values] + [one.value for one in plan.buffers.values()]
    written = any(isinstance(one, Given) and one.write_back for one in given)
    stated = plan.expect or plan.outputs or any(step.expect or step.outputs for step in plan.steps)
    return bool(stated or written or len(plan.steps) > 1)


def originals_of(one: Prepared) -> list[Bound]:
    """Returns the copies of the arguments before the run, for the changes that are tried after it; empty where none
    is."""
    request = one.launch.request
    if request.cycles is None or not request.advice or _not_tried(one) is not None:
        return []
    return [argument.copied() for argument in one.bound]


def measure(one: Prepared, originals: Sequence[Bound], returned: list[Any]) -> None:
    """Retains the time of a launch that has run, with advice, where it is requested."""
    if one.launch.request.cycles is None:
        return
    from ..run.timing import measured  # deferred: start-up

    results = [*(argument.launched for argument in one.bound), *returned]
    measured(one.launch, one.kernel, lambda: originals, results, _not_tried(one))


def document_of(launches: Sequence[Prepared], form: str) -> str:
    """Returns the times of all launches as ``text`` or ``json``."""
    from ..cycle_text import document  # deferred: start-up

    return document([one.launch.timed for one in launches if one.launch.timed is not None], form)


def _not_tried(one: Prepared) -> str | None:
    """Why changes cannot be tried on copies of the program and its arguments, if they cannot."""
    if one.kernel.group is not None:
        return "several functions start together, changes are tried on one"
    arrays = [argument.value for argument in one.bound if argument.is_array]
    if any(np.may_share_memory(first, second) for first, second in combinations(arrays, 2)):
        return "two arguments are one buffer, changes are tried on copies"
    return None

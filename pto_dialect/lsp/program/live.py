"""When the tiles of a function are needed, and where they lie, as `assign-memory` sees it."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple
from weakref import WeakKeyDictionary

from xdsl.ir import Operation

from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.accesses.program import UnsupportedError
from pto_dialect.passes.assign_memory.plan import Plan, memory_plans

from .document import Document
from .lookup import location_of

_MOST = 1500
"""Operations of a function up to which a plan is made: a question about a tile is to be answered at once."""


class Life(NamedTuple):
    """The lines of the first and last use of a tile, from 0 (``None``: needed throughout), and where a plan without
    addresses of its own would put it."""

    first: int | None
    last: int | None
    place: int


_PLANS: WeakKeyDictionary[Operation, list[Plan]] = WeakKeyDictionary()


def life(document: Document, function: Operation, made: Operation) -> Life | None:
    """Describes the live range of the tile that ``made`` allocates; ``None`` where it is unknown."""
    if next(islice(walk(function), _MOST, None), None) is not None:
        return None
    plans = _PLANS.get(function)
    if plans is None:
        try:
            plans = memory_plans(function, document.options.target)
        except UnsupportedError:
            plans = []
        _PLANS[function] = plans
    for plan in plans:
        for buffer, at in plan.addresses.items():
            if buffer.op is made:
                lines = [
                    document.lines.line_of(place.start)
                    for time in sorted(buffer.uses)
                    if (place := location_of(document, buffer.uses[time])) is not None
                ]
                return Life(lines[0] if lines else None, lines[-1] if lines else None, at)
    return None

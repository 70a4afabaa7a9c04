"""What the operations of a run have moved and computed, by resource: a path of transfers, or a unit that computes.

Source: docs/reference/cycles.md, "Critical path".
"""

from __future__ import annotations

from dataclasses import dataclass

from .estimate import Estimate
from .work import Work

CUBE = "cube"
VECTOR = "vector"
SYNC = "sync"
_UNITS = {"PIPE_M": CUBE, "PIPE_V": VECTOR}


def resource_of(work: Work, pipe: str) -> str:
    """Returns what an operation occupies: a unit, a path of transfers (``gm:l1``), or another pipe."""
    if work.name in ("flag", "barrier"):
        return SYNC
    return _UNITS.get(pipe) or work.path or pipe.removeprefix("PIPE_")


@dataclass
class Traffic:
    """All operations on one resource: ``count``, their ``cycles``, the ``operations`` on numbers (two for each element
    and step of a product), the ``bytes`` and blocks that they have moved, and ``shared``, the cycles that they took
    longer because cores share the memory. ``tile``: the most frequent shape."""

    count: int = 0
    cycles: float = 0.0
    operations: float = 0.0
    bytes: int = 0
    blocks: int = 0
    shared: float = 0.0
    shapes: dict[tuple[int, int, int], int] | None = None

    @property
    def tile(self) -> tuple[int, int, int]:
        """The most frequent shape: rows, columns and the inner dimension."""
        shapes = self.shapes or {(0, 0, 0): 1}
        return max(shapes, key=lambda one: shapes[one])


class Moved(dict[str, Traffic]):
    """The traffic of a run by resource."""

    def add(self, work: Work, resource: str, cost: Estimate, alone: Estimate) -> None:
        """Adds an operation that took ``cost``, and would have taken ``alone`` on one core."""
        one = self.get(resource)
        if one is None:
            one = self[resource] = Traffic(shapes={})
        one.count += 1
        one.cycles += cost.cycles
        one.shared += max(0.0, cost.cycles - alone.cycles)
        one.operations += operations_of(work, resource)
        if work.path:
            one.bytes += work.bytes(work.source if work.path.startswith("gm") else work.result)
            one.blocks += work.transfers
        shape = (work.valid_rows, work.valid_cols, work.k)
        assert one.shapes is not None
        one.shapes[shape] = one.shapes.get(shape, 0) + 1


def operations_of(work: Work, resource: str) -> float:
    """Additions and products of numbers, one for each element where it is not a matrix product."""
    if resource == CUBE:
        return 2.0 * work.elements * max(work.k, 1)
    return float(work.elements) if resource == VECTOR else 0.0

"""Puts buffers into a memory that is too small for all of them side by side so that few share bytes that make pipes
wait for one another.

Each buffer goes where sharing costs least, below the end of the memory. Source: docs/reference/memory-planning.md,
"Packing".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.ir import Operation

from pto_dialect.ir.core.extents import round_up
from pto_dialect.ir.core.roles import Role, has_role

from .live_ranges import Buffer
from .pack import ORDERS, Share

MOST = 100
"""Buffers of a memory up to which costs are compared."""

_SAME_LOOP = 16
"""How often more a pair counts whose uses are in the body of one loop: each of its iterations waits."""

Cost = Callable[[Buffer, Buffer], int]


def cost_of(safe: Share) -> Cost:
    """Returns what it costs that two buffers share bytes, as a number to compare: 0 where ``safe`` says that nothing
    waits."""
    loops: dict[Buffer, frozenset[Operation | None]] = {}

    def around(buffer: Buffer) -> frozenset[Operation | None]:
        if buffer not in loops:
            loops[buffer] = frozenset(_innermost(op) for op in buffer.uses.values())
        return loops[buffer]

    def cost(one: Buffer, other: Buffer) -> int:
        if safe(one, other):
            return 0
        return _SAME_LOOP if around(one) & around(other) - {None} else 1

    return cost


def _innermost(op: Operation) -> Operation | None:
    """Returns the loop whose body an operation is in."""
    outer = op.parent_op()
    while outer is not None and not has_role(outer, Role.LOOP):
        outer = outer.parent_op()
    return outer


def spread(
    buffers: Sequence[Buffer], cost: Cost, limit: float, known: Mapping[Buffer, int] | None = None
) -> dict[Buffer, int] | None:
    """Returns an address for each buffer below ``limit``; ``None`` if no order of the buffers finds them."""
    fixed = {buffer: buffer.address for buffer in buffers if buffer.address is not None} | dict(known or {})
    free = [buffer for buffer in buffers if buffer not in fixed]
    best: tuple[int, dict[Buffer, int]] | None = None
    for order in ORDERS if len(buffers) <= MOST else ():
        found = _in_order(sorted(free, key=order), fixed, cost, limit)
        if found is not None and (best is None or found[0] < best[0]):
            best = found
    return None if best is None else best[1]


def _in_order(
    order: Sequence[Buffer], fixed: Mapping[Buffer, int], cost: Cost, limit: float
) -> tuple[int, dict[Buffer, int]] | None:
    """Returns the cheapest address for one buffer after the other, and what all cost."""
    total, addresses = 0, dict(fixed)
    for buffer in order:
        found = _cheapest(buffer, addresses, cost, limit)
        if found is None:
            return None
        total += found[0]
        addresses[buffer] = found[1]
    return total, addresses


def _cheapest(buffer: Buffer, placed: Mapping[Buffer, int], cost: Cost, limit: float) -> tuple[int, int] | None:
    """The lowest cost of an address for a buffer, and the lowest address with it."""
    starts = {0, *(round_up(at + other.extent, buffer.align) for other, at in placed.items())}
    starts |= {at for other, at in placed.items() if at % buffer.align == 0}
    best: tuple[int, int] | None = None
    for start in sorted(starts):
        if start + buffer.extent > limit:
            break
        price = 0
        for other, at in placed.items():
            if at >= start + buffer.extent or at + other.extent <= start:
                continue
            if buffer.overlaps(other) and not (start == at and buffer.inherits(other)):
                break
            price += cost(buffer, other)
            if best is not None and price >= best[0]:
                break
        else:
            best = (price, start)
            if not price:
                break
    return best

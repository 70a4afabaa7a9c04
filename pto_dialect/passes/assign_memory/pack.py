"""Puts buffers into one memory so that those that are needed at the same time share no byte.

Several orders are tried, each buffer goes to the lowest place that is free while it is needed, and the lowest peak
wins. Where it is not as low as a plan can be, the order is changed step by step. Source:
docs/reference/memory-planning.md, "Packing".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random

from pto_dialect.ir.core.extents import round_up

from .live_ranges import Buffer

_Order = Callable[[Buffer], tuple[int, ...]]
ORDERS: tuple[_Order, ...] = (
    lambda buffer: (-buffer.size, buffer.first),
    lambda buffer: (buffer.first, -buffer.size),
    lambda buffer: (-(buffer.last - buffer.first), -buffer.size),
    lambda buffer: (-buffer.size * (buffer.last - buffer.first + 1), buffer.first),
    lambda buffer: (buffer.last, -buffer.size),
)
"""Orders in which buffers are placed."""


_TRIES = 400
"""Changes of the order at most."""
_STEPS = 60_000_000
"""Upper bound of the comparisons: each candidate address of a buffer with each other buffer."""


def bound(buffers: Sequence[Buffer]) -> int:
    """Returns the largest sum of bytes that are needed at one point: no plan needs less."""
    return max((needed(buffers, time) for time in {buffer.first for buffer in buffers}), default=0)


def needed(buffers: Sequence[Buffer], time: int) -> int:
    """The bytes needed at one point, with alignment padding except after the last buffer. An heir and the buffer it
    inherits from count once."""
    alive = [buffer for buffer in buffers if buffer.first <= time <= buffer.last]
    unit = min((buffer.align for buffer in alive), default=1)
    aligned = {buffer: round_up(buffer.extent, unit) for buffer in alive}
    total = sum(aligned.values())
    taken: set[Buffer] = set()
    for buffer in alive:
        heir = next((heir for heir in buffer.heirs if heir in aligned and heir not in taken), None)
        if heir is not None and buffer.last == time == heir.first:
            taken.add(heir)
            total -= min(aligned[buffer], aligned[heir])
    return total - max((size - buffer.size for buffer, size in aligned.items()), default=0)


Share = Callable[[Buffer, Buffer], bool]
"""Whether two buffers may share bytes if they are not needed at the same time."""


def always(_one: Buffer, _other: Buffer) -> bool:
    """They may."""
    return True


def never(_one: Buffer, _other: Buffer) -> bool:
    """They may not."""
    return False


def pack(
    buffers: Sequence[Buffer], share: Share = always, known: Mapping[Buffer, int] | None = None
) -> dict[Buffer, int]:
    """Returns an address for each buffer; those that are not needed at the same time share bytes where ``share`` says
    so. Those of ``known`` lie where it says."""
    fixed = {buffer: buffer.address for buffer in buffers if buffer.address is not None} | dict(known or {})
    free = [buffer for buffer in buffers if buffer not in fixed]
    least = bound(buffers)
    best: dict[Buffer, int] | None = None
    rivals = _Rivals([*fixed, *free], share)
    for order in ORDERS[1:2] if share is never else ORDERS:
        addresses = _pack_in_order(sorted(free, key=order), fixed, rivals)
        if best is None or top_of(addresses) < top_of(best):
            best = addresses
        if top_of(best) <= least:
            return best
    # Where sharing is limited, the bound says nothing about what can be reached.
    assert best is not None
    return _improved(best, fixed, least, rivals) if share is always else best


class _Rivals:
    """Which buffers may not share bytes, for each of ``buffers``: pairs are compared once for all orders."""

    def __init__(self, buffers: Sequence[Buffer], share: Share) -> None:
        self.apart: dict[Buffer, list[Buffer]] = {buffer: [] for buffer in buffers}
        self.heritage: dict[Buffer, set[Buffer]] = {buffer: set() for buffer in buffers}
        """Those of them that a buffer inherits from: it may lie exactly where one of them lies."""
        for number, one in enumerate(buffers):
            for other in buffers[:number]:
                shares = share(one, other)
                if shares and not one.overlaps(other):
                    continue
                self.apart[one].append(other)
                self.apart[other].append(one)
                if shares and one.inherits(other):
                    self.heritage[one].add(other)
                    self.heritage[other].add(one)


def _pack_in_order(order: Sequence[Buffer], fixed: Mapping[Buffer, int], rivals: _Rivals) -> dict[Buffer, int]:
    """Returns the lowest place for one buffer after the other."""
    addresses = dict(fixed)
    taken: dict[Buffer, list[tuple[int, int]]] = {buffer: [] for buffer in rivals.apart}
    """For each buffer the bytes of those that lie somewhere already and share nothing with it."""
    for buffer, at in fixed.items():
        _take(buffer, at, taken, rivals)
    for buffer in order:
        at = addresses[buffer] = _lowest(buffer, taken.pop(buffer), addresses, rivals)
        _take(buffer, at, taken, rivals)
    return addresses


def _take(buffer: Buffer, at: int, taken: Mapping[Buffer, list[tuple[int, int]]], rivals: _Rivals) -> None:
    """Has ``buffer`` lie at an address."""
    extent = at, at + buffer.extent
    for other in rivals.apart[buffer]:
        if other in taken:
            taken[other].append(extent)


def top_of(addresses: Mapping[Buffer, int]) -> int:
    """The highest end of a buffer."""
    return max((at + buffer.size for buffer, at in addresses.items()), default=0)


def _improved(best: dict[Buffer, int], fixed: Mapping[Buffer, int], least: int, rivals: _Rivals) -> dict[Buffer, int]:
    """Returns the same buffers with a lower peak, if a change of the order gives one: a buffer that reaches the peak is
    placed earlier, at random by how much, and the new order stays unless it is worse."""
    random = Random(0)
    order = sorted((buffer for buffer in best if buffer not in fixed), key=best.__getitem__)
    packed = _pack_in_order(order, fixed, rivals)
    for _ in range(min(_TRIES, _STEPS // max(1, len(best)) ** 3)):
        peak = top_of(packed)
        if peak < top_of(best):
            best = packed
        if peak <= least:
            break
        highest = [number for number, buffer in enumerate(order) if packed[buffer] + buffer.size == peak]
        if not highest:
            break
        number = random.choice(highest)
        changed = order[:number] + order[number + 1 :]
        changed.insert(random.randint(0, number), order[number])
        improved = _pack_in_order(changed, fixed, rivals)
        if top_of(improved) <= peak:
            order, packed = changed, improved
    return best if top_of(best) <= top_of(packed) else packed


def _lowest(buffer: Buffer, taken: list[tuple[int, int]], placed: dict[Buffer, int], rivals: _Rivals) -> int:
    """Returns the lowest address at which ``buffer`` shares nothing that it must not share: none of the bytes that are
    ``taken``."""
    extent, align = buffer.extent, buffer.align
    start = 0
    for at, stop in sorted(taken):
        if at >= start + extent:
            break
        if stop > start:
            start = round_up(stop, align)
    same = rivals.heritage[buffer]
    # It may lie exactly where one lies that it inherits from.
    for inherited in sorted({placed[other] for other in same if other in placed and placed[other] % align == 0}):
        if inherited >= start:
            break
        if _is_free(buffer, inherited, placed, rivals):
            return inherited
    return start


def _is_free(buffer: Buffer, start: int, placed: dict[Buffer, int], rivals: _Rivals) -> bool:
    """Returns whether ``buffer`` may lie at ``start``, where others lie only if it inherits their bytes."""
    same = rivals.heritage[buffer]
    return all(
        at + other.extent <= start or start + buffer.extent <= at or (start == at and other in same)
        for other in rivals.apart[buffer]
        if (at := placed.get(other)) is not None
    )

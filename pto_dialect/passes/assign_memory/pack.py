"""Puts buffers into one memory so that those that are needed at the same time share no byte.

Several orders are tried, each buffer goes to the lowest place that is free while it is needed, and the lowest peak
wins. Where it is not as low as a plan can be, the order is changed step by step. Source:
docs/reference/memory-planning.md, "Packing".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
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
    """The largest sum of bytes that are needed at one point: no plan needs less."""
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
    """An address for each buffer; those that are not needed at the same time share bytes where ``share`` says so. Those
    of ``known`` lie where it says."""
    fixed = {buffer: buffer.address for buffer in buffers if buffer.address is not None} | dict(known or {})
    free = [buffer for buffer in buffers if buffer not in fixed]
    least = bound(buffers)
    best: dict[Buffer, int] | None = None
    for order in ORDERS[1:2] if share is never else ORDERS:
        addresses = _pack_in_order(sorted(free, key=order), fixed, share)
        if best is None or top_of(addresses) < top_of(best):
            best = addresses
        if top_of(best) <= least:
            return best
    # Where sharing is limited, the bound says nothing about what can be reached.
    assert best is not None
    return _improved(best, fixed, least) if share is always else best


def _pack_in_order(order: Sequence[Buffer], fixed: Mapping[Buffer, int], share: Share) -> dict[Buffer, int]:
    """The lowest place for one buffer after the other."""
    addresses = dict(fixed)
    for buffer in order:
        addresses[buffer] = _lowest(buffer, addresses, share)
    return addresses


def top_of(addresses: Mapping[Buffer, int]) -> int:
    """The highest end of a buffer."""
    return max((at + buffer.size for buffer, at in addresses.items()), default=0)


def _improved(best: dict[Buffer, int], fixed: Mapping[Buffer, int], least: int) -> dict[Buffer, int]:
    """The same buffers with a lower peak, if a change of the order gives one: a buffer that reaches the peak is placed
    earlier, at random by how much, and the new order stays unless it is worse."""
    random = Random(0)
    order = sorted((buffer for buffer in best if buffer not in fixed), key=best.__getitem__)
    packed = _pack_in_order(order, fixed, always)
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
        improved = _pack_in_order(changed, fixed, always)
        if top_of(improved) <= peak:
            order, packed = changed, improved
    return best if top_of(best) <= top_of(packed) else packed


def _lowest(buffer: Buffer, placed: dict[Buffer, int], share: Share) -> int:
    """The lowest address at which ``buffer`` shares nothing that it must not share."""
    extent, align = buffer.extent, buffer.align
    rivals = [
        (at, at + other.extent, other)
        for other, at in placed.items()
        if buffer.overlaps(other) or not share(buffer, other)
    ]
    # It may lie exactly where one lies that it inherits from.
    for start in sorted({at for at, _, other in rivals if buffer.inherits(other) and at % align == 0}):
        if all(
            stop <= start or start + extent <= at or (start == at and buffer.inherits(other) and share(buffer, other))
            for at, stop, other in rivals
        ):
            heritage = start
            break
    else:
        heritage = None
    start = 0
    for at, stop, _ in sorted(rivals, key=itemgetter(0)):
        if at >= start + extent:
            break
        if stop > start:
            start = round_up(stop, align)
    return start if heritage is None else min(start, heritage)

"""Puts buffers into one memory so that those that are needed at the same time share no byte.

Several orders are tried, each buffer goes to the lowest place that is free while it is needed, and the lowest peak
wins. Source: docs/reference/memory-planning.md, "Packing".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from .live import Buffer

_Order = Callable[[Buffer], tuple[int, ...]]
_ORDERS: tuple[_Order, ...] = (
    lambda buffer: (-buffer.size, buffer.first),
    lambda buffer: (buffer.first, -buffer.size),
    lambda buffer: (-(buffer.last - buffer.first), -buffer.size),
    lambda buffer: (-buffer.size * (buffer.last - buffer.first + 1), buffer.first),
    lambda buffer: (buffer.last, -buffer.size),
)


def bound(buffers: Sequence[Buffer]) -> int:
    """The largest sum of bytes that are needed at one point: no plan needs less."""
    return max((needed(buffers, time) for time in {buffer.first for buffer in buffers}), default=0)


def needed(buffers: Sequence[Buffer], time: int) -> int:
    """The bytes that are needed at one point. An heir and who it inherits from count once."""
    alive = [buffer for buffer in buffers if buffer.first <= time <= buffer.last]
    total = sum(buffer.size for buffer in alive)
    taken: set[Buffer] = set()
    for buffer in alive:
        heir = next((heir for heir in buffer.heirs if heir in alive and heir not in taken), None)
        if heir is not None and buffer.last == time == heir.first:
            taken.add(heir)
            total -= min(buffer.size, heir.size)
    return total


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
    lowest = 0
    for order in _ORDERS[1:2] if share is never else _ORDERS:
        found = dict(fixed)
        for buffer in sorted(free, key=order):
            found[buffer] = _lowest(buffer, found, share)
        peak = max((at + buffer.size for buffer, at in found.items()), default=0)
        if best is None or peak < lowest:
            best, lowest = found, peak
        if lowest <= least:
            break
    return best or {}


def _lowest(buffer: Buffer, placed: dict[Buffer, int], share: Share) -> int:
    """The lowest address at which ``buffer`` shares nothing that it must not share."""
    rivals = [
        (at, at + other.extent, other)
        for other, at in placed.items()
        if buffer.meets(other) or not share(buffer, other)
    ]
    starts = {0, *(_up(stop, buffer.align) for _, stop, _ in rivals)}
    starts |= {at for at, _, other in rivals if buffer.inherits(other) and at % buffer.align == 0}
    for start in sorted(starts):
        if all(
            stop <= start
            or start + buffer.extent <= at
            or (start == at and buffer.inherits(other) and share(buffer, other))
            for at, stop, other in rivals
        ):
            return start
    raise AssertionError("behind everything else there is always room")


def _up(number: int, step: int) -> int:
    return -(-number // step) * step

"""Whether two accesses touch a common byte, for given numbers or for all.

Source: docs/reference/order-proof.md, "Memory".
"""

from __future__ import annotations

from enum import Enum

from .expressions import Expr, UnknownValueError, Values, evaluate
from .model import Access, Interval, Rectangle


class Overlap(Enum):
    """How two accesses relate."""

    NEVER = "never"
    MAYBE = "maybe"
    SURELY = "surely"


def share_object(first: Access, second: Access) -> Overlap:
    """Returns whether the objects are the same: pointers made of numbers may be anywhere in global memory."""
    if first.space != second.space:
        return Overlap.NEVER
    if first.root is None or second.root is None:
        return Overlap.MAYBE
    if first.root == second.root:
        return Overlap.SURELY
    return Overlap.NEVER


def interval_of(access: Access) -> Interval | None:
    """Returns the bytes between the first and the last that an access touches."""
    part = access.part
    return part.bytes if isinstance(part, Rectangle) else part


def are_apart(first: Access, second: Access) -> bool:
    """Returns whether two accesses are disjoint in all iterations, by the constants in their bytes alone."""
    one, other = interval_of(first), interval_of(second)
    if one is None or other is None:
        return False
    return _ends_before(one, other) or _ends_before(other, one)


def _ends_before(one: Interval, other: Interval) -> bool:
    return (
        one.high is not None
        and one.high.value is not None
        and other.low.value is not None
        and one.high.value <= other.low.value
    )


def overlap_at(first: Access, at: Values, second: Access, there: Values) -> Overlap:
    """How two accesses relate, each for its numbers."""
    shared = share_object(first, second)
    if shared is Overlap.NEVER:
        return shared
    certain = shared is Overlap.SURELY and first.certain and second.certain
    one, other = first.part, second.part
    try:
        if isinstance(one, Rectangle) and isinstance(other, Rectangle) and one.frame == other.frame:
            if not _sides_meet(one, at, other, there):
                return Overlap.NEVER
            return Overlap.SURELY if certain and one.certain and other.certain else Overlap.MAYBE
        return _compared(interval_of(first), at, interval_of(second), there, certain)
    except UnknownValueError:
        return Overlap.MAYBE


def _compared(one: Interval | None, at: Values, other: Interval | None, there: Values, certain: bool) -> Overlap:
    if one is None or other is None:
        return Overlap.MAYBE
    if not _meet((one.low, one.high), at, (other.low, other.high), there):
        return Overlap.NEVER
    sure = one.sure is not None and other.sure is not None and _meet(one.sure, at, other.sure, there)
    return Overlap.SURELY if certain and sure else Overlap.MAYBE


def _meet(one: tuple[Expr, Expr | None], at: Values, other: tuple[Expr, Expr | None], there: Values) -> bool:
    low, start = evaluate(one[0], at), evaluate(other[0], there)
    high = None if one[1] is None else evaluate(one[1], at)
    end = None if other[1] is None else evaluate(other[1], there)
    if (high is not None and high <= low) or (end is not None and end <= start):
        return False
    return (high is None or start < high) and (end is None or low < end)


def _sides_meet(one: Rectangle, at: Values, other: Rectangle, there: Values) -> bool:
    for (first, size), (second, length) in zip(one.sides, other.sides, strict=False):
        low, start = evaluate(first, at), evaluate(second, there)
        if low >= start + evaluate(length, there) or start >= low + evaluate(size, at):
            return False
        if evaluate(size, at) <= 0 or evaluate(length, there) <= 0:
            return False
    return True

"""Whether parts of a view may be compared by their indices: different indices must be different bytes.

Source: docs/reference/order-proof.md, "Memory".
"""

from __future__ import annotations

from collections.abc import Sequence

from .expressions import Expr

Sides = tuple[tuple[Expr, Expr], ...]
"""The first index and the number of indices of each dimension of a part."""


def are_distinct(shape: Sequence[Expr | None], strides: Sequence[Expr | None], sides: Sides) -> bool:
    """Returns whether elements of a part, and of all others that pass this test, have bytes of their own.

    A part may reach beyond the shape of its view where constants say so. Strides that are no constants are taken to
    keep elements apart."""
    if any(start.value is not None and start.value < 0 for start, _ in sides):
        return False
    dimensions: list[tuple[int, int | None]] = []
    inside = True
    for size, stride, (start, count) in zip(shape, strides, sides, strict=False):
        limit = None if size is None else size.value
        end = None if start.value is None or count.value is None else start.value + count.value
        beyond = limit is None or (end is not None and end > limit)
        if stride is None or stride.value is None or (limit == 1 and not beyond):
            continue
        inside = inside and not beyond
        dimensions.append((stride.value, end if beyond else limit))
    dimensions.sort(key=lambda pair: pair[0])
    return _add_up(dimensions) if inside else _are_nested(dimensions)


def _add_up(dimensions: Sequence[tuple[int, int | None]]) -> bool:
    """Returns whether each stride is more than all smaller dimensions reach together."""
    reach = 0
    for stride, size in dimensions:
        if size is None or stride <= reach:
            return False
        reach += stride * max(size - 1, 0)
    return True


def _are_nested(dimensions: Sequence[tuple[int, int | None]]) -> bool:
    """Returns whether each stride is at least the whole of the next smaller dimension, so that also parts which are
    large in different dimensions stay apart."""
    least: int | None = 1
    for stride, size in dimensions:
        if least is None or stride < least:
            return False
        least = None if size is None else stride * size
    return True

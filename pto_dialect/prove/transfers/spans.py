"""Bytes from where a pointer points, as far as the text says how many."""

from __future__ import annotations

from typing import NamedTuple

from ..expressions import Expr


class Span(NamedTuple):
    """Bytes from where a pointer points: how many at most (``None``: not known), and how many it must touch. ``rows``
    are the number of bursts, the bytes from one to the next and those of each, where it touches exactly these."""

    length: Expr | None
    sure: Expr | None = None
    rows: tuple[Expr, int, int] | None = None


def runs(count: Expr | None) -> bool:
    """Returns whether a count is a positive constant."""
    return count is not None and count.value is not None and count.value > 0


def product(one: Expr, other: Expr) -> Expr | None:
    """Returns the product of two expressions; ``None`` unless one is a constant."""
    if one.value is not None:
        return other.times(one.value)
    return one.times(other.value) if other.value is not None else None

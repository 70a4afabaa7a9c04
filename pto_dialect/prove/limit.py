"""How much of a call is followed. Source: docs/reference/order-proof.md, "One call"."""

from __future__ import annotations

from math import inf
from time import process_time

from .model import UndecidedError

_LOOKS = 500
"""Executions after which the time is looked at."""
TOO_MANY = "it executes too many operations to follow each of them"


class Limit:
    """How many executions of statements are followed in all, and until which processor time."""

    def __init__(self, steps: int, end: float = inf) -> None:
        self.steps = steps
        self.end = end

    def take(self) -> None:
        """Takes one of them. Raises :class:`UndecidedError` if there are no more."""
        self.steps -= 1
        if self.steps < 0 or (not self.steps % _LOOKS and process_time() > self.end):
            raise UndecidedError(None, TOO_MANY)

"""Numbers and lists as messages have them."""

from __future__ import annotations

from collections.abc import Sequence


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Returns ``1 operand``, ``2 operands``."""
    return f"{number} {noun}" if number == 1 else f"{number} {plural or noun + 's'}"


def listed(names: Sequence[str], last: str = "and") -> str:
    """Returns ``a, b and c``."""
    return f" {last} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)

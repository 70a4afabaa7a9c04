"""The order in which what groups of rules say about one operation is told."""

from __future__ import annotations

from functools import cache

from pto_dialect.families import rule_modules
from pto_dialect.ir.core.registry import family_named


@cache
def group_places(name: str) -> dict[str, int]:
    """Modules with rules of an operation's family, with their places: the order holds whatever was loaded before."""
    return {f"pto_dialect.verify.{group}": place for place, group in enumerate(rule_modules(family_named(name)))}

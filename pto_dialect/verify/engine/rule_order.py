"""The order of the rule groups that check one operation, which is the order of their messages."""

from __future__ import annotations

from functools import cache

from pto_dialect.families import rule_modules
from pto_dialect.ir.core.registry import family_of_name


@cache
def group_ranks(name: str) -> dict[str, int]:
    """Returns the modules with rules of an operation's family and their ranks; the order does not depend on import
    order."""
    return {f"pto_dialect.verify.{group}": place for place, group in enumerate(rule_modules(family_of_name(name)))}

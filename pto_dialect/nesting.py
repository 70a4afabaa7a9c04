"""How deep a program may be nested, how much its aliases may stand for, and the stack that recursion over one needs.

What is nested within these limits can be printed, compared, cloned, verified and walked over, also with xDSL's own
recursive methods; what exceeds them is refused where it is read.
"""

from __future__ import annotations

import re
import sys

from pto_dialect.patterns import portable

LIMIT = 1000
"""Regions (the module's is one), attributes, affine expressions and locations in one another."""

FUNCTIONS = 64
"""Round brackets of function types in one another."""

ANGLES = 6
"""``<..>`` in one another within a type or an attribute."""

LOOPS = 16
"""Loops in one another within a function that is executed."""

EXECUTED = 48
"""Regions in one another within a function that is executed."""

ALIAS_SIZE = 100_000
"""Characters that one alias stands for, with the aliases in it written out."""

RULE = "nesting-limit"
SIZE_RULE = "alias-size"

ROOMY = 50
"""Depth up to which Python's usual limit of 1,000 calls is enough for every recursion."""

_CALLS = 12
"""Calls that the deepest of xDSL's recursions makes for one level, with some to spare."""

_MARK = re.compile(portable(r'"(?:[^"\\\n]++|\\.)*+"|->(?!\s*\()|(?<!-)>|[<(\[{}\]),]'))


class NestingError(Exception):
    """A program is nested too deeply; ``start`` is the first place that is too deep."""

    def __init__(self, what: str, start: int, limit: int = LIMIT) -> None:
        super().__init__(f"{what} nest at most {limit:,} deep")
        self.start = start


def make_room(depth: int) -> None:
    """Lets this process recurse over something that is nested ``depth`` levels deep."""
    if depth > ROOMY:
        wanted = 1000 + _CALLS * depth
        if sys.getrecursionlimit() < wanted:
            sys.setrecursionlimit(wanted)


def program_budget(text: str) -> int:
    """Characters that all uses of aliases in a program may stand for together: work stays linear in its length."""
    return 160 * ALIAS_SIZE + 64 * len(text)


def too_deep(text: str, limit: int) -> tuple[str, int] | None:
    """Returns what is wrong with the brackets of a type or attribute, and the offset of the first one that is too deep:
    more than ``limit`` levels, or ``ANGLES`` of angle brackets.

    Makes room for what is right.
    """
    if text.count("<") <= ANGLES and text.count("(") + text.count("[") + text.count("{") + text.count("->") <= ROOMY:
        return None
    angles = level = deepest = 0
    outside: list[int] = []
    for found in _MARK.finditer(text):
        mark = found[0]
        if mark == "<":
            angles += 1
            if angles > ANGLES:
                return f"angle brackets nest at most {ANGLES} deep", found.start()
        elif mark == ">":
            angles -= 1
        elif mark in "([{" or mark == "->":
            # A function type may be the result of another one without brackets, up to the next comma.
            if mark != "->":
                outside.append(level)
            level += 1
            deepest = max(deepest, level)
            if level > limit:
                return f"brackets nest at most {limit:,} deep", found.start()
        elif mark == ",":
            level = outside[-1] + 1 if outside else 0
        elif mark in ")]}" and outside:
            level = outside.pop()
    make_room(deepest)
    return None

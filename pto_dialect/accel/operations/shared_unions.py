"""Unions of constraints that xDSL makes once, although its dialects ask for them several times.

To make one, xDSL compares all of its members with each other; the types that a cast of ``arith`` takes are such a
union, for its operand and again for its result. Constraints do not change, so operations may share them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pto_dialect.accel import enabled


@contextmanager
def shared_unions() -> Iterator[None]:
    """Constraints of operation classes that are made in this block share equal unions."""
    if not enabled("unions"):
        yield
        return
    from xdsl.irdl.constraints import AnyOf  # deferred: start-up

    make = AnyOf.get
    known: dict[tuple[Any, ...], Any] = {}

    def find_or_make(*members: Any) -> Any:
        # Unions of types are equal in any order, and the order is a part of what is told about a violation.
        key = tuple((member, getattr(member, "__args__", None)) for member in members)
        try:
            found = known.get(key)
        except TypeError:
            return make(*members)
        if found is None:
            found = known[key] = make(*members)
        return found

    AnyOf.get = staticmethod(find_or_make)
    try:
        yield
    finally:
        AnyOf.get = staticmethod(make)

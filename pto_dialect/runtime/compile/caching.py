"""Generated code whose scalar units access global memory through their data caches.

Source: docs/reference/execution.md, "Data cache of the scalar unit".
"""

from __future__ import annotations

from itertools import takewhile

from xdsl.ir import Operation

from pto_dialect.analysis.scalar_cache import is_cached, maintenance_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import ancestors
from pto_dialect.ir.scalar.regions import SectionSimtOp

from .holding import HoldingGenerator


class CachingGenerator(HoldingGenerator):
    """Writes the body of one function, with the cache around each access that uses it."""

    def operation(self, op: Operation) -> None:
        """Writes one operation, through the cache where it uses one."""
        maintained = maintenance_of(op)
        if maintained is not None:
            pointer = maintained.pointer
            argument = "None" if pointer is None else f"core.pointer_of({self.names[pointer]})"
            self.emitter.line(f"core.cache.maintain({argument})")
        cached = self.lanes is None and is_cached(op) and not _in_scope(op)
        if cached:
            self.emitter.current = op
            self.emitter.line(f"core.cache.enter({has_role(op, Role.ELEMENT_STORE)})")
        super().operation(op)
        if cached:
            self.emitter.line("core.cache.leave()")


def _in_scope(op: Operation) -> bool:
    """Returns whether the vector unit or work-items execute an operation."""
    inside = takewhile(lambda parent: not has_role(parent, Role.FUNCTION), ancestors(op))
    return any(has_role(parent, Role.SCOPE) or isinstance(parent, SectionSimtOp) for parent in inside)

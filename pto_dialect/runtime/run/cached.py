"""Runs with modelled data caches of the scalar units, including lost and hidden writes.

Source: docs/reference/execution.md, "Data cache of the scalar unit".
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile
from typing import Any

from xdsl.ir import Operation

from pto_dialect.analysis.scalar_cache import is_cached, maintenance_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import ancestors
from pto_dialect.ir.scalar.regions import SectionSimtOp

from ..compile.generator import Generator
from ..compile.holding import HoldingGenerator
from ..memory.data_cache import Access, CachedArena, DataCache
from .arenas import rebind
from .launch import Kernel
from .machine import Block, Core

# ------------------------------------------------------------ code of cached accesses


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


class CachedKernel(Kernel):
    """An entry function that is ready to run with modelled caches, each of which is written back when all blocks have
    ended."""

    replayed = False
    _access: Access

    @property
    def generator_class(self) -> Callable[..., Generator]:
        """Returns the code generator class."""
        return CachingGenerator

    def run_bound(self, bound: list[Any], blocks: int = 1, jobs: int = 1) -> list[Any]:
        """As in ``Kernel``, in one process."""
        access = self._access = Access()
        rebind(bound, CachedArena, lambda arena: CachedArena(arena, access))
        results = super().run_bound(bound, blocks)
        access.end()
        return results

    def _idle_block(self, index: int, count: int, core_class: Callable[[Block, str, int], Core]) -> Block:
        return self._block(index, count, core_class)

    def _block(self, index: int, count: int, core_class: Callable[[Block, str, int], Core]) -> Block:
        block = super()._block(index, count, core_class)
        for core in block.cores:
            core.cache = DataCache(self._access)
        return block

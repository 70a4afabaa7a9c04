"""Runs with modelled data caches of the scalar units, including lost and hidden writes.

Source: docs/reference/execution.md, "Data cache of the scalar unit".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..compile.caching import CachingGenerator
from ..compile.generator import Generator
from ..memory.data_cache import Access, CachedArena, DataCache
from .arenas import rebind
from .launch import Kernel
from .machine import Block, Core


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

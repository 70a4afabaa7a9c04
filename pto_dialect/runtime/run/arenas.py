"""Replaces the arenas to which the buffers of a launch are bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..memory.spaces import Arena, Pointer
from ..memory.values import GmTensor
from .arguments import HostTile
from .per_core import PartedPointer

Wrapped = TypeVar("Wrapped", bound=Arena)


def rebind(bound: list[Any], kind: type[Wrapped], wrap: Callable[[Arena], Wrapped]) -> None:
    """Replaces the arena of every buffer of ``bound`` by ``wrap(arena)``, unless it is of ``kind`` already; buffers
    over the same memory get the same one."""
    known: dict[tuple[int, int], Wrapped] = {}

    def moved(pointer: Pointer) -> Pointer:
        if isinstance(pointer.arena, kind):
            return pointer
        memory = pointer.arena.bytes
        key = (memory.__array_interface__["data"][0], memory.size)
        if key not in known:
            known[key] = wrap(pointer.arena)
        result = Pointer(known[key], pointer.offset, pointer.dtype, pointer.item_bytes)
        return pointer.at(result) if isinstance(pointer, PartedPointer) else result

    for position, value in enumerate(bound):
        if isinstance(value, Pointer):
            bound[position] = moved(value)
        elif isinstance(value, (GmTensor, HostTile)):
            value.pointer = moved(value.pointer)

"""The operands of the calls of one function: handles of tiles, views of tensors, numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .statement import Named
from .tensors import Tensor, Tensors, tensor_of
from .tiles import Handles, Tile, identity, tile_of

if TYPE_CHECKING:
    from ..translate.interface import Call, Emitter, Group
    from .tiles import Extent


class Operands:
    """The handles and views that a function has so far."""

    def __init__(self, emitter: Emitter) -> None:
        self.handles = Handles(emitter)
        self.tensors = Tensors(emitter)

    @staticmethod
    def given(group: Group, emitter: Emitter) -> Tile | Tensor:
        """Returns the tile or the tensor that a group states."""
        return tile_of(group, emitter) if group.kind == "tile" else tensor_of(group, emitter)

    def value(self, one: Tile | Tensor | Named, call: Call) -> Named:
        """Returns the value of an operand at a call."""
        if isinstance(one, Tile):
            return self.handles.handle(one, call)
        return self.tensors.part(one, call) if isinstance(one, Tensor) else one


def operands_of(emitter: Emitter) -> Operands:
    """Returns what the function of an emitter has so far."""
    found = emitter.state.get("operands")
    if not isinstance(found, Operands):
        found = emitter.state["operands"] = Operands(emitter)
    return found


def is_same(size: Extent, other: Extent, emitter: Emitter) -> bool:
    """Returns whether two sizes must be equal."""
    if isinstance(size, int | str) or isinstance(other, int | str):
        return identity(size) == identity(other)
    return identity(size) == identity(other) or emitter.is_same(size, other)


__all__ = ["Operands", "is_same", "operands_of"]

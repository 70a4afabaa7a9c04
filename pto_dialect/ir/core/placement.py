"""Locations of tiles, and the pipe that a location implies. Source: docs/reference/execution.md, "Pipes of
operations"."""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, SSAValue

from .attributes import EnumAttr
from .base import Pipe
from .types import MultiTileBufType, TileBufType, element_name

_PIPES = {pipe.value: pipe for pipe in Pipe}

_PIPE_OF_OPERATION_CLASS = {
    "TLOAD": Pipe.MTE2,
    "TSTORE_ACC": Pipe.FIX,
    "TSTORE_VEC": Pipe.MTE3,
    "TMOV_M2L": Pipe.MTE1,
    "TMOV_M2S": Pipe.FIX,
    "TMOV_M2B": Pipe.MTE1,
    "TMOV_M2V": Pipe.V,
    "TMOV_V2M": Pipe.FIX,
    "TMATMUL": Pipe.M,
    "TVEC": Pipe.V,
    "TVECWAIT_EVENT": Pipe.V,
}


def named_pipe(attr: Attribute | None) -> Pipe | None:
    """Returns the pipe a pipe attribute names, or that of an operation class; ``None`` for pipes without a queue."""
    if not isinstance(attr, EnumAttr):
        return None
    if attr.kind == "pipe":
        return _PIPES.get(attr.value)
    return _PIPE_OF_OPERATION_CLASS.get(attr.value)


def location(value: SSAValue | None) -> str | None:
    """Returns the location of the tile ``value`` (``"vec"``, ``"mat"`` ...); ``None`` where its type has none."""
    if value is None:
        return None
    kind = value.type
    if isinstance(kind, TileBufType):
        return kind.loc
    if isinstance(kind, MultiTileBufType):
        return kind.slot.loc
    if isinstance(kind, MemRefType) and isinstance(kind.memory_space, EnumAttr):
        return kind.memory_space.value
    return None


def element_of(value: SSAValue) -> str | None:
    """Returns the name of the element type of a tile, view or memref (``"f16"`` ...)."""
    kind = value.type
    element = kind.element_type if isinstance(kind, MemRefType) else getattr(kind, "element", None)
    return None if element is None else element_name(element)

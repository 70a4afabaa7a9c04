"""The module `mlir.dialects.memref`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.ir import Attribute as XAttribute

from ..declare import GeneratedOp, build
from ..ir.operations import register_view
from ..ir.structure import value_of
from .tables import add_function, add_operations, read_form, to_dense, to_integer

_CONVERTS = {
    "alignment": to_integer(64),
    "static_offsets": to_dense,
    "static_sizes": to_dense,
    "static_strides": to_dense,
}
_PARTS = "offsets* sizes* strides* #static_offsets #static_sizes #static_strides"
_TABLE = f"""
    AllocOp alloc @memref dynamicSizes* symbolOperands* #alignment=
    AllocaOp alloca @memref dynamicSizes* symbolOperands* #alignment=
    DeallocOp dealloc memref
    StoreOp store value memref indices*
    CopyOp copy source target
    CastOp cast @dest source
    MemorySpaceCastOp memory_space_cast @dest source
    DimOp dim source index : index
    RankOp rank memref : index
    SubViewOp subview @result source {_PARTS}
    ReinterpretCastOp reinterpret_cast @result source {_PARTS}
"""
add_operations(globals(), "memref", _TABLE, _CONVERTS)


def _element(given: Mapping[str, Any]) -> list[XAttribute]:
    of = value_of(given["memref"], "argument memref of LoadOp").type
    element = getattr(of, "element_type", None)
    if element is None:
        raise ValueError(f"argument memref of LoadOp is a memref, found {of}")
    return [element]


_LOAD = read_form("memref", "LoadOp load memref indices*")._replace(infer=_element)


@register_view
class LoadOp(GeneratedOp):
    """The operation `memref.load`: LoadOp(memref, indices)."""

    FORM = _LOAD
    OPERATION_NAME = "memref.load"

    def __init__(self, memref: Any, indices: Any = (), *, loc: Any = None, ip: Any = None) -> None:
        build(self, _LOAD, (memref, indices), {"loc": loc, "ip": ip})


add_function(globals(), LoadOp)

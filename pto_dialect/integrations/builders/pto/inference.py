"""The types of results that follow from more than one argument."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.ir import Attribute as XAttribute

from pto_dialect.analysis.constants import constant_of
from pto_dialect.ir.core.types import DYNAMIC, TileBufType, TileType
from pto_dialect.syntax.types.parser import intern_type

from ..ir.attributes import whole
from ..ir.structure import value_of


def infer_subview(given: Mapping[str, Any]) -> list[XAttribute]:
    """Returns the type of a part of a tile: shape and valid part are ``sizes``, or what ``valid_row`` and ``valid_col``
    state."""
    source = value_of(given["source"], "argument source of SubViewOp").type
    sizes = [whole(getattr(one, "value", one), "a size of SubViewOp") for one in given["sizes"]]
    if len(sizes) != 2 or not isinstance(source, (TileBufType, TileType)):
        raise ValueError("SubViewOp takes a tile and two sizes")
    if isinstance(source, TileType):
        return [intern_type(TileType(sizes[0], sizes[1], source.element))]
    valid = [_extent(given.get(name), size) for name, size in zip(("valid_row", "valid_col"), sizes, strict=True)]
    return [intern_type(source.replace(rows=sizes[0], cols=sizes[1], valid=(valid[0], valid[1])))]


def _extent(stated: Any, size: int) -> int:
    if stated is None:
        return size
    known = constant_of(value_of(stated, "the valid part of SubViewOp"))
    return min(known, size) if isinstance(known, int) else DYNAMIC

"""Help for an operand of the wrong kind: the cast, the view, or the other form of the operation."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import Attribute

from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.kinds import Kind
from pto_dialect.ir.core.types import I64, INDEX, PtrType, TileBufType, TileType, type_text

_TILES = (TileBufType, TileType)


def kind_help(name: str, kind: Kind, found: Attribute) -> str | None:
    """Returns the help for an operand of type ``found`` where the operation ``name`` requires ``kind``."""
    if isinstance(found, (IntegerType, IndexType)):
        for wanted in (I64, INDEX):
            if kind.accepts(wanted) and not kind.accepts(found):
                return _integer_cast(found, wanted)
    if isinstance(found, PtrType) and "view" in kind.label:
        return "make a view of it with pto.make_tensor_view and take a part with pto.partition_view"
    if isinstance(found, _TILES) and name.endswith("s") and name[:-1] in OPS and not kind.accepts(found):
        return f"{name[:-1]} takes two tiles"
    if f"{name}s" in OPS and "tile" in kind.label and not isinstance(found, _TILES):
        return f"{name}s takes a tile and a number"
    return None


def _integer_cast(found: Attribute, wanted: Attribute) -> str:
    cast = "arith.index_cast" if IndexType() in (found, wanted) else "arith.extsi"
    return f"convert it with {cast} .. : {type_text(found)} to {type_text(wanted)}"

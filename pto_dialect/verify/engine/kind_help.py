"""Help for an operand of the wrong kind: the cast, the view, or the other form of the operation."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import Attribute

from pto_dialect.diagnostics.remedies.order import other_operation
from pto_dialect.diagnostics.remedies.statements import cast
from pto_dialect.diagnostics.remedy import Remedy
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.kinds import Kind
from pto_dialect.ir.core.types import I64, INDEX, PtrType, TileBufType, TileType, type_text

_TILES = (TileBufType, TileType)


def kind_help(name: str, kind: Kind, found: Attribute) -> tuple[str | None, *tuple[Remedy, ...]]:
    """Returns help and remedies for an operand of type ``found`` where the operation ``name`` requires ``kind``."""
    if isinstance(found, (IntegerType, IndexType)):
        for wanted in (I64, INDEX):
            if kind.accepts(wanted) and not kind.accepts(found):
                return _integer_cast(found, wanted)
    if isinstance(found, PtrType) and "view" in kind.label:
        return ("make a view of it with pto.make_tensor_view and take a part with pto.partition_view",)
    if isinstance(found, _TILES) and name.endswith("s") and name[:-1] in OPS and not kind.accepts(found):
        return f"{name[:-1]} takes two tiles", other_operation(name[:-1], True)
    if f"{name}s" in OPS and "tile" in kind.label and not isinstance(found, _TILES):
        return f"{name}s takes a tile and a number", other_operation(f"{name}s", True)
    dialect, _, short = name.partition(".")
    if isinstance(found, _TILES) and f"{dialect}.t{short}" in OPS:
        return f"{dialect}.t{short} takes tiles", other_operation(f"{dialect}.t{short}", True)
    return (None,)


def _integer_cast(found: Attribute, wanted: Attribute) -> tuple[str, Remedy]:
    operation = "arith.index_cast" if IndexType() in (found, wanted) else "arith.extsi"
    old, new = type_text(found), type_text(wanted)
    return f"convert it with {operation} .. : {old} to {new}", cast(None, old, new)

"""Element types per tile operation.  Source: docs/reference/targets.md, "Element types".

A key is the mnemonic without ``pto.``; operations whose forms differ carry the form in brackets
(``tgather[index]``, ``tstore[acc]``).  The row names the data operands; index, mask and scale operands are in
the tables after the rows.  An empty row means that the operation is not available on that profile.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

DtypeTable = Mapping[str, frozenset[str]]


class _Row(NamedTuple):
    ops: str
    a2a3: str
    a5: str


_FLOAT = "f16 f32"
_BASIC = "i16 i32 f16 f32"
_BASIC8 = "i8 i16 i32 f16 f32"
_WIDE = "i16 i32 f16 bf16 f32"
_FULL = "i8 i16 i32 f16 bf16 f32"
_TRANSFER = "i8 i16 i32 i64 f16 bf16 f32"
_FP8 = " f8E4M3FN f8E5M2"
_NARROW = _FP8 + " hif8 f4E1M2x2 f4E2M1x2"
_SCALE = " f8E8M0"

_ROWS: tuple[_Row, ...] = (
    # element-wise, one tile
    _Row("tabs texp tlog tsqrt trsqrt trecip tprelu tlrelu", _FLOAT, _FLOAT),
    _Row("trelu", "i32 f16 f32", "i32 f16 f32"),
    _Row("tneg", _BASIC, _FULL),
    _Row("tnot", "i16", "i8 i16 i32"),
    # element-wise, two tiles
    _Row("tadd tmin", _BASIC, _FULL),
    _Row("tsub tmax", _BASIC, _BASIC8),
    _Row("tmul tfmod", _BASIC, _BASIC),
    _Row("tdiv", _FLOAT, _BASIC),
    _Row("tand tor txor", "i8 i16 i32", "i8 i16 i32"),
    _Row("tshl tshr", "i8 i16 i32", "i8 i16 i32"),
    _Row("trem", "i32 f32", _BASIC),
    _Row("tcmp", "i32 f16 f32", _FULL),
    _Row("tsel", _WIDE, _FULL),
    _Row("tpow", "i8 i16 i32 f32", _BASIC8),
    _Row("tpow[high_precision]", "", "f16 bf16 f32"),
    # tile and scalar
    _Row("tadds tsubs tmuls tmins tmaxs", _BASIC, _FULL),
    _Row("tdivs tcmps tsels", _BASIC, _BASIC8),
    _Row("tfmods", _BASIC, _BASIC),
    _Row("tands tors txors", "i8 i16", "i8 i16 i32"),
    _Row("tshls", "i8 i16 i32 i64", "i8 i16 i32 i64"),
    _Row("tshrs", "i16 i32", "i8 i16 i32"),
    _Row("trems", "i32 f32", _BASIC),
    _Row("taxpy", _FLOAT, "f16 bf16 f32"),
    _Row("texpands", _WIDE, _FULL),
    _Row("tpows", "i8 i16 i32 f32", _BASIC8),
    _Row("tpows[high_precision]", "", "f16 bf16 f32"),
    # broadcast
    _Row("tcolexpand trowexpand", _FULL, _FULL),
    _Row("tcolexpandadd tcolexpandsub tcolexpandmul tcolexpandmax tcolexpandmin", _BASIC, _BASIC8),
    _Row("trowexpandadd trowexpandsub trowexpandmul trowexpandmax trowexpandmin", _BASIC, _BASIC8),
    _Row("tcolexpanddiv trowexpanddiv", _FLOAT, _BASIC8),
    _Row("tcolexpandexpdif trowexpandexpdif", _FLOAT, _FLOAT),
    # reductions
    _Row("trowsum trowmax trowmin trowprod trowargmax trowargmin", _BASIC, _BASIC),
    _Row("tcolsum tcolmax tcolmin", _BASIC, _FULL),
    _Row("tcolprod", _BASIC, _WIDE),
    _Row("tcolargmax tcolargmin", _FULL, _FULL),
    # partial, generated, sorted, gathered
    _Row("tpartadd tpartmul tpartmax tpartmin tpartargmax tpartargmin ttri", _BASIC, _FULL),
    _Row("tci", "i16 i32", "i16 i32"),
    _Row("tsort32 tmrgsort", _FLOAT, _FLOAT),
    _Row("tgather[index]", _BASIC, _BASIC8 + _FP8 + " hif8"),
    _Row("tgather[mask]", _WIDE, _FULL + _FP8 + " hif8"),
    _Row("tgather[compare]", "i32 f16 f32", _BASIC),
    _Row("tgatherb", _FULL, _FULL),
    _Row("tscatter[index] tscatter[mask]", _FULL, _FULL),
    _Row("thistogram", "", "i16 i32"),
    _Row("trandom", "", "i32"),
    _Row("taddrelu", "i16 f16 f32", ""),
    # quantisation: the row names the source
    _Row("tquant", "f32", "f32"),
    _Row("tquant.mx", "", "f32 f16 bf16"),
    _Row("tdequant", "i8 i16", "i8 i16"),
    # layout and movement
    _Row("tconcat tconcatidx ttrans", _FULL, _FULL),
    _Row("tfillpad tfillpad_expand tfillpad_inplace", _FULL + _NARROW + _SCALE, _FULL + _NARROW + _SCALE),
    _Row("tmov[vec->vec]", _TRANSFER, _TRANSFER + _NARROW + _SCALE),
    _Row("tmov[zz]", "", "ui8 hif8 f8E8M0"),
    _Row("textract", "i8 f16 bf16 f32", "i8 f16 bf16 f32" + _NARROW + _SCALE),
    _Row("tinsert[vec->vec]", "i8 f16 bf16 f32", "i8 i32 f16 bf16 f32" + _NARROW),
    _Row("tinsert[vec->mat]", "", "i8 i32 f16 bf16 f32" + _FP8),
    # load and store: the row names the tile
    _Row("tload tprefetch tstore[vec]", _TRANSFER, _TRANSFER + _NARROW + _SCALE),
    _Row("tstore[mat]", _TRANSFER, ""),
    _Row("tstore[acc]", "i32 f32", "i32 f32"),
    _Row("mgather mscatter", _FULL, _FULL + _FP8 + " hif8"),
    _Row("tprint", "i8 i16 i32 f16 f32", "i8 i16 i32 f16 f32"),
)


def _table(profile: str) -> DtypeTable:
    return MappingProxyType({op: frozenset(getattr(row, profile).split()) for row in _ROWS for op in row.ops.split()})


def without_types(table: DtypeTable) -> frozenset[str]:
    """Returns the operations of ``table`` that accept no element type in any of their forms."""
    accepted = {op.partition("[")[0] for op, types in table.items() if types}
    return frozenset(op.partition("[")[0] for op in table) - accepted


A2A3_TILE_DTYPES: Final = _table("a2a3")
A5_TILE_DTYPES: Final = _table("a5")
"""Operation (or operation form) -> element types of its data operands; ``iN`` stands for every sign."""

SIGNLESS_ONLY: Final = frozenset({"tconcatidx"})
"""Operations whose integer rows do not admit ``siN`` and ``uiN``."""

A2A3_DOCUMENTED_DTYPES: Final[DtypeTable] = MappingProxyType({"tshls": frozenset({"i16", "i32"})})
A5_DOCUMENTED_DTYPES: Final[DtypeTable] = MappingProxyType({"tshls": frozenset({"i8", "i16", "i32"})})
"""Rows where less is documented than accepted."""

MIXED_DTYPES: Final[Mapping[str, frozenset[tuple[str, str]]]] = MappingProxyType({"taxpy": frozenset({("f16", "f32")})})
"""(source, destination) pairs that an operation accepts besides equal element types."""

A2A3_GATHER_INDEX: Final = frozenset({"i32"})
A5_GATHER_INDEX: Final = frozenset({"i16", "i32"})
"""Element types of the index and scratch tiles of tgather, index form."""

GATHER_COMPARE_MODES: Final = frozenset({"eq", "gt"})
A2A3_GATHER_COMPARE_EQ_ONLY: Final = frozenset({"i32"})
A5_GATHER_COMPARE_EQ_ONLY: Final[frozenset[str]] = frozenset()
"""Source types that tgather, compare form, accepts with mode ``eq`` only."""

SCATTER_INDEX: Final[Mapping[str, str]] = MappingProxyType(
    {**dict.fromkeys(("i8", "i16", "f16", "bf16"), "i16"), **dict.fromkeys(("i32", "f32"), "i32")}
)
"""tscatter, index form: data element type -> element type of its index tile."""

MGATHER_INDEX: Final = "i32"
"""Element type of the index tile of mgather and mscatter (signless only)."""

MSCATTER_ATOMIC: Final[DtypeTable] = MappingProxyType(
    {
        "add": frozenset({"i32", "ui32", "f16", "f32"}),
        "max": frozenset({"i32", "f32"}),
        "min": frozenset({"i32", "f32"}),
    }
)
"""Atomic mode of mscatter -> element types; signs are literal."""


class QuantForm(NamedTuple):
    """Destination element type of tquant and the type of its offset tile (``None``: no offset)."""

    dst: str
    offset: str | None


TQUANT_FORMS: Final[Mapping[str, QuantForm]] = MappingProxyType(
    {"INT8_SYM": QuantForm("i8", None), "INT8_ASYM": QuantForm("ui8", "f32")}
)
TDEQUANT_DST: Final = "f32"
"""Element type of destination, scale and offset of tdequant."""

TRANDOM_ROUNDS: Final = frozenset({7, 10})

"""Location pairs and conversions of tile moves, loads and stores.

Source: docs/reference/targets.md, "Quantisation modes" and 7; docs/reference/operations.md, "Tiles: moves and
conversion".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from .element_types import signless

LocPair = tuple[str, str]
ElemPair = tuple[str, str]


def _loc_pairs(text: str) -> frozenset[LocPair]:
    pairs: set[LocPair] = set()
    for item in text.split():
        src, _, dsts = item.partition(">")
        pairs.update((src, dst) for dst in dsts.split("/"))
    return frozenset(pairs)


A2A3_TMOV: Final = _loc_pairs("mat>left/right/bias/scaling vec>vec acc>mat/vec")
A5_TMOV: Final = _loc_pairs("mat>left/right/bias/scaling vec>vec/mat acc>mat/vec")
A2A3_TEXTRACT: Final = _loc_pairs("mat>left/right vec>vec acc>mat")
A5_TEXTRACT: Final = _loc_pairs("mat>left/right/scaling vec>mat/vec acc>mat/vec")
A2A3_TINSERT: Final = _loc_pairs("vec>vec acc>mat")
A5_TINSERT: Final = _loc_pairs("vec>vec/mat acc>mat/vec")
"""(source location, destination location).  mat->scaling is the fixpipe table, on a5 also an MX scale."""

TLOAD_DESTINATIONS: Final = frozenset({"vec", "mat"})
A2A3_TSTORE_SOURCES: Final = frozenset({"vec", "mat", "acc"})
A5_TSTORE_SOURCES: Final = frozenset({"vec", "acc"})


def _elem_pairs(rows: dict[str, str]) -> frozenset[ElemPair]:
    return frozenset((src, dst) for src, dsts in rows.items() for dst in dsts.split())


# tinsert and textract out of the accumulator share their conversions; the quantising forms are the
# _fp operations, or an fp / preQuantScalar operand.
A2A3_ACC_MOVE: Final = _elem_pairs({"f32": "f16 bf16"})
A5_ACC_MOVE: Final = _elem_pairs({"f32": "f16 bf16 f32", "i32": "i32"})
"""(accumulator, destination) element types of textract and tinsert without quantisation."""

A2A3_ACC_MOVE_QUANT: Final = _elem_pairs({"f32": "i8", "i32": "i8 f16 i16"})
A5_ACC_MOVE_QUANT: Final = _elem_pairs({"f32": "i8 f8E4M3FN f8E5M2 hif8 f16 bf16 f32", "i32": "i8 f16 bf16"})
"""(accumulator, destination) element types of textract_fp and tinsert_fp; ``i8`` and ``i16`` of any sign."""


def moves(pairs: frozenset[ElemPair], src: str, dst: str) -> bool:
    """Returns whether a table of conversions has (``src``, ``dst``); integers of any sign."""
    return (signless(src), signless(dst)) in pairs


class AccStore(NamedTuple):
    """Element types of a tstore from the accumulator.

    ``plain``: pairs without quantisation.  ``quant``: pairs with ``preQuantScalar``.
    ``cols``, ``valid_cols``: inclusive ranges of physical and valid columns.
    """

    plain: frozenset[ElemPair]
    quant: frozenset[ElemPair]
    cols: tuple[int, int]
    valid_cols: tuple[int, int]

    def allows(self, src: str, dst: str, quantised: bool) -> bool:
        """Returns whether elements of type ``src`` are stored as ``dst``; integers of any sign."""
        return moves(self.quant if quantised else self.plain, src, dst)


_PLAIN_STORE = _elem_pairs({"i32": "i32 f32 f16 bf16", "f32": "i32 f32 f16 bf16"})

A2A3_ACC_STORE: Final = AccStore(
    plain=_PLAIN_STORE,
    quant=_elem_pairs({"i32": "i8 f16", "f32": "i8"}),
    cols=(1, 4095),
    valid_cols=(0, 4095),
)
A5_ACC_STORE: Final = AccStore(
    plain=_PLAIN_STORE,
    quant=_elem_pairs({"i32": "i8 f16 bf16", "f32": "i8 f16 bf16 f32 hif8 f8E4M3FN"}),
    cols=(1, 4095),
    valid_cols=(0, 4095),
)

A2A3_QUANT_MODE: Final[Mapping[ElemPair, str]] = MappingProxyType(
    {
        ("f32", "i8"): "qf322b8_pre",
        ("f32", "f16"): "qf322f16_pre",
        ("f32", "bf16"): "qf322bf16_pre",
        ("i32", "i8"): "req8",
        ("i32", "f16"): "deqf16",
        ("i32", "i16"): "deqs16",
    }
)
A5_QUANT_MODE: Final[Mapping[ElemPair, str]] = MappingProxyType(
    {
        ("f32", "i8"): "qf322b8_pre",
        ("f32", "f16"): "qf322f16_pre",
        ("f32", "bf16"): "qf322bf16_pre",
        ("f32", "f8E4M3FN"): "qf322fp8_pre",
        ("f32", "hif8"): "qf322hif8_pre",
        ("f32", "f32"): "qf322f32_pre",
        ("i32", "i8"): "req8",
        ("i32", "f16"): "deqf16",
        ("i32", "bf16"): "qs322bf16_pre",
    }
)
"""(accumulator, destination) -> pre-quant mode of a quantising store, without ``_vec`` or ``_scalar``.

``i8`` and ``i16`` stand for every sign.
"""

"""Meanings of enumerators of attributes and clauses whose names do not state them."""

from __future__ import annotations

from typing import Final

from pto_dialect.ir.core.base import PtoOp, Slot

from .schema import values_of

_ROUNDING = """
R: to the nearest, ties to even
A: to the nearest, ties away from zero
F: down, to −infinity
C: up, to +infinity
Z: toward zero
O: to odd: exact, or the neighbour whose last bit is 1
H: hybrid, for hif8 alone
RINT: to the nearest, ties to even
ROUND: to the nearest, ties away from zero
FLOOR: down, to −infinity
CEIL: up, to +infinity
TRUNC: toward zero
ODD: to odd: exact, or the neighbour whose last bit is 1
NONE: what the backend takes
round_even: ties to even
round_away: ties away from zero
r: to the nearest, ties to even
a: to the nearest, ties away from zero
f: down, to −infinity
c: up, to +infinity
z: toward zero
o: to odd: exact, or the neighbour whose last bit is 1
h: hybrid, for hif8 alone
"""
_SATURATION = """
SAT sat ON: what is out of range becomes the largest or smallest number of the type
NOSAT nosat OFF: without that limit
sat_preserve_nan: as sat, and NaN stays NaN
"""
_LOAD = """
NORM: element i in lane i
BRC_B8 BRC_B16 BRC_B32: the first element, of 8, 16 or 32 bits, in every lane
BRC_BLK: the first 32 bytes in every block of 32 bytes
US_B8 US_B16: each element twice: lanes 2i and 2i + 1 have element i
DS_B8 DS_B16: every second element: lane i has element 2i
UNPK_B8 UNPK_B16 UNPK_B32: zero-extended to lanes of twice the width
UNPK4: bytes, zero-extended to lanes of 32 bits
E2B_B16 E2B_B32: element j in all lanes of block j
SPLT4CHN: every fourth element, then zeros
SPLT2CHN_B8 SPLT2CHN_B16: every second element, then zeros
NORM_B8 NORM_B16 NORM_B32: the active lanes, in order
1PT_B8 1PT_B16 1PT_B32: lane 0 alone, whatever the mask
PK_B16 PK_B32 PK_B64: the lower half of each lane, packed
PK4_B32: the low byte of each lane, packed
MRG4CHN_B8 MRG2CHN_B8 MRG2CHN_B16: refused: the hardware does not have it
"""
_PARTS = """
EVEN: lanes 0, 2, 4, .. of the narrower register
ODD: lanes 1, 3, 5, .. of the narrower register
P0 P1 P2 P3: every fourth lane of the narrower register, from lane 0, 1, 2 or 3 on
"""
_FINAL = """
unspecified: the product is complete at once
partial: further parts follow
final: the last part
"""
_ORDERED = """
VV_ALL: vector accesses, then vector accesses
VST_VLD VLD_VST VST_VST: the same for stores (VST) and loads (VLD) alone, in the order of the name
VS_ALL: vector accesses, then scalar ones
VST_LD VLD_ST VST_ST: the same for stores and loads alone; LD and ST are scalar
SV_ALL: scalar accesses, then vector ones
ST_VLD LD_VST ST_VST: the same for stores and loads alone
SS_ALL: scalar accesses, then scalar ones
ST_LD LD_ST ST_ST: the same for stores and loads alone
"""
_BLOCKED = """
row: each index names a whole row
elem: each index names one element
"""
_OUTSIDE = """
undefined: an index out of range is a mistake
clamp: an index out of range means the last row or element
wrap: indices wrap around, modulo the size
zero: what is out of range reads as zero and is not written
"""
_PATTERN = """
P0101: elements 0, 2, 4, .., packed
P1010: elements 1, 3, 5, .., packed
P0001 P0010 P0100 P1000: element 0, 1, 2 or 3 of each four, packed
P1111: all elements
"""
_ATOMIC = """
atomic_none: the element is replaced
atomic_add: the element is added to what is there
atomic_max atomic_min: the larger, or the smaller, of both stays
"""
_CLASSES = """
TLOAD: loads from global memory: PIPE_MTE2
TSTORE_ACC: stores out of acc: PIPE_FIX
TSTORE_VEC: stores out of vec: PIPE_MTE3
TMOV_M2L TMOV_M2B: moves out of mat to left, right or bias: PIPE_MTE1
TMOV_M2S TMOV_V2M: moves out of mat to scaling, out of vec to mat: PIPE_FIX
TMOV_M2V: moves out of mat to vec: PIPE_V
TMATMUL: products: PIPE_M
TVEC TVECWAIT_EVENT: arithmetic of tiles: PIPE_V
"""
_PIPES = """
PIPE_S: the scalar unit
PIPE_V: vector arithmetic
PIPE_M: matrix products
PIPE_MTE1: moves from l1 to l0a, l0b, the bias table
PIPE_MTE2: loads from global memory
PIPE_MTE3: stores to global memory out of ub
PIPE_FIX: write-back of accumulators out of l0c
PIPE_ALL: all of them
"""
_TEXTS: Final = (
    (("rnd", "rmode", "round_mode", "rounding", "tf32_mode"), _ROUNDING),
    (("sat", "sat_mode", "saturate", "saturation"), _SATURATION),
    (("dist",), _LOAD),
    (("part",), _PARTS),
    (("accPhase", "stPhase"), _FINAL),
    (("kind",), _ORDERED),
    (("coalesce",), _BLOCKED),
    (("gatherOob", "scatterOob"), _OUTSIDE),
    (("maskPattern",), _PATTERN),
    (("atomicType", "scatterAtomicOp"), _ATOMIC),
    (("op_type", "src_op", "dst_op"), _CLASSES),
    (("pipe", "src_pipe", "dst_pipe"), _PIPES),
)


def _rows(text: str) -> tuple[tuple[tuple[str, ...], str], ...]:
    lines = (line.partition(": ") for line in text.strip().splitlines())
    return tuple((tuple(words.split()), meaning) for words, _, meaning in lines)


_BY_NAME: Final = {name: _rows(text) for names, text in _TEXTS for name in names}


def word_meanings(cls: type[PtoOp], slot: Slot) -> list[tuple[tuple[str, ...], str]]:
    """Returns the enumerators that an attribute of ``cls`` may be, and what they mean; words that mean the same stand
    together."""
    values = set(values_of(cls, slot))
    found: list[tuple[tuple[str, ...], str]] = []
    for words, meaning in _BY_NAME.get(slot.name, ()):
        taken = tuple(word for word in words if word in values)
        if taken:
            found.append((taken, meaning))
    return found

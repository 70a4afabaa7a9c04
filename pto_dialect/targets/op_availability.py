"""Which operations exist on a profile and which accept low-precision tiles.

Source: docs/reference/targets.md, "Element types".
"""

from __future__ import annotations

from typing import Final

from .tile_dtypes import A2A3_TILE_DTYPES, A5_TILE_DTYPES, without_types

_FORMS = ("", ".acc", ".bias")
_MATMUL_OPS: Final = frozenset(f"{base}{form}" for base in ("tmatmul", "tgemv") for form in _FORMS)
_MX_OPS: Final = frozenset(f"{base}.mx{form}" for base in ("tmatmul", "tgemv") for form in _FORMS)

A2A3_UNAVAILABLE: Final = without_types(A2A3_TILE_DTYPES) | _MX_OPS | {"tget_scale_addr"}
A5_UNAVAILABLE: Final = without_types(A5_TILE_DTYPES)
"""Tile operations (mnemonics without ``pto.``) that are an error on the profile: those that have no element type there
in any form, and operations without such a row."""

MICRO_LEVELS: Final = frozenset({"micro-vector", "micro-cube", "simt", "micro-vmi"})
"""Catalogue levels that select a5 where no target is named (docs/reference/targets.md, "Choice of the target")."""

# The plain copies between GM and UB serve both generations, so the level micro-dma is in neither set; its
# structured mte_* operations belong to a5.
A2A3_FOREIGN_LEVELS: Final = MICRO_LEVELS
A2A3_FOREIGN_PREFIXES: Final[tuple[str, ...]] = ("mte_",)
A5_FOREIGN_LEVELS: Final = frozenset({"micro-ub"})
A5_FOREIGN_PREFIXES: Final[tuple[str, ...]] = ()
"""Levels and mnemonic prefixes of the other generation. Their verifiers ignore the target; a program that mixes them
with a target is reported as ``arch-mix``."""

# Handles are made, viewed and passed on without a computation on the elements.
_HANDLES = """
    alloc_tile declare_tile bind_tile materialize_tile tassign subview bitcast set_validshape get_validshape
    tpush tpush_to_aic tpush_to_aiv tpop tpop_from_aic tpop_from_aiv tfree
"""
_TRANSFERS = """
    tload tstore tstore_fp tprefetch tmov tmov.fp tcvt tfillpad tfillpad_expand tfillpad_inplace
    textract textract_fp tinsert tinsert_fp mgather mscatter tgather tget_scale_addr treshape tquant.mx
"""

_ANY_SIZE = "tfillpad tfillpad_expand tfillpad_inplace"
"""Operations that constrain the size of elements only, on every target."""

A2A3_LOW_PRECISION_OPS: Final = frozenset(_HANDLES.split()) | frozenset(_ANY_SIZE.split())
A5_LOW_PRECISION_OPS: Final = frozenset(_HANDLES.split()) | frozenset(_TRANSFERS.split()) | _MATMUL_OPS | _MX_OPS
"""Operations (mnemonics without ``pto.``) that accept fp8, hif8, fp4 and e8m0 tiles; see ``tile-lowprec``."""

_ABSENT: Final = {
    "a2a3": (A2A3_UNAVAILABLE, A2A3_FOREIGN_LEVELS, A2A3_FOREIGN_PREFIXES),
    "a5": (A5_UNAVAILABLE, A5_FOREIGN_LEVELS, A5_FOREIGN_PREFIXES),
}


def is_available(op: str, level: str | None, arch: str) -> bool:
    """Returns whether ``op`` (without form) of catalogue level ``level`` belongs to the chip family ``arch``."""
    unavailable, levels, prefixes = _ABSENT[arch]
    return op not in unavailable and (level is None or not (level in levels or op.startswith(prefixes)))

"""What operations do outside of the valid regions of buffers, of which values have nothing.

Source: docs/reference/language.md, "Level 1 and Level 2".
"""

from __future__ import annotations

from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.operands import find
from pto_dialect.ir.core.types import TileBufType, dims_text, shape_of

from .operands import Accesses
from .rebuild import RefusedError, name_of

_COUNTING = frozenset(("tile_irregular",))
"""Families whose operations find elements of a tile by their number."""
_ELEMENTWISE = frozenset(("tile_elementwise", "tile_scalar"))
"""Families whose operations read of each source what they write of the destination."""


def refuse_outside(op: PtoOp, accesses: Accesses) -> None:
    """Raises :class:`RefusedError` for an operation that reads elements outside of a valid region, as far as types
    state."""
    family = OPS[op.name][0]
    counts = family in _COUNTING or find(op, "offset") is not None
    for use in (*accesses.reads, *accesses.scratch, *accesses.writes):
        type_ = use.value.type
        if not isinstance(type_, TileBufType) or valid(type_) == (type_.rows, type_.cols):
            continue
        region = (
            f"the valid region of {name_of(use.value)} is {dims_text(valid(type_))} of {dims_text(shape_of(type_))}"
        )
        if counts:
            raise RefusedError(op, f"{region}, and {op.name} counts the elements of all of it")
        if family in _ELEMENTWISE and use in accesses.reads:
            for write in accesses.writes:
                expected = write.value.type
                assert isinstance(expected, TileBufType)
                if not _within(expected, type_):
                    raise RefusedError(op, f"{region}, and {op.name} reads more of it")


def valid(type_: TileBufType) -> tuple[int, int]:
    """Rows and columns of the valid region."""
    return type_.valid_rows, type_.valid_cols


def _within(one: TileBufType, other: TileBufType) -> bool:
    """Returns whether the valid region of ``one`` lies in that of ``other``, where both have one shape."""
    if shape_of(one) != shape_of(other):
        return True
    return all(a <= b for a, b in zip(valid(one), valid(other), strict=True))

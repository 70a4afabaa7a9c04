"""Assignment of the values of a tile operation to declared inputs, where their number alone does not determine it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from pto_dialect.ir.core.base import Slot
from pto_dialect.ir.core.kinds import TILE_OR_VIEW

MERGE_SORT_SOURCES = 4
"""Maximum number of lists of one merge; a further tile is the scratch operand."""


def fitting_slots(slots: Sequence[Slot], values: Sequence[SSAValue]) -> Sequence[Slot]:
    """Returns the slots that ``values`` fill in order: an optional one only where the type of the value fits.

    All slots when some value fits nowhere, so that the usual count and kind checks report it.
    """
    chosen: list[Slot] = []
    position = 0
    for slot in slots:
        fits = position < len(values) and slot.kind.accepts(values[position].type)
        if fits or slot.arity == "1":
            chosen.append(slot)
            position += 1
    return chosen if position == len(values) else slots


def merge_sort_inputs(values: Sequence[SSAValue], scratch: bool) -> dict[str, list[SSAValue]]:
    """Returns the inputs of ``tmrgsort``: sources and a block length, or sources and (``scratch``) the scratch tile.

    Source: docs/reference/language.md, "Shapes".
    """
    if values and not TILE_OR_VIEW.accepts(values[-1].type):
        return {"srcs": list(values[:-1]), "blockLen": [values[-1]]}
    if scratch and len(values) > 1:
        return {"srcs": list(values[:-1]), "tmp": [values[-1]]}
    return {"srcs": list(values)}

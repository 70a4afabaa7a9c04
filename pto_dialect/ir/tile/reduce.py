"""Reductions along the rows or columns of the valid region.

Source: docs/reference/tiles.md, "Broadcasts and reductions".
"""

from __future__ import annotations

from xdsl.irdl import opt_attr_def

from ..core.base import Shape
from ..core.facts.form_cases import IDLE_SCRATCH_ON_A5
from ..core.kinds import BOOL
from ..core.rows import rows
from .forms import UnaryScratchTileOp, UnaryTileOp


class TRowSumOp(UnaryScratchTileOp, name="pto.trowsum", forms=(IDLE_SCRATCH_ON_A5,)):
    """dst[i,0] = sum over j of src[i,j], j increasing."""


class TRowProdOp(UnaryScratchTileOp, name="pto.trowprod", forms=(IDLE_SCRATCH_ON_A5,)):
    """dst[i,0] = product over j of src[i,j], j increasing."""


class TRowMaxOp(UnaryScratchTileOp, name="pto.trowmax", forms=(IDLE_SCRATCH_ON_A5,)):
    """dst[i,0] = max over j of src[i,j]; NaN propagates."""


class TRowMinOp(UnaryScratchTileOp, name="pto.trowmin", forms=(IDLE_SCRATCH_ON_A5,)):
    """dst[i,0] = min over j of src[i,j]; NaN propagates."""


rows(__name__, UnaryScratchTileOp, forms=(IDLE_SCRATCH_ON_A5,))("""
TRowArgMaxOp pto.trowargmax: dst[i,0] = column of the first maximum of row i.
TRowArgMinOp pto.trowargmin: dst[i,0] = column of the first minimum of row i.
TColArgMaxOp pto.tcolargmax: dst[0,j] = row of the first maximum of column j.
TColArgMinOp pto.tcolargmin: dst[0,j] = row of the first minimum of column j.
""")


rows(__name__, UnaryTileOp)("""
TColProdOp pto.tcolprod: dst[0,j] = product over i of src[i,j], i increasing.
TColMaxOp pto.tcolmax: dst[0,j] = max over i of src[i,j]; NaN propagates.
TColMinOp pto.tcolmin: dst[0,j] = min over i of src[i,j]; NaN propagates.
""")


class TColSumOp(UnaryScratchTileOp, name="pto.tcolsum", shape=Shape.DPS_INNER, inner_with="tmp"):
    """dst[0,j] = sum over i of src[i,j]; isBinary changes the order only."""

    isBinary = opt_attr_def(BOOL)

"""Reductions along the rows or columns of the valid region.

Source: docs/reference/tiles.md, "Broadcasts and reductions".
"""

from __future__ import annotations

from xdsl.irdl import opt_attr_def

from ..core.base import Shape
from ..core.facts.form_cases import IDLE_SCRATCH_ON_A5
from ..core.kinds import BOOL
from .forms import UnaryScratchTileOp, UnaryTileOp


class TRowSumOp(UnaryScratchTileOp, name="pto.trowsum", forms=(IDLE_SCRATCH_ON_A5,)):
    """dst[i,0] = sum over j of src[i,j], j increasing."""


class TRowProdOp(UnaryScratchTileOp, name="pto.trowprod", forms=(IDLE_SCRATCH_ON_A5,)):
    """dst[i,0] = product over j of src[i,j], j increasing."""


class TRowMaxOp(UnaryScratchTileOp, name="pto.trowmax", forms=(IDLE_SCRATCH_ON_A5,)):
    """dst[i,0] = max over j of src[i,j]; NaN propagates."""


class TRowMinOp(UnaryScratchTileOp, name="pto.trowmin", forms=(IDLE_SCRATCH_ON_A5,)):
    """dst[i,0] = min over j of src[i,j]; NaN propagates."""


class TRowArgMaxOp(UnaryScratchTileOp, name="pto.trowargmax", forms=(IDLE_SCRATCH_ON_A5,)):
    """dst[i,0] = column of the first maximum of row i."""


class TRowArgMinOp(UnaryScratchTileOp, name="pto.trowargmin", forms=(IDLE_SCRATCH_ON_A5,)):
    """dst[i,0] = column of the first minimum of row i."""


class TColArgMaxOp(UnaryScratchTileOp, name="pto.tcolargmax", forms=(IDLE_SCRATCH_ON_A5,)):
    """dst[0,j] = row of the first maximum of column j."""


class TColArgMinOp(UnaryScratchTileOp, name="pto.tcolargmin", forms=(IDLE_SCRATCH_ON_A5,)):
    """dst[0,j] = row of the first minimum of column j."""


class TColProdOp(UnaryTileOp, name="pto.tcolprod"):
    """dst[0,j] = product over i of src[i,j], i increasing."""


class TColMaxOp(UnaryTileOp, name="pto.tcolmax"):
    """dst[0,j] = max over i of src[i,j]; NaN propagates."""


class TColMinOp(UnaryTileOp, name="pto.tcolmin"):
    """dst[0,j] = min over i of src[i,j]; NaN propagates."""


class TColSumOp(UnaryScratchTileOp, name="pto.tcolsum", shape=Shape.DPS_INNER, inner_with="tmp"):
    """dst[0,j] = sum over i of src[i,j]; isBinary changes the order only."""

    isBinary = opt_attr_def(BOOL)

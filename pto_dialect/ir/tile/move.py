"""Tile moves: layout and location conversion, windows, padding, transposition, concatenation.

Source: docs/reference/layouts.md, "Moves between tiles"; docs/reference/numerics.md, "Write-back".
"""

from __future__ import annotations

from xdsl.irdl import operand_def, opt_attr_def, opt_operand_def, opt_result_def

from ..core.base import Pipe, PtoOp, Shape
from ..core.facts.form_cases import FILL_OF_L1, IDLE_SCRATCH_ON_A5, FormCase
from ..core.forms import TileOp
from ..core.kinds import ANY, I64, INDEX, TILE_OR_VIEW, enum
from ..core.roles import Role
from .forms import BinaryTileOp, UnaryScratchTileOp


class ConvertingMoveOp(
    PtoOp,
    shape=Shape.DPS_KEYED,
    reads=("src", "fp"),
    writes=("dst",),
):
    """A move that may pass the fixpipe: the operands and attributes after its inputs."""

    dst = fp = opt_operand_def(TILE_OR_VIEW)
    preQuantScalar = opt_operand_def(I64)
    accToVecMode = opt_attr_def(enum("acc_to_vec_mode"))
    reluPreMode = opt_attr_def(enum("relu_pre_mode", default="no_relu"))
    result = opt_result_def(ANY)


UB_TO_L1_ON_A5 = FormCase(targets=("a5",), at={"src": ("vec",), "dst": ("mat",)}, pipe=Pipe.MTE3)
"""A copy below the operations of tiles (``copy_ubuf_to_cbuf``)."""


class TMovOp(
    ConvertingMoveOp,
    name="pto.tmov",
    pipe=Pipe.V,
    text=("src", "fp", "preQuantScalar", "dst"),
    unnamed=("fp", "preQuantScalar"),
    forms=(
        FormCase(at={"src": ("acc",)}, pipe=Pipe.FIX),
        FormCase(at={"src": ("mat",), "dst": ("scaling",)}, elements={"src": ("f8E8M0",)}, pipe=Pipe.MTE1),
        FormCase(at={"src": ("mat",), "dst": ("scaling",)}, pipe=Pipe.FIX),
        FormCase(at={"src": ("mat",), "dst": ("left", "right", "bias")}, pipe=Pipe.MTE1),
        UB_TO_L1_ON_A5,
        # The workspace of the reordering of MX scales.
        FormCase(at={"fp": ("vec",)}, scratch=("fp",)),
    ),
):
    """dst = src in the layout and location of dst; an accumulator source passes the fixpipe (relu, quantisation)."""

    src = operand_def(TILE_OR_VIEW)
    grpAxis = opt_attr_def(enum("mx_group_axis"))


class TMovFpOp(TileOp, name="pto.tmov.fp", pipe=Pipe.FIX, reads=("src", "fp"), since="june"):
    """Accumulator tile moved with one quantisation parameter per channel."""

    src = fp = operand_def(TILE_OR_VIEW)


class TExtractOp(
    ConvertingMoveOp,
    name="pto.textract",
    pipe=Pipe.V,
    text=("src", "indexRow", "indexCol", "preQuantScalar", "fp", "dst"),
    keyed=("fp",),
    forms=(
        FormCase(at={"src": ("mat",)}, pipe=Pipe.MTE1),
        FormCase(at={"src": ("acc",)}, pipe=Pipe.FIX),
        UB_TO_L1_ON_A5,
        FormCase(at={"src": ("vec",), "dst": ("mat",)}, pipe=Pipe.FIX),
    ),
):
    """dst[i,j] = src[indexRow + i, indexCol + j]; an accumulator source passes the fixpipe."""

    src = operand_def(TILE_OR_VIEW)
    indexRow = indexCol = operand_def(INDEX)


class TInsertOp(
    ConvertingMoveOp,
    name="pto.tinsert",
    pipe=Pipe.FIX,
    text=("src", "indexRow", "indexCol", "fp", "preQuantScalar", "dst"),
    keyed=("fp", "preQuantScalar"),
    in_place=("dst",),
    forms=(
        FormCase(at={"src": (None, "vec"), "dst": (None, "vec")}, pipe=Pipe.V),
        UB_TO_L1_ON_A5,
    ),
):
    """dst[indexRow + i, indexCol + j] = src[i,j], the rest of dst is kept; an accumulator source passes the fixpipe."""

    src = operand_def(TILE_OR_VIEW)
    indexRow = indexCol = operand_def(INDEX)
    tinsertMode = opt_attr_def(enum("tinsert_mode"))


class ParameterWindowOp(TileOp, pipe=Pipe.FIX, reads=("src", "fp"), since="june"):
    """Window of an accumulator tile, quantised with one parameter per channel."""

    src = fp = operand_def(TILE_OR_VIEW)
    indexRow = indexCol = operand_def(INDEX)


class TExtractFpOp(ParameterWindowOp, name="pto.textract_fp"):
    """dst[i,j] = fixpipe(src[indexRow + i, indexCol + j])."""


class TInsertFpOp(ParameterWindowOp, name="pto.tinsert_fp", in_place=("dst",)):
    """dst[indexRow + i, indexCol + j] = fixpipe(src[i,j]), the rest of dst is kept."""


class PaddingOp(TileOp, reads=("src",), forms=(FILL_OF_L1,)):
    """Copy that gives the elements outside the valid region of ``src`` a value."""

    src = operand_def(TILE_OR_VIEW)


class TFillPadOp(PaddingOp, name="pto.tfillpad"):
    """dst = src inside the valid region of src, the pad value of dst elsewhere (docs/reference/tiles.md, "Irregular
    operations").
    """

    padValue = opt_attr_def(enum("pad_value"))


class TFillPadExpandOp(PaddingOp, name="pto.tfillpad_expand", since="june"):
    """As ``tfillpad``, dst may be larger than src (docs/reference/tiles.md, "Irregular operations")."""


class TFillPadInplaceOp(PaddingOp, name="pto.tfillpad_inplace", since="june"):
    """As ``tfillpad``, dst and src share their storage (docs/reference/tiles.md, "Irregular operations")."""


class TTransOp(UnaryScratchTileOp, name="pto.ttrans", forms=(IDLE_SCRATCH_ON_A5,)):
    """dst[j,i] = src[i,j] (docs/reference/layouts.md, "Moves between tiles")."""


class TConcatOp(BinaryTileOp, name="pto.tconcat", roles=Role.PARTIAL):
    """Row i of dst = row i of src0 followed by row i of src1, valid columns only
    (docs/reference/layouts.md, "Moves between tiles").
    """


class TConcatIdxOp(TileOp, name="pto.tconcatidx", reads=("src0", "src1", "src0Idx", "src1Idx"), roles=Role.PARTIAL):
    """Row i of dst = the leading elements of rows i of src0 and src1, as many as src0Idx and src1Idx say
    (docs/reference/tiles.md, "Irregular operations").
    """

    src0 = src1 = src0Idx = src1Idx = operand_def(TILE_OR_VIEW)

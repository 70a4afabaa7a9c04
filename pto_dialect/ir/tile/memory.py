"""Tiles to and from global memory, single elements, and printing.

Source: docs/reference/tiles.md, "Irregular operations".
"""

from __future__ import annotations

from xdsl.irdl import operand_def, opt_attr_def, opt_operand_def, opt_result_def, result_def

from ..core.base import Pipe, PtoOp, Shape
from ..core.facts.form_cases import SEVERAL_PIPES_ON_A2A3, FormCase
from ..core.forms import TileOp
from ..core.kinds import ANY, BOOL, I64, INDEX, NUMBER, TILE_OR_VIEW, enum
from ..core.roles import Role
from .clauses import LOAD_FIELDS


class TLoadOp(
    PtoOp,
    name="pto.tload",
    shape=Shape.DPS_TLOAD,
    pipe=Pipe.MTE2,
    reads=("src",),
    writes=("dst",),
    clauses=LOAD_FIELDS,
    roles=Role.TILE_LOAD,
):
    """dst valid region = the elements of the src view; what lies outside follows the padding of the tile type
    (docs/reference/layouts.md, "Views of global memory").
    """

    src = operand_def(TILE_OR_VIEW)
    dst = opt_operand_def(TILE_OR_VIEW)
    pad_value = opt_operand_def(ANY)
    left_padding_num = opt_operand_def(INDEX)
    right_padding_num = init_condition = opt_operand_def(ANY)
    pad_mode = opt_attr_def(enum("padmode"))
    init_out_buffer = opt_attr_def(BOOL)
    result = opt_result_def(ANY)


class TStoreOp(
    PtoOp,
    name="pto.tstore",
    shape=Shape.DPS_KEYED,
    pipe=Pipe.MTE3,
    reads=("src", "fp", "dst"),
    writes=("dst",),
    text=("src", "fp", "preQuantScalar", "dst"),
    keyed=("fp",),
    unnamed=("preQuantScalar",),
    forms=(FormCase(at={"src": ("acc",)}, pipe=Pipe.FIX),),
    roles=Role.TILE_STORE,
):
    """dst view = the valid region of src; an accumulator source passes the fixpipe (relu, quantisation,
    atomic add) (docs/reference/numerics.md, "Write-back"; docs/reference/tiles.md, "Irregular operations").
    """

    src = dst = operand_def(TILE_OR_VIEW)
    fp = opt_operand_def(TILE_OR_VIEW)
    preQuantScalar = opt_operand_def(I64)
    stPhase = opt_attr_def(enum("st_phase", default="unspecified"))
    atomicType = opt_attr_def(enum("atomic_type", default="atomic_none"))
    reluPreMode = opt_attr_def(enum("relu_pre_mode", default="no_relu"))
    result = opt_result_def(ANY)


class TStoreFpOp(
    PtoOp, name="pto.tstore_fp", shape=Shape.DPS, pipe=Pipe.FIX, reads=("src", "fp"), writes=("dst",), since="june"
):
    """Accumulator tile stored with one quantisation parameter per channel (docs/reference/numerics.md,
    "Write-back").
    """

    src = fp = dst = operand_def(TILE_OR_VIEW)


class TPrefetchOp(TileOp, name="pto.tprefetch", pipe=Pipe.MTE2, reads=("src",), writes=(), roles=Role.PARTIAL):
    """Hints that the src view will be loaded; no data result."""

    src = operand_def(TILE_OR_VIEW)


class MGatherOp(
    TileOp,
    name="pto.mgather",
    reads=("mem", "idx"),
    writes=("dst", "scratch"),
    text=("mem", "idx", "scratch", "dst"),
    forms=(
        SEVERAL_PIPES_ON_A2A3,
        FormCase(targets=("a2a3",), pipe=Pipe.MTE2),
        FormCase(at={"dst": ("mat",)}, pipe=Pipe.MTE2),
    ),
    roles=Role.PARTIAL,
):
    """dst[i,:] = mem[idx[i],:] (coalesce row) or dst[i,j] = mem[idx[i,j]] (elem); gatherOob rules indices out of
    range."""

    mem = idx = operand_def(TILE_OR_VIEW)
    dst = scratch = opt_operand_def(TILE_OR_VIEW)
    coalesce = opt_attr_def(enum("coalesce"))
    gatherOob = opt_attr_def(enum("gather_oob", default="undefined"))


class MScatterOp(
    PtoOp,
    name="pto.mscatter",
    shape=Shape.DPS,
    pipe=Pipe.V,
    reads=("src", "idx", "mem"),
    writes=("mem",),
    outs=("mem",),
    forms=(SEVERAL_PIPES_ON_A2A3, FormCase(targets=("a2a3",), pipe=Pipe.MTE3)),
):
    """Mem[idx[i],:] = src[i,:] (coalesce row) or mem[idx[i,j]] = src[i,j] (elem), combined atomically on request;
    scatterOob rules indices out of range."""

    src = idx = mem = operand_def(TILE_OR_VIEW)
    coalesce = opt_attr_def(enum("coalesce"))
    scatterAtomicOp = opt_attr_def(enum("scatter_atomic_op", default="none"))
    scatterOob = opt_attr_def(enum("scatter_oob", default="undefined"))
    scatterConflict = opt_attr_def(enum("scatter_conflict"))


class TGetValOp(PtoOp, name="pto.tgetval", shape=Shape.INS_ONLY, pipe=Pipe.S, reads=("src",)):
    """The element of src at a linear offset."""

    src = operand_def(TILE_OR_VIEW)
    offset = operand_def(INDEX)
    dst = result_def(NUMBER)


class TSetValOp(TileOp, name="pto.tsetval", pipe=Pipe.S, text=("offset", "val", "dst"), in_place=("dst",)):
    """dst element at a linear offset = val."""

    dst = opt_operand_def(TILE_OR_VIEW)
    offset = operand_def(INDEX)
    val = operand_def(NUMBER)


class TPrintOp(PtoOp, name="pto.tprint", shape=Shape.INS_ONLY, pipe=Pipe.V, reads=("src",), roles=Role.REPORT):
    """Prints src."""

    src = operand_def(TILE_OR_VIEW)
    tmp = opt_operand_def(TILE_OR_VIEW)
    printFormat = opt_attr_def(enum("print_format"))

"""Gather, scatter, sort, quantisation, histogram, sequences.

Source: docs/reference/tiles.md, "Irregular operations".
"""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, opt_attr_def, opt_operand_def, var_operand_def

from ..core.base import Pipe, PtoOp, Shape, at_most
from ..core.facts.form_cases import IDLE_SCRATCH_ON_A5, FormCase
from ..core.forms import TileOp
from ..core.kinds import ANY, BOOL, I32_ATTR, INTEGER, NUMBER, SIGNLESS, TILE_OR_VIEW, enum
from ..core.roles import Role
from ..core.words import AXIS


class TGatherOp(
    PtoOp,
    name="pto.tgather",
    shape=Shape.DPS_MASK,
    pipe=Pipe.V,
    reads=("src", "indices"),
    writes=("dst", "cdst", "tmp"),
    outs=("dst", "cdst"),
    text=("src", "indices", "kValue", "tmp", "dst", "cdst"),
    tokens=("maskPattern", "axis"),
    forms=(IDLE_SCRATCH_ON_A5,),
    roles=Role.PARTIAL,
):
    """dst[i,j] = src at flat index indices[i,j], or the lanes that maskPattern selects, or the indices (count in cdst)
    of elements that compare with kValue."""

    src = operand_def(TILE_OR_VIEW)
    dst = cdst = indices = tmp = opt_operand_def(TILE_OR_VIEW)
    kValue = opt_operand_def(NUMBER)
    maskPattern = opt_attr_def(enum("mask_pattern"))
    axis = opt_attr_def(AXIS)
    cmpMode = opt_attr_def(enum("cmp"))
    offset = opt_attr_def(I32_ATTR)
    results_ = at_most(2)


class TScatterOp(
    TileOp,
    name="pto.tscatter",
    shape=Shape.DPS_MASK,
    reads=("src", "indexes"),
    text=("src", "indexes", "dst"),
    tokens=("maskPattern", "axis"),
    forms=(FormCase(targets=("a2a3",), present=("indexes",), pipe=Pipe.S),),
):
    """dst at flat index indexes[i,j] = src[i,j], or src spread over the positions of maskPattern; 0 elsewhere."""

    src = operand_def(TILE_OR_VIEW)
    dst = indexes = opt_operand_def(TILE_OR_VIEW)
    axis = opt_attr_def(AXIS)
    maskPattern = opt_attr_def(enum("mask_pattern"))


class TGatherbOp(TileOp, name="pto.tgatherb", reads=("src", "offsets")):
    """32-byte blocks of src at the byte offsets in offsets."""

    src = offsets = operand_def(TILE_OR_VIEW)


class TSort32Op(TileOp, name="pto.tsort32", reads=("src", "idx"), writes=("tmp", "dst"), roles=Role.PARTIAL):
    """Groups of 32 scores sorted descending; dst holds (score, index) pairs."""

    src = idx = operand_def(TILE_OR_VIEW)
    tmp = opt_operand_def(TILE_OR_VIEW)


class TMrgsortOp(
    PtoOp,
    name="pto.tmrgsort",
    shape=Shape.DPS_INNER,
    pipe=Pipe.V,
    reads=("srcs",),
    writes=("dsts", "tmp"),
    outs=("dsts", "excuted"),
    text=("srcs", "blockLen", "tmp", "dsts", "excuted"),
    tokens=("exhausted",),
    roles=Role.PARTIAL,
):
    """Merges sorted blocks of blockLen inside one source, or 2 to 4 sorted sources; excuted = consumed counts."""

    srcs = var_operand_def(TILE_OR_VIEW)
    blockLen = opt_operand_def(INTEGER)
    dsts = var_operand_def(TILE_OR_VIEW)
    tmp = opt_operand_def(TILE_OR_VIEW)
    excuted = opt_operand_def(ANY)
    exhausted = opt_attr_def(BOOL.by_default("false"))
    results_ = at_most(2)


class TDequantOp(TileOp, name="pto.tdequant", reads=("src", "scale", "offset")):
    """dst[i,j] = (src[i,j] − offset[i])·scale[i]."""

    src = scale = offset = operand_def(TILE_OR_VIEW)


class TQuantOp(
    TileOp,
    name="pto.tquant",
    reads=("src", "fp", "offset"),
    writes=("tmp", "dst"),
    outs=("dst", "tmp"),
    text=("src", "fp", "offset", "dst", "tmp"),
    forms=(
        IDLE_SCRATCH_ON_A5,
        # The source is scaled in place, and its bytes serve for half-precision values.
        FormCase(targets=("a2a3",), present=("dst",), clobbers=("src",)),
    ),
):
    """dst = clamp(round(src·fp)) as i8, or clamp(round(src·fp + offset)) as u8, one fp (and offset) per row."""

    src = fp = operand_def(TILE_OR_VIEW)
    offset = tmp = opt_operand_def(TILE_OR_VIEW)
    quant_type = attr_def(enum("quant_type"))


class TQuantMxOp(
    PtoOp,
    name="pto.tquant.mx",
    shape=Shape.DPS,
    pipe=Pipe.V,
    reads=("src",),
    writes=("dst", "exp", "max", "scaling", "exp_zz"),
    outs=("dst", "exp", "max", "scaling", "exp_zz"),
    since="august",
):
    """Packed elements in dst, one shared exponent per 32 elements in exp, with their maxima and scaling factors."""

    src = operand_def(TILE_OR_VIEW)
    dst = exp = max = scaling = exp_zz = opt_operand_def(TILE_OR_VIEW)
    quant_type = attr_def(enum("quant_type"))
    quantScaleAlg = opt_attr_def(enum("quant_scale_alg", default="ocp"))
    storeMode = opt_attr_def(enum("vec_store_mode"))
    grpAxis = opt_attr_def(enum("mx_group_axis", default="axis1"))
    interleave = opt_attr_def(BOOL.by_default("false"))
    results_ = at_most(5)


class THistogramOp(TileOp, name="pto.thistogram", reads=("src", "idx"), roles=Role.PARTIAL):
    """dst[i,b] = number of elements of row i whose selected byte is at most b, filtered by idx."""

    src = idx = operand_def(TILE_OR_VIEW)
    byte = opt_attr_def(I32_ATTR)


class TRandomOp(TileOp, name="pto.trandom", shape=Shape.DPS_INNER):
    """dst = Philox 4x32 random words from key and counter after the given number of rounds."""

    key0 = key1 = counter0 = counter1 = counter2 = counter3 = operand_def(SIGNLESS)
    rounds = opt_attr_def(I32_ATTR.by_default("10 : i32"))


class TCiOp(
    TileOp,
    name="pto.tci",
    pipe=Pipe.S,
    writes=("tmp", "dst"),
    forms=(IDLE_SCRATCH_ON_A5, FormCase(present=("tmp",), pipe=Pipe.V)),
    roles=Role.PARTIAL,
):
    """dst[0,j] = S + j, or S − j when descending."""

    S = operand_def(INTEGER)
    tmp = opt_operand_def(TILE_OR_VIEW)
    descending = opt_attr_def(BOOL.by_default("false"))


class TTriOp(TileOp, name="pto.ttri", shape=Shape.DPS_INNER):
    """dst[i,j] = 1 on and below the diagonal offset (upperOrLower 0) or on and above it (1), else 0."""

    diagonal = operand_def(INTEGER)
    upperOrLower = opt_attr_def(I32_ATTR.by_default("0 : i32"))

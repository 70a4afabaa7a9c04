"""Matrix products of L0 tiles: ``left`` times ``right`` into an ``acc`` tile.

Source: docs/reference/numerics.md, "Matrix products".
"""

from __future__ import annotations

from xdsl.irdl import operand_def, opt_attr_def, opt_operand_def, opt_result_def

from ..core.base import Effect, Pipe, PtoOp, Shape
from ..core.forms import TileOp
from ..core.kinds import ANY, TILE_OR_VIEW, enum
from ..core.roles import Role


class PhasedProductOp(TileOp, pipe=Pipe.M):
    """Product in phases."""

    accPhase = opt_attr_def(enum("acc_phase", default="unspecified"))


class ProductOp(PhasedProductOp, reads=("lhs", "rhs")):
    """Product of a left tile (M x K) and a right tile (K x N)."""

    lhs = rhs = operand_def(TILE_OR_VIEW)


class TMatmulOp(ProductOp, name="pto.tmatmul"):
    """dst[i,j] = sum over k of lhs[i,k]·rhs[k,j], k increasing."""


class AccumulatingProductOp(PhasedProductOp, reads=("acc_in", "lhs", "rhs"), roles=Role.ACCUMULATES):
    """Product added to an accumulator tile, which may be ``dst`` itself."""

    acc_in = lhs = rhs = operand_def(TILE_OR_VIEW)


class TMatmulAccOp(AccumulatingProductOp, name="pto.tmatmul.acc"):
    """dst[i,j] = acc_in[i,j] + sum over k of lhs[i,k]·rhs[k,j]."""


class BiasedProductOp(PhasedProductOp, reads=("a", "b", "bias")):
    """Product that starts from one bias per column."""

    a = b = bias = operand_def(TILE_OR_VIEW)


class TMatmulBiasOp(BiasedProductOp, name="pto.tmatmul.bias"):
    """dst[i,j] = bias[0,j] + sum over k of a[i,k]·b[k,j]."""


class ScaledProductOp(PhasedProductOp, reads=("a", "a_scale", "b", "b_scale")):
    """Product of MX operands: one power-of-two scale per 32 elements along k."""

    a = a_scale = b = b_scale = operand_def(TILE_OR_VIEW)


class TMatmulMxOp(ScaledProductOp, name="pto.tmatmul.mx"):
    """dst[i,j] = sum over k of a[i,k]·b[k,j]·2^(a_scale[i,k/32] − 127)·2^(b_scale[k/32,j] − 127)."""


class AccumulatingScaledProductOp(
    PhasedProductOp, reads=("c_in", "a", "a_scale", "b", "b_scale"), roles=Role.ACCUMULATES
):
    """MX product added to an accumulator tile."""

    c_in = a = a_scale = b = b_scale = operand_def(TILE_OR_VIEW)


class TMatmulMxAccOp(AccumulatingScaledProductOp, name="pto.tmatmul.mx.acc"):
    """dst = c_in + the MX product of a and b."""


class BiasedScaledProductOp(TileOp, pipe=Pipe.M, reads=("a", "a_scale", "b", "b_scale", "bias")):
    """MX product that starts from one bias per column."""

    a = a_scale = b = b_scale = bias = operand_def(TILE_OR_VIEW)


class TMatmulMxBiasOp(BiasedScaledProductOp, name="pto.tmatmul.mx.bias"):
    """dst = bias[0,j] + the MX product of a and b."""


class TGetScaleAddrOp(PtoOp, name="pto.tget_scale_addr", shape=Shape.DPS, pipe=Pipe.S, effect=Effect.HANDLE):
    """dst = the scale tile bound to a left or right tile: its address is the data address divided by 16
    (docs/reference/layouts.md, "MX scales").
    """

    src = operand_def(TILE_OR_VIEW)
    dst = opt_operand_def(TILE_OR_VIEW)
    result = opt_result_def(ANY)

"""Matrix products whose left operand is a single row."""

from __future__ import annotations

from .matmul import (
    AccumulatingProductOp,
    AccumulatingScaledProductOp,
    BiasedProductOp,
    BiasedScaledProductOp,
    ProductOp,
    ScaledProductOp,
)


class TGemvOp(ProductOp):
    """dst[0,j] = sum over k of lhs[0,k]·rhs[k,j], k increasing (docs/reference/numerics.md, "Matrix products")."""

    name = "pto.tgemv"


class TGemvAccOp(AccumulatingProductOp):
    """dst[0,j] = acc_in[0,j] + sum over k of lhs[0,k]·rhs[k,j] (docs/reference/numerics.md, "Matrix products")."""

    name = "pto.tgemv.acc"


class TGemvBiasOp(BiasedProductOp):
    """dst[0,j] = bias[0,j] + sum over k of a[0,k]·b[k,j] (docs/reference/numerics.md, "Matrix products")."""

    name = "pto.tgemv.bias"


class TGemvMxOp(ScaledProductOp):
    """dst[0,j] = sum over k of a[0,k]·b[k,j], both scaled by one power of two per 32 elements along k
    (docs/reference/numerics.md, "Matrix products").
    """

    name = "pto.tgemv.mx"


class TGemvMxAccOp(AccumulatingScaledProductOp):
    """dst = c_in + the MX product of row a and b (docs/reference/numerics.md, "Matrix products")."""

    name = "pto.tgemv.mx.acc"


class TGemvMxBiasOp(BiasedScaledProductOp):
    """dst = bias[0,j] + the MX product of row a and b (docs/reference/numerics.md, "Matrix products")."""

    name = "pto.tgemv.mx.bias"

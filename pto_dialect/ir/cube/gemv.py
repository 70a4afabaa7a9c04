"""Matrix products whose left operand is a single row. Source: docs/reference/numerics.md, "Matrix products"."""

from __future__ import annotations

from .matmul import (
    AccumulatingProductOp,
    AccumulatingScaledProductOp,
    BiasedProductOp,
    BiasedScaledProductOp,
    ProductOp,
    ScaledProductOp,
)


class TGemvOp(ProductOp, name="pto.tgemv"):
    """dst[0,j] = sum over k of lhs[0,k]·rhs[k,j], k increasing."""


class TGemvAccOp(AccumulatingProductOp, name="pto.tgemv.acc"):
    """dst[0,j] = acc_in[0,j] + sum over k of lhs[0,k]·rhs[k,j]."""


class TGemvBiasOp(BiasedProductOp, name="pto.tgemv.bias"):
    """dst[0,j] = bias[0,j] + sum over k of a[0,k]·b[k,j]."""


class TGemvMxOp(ScaledProductOp, name="pto.tgemv.mx"):
    """dst[0,j] = sum over k of a[0,k]·b[k,j], both scaled by one power of two per 32 elements along k."""


class TGemvMxAccOp(AccumulatingScaledProductOp, name="pto.tgemv.mx.acc"):
    """dst = c_in + the MX product of row a and b."""


class TGemvMxBiasOp(BiasedScaledProductOp, name="pto.tgemv.mx.bias"):
    """dst = bias[0,j] + the MX product of row a and b."""

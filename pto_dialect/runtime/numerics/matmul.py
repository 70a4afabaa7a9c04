"""Matrix multiply of the cube unit: fast and exact paths, exception modes, MX scales (docs/reference/numerics.md,
"Matrix products").
"""

from __future__ import annotations

from functools import cache
from typing import Literal, get_args

import numpy as np

from pto_dialect.targets.matmul_types import MX_SCALE_GROUP

from .fma import accumulate_fma
from .format_table import Format, format_of

__all__ = [
    "ExceptionMode",
    "apply_exception_mode",
    "apply_mx_scale",
    "matmul",
    "matmul_int",
    "sanitize_inputs",
]

ExceptionMode = Literal["sat", "nosat", "default"]
_MODES = get_args(ExceptionMode)

_F32_MAX = float(np.finfo(np.float32).max)
_F32_EXACT = 1 << 24  # integers up to this magnitude are exact in float32
_RISKY_SCALE = 127 + 127 - 15  # the largest fp8 operands, below 2**16, reach 2**128 from this scale byte on


def matmul(
    a: np.ndarray,
    b: np.ndarray,
    *,
    init: np.ndarray | None = None,
    out: np.ndarray | None = None,
    exact: bool = False,
) -> np.ndarray:
    """Returns ``a`` [M,K] times ``b`` [K,N], plus ``init``, as float32 [M,N].

    Operands are float32 (widened beforehand, see ``decode``) or float64 from ``apply_mx_scale``. ``init`` is
    None, an accumulator [M,N] or a bias [N] or [1,N]. ``out`` receives the result and may be ``init`` itself
    (the accumulator updated in place); without it a new array is returned.

    ``exact=False`` multiplies with BLAS and adds ``init`` afterwards, in an unspecified order of summation:
    each element is within ``(K + 1) * 2**-24 * (sum |a*b| + |init|)`` of the true value.

    ``exact=True`` starts from ``init`` and performs one fused multiply-add per k in increasing order, bit for
    bit; it switches to BLAS only where every order is exact (small integers).

    Raises ``ValueError`` for shapes that do not fit. Source: docs/reference/numerics.md, "Matrix products".
    """
    if exact:
        if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
            raise ValueError(f"cannot multiply {a.shape} by {b.shape}")
        if not _order_is_irrelevant(a, b, init):
            return _matmul_fma(a, b, init, out)
    with np.errstate(all="ignore"):
        if a.dtype == np.float32 and b.dtype == np.float32:
            in_place = out is not None and out.flags.c_contiguous
            if in_place and init is not None:
                in_place = not np.may_share_memory(init, out)
            product = np.matmul(_for_blas(a), _for_blas(b), out=out if in_place else None)
        else:
            product = np.matmul(a, b, dtype=np.float64).astype(np.float32)
        target = product if out is None else out
        if init is not None:
            return np.add(product, init, out=target)
        if exact:
            return np.add(product, np.float32(0), out=target)  # a chain that starts from +0 never ends in -0
        return _deliver(product, out)


def _for_blas(x: np.ndarray) -> np.ndarray:
    """Returns a copy if neither axis of ``x`` is dense: otherwise some numpy versions do not use BLAS and are slow."""
    return x if x.itemsize in x.strides else np.ascontiguousarray(x)


def _order_is_irrelevant(a: np.ndarray, b: np.ndarray, init: np.ndarray | None) -> bool:
    """Returns whether all partial sums, in any order, are integers that float32 represents."""
    with np.errstate(all="ignore"):
        bound = float(a.shape[1])
        for operand in (a, b):
            bound *= float(np.max(np.abs(operand), initial=0.0))
        if init is not None:
            bound += float(np.max(np.abs(init), initial=0.0))
            if (np.signbit(init) & (init == 0)).any():
                return False
        operands = (a, b) if init is None else (a, b, init)
        return bound <= _F32_EXACT and all((np.rint(x) == x).all() for x in operands)


def _matmul_fma(a: np.ndarray, b: np.ndarray, init: np.ndarray | None, out: np.ndarray | None) -> np.ndarray:
    total = np.zeros((a.shape[0], b.shape[1]), np.float32)
    if init is not None:
        total[...] = init
    accumulate_fma(a, b, total)
    return _deliver(total, out)


def matmul_int(
    a: np.ndarray, b: np.ndarray, *, init: np.ndarray | None = None, out: np.ndarray | None = None
) -> np.ndarray:
    """Returns ``a`` [M,K] times ``b`` [K,N] for 8-bit integers (or i4 held in int8), plus ``init``, as int32 [M,N].

    Products are exact and sums wrap modulo 2**32. ``init`` (int32 [M,N], [N] or [1,N]) and ``out`` as in
    ``matmul``. Runs on float32 BLAS while no sum can pass 2**24 (K up to 1024 for int8), then on float64.
    Raises ``ValueError`` for other operand dtypes. Source: docs/reference/numerics.md, "Matrix products".
    """
    if a.dtype.itemsize != 1 or b.dtype.itemsize != 1 or a.dtype.kind not in "iu" or b.dtype.kind not in "iu":
        raise ValueError(f"8-bit integer operands expected, got {a.dtype} and {b.dtype}")
    bound = a.shape[1] * (128 if a.dtype.kind == "i" else 255) * (128 if b.dtype.kind == "i" else 255)
    wide = np.float32 if bound <= _F32_EXACT else np.float64
    product = np.matmul(a.astype(wide), b.astype(wide))
    total = product.astype(np.int32) if bound < 1 << 31 else product.astype(np.int64).astype(np.int32)
    if init is not None:
        return np.add(total, init, out=total if out is None else out)
    return _deliver(total, out)


def sanitize_inputs(x: np.ndarray, fmt: str | Format) -> np.ndarray:
    """Replace infinities by the largest finite value of ``fmt`` (with their sign) and NaN by 0.

    ``x`` holds decoded values; it is returned unchanged, not copied, if it has neither. docs/reference/numerics.md,
    "Matrix products".
    """
    if np.isfinite(x).all():
        return x
    largest = format_of(fmt).max_finite
    return np.nan_to_num(x, nan=0.0, posinf=largest, neginf=-largest)


def apply_exception_mode(
    a: np.ndarray,
    b: np.ndarray,
    mode: ExceptionMode,
    *,
    a_format: str | Format,
    b_format: str | Format,
    a_scale: np.ndarray | None = None,
    b_scale: np.ndarray | None = None,
    init: np.ndarray | None = None,
    out: np.ndarray | None = None,
    exact: bool = False,
) -> tuple[np.ndarray, bool]:
    """Runs ``matmul`` under the sat / nosat clause of mad; also returns whether the default rule mattered.

    ``a_format`` and ``b_format`` name the types ``a`` and ``b`` were decoded from, ``a_scale`` [M,K/32] and ``b_scale``
    [K/32,N] are MX scale bytes to apply; the other arguments are those of ``matmul``.

    - ``nosat``: IEEE arithmetic. - ``sat``: infinite inputs become the largest finite value of their type and NaN
    inputs 0; an overflowing element becomes its true sum, clamped to the finite range of float32. NaN remains only
    where a scale byte or ``init`` is NaN. - ``default`` (no clause): IEEE if result and inputs are finite, otherwise as
    ``sat``. The second result is True in that last case only.

    Source: docs/reference/numerics.md, "Matrix products".
    """
    if mode not in _MODES:
        raise ValueError(f"unknown exception mode '{mode}'")
    if mode != "sat":
        left, right = _scaled(a, a_scale, 1), _scaled(b, b_scale, 0)
        if mode == "nosat":
            return matmul(left, right, init=init, out=out, exact=exact), False
        keep_init = init is not None and out is not None and np.may_share_memory(init, out)
        result = matmul(left, right, init=init, out=None if keep_init else out, exact=exact)
        # BLAS may skip zeros in matrix-vector products, so there a finite result does not prove finite
        # inputs.
        if _all_finite(result) and (1 not in result.shape or (_all_finite(left) and _all_finite(right))):
            return _deliver(result, out), False
    left = _scaled(sanitize_inputs(a, a_format), a_scale, 1)
    right = _scaled(sanitize_inputs(b, b_format), b_scale, 0)
    return _deliver(_saturating(left, right, init, exact), out), mode == "default"


def _scaled(x: np.ndarray, scale_bytes: np.ndarray | None, axis: int) -> np.ndarray:
    return x if scale_bytes is None else apply_mx_scale(x, scale_bytes, axis)


def _deliver(result: np.ndarray, out: np.ndarray | None) -> np.ndarray:
    if out is None or out is result:
        return result
    out[...] = result
    return out


def _saturating(a: np.ndarray, b: np.ndarray, init: np.ndarray | None, exact: bool) -> np.ndarray:
    result = matmul(a, b, init=init, exact=exact)
    overflow = ~np.isfinite(result)
    if overflow.any():
        with np.errstate(all="ignore"):
            wide = np.matmul(a, b, dtype=np.float64)
            wide += 0.0 if init is None else init
        result[overflow] = np.clip(wide[overflow], -_F32_MAX, _F32_MAX)
    return result


def _all_finite(x: np.ndarray) -> bool:
    if x.flags.c_contiguous:
        flat = x.reshape(-1)
        with np.errstate(all="ignore"):
            # The sum of squares is the cheapest pass over the data; it may overflow, which requires a closer check.
            if np.isfinite(np.dot(flat, flat)):
                return True
    return bool(np.isfinite(x).all())


@cache
def _scale_factors() -> np.ndarray:
    exponents = np.arange(256) - 127
    factors = np.ldexp(1.0, exponents)
    factors[255] = np.nan
    return factors


def apply_mx_scale(a: np.ndarray, scale_bytes: np.ndarray, axis: int) -> np.ndarray:
    """Multiply each group of 32 values along ``axis``, the K axis, by ``2**(scale - 127)``.

    Scale 255 gives NaN. ``a`` is float32 [M,K] with axis 1 or [K,N] with axis 0; ``scale_bytes`` is uint8
    with ceil(K/32) entries on that axis. The result is exact: float32, or float64 if the scaled values leave
    the range of float32. Raises ``ValueError`` if the scales do not cover K. Source: docs/reference/numerics.md,
    "Matrix products".
    """
    axis %= a.ndim
    groups = -(-a.shape[axis] // MX_SCALE_GROUP)
    expected = tuple(groups if i == axis else n for i, n in enumerate(a.shape))
    if scale_bytes.shape != expected:
        raise ValueError(f"scales of shape {scale_bytes.shape} for values of shape {a.shape}, axis {axis}")
    scales = scale_bytes.view(np.uint8)
    risky = bool(((scales >= _RISKY_SCALE) & (scales != 255)).any())
    factors = _scale_factors().take(scales)
    spread = np.repeat(factors if risky else factors.astype(np.float32), MX_SCALE_GROUP, axis=axis)
    spread = spread[tuple(slice(n) for n in a.shape)]
    return a * spread

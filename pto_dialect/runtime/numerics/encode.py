"""Values to storage: the conversions of converters and stores (docs/reference/numerics.md, "Narrowing and saturation",
"Rounding"; docs/reference/tiles.md, "Conversion").
"""

from __future__ import annotations

import numpy as np

from .format_table import Format, format_of
from .integers import pack_nibbles, to_integer
from .narrow import narrow_f64, overflow_rank, ranks_of, round_ranks, widen_integers
from .rounding import check_letter, fp19, tf32

__all__ = ["encode"]

_NAN_CODES = {"f16": 0x7E00, "bf16": 0x7FC0, "f8E4M3FN": 0x7F, "f8E5M2": 0x7E, "hif8": 0x80}


def encode(
    values: np.ndarray,
    fmt: str | Format,
    *,
    rounding: str = "R",
    saturate: bool,
    keep_nan: bool = False,
) -> np.ndarray:
    """Convert ``values`` (bool, integers, any float dtype of numpy or ml_dtypes) to storage of ``fmt``.

    ``rounding`` is one of R A F C Z O H (H is computed as A). ``saturate`` selects the column of the
    docs/reference/numerics.md, "Narrowing and saturation": overflow and infinities become the largest finite value and
    NaN becomes 0 (``keep_nan`` keeps it where the format has one), or IEEE results; integers clamp or wrap, NaN gives
    0. Destinations f32 and f64 are IEEE either way, the fp4 formats saturate either way. Without saturation a finite
    overflow follows IEEE 754: the letters that round toward zero for its sign stop at the largest finite value. f8E8M0
    has neither zero nor sign: values below its range become 2**-127, negative values NaN.

    Packed formats halve the last axis, which must be even (``ValueError``). Values already in the storage
    dtype may be returned without a copy. Source: docs/reference/numerics.md, "hif8", "Narrowing and saturation",
    "Rounding"; docs/reference/tiles.md, "Conversion".
    """
    fmt = format_of(fmt)
    letter = check_letter(rounding)
    x = np.asarray(values)
    if x.dtype.kind not in "biu" and x.dtype not in (np.float32, np.float64):
        x = x.astype(np.float32)  # exact: f16 and everything ml_dtypes defines
    if x.ndim == 0 and not fmt.is_packed:
        one = encode(x.reshape(1), fmt, rounding=letter, saturate=saturate, keep_nan=keep_nan)
        return one.reshape(())
    if not fmt.is_float:
        raw = to_integer(x, fmt, letter, saturate)
        return pack_nibbles(raw) if fmt.is_packed else raw.astype(fmt.storage, copy=False)
    if fmt.name == "f64":
        return _to_f64(x, letter)
    if fmt.name == "f32":
        return _to_f32(x, letter)
    if fmt.compute_only:
        return _to_19_bits(_to_f32(x, "O"), fmt, letter)
    if fmt.elements == 2 and fmt.bits >= 8:
        half = "hif8" if fmt.bits == 8 else "bf16"
        halves = encode(x, half, rounding=letter, saturate=saturate, keep_nan=keep_nan)
        return np.ascontiguousarray(halves).view(fmt.storage)
    if fmt.name == "f8E8M0":
        return _to_e8m0(x, letter, saturate)
    narrow = _to_f32(x, "O")
    saturate = saturate or not fmt.has_nan
    if letter == "R" and fmt.exponent_bits and not fmt.is_packed:
        return _nearest(narrow, fmt, saturate, keep_nan)
    return _by_rank(narrow, fmt, letter, saturate, keep_nan)


def _to_f64(x: np.ndarray, letter: str) -> np.ndarray:
    if letter != "R" and x.dtype.kind in "iu" and x.dtype.itemsize == 8:
        raise ValueError("64-bit integers convert to f64 with rounding R only")
    return x.astype(np.float64, copy=False)


def _to_f32(x: np.ndarray, letter: str) -> np.ndarray:
    if x.dtype == np.float32:
        return x
    if x.dtype.itemsize <= 2:
        return x.astype(np.float32)
    if x.dtype.kind in "iu":
        if letter == "R":
            return x.astype(np.float32)
        x = widen_integers(x)
    return narrow_f64(x.astype(np.float64, copy=False), letter)


def _to_19_bits(x: np.ndarray, fmt: Format, letter: str) -> np.ndarray:
    if letter == "Z":
        return fp19(x)
    if letter not in "RA":
        raise ValueError(f"{fmt.name} has no rounding {letter}")
    return tf32(x, "round_even" if letter == "R" else "round_away")


def _code_dtype(fmt: Format) -> np.dtype:
    return np.dtype(np.uint8 if fmt.bits <= 8 else np.uint16)


def _nearest(x: np.ndarray, fmt: Format, saturate: bool, keep_nan: bool) -> np.ndarray:
    """Nearest even through the casts of numpy and ml_dtypes, repaired where saturation differs from them."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        raw = x.astype(fmt.storage)
    if not saturate:
        return raw
    codes = raw.view(_code_dtype(fmt))
    last = ranks_of(fmt.name).last
    special = (codes & _code_dtype(fmt).type((1 << (fmt.bits - 1)) - 1)) > last
    if not special.any():
        return raw
    largest = np.copysign(np.float32(fmt.max_finite), x).astype(fmt.storage)
    fixed = np.where(special, largest, raw)
    nan = np.array(_NAN_CODES[fmt.name] if keep_nan else 0, _code_dtype(fmt)).view(fmt.storage)
    return np.where(np.isnan(x), nan, fixed)


def _by_rank(x: np.ndarray, fmt: Format, letter: str, saturate: bool, keep_nan: bool) -> np.ndarray:
    ranks = ranks_of(fmt.name)
    rank = round_ranks(x, ranks, letter)
    negative = np.signbit(x)
    if fmt.name == "hif8" and letter == "R":
        # Section 1.1: the tie below the smallest magnitude goes up.
        rank[np.abs(x) == np.float32(2.0**-23)] = 1
    over = rank > ranks.last
    if saturate:
        rank[over] = ranks.last
    else:
        rank = np.where(over, overflow_rank(ranks, letter, negative), rank)
        rank[np.isinf(x)] = ranks.last + 1
    nan = np.isnan(x)
    rank[nan] = 0
    codes = rank.astype(_code_dtype(fmt)) if ranks.codes is None else ranks.codes.take(rank)
    signed = negative & ~nan if ranks.codes is None else negative & (codes != 0)
    codes |= signed.astype(codes.dtype) << codes.dtype.type(fmt.bits - 1)
    if fmt.has_nan and (keep_nan or not saturate):
        codes[nan] = _NAN_CODES[fmt.name]
    return pack_nibbles(codes) if fmt.is_packed else codes.view(fmt.storage)


def _to_e8m0(x: np.ndarray, letter: str, saturate: bool) -> np.ndarray:
    wide = widen_integers(x) if x.dtype.kind in "biu" else x.astype(np.float64)
    fraction, exponent = np.frexp(wide)
    above = np.abs(fraction) * 2 - 1  # distance to the power of two below, in units of it
    code = exponent.astype(np.int64) + 126
    odd = (code & 1) == 1
    step = {
        "R": (above > 0.5) | ((above == 0.5) & odd),
        "A": above >= 0.5,
        "C": above > 0,
        "O": (above > 0) & ~odd,
    }.get(letter, False)
    code = np.clip(code + step, 0, 254 if saturate else 255)
    code = np.where(wide == 0, 0, code)
    code = np.where(np.isinf(wide), 254 if saturate else 255, code)
    return np.where(np.isnan(wide) | (wide < 0), 255, code).astype(np.uint8)

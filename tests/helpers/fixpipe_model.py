"""A scalar model of the write-back of accumulators: quantisation, conversion and saturation of one element."""

from __future__ import annotations

import math
import struct

import ml_dtypes
import numpy as np

from pto_dialect.runtime.numerics.formats import FORMATS, decode
from pto_dialect.targets.fixpipe_modes import QUANT_MODES

INF, NAN = math.inf, math.nan


def f32(x: float) -> float:
    if math.isfinite(x) and abs(x) >= 2.0**128 - 2.0**103:
        return math.copysign(INF, x)
    return struct.unpack("<f", struct.pack("<f", x))[0]


def fp19(x: float) -> float:
    return struct.unpack("<f", struct.pack("<I", struct.unpack("<I", struct.pack("<f", x))[0] & 0xFFFFE000))[0]


def entry(scale: float, offset: int = 0, signed: bool = False, shift: int = 0) -> int:
    """A channel entry: bits 31:13 scale, 35:32 shift, 45:37 offset, 46 sign; the low 13 bits are noise."""
    word = struct.unpack("<I", struct.pack("<f", scale))[0] | 0x155
    return word | shift << 32 | (offset & 0x1FF) << 37 | int(signed) << 46


def clamp(x: float, low: float, high: float) -> float:
    return min(max(x, low), high)


def rint(x: float) -> float:
    return 0.0 if math.isnan(x) else x if math.isinf(x) else float(round(x))


def model_quant(mode: str, x: float, scale: float, offset: int, signed: bool, shift: int) -> float:
    """q of the formula table for one element; integers as floats."""
    stem = mode.removesuffix("_vec").removesuffix("_scalar")
    if stem in ("no_convert", "f32_f16", "f32_bf16"):
        return x
    if stem in ("deqs16", "qf162s16_pre"):
        return float(clamp(int(x) >> (shift + 1), -32768, 32767))
    product = f32(f32(x) * scale)
    if stem == "deqf16":
        return float(np.float16(clamp(product, -65504, 65504))) if not math.isnan(product) else NAN
    if stem == "qs322bf16_pre":
        return float(np.float32(product).astype(ml_dtypes.bfloat16))
    if stem == "deqs32_int":
        return clamp(rint(product), -(2**31), 2**31 - 1)
    if stem in ("qf322b8_pre", "req8", "qf162b8_pre"):
        if stem == "qf162b8_pre":
            with np.errstate(over="ignore"):
                product = float(np.float16(np.float32(product)))
        limited = product if math.isnan(product) else clamp(product, -256, 255)
        return clamp(rint(limited) + offset, *((-128, 127) if signed else (0, 255)))
    if stem in ("qf322s4_pre", "qf162s4_pre", "req4"):
        return clamp(rint(product) + offset, -8, 7)
    return product


def model_store(q: float, dst: str, saturation: str, low: float, high: float) -> float:
    """The destination value of one element after clip."""
    fmt = FORMATS[dst]
    if not fmt.is_float:
        return clamp(rint(q), low, high)
    if dst == "f32":
        return f32(q)
    if math.isnan(q):
        return NAN if saturation in ("nosat", "sat_preserve_nan") else 0.0
    if dst == "hif8":
        magnitudes = sorted(v for v in decode(np.arange(128, dtype=np.uint8), "hif8").tolist() if v <= 32768)
        nearest = min(magnitudes, key=lambda v: (abs(abs(q) - v), -v))
        y = math.copysign(INF if abs(q) >= 40960 else nearest, q)
    else:
        with np.errstate(over="ignore"):
            y = float(np.float32(q).astype(fmt.storage))
    if not math.isfinite(y):
        return math.copysign(fmt.max_finite, q) if saturation != "nosat" else y
    return y


def stored(raw: np.ndarray, dst: str) -> np.ndarray:
    return decode(raw, dst).astype(np.float64)


X_F32 = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    3.49,
    127.4,
    -128.6,
    255.5,
    300.0,
    -300.0,
    320.0,
    448.0,
    465.0,
]
X_F32 += [
    32768.0,
    45000.0,
    65519.0,
    65520.0,
    -70000.0,
    1e9,
    -1e9,
    3e38,
    -3e38,
    1e-8,
    INF,
    -INF,
    NAN,
    6.6,
    -7.5,
]
X_I32 = [0, 1, -1, 2, 3, -3, 5, 100, -100, 127, 128, -129, 255, 256, 1000, -1000, 65504, 65536, 2**24 + 1]
X_I32 += [2**31 - 1, -(2**31), 123456789, -123456789, 2**20, -(2**20), 17, -17, 31, -31, 15, -15, 7]
SCALES = [1.0, 0.5, -1.0, 0.37, 2.0, 0.0078125, 3.3, 100.0]


def destinations(mode: str) -> tuple[str, ...]:
    listed = QUANT_MODES[mode].destinations
    return ("f32", "f16") if listed == ("any",) else listed


CASES = [(mode, dst) for mode in QUANT_MODES for dst in destinations(mode)]


def source_of(mode: str) -> str:
    return "i32" if QUANT_MODES[mode].source == "i32" else "f32"


def limits(mode: str, dst: str, signed: bool) -> tuple[float, float]:
    if QUANT_MODES[mode].family == "i8":
        return (-128, 127) if signed else (0, 255)
    fmt = FORMATS[dst]
    return (fmt.min_value, fmt.max_value) if not fmt.is_float else (-INF, INF)


def as_stored(value: float, dst: str) -> float:
    """8-bit results whose sign bit disagrees with the destination type keep their byte."""
    fmt = FORMATS[dst]
    if fmt.is_float or fmt.min_value <= value <= fmt.max_value:
        return value
    return value - 256 if value > 0 else value + 256

"""Value pipeline of the L0C write-back: pre_quant, pre_relu, clip, convert (docs/reference/numerics.md, "Write-back").

Layout and atomics are not handled here: the pipeline maps an accumulator rectangle [M,N] to destination
storage of the same logical shape.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np

from pto_dialect.targets.fixpipe_modes import QUANT_MODES, QuantMode

from .encode import encode
from .format_table import Format, format_of
from .integers import pack_nibbles
from .rounding import fp19, fp19_bits

__all__ = ["QuantPayload", "ReluPayload", "Saturation", "convert"]

Saturation = Literal["default", "sat", "sat_preserve_nan", "nosat"]

QuantPayload = float | np.floating | np.uint64 | np.ndarray | None
"""A float scalar, a channel table uint64 [>= N], or one uint64 entry for all channels (tile-level forms)."""

ReluPayload = float | np.floating | np.ndarray | None
"""A float scalar or a channel table uint32 [>= N]."""

ACCUMULATORS = ("f32", "i32")
"""Element types of accumulators."""

_SATURATIONS = get_args(Saturation)
_F16_MAX = np.float32(65504.0)

Bound = np.ndarray | int


@dataclass(frozen=True, slots=True)
class _Channel:
    """Decoded payload, scalars or rows [N]; ``signed`` selects the range of 8-bit results."""

    scale: np.ndarray
    offset: np.ndarray
    shift: np.ndarray
    signed: np.ndarray


class _Stage(NamedTuple):
    """Value after pre_quant (float32 or int32) and the integer range it was brought into, if any."""

    value: np.ndarray
    low: Bound | None = None
    high: Bound | None = None


def _channel(payload: QuantPayload, mode: QuantMode, columns: int, dst: Format) -> _Channel:
    entries = np.asarray(payload)
    if entries.dtype == np.uint64:
        if entries.ndim == 1:
            if entries.size < columns:
                raise ValueError(f"{entries.size} channel entries for {columns} columns")
            entries = entries[:columns]
        offset = ((entries >> np.uint64(37)) & np.uint64(0x1FF)).astype(np.int32)
        return _Channel(
            scale=fp19_bits(entries),
            offset=(offset ^ 0x100) - 0x100,
            shift=((entries >> np.uint64(32)) & np.uint64(0xF)).astype(np.int32),
            signed=((entries >> np.uint64(46)) & np.uint64(1)).astype(np.bool_),
        )
    if mode.payload == "vec":
        raise ValueError(f"{mode.name} needs a table of uint64 channel entries")
    if payload is None or np.ndim(payload) != 0:
        raise ValueError(f"{mode.name} needs a float scalar")
    zero = np.array(0, np.int32)
    return _Channel(np.array(payload, np.float32), zero, zero, np.array(dst.kind == "int"))


def _as_f32(x: np.ndarray) -> np.ndarray:
    return x if x.dtype == np.float32 else x.astype(np.float32)


def _scaled(x: np.ndarray, channel: _Channel) -> np.ndarray:
    return np.multiply(_as_f32(x), channel.scale, dtype=np.float32)


def _to_integral(t: np.ndarray) -> np.ndarray:
    """Nearest integer of float32 values, still float32; NaN converts to 0 like in every float-to-int step."""
    integral = np.rint(t)
    integral[np.isnan(integral)] = 0
    return integral


def _scale(x: np.ndarray, channel: _Channel) -> _Stage:
    return _Stage(_scaled(x, channel))


def _scale_to_f16(x: np.ndarray, channel: _Channel) -> _Stage:
    limited = np.clip(_scaled(x, channel), -_F16_MAX, _F16_MAX)
    return _Stage(limited.astype(np.float16).astype(np.float32))


def _scale_to_bf16(x: np.ndarray, channel: _Channel) -> _Stage:
    return _Stage(encode(_scaled(x, channel), "bf16", saturate=False).astype(np.float32))


def _requantize_8(t: np.ndarray, channel: _Channel) -> _Stage:
    low, high = np.where(channel.signed, -128, 0), np.where(channel.signed, 127, 255)
    integral = _to_integral(np.clip(t, np.float32(-256), np.float32(255))) + channel.offset.astype(np.float32)
    return _Stage(np.clip(integral, low, high).astype(np.float32), low, high)


def _scale_to_8(x: np.ndarray, channel: _Channel) -> _Stage:
    return _requantize_8(_scaled(x, channel), channel)


def _scale_to_8_through_f16(x: np.ndarray, channel: _Channel) -> _Stage:
    return _requantize_8(_scaled(x, channel).astype(np.float16).astype(np.float32), channel)


def _scale_to_4(x: np.ndarray, channel: _Channel) -> _Stage:
    integral = _to_integral(_scaled(x, channel)) + channel.offset.astype(np.float32)
    return _Stage(np.clip(integral, np.float32(-8), np.float32(7)), -8, 7)


def _shift_to_16(x: np.ndarray, channel: _Channel) -> _Stage:
    shifted = x.astype(np.int32, copy=False) >> (channel.shift + 1)
    return _Stage(np.clip(shifted, -(1 << 15), (1 << 15) - 1), -(1 << 15), (1 << 15) - 1)


def _scale_to_32(x: np.ndarray, channel: _Channel) -> _Stage:
    return _Stage(encode(_scaled(x, channel), "i32", saturate=True))


_FORMULAS: dict[str, Callable[[np.ndarray, _Channel], _Stage]] = {
    "qf322f16_pre": _scale,
    "qf322bf16_pre": _scale,
    "qf322f32_pre": _scale,
    "qf322fp8_pre": _scale,
    "qf322hif8_pre": _scale,
    "qf322hif8_pre_hybrid": _scale,
    "deqf16": _scale_to_f16,
    "qs322bf16_pre": _scale_to_bf16,
    "qf322b8_pre": _scale_to_8,
    "req8": _scale_to_8,
    "qf162b8_pre": _scale_to_8_through_f16,
    "qf322s4_pre": _scale_to_4,
    "qf162s4_pre": _scale_to_4,
    "req4": _scale_to_4,
    "deqs16": _shift_to_16,
    "qf162s16_pre": _shift_to_16,
    "deqs32_int": _scale_to_32,
}
_PAYLOAD_IGNORED = ("no_convert", "f32_f16", "f32_bf16")


def _pre_quant(x: np.ndarray, quant: tuple[str, QuantPayload] | None, dst: Format) -> _Stage:
    if quant is None:
        return _Stage(x)
    name, payload = quant
    mode = QUANT_MODES.get(name)
    if mode is None:
        raise ValueError(f"unknown pre_quant mode '{name}'")
    if name in _PAYLOAD_IGNORED:
        return _Stage(x)
    return _FORMULAS[mode.stem](x, _channel(payload, mode, x.shape[-1], dst))


def _pre_relu(q: np.ndarray, relu: tuple[str, ReluPayload] | None) -> np.ndarray:
    mode, payload = relu or ("no_relu", None)
    if mode == "no_relu":
        return q
    if mode == "normal_relu":
        return np.maximum(q, q.dtype.type(0))
    if mode == "scalar_relu":
        if payload is None or np.ndim(payload) != 0:
            raise ValueError("scalar_relu needs a float scalar")
        alpha = fp19(np.array(payload, np.float32))
    elif mode == "vector_relu":
        if not isinstance(payload, np.ndarray) or payload.dtype != np.uint32 or payload.size < q.shape[-1]:
            raise ValueError(f"vector_relu needs a table of {q.shape[-1]} uint32 channel entries")
        alpha = fp19_bits(payload[: q.shape[-1]])
    else:
        raise ValueError(f"unknown pre_relu mode '{mode}'")
    scaled = np.multiply(_as_f32(q), alpha, dtype=np.float32)
    if q.dtype.kind == "i":
        scaled = encode(scaled, "i32", saturate=True)
    return np.where(q >= 0, q, scaled)


def _store_bounded(stage: _Stage, dst: Format) -> np.ndarray:
    """Integer results of pre_quant: bring relu and clip results back into range, keep the low bits."""
    assert stage.low is not None and stage.high is not None
    integral = stage.value if stage.value.dtype.kind == "i" else _to_integral(stage.value).astype(np.int32)
    bits = np.clip(integral, stage.low, stage.high).astype(f"u{max(dst.bits, 8) // 8}")
    return pack_nibbles(bits) if dst.is_packed else bits.view(dst.storage)


def _limit(q: np.ndarray, clip: float | int | np.number) -> np.ndarray:
    if q.dtype.kind == "i":
        return np.minimum(q, np.int32(np.clip(int(clip), -(1 << 31), (1 << 31) - 1)))
    return np.minimum(q, np.float32(clip))


def convert(
    x: np.ndarray,
    src: str,
    dst: str,
    *,
    quant: tuple[str, QuantPayload] | None = None,
    relu: tuple[str, ReluPayload] | None = None,
    clip: float | int | np.number | None = None,
    saturation: Saturation = "default",
) -> np.ndarray:
    """Accumulator values ``x`` [M,N] of element type ``src`` (f32 or i32) as storage of element type ``dst``.

    ``quant`` is (mode keyword, payload): a float scalar, a channel table uint64 (entry n for column n; longer
    tables are cut) or one uint64 entry for all columns. ``relu`` is (mode keyword, payload): None, the scalar
    alpha, or a channel table uint32. ``clip`` is an upper limit, a value of the destination type.
    ``saturation`` acts on the final float conversion (default is sat; f32 stays as it is); integers that no
    mode has narrowed clamp or, with nosat, wrap. Conversion rounds to nearest even, for hif8 ties away from
    zero.

    The result has shape [M,N], or [M,N/2] for packed 4-bit destinations; it may be ``x`` itself. Raises
    ``ValueError`` for unknown modes and payloads that do not fit the mode. Source: docs/reference/numerics.md,
    "Write-back"; table entries: docs/reference/layouts.md, "Write-back addresses".
    """
    if saturation not in _SATURATIONS:
        raise ValueError(f"unknown saturation '{saturation}'")
    if src not in ACCUMULATORS:
        raise ValueError(f"accumulator elements are f32 or i32, not {src}")
    target = format_of(dst)
    values = np.asarray(x, np.float32 if src == "f32" else np.int32)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        stage = _pre_quant(values, quant, target)
        value = stage.value
        if target.is_float:
            value = _as_f32(value)
        value = _pre_relu(value, relu)
        if clip is not None:
            value = _limit(value, clip)
        if not target.is_float and stage.low is not None:
            return _store_bounded(stage._replace(value=value), target)
        return encode(
            value,
            target,
            rounding="A" if target.name == "hif8" else "R",
            saturate=saturation != "nosat",
            keep_nan=saturation == "sat_preserve_nan",
        )

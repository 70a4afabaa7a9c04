"""The number formats of the NPU as one table (docs/reference/numerics.md, "Formats", "hif8")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import ml_dtypes
import numpy as np

__all__ = ["FORMATS", "Format", "FormatKind", "format_of"]

FormatKind = Literal["int", "uint", "float"]


@dataclass(frozen=True, slots=True)
class Format:
    """One element type.

    ``name`` is the PTO text name without the ``!pto.`` prefix; ``bits`` the width of one logical value.
    ``storage`` is the numpy dtype of one storage unit as it lies in memory, ``elements`` how many logical
    values such a unit holds (2 for packed pairs), ``compute`` the dtype ``decode`` yields. Floats carry
    ``max_finite``, ``has_inf``, ``has_nan`` and, unless tapered (hif8), the field widths and bias of their
    layout; integers carry ``min_value`` and ``max_value``. Signless integers are signed. ``compute_only``
    formats never lie in memory.
    """

    name: str
    kind: FormatKind
    bits: int
    storage: np.dtype
    compute: np.dtype
    elements: int = 1
    exponent_bits: int = 0
    mantissa_bits: int = 0
    bias: int = 0
    max_finite: float = 0.0
    has_inf: bool = False
    has_nan: bool = False
    min_value: int = 0
    max_value: int = 0
    compute_only: bool = False

    @property
    def bytes(self) -> int:
        """Bytes of one storage unit."""
        return self.storage.itemsize

    @property
    def is_float(self) -> bool:
        """True for every format whose values are not integers by definition."""
        return self.kind == "float"

    @property
    def is_packed(self) -> bool:
        """True if one storage unit holds several logical values."""
        return self.elements > 1


_F32 = np.dtype(np.float32)
_U8 = np.dtype(np.uint8)
_BF16 = np.dtype(ml_dtypes.bfloat16)
_BF16_MAX = float(ml_dtypes.finfo(ml_dtypes.bfloat16).max)
_F32_MAX = float(np.finfo(np.float32).max)


def _float(
    name: str,
    bits: int,
    storage: np.dtype,
    layout: tuple[int, int, int],
    max_finite: float,
    specials: str = "inf nan",
    *,
    elements: int = 1,
    compute: np.dtype = _F32,
    compute_only: bool = False,
) -> Format:
    exponent_bits, mantissa_bits, bias = layout
    return Format(
        name,
        "float",
        bits,
        storage,
        compute,
        elements,
        exponent_bits,
        mantissa_bits,
        bias,
        max_finite,
        has_inf="inf" in specials,
        has_nan="nan" in specials,
        compute_only=compute_only,
    )


def _integer(name: str, bits: int, signed: bool) -> Format:
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    if bits == 4:
        storage, compute, elements = _U8, np.dtype(np.int8 if signed else np.uint8), 2
    else:
        storage = compute = np.dtype(f"{'i' if signed else 'u'}{bits // 8}")
        elements = 1
    kind: FormatKind = "int" if signed else "uint"
    return Format(name, kind, bits, storage, compute, elements, min_value=low, max_value=high)


_TAPERED = (0, 0, 0)
_BOOL = np.dtype(np.bool_)
_F64 = np.dtype(np.float64)

_ROWS: tuple[Format, ...] = (
    Format("i1", "uint", 1, _BOOL, _BOOL, min_value=0, max_value=1),
    *(_integer(f"{sign}{bits}", bits, sign != "ui") for sign in ("i", "si", "ui") for bits in (4, 8, 16, 32, 64)),
    _integer("index", 64, True),
    _float("f16", 16, np.dtype(np.float16), (5, 10, 15), 65504.0),
    _float("bf16", 16, _BF16, (8, 7, 127), _BF16_MAX),
    _float("f32", 32, _F32, (8, 23, 127), _F32_MAX),
    _float("f64", 64, _F64, (11, 52, 1023), float(np.finfo(np.float64).max), compute=_F64),
    _float("f8E4M3FN", 8, np.dtype(ml_dtypes.float8_e4m3fn), (4, 3, 7), 448.0, "nan"),
    _float("f8E5M2", 8, np.dtype(ml_dtypes.float8_e5m2), (5, 2, 15), 57344.0),
    _float("f8E8M0", 8, _U8, (8, 0, 127), 2.0**127, "nan"),
    _float("hif8", 8, _U8, _TAPERED, 32768.0),
    _float("hif8x2", 8, np.dtype(np.uint16), _TAPERED, 32768.0, elements=2),
    _float("bf16x2", 16, np.dtype(np.uint32), (8, 7, 127), _BF16_MAX, elements=2),
    _float("f4E1M2x2", 4, _U8, (1, 2, 1), 1.75, "", elements=2),
    _float("f4E2M1x2", 4, _U8, (2, 1, 1), 6.0, "", elements=2),
    _float("tf32", 19, _F32, (8, 10, 127), float(np.uint32(0x7F7FE000).view(np.float32)), compute_only=True),
    _float("fp19", 19, _F32, (8, 10, 127), float(np.uint32(0x7F7FE000).view(np.float32)), compute_only=True),
)

_BY_NAME: dict[str, Format] = {row.name: row for row in _ROWS}
_BY_NAME["f8E4M3"] = _BY_NAME["f8E4M3FN"]

FORMATS: Mapping[str, Format] = MappingProxyType(_BY_NAME)
"""Every format by PTO name; ``f8E4M3`` is another spelling of ``f8E4M3FN``."""


def format_of(name: str | Format) -> Format:
    """Return the format called ``name`` (``!pto.`` prefix allowed); a ``Format`` is returned unchanged.

    Raises ``ValueError`` for an unknown name. Source: docs/reference/numerics.md, "Formats".
    """
    if isinstance(name, Format):
        return name
    fmt = _BY_NAME.get(name) or _BY_NAME.get(name.removeprefix("!pto."))
    if fmt is None:
        raise ValueError(f"unknown number format '{name}'")
    return fmt

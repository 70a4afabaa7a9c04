"""Pre-quantisation modes of the L0C write-back (docs/reference/targets.md, "Quantisation modes"): one row per mode
keyword.

The table is shared by the verifier (legal source and destination types) and the interpreter (which formula
runs), so this module stays free of numpy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

__all__ = ["DESTINATION_FAMILIES", "QUANT_MODES", "PayloadKind", "QuantMode", "SourceFamily"]

SourceFamily = Literal["f32", "i32", "any"]
PayloadKind = Literal["scalar", "vec", "any"]


@dataclass(frozen=True, slots=True)
class QuantMode:
    """One pre-quantisation mode.

    ``name`` is the keyword in the text form, ``code`` its number in the PTO enumeration (never comparable
    with the numbers of other implementations), ``source`` the element type of the accumulator, ``family`` the
    destination family (a key of ``DESTINATION_FAMILIES``), ``destinations`` the element types the mode is
    meant for (PTO names without the ``!pto.`` prefix) and ``payload`` what the clause carries: one float
    scalar, a per-channel table in fb, or anything because it is ignored. ``warns`` marks modes that are
    accepted with a warning.
    """

    name: str
    code: int
    source: SourceFamily
    family: str
    destinations: tuple[str, ...]
    payload: PayloadKind
    warns: bool = False

    @property
    def stem(self) -> str:
        """The mode without its payload suffix: ``req8_vec`` and ``req8_scalar`` compute the same formula."""
        return self.name.removesuffix("_vec").removesuffix("_scalar")


DESTINATION_FAMILIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "f16": ("f16",),
        "bf16": ("bf16",),
        "f32": ("f32",),
        "fp8": ("f8E4M3FN", "f8E5M2", "hif8"),
        "i32": ("i32", "si32", "ui32"),
        "i16": ("i16", "si16"),
        "i8": ("i8", "si8", "ui8"),
        "i4": ("i4", "si4"),
        "any": ("any",),
    }
)
"""Element types the destination check admits for each family."""

# stem, code of the vec form, code of the scalar form, source, family, destinations (None: all of the family)
_PAIRED: tuple[tuple[str, int, int, SourceFamily, str, tuple[str, ...] | None], ...] = (
    ("qf322hif8_pre", 2, 3, "f32", "fp8", ("hif8",)),
    ("qf322hif8_pre_hybrid", 4, 5, "f32", "fp8", ("hif8",)),
    ("deqs32_int", 6, 7, "i32", "i32", ("i32",)),
    ("req8", 8, 9, "i32", "i8", None),
    ("deqf16", 10, 11, "i32", "f16", None),
    ("qf322fp8_pre", 12, 13, "f32", "fp8", None),
    ("qf322f32_pre", 14, 15, "f32", "f32", None),
    ("qf162b8_pre", 17, 18, "f32", "i8", None),
    ("qf162s4_pre", 19, 20, "f32", "i4", None),
    ("req4", 21, 22, "i32", "i4", None),
    ("qf322b8_pre", 23, 24, "f32", "i8", None),
    ("qf322s4_pre", 25, 26, "f32", "i4", None),
    ("deqs16", 27, 28, "i32", "i16", None),
    ("qf162s16_pre", 29, 30, "i32", "i16", None),
    ("qf322f16_pre", 31, 32, "f32", "f16", None),
    ("qf322bf16_pre", 33, 34, "f32", "bf16", None),
    ("qs322bf16_pre", 35, 36, "i32", "bf16", None),
)


def _modes() -> dict[str, QuantMode]:
    rows = [
        QuantMode("no_convert", 0, "any", "any", DESTINATION_FAMILIES["any"], "any", warns=True),
        QuantMode("f32_f16", 1, "f32", "f16", DESTINATION_FAMILIES["f16"], "scalar"),
        QuantMode("f32_bf16", 16, "f32", "bf16", DESTINATION_FAMILIES["bf16"], "scalar"),
    ]
    for stem, vec_code, scalar_code, source, family, destinations in _PAIRED:
        types = destinations or DESTINATION_FAMILIES[family]
        warns = stem == "req4"
        rows.append(QuantMode(f"{stem}_vec", vec_code, source, family, types, "vec", warns))
        rows.append(QuantMode(f"{stem}_scalar", scalar_code, source, family, types, "scalar", warns))
    return {mode.name: mode for mode in sorted(rows, key=lambda mode: mode.code)}


QUANT_MODES: Mapping[str, QuantMode] = MappingProxyType(_modes())
"""The 37 modes by keyword, in the order of their codes."""

"""Names of element types and the rule by which a table row admits one.

Tables in this package spell element types the way programs do, without the ``!pto.`` prefix:
``f16``, ``si8``, ``f8E4M3FN``, ``hif8``, ``f4E1M2x2``.  Source: docs/reference/targets.md, "Element types".
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final

FP8: Final = frozenset({"f8E4M3FN", "f8E5M2"})
FP4: Final = frozenset({"f4E1M2x2", "f4E2M1x2"})

LOW_PRECISION: Final = FP8 | FP4 | {"f8E4M3", "hif8", "hif8x2", "f8E8M0", "bf16x2"}
"""Types that only the operations of a profile's low-precision list may touch."""

# Both spellings of the 8-bit e4m3 format have the same storage; the tables name the finite one only.
_SAME_ROW: Final = {"f8E4M3": "f8E4M3FN"}


def is_low_precision(elem: str) -> bool:
    """Returns whether ``elem`` is an fp8, hif8, fp4, e8m0 or packed low-precision type."""
    return elem in LOW_PRECISION


def signless(elem: str) -> str:
    """The signless spelling of an integer name (``ui8`` -> ``i8``); any other name unchanged."""
    if elem[:2] in ("si", "ui") and elem[2:].isdigit():
        return elem[1:]
    return elem


def signed_as_signless(elem: str) -> str:
    """Returns ``siN`` -> ``iN``; ``uiN`` and all others unchanged, for tables that distinguish unsigned types."""
    if elem[:2] == "si" and elem[2:].isdigit():
        return elem[1:]
    return elem


def finite_spelling(elem: str) -> str:
    """Returns the name under which tables hold an 8-bit format that has two spellings (``f8E4M3`` -> ``f8E4M3FN``)."""
    return _SAME_ROW.get(elem, elem)


def row_admits(row: AbstractSet[str], elem: str, *, any_sign: bool = True) -> bool:
    """Returns whether a table row admits the element type ``elem``.

    An entry ``iN`` also admits ``siN`` and ``uiN`` when ``any_sign`` holds; an entry that names a sign
    admits only that sign.  Source: docs/reference/targets.md, "Element types".
    """
    if elem in row:
        return True
    return any_sign and _SAME_ROW.get(elem, signless(elem)) in row

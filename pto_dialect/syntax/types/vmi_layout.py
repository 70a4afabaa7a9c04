"""Layouts of logical vectors: ``#pto.vmi.layout<deinterleaved = 2, lane_stride = 2>``.

Source: docs/reference/language.md, "Attributes".
"""

from __future__ import annotations

import re
from functools import cache

_LAYOUT = re.compile(r"#pto\.vmi\.layout<\s*(\w+)\s*(?:=\s*(-?\d{1,18})\s*)?((?:,\s*\w+\s*=\s*-?\d{1,18}\s*)*)>")
_FIELD = re.compile(r"(\w+)\s*=\s*(-?\d{1,18})")

_FIELDS = {
    "contiguous": ("lane_stride",),
    "deinterleaved": ("lane_stride",),
    "block_deinterleaved": (),
    "num_groups": ("slots", "lane_stride"),
}
"""The fields that may follow each kind of layout."""

_PARTS = (2, 4)


@cache
def layout_fields(text: str) -> dict[str, int]:
    """Returns the numbers of a layout by name, that of its kind included."""
    return {name: int(value) for name, value in _FIELD.findall(text)}


@cache
def layout_fault(text: str) -> str | None:
    """Returns what is wrong with the spelling or the numbers of a layout; ``None`` for a valid one."""
    found = _LAYOUT.fullmatch(text)
    kind = found[1] if found is not None else ""
    if found is None or kind not in _FIELDS or (kind == "contiguous") is not (found[2] is None):
        return f"a layout is {', '.join(_FIELDS)}, written #pto.vmi.layout<deinterleaved = 2>"
    names = [name for name, _ in _FIELD.findall(found[3])]
    for name in names:
        if name not in _FIELDS[kind]:
            allowed = " and ".join(_FIELDS[kind])
            return f"a {kind} layout has {f'only {allowed}' if allowed else 'no further fields'}, found {name}"
    fields = layout_fields(text)
    if "deinterleaved" in kind and fields[kind] not in _PARTS:
        return f"a layout has 2 or 4 parts, found {fields[kind]}"
    if fields.get("num_groups", 1) < 1 or fields.get("slots", 0) < 0 or fields.get("lane_stride", 1) < 1:
        return f"groups, slots and strides of a layout are positive, found {text}"
    return None

"""The content of ``#pto.tile_buf_config<..>``: the layout of a tile over a memref.

Source: docs/reference/language.md, "Attributes".
"""

from __future__ import annotations

import re

from pto_dialect.diagnostics.remedies.names import choose

from ..errors.types import TypeSyntaxError

_ENTRY = re.compile(r"(\w+)\s*=\s*(?:#pto\.\w+<\s*(\w+)\s*>|(-?[\w.]+)(?:\s*:\s*\w+)?)\s*(?:,\s*|$)")
_KEYS = ("blayout", "slayout", "s_fractal_size", "pad", "compact")
_WORDS = {
    "blayout": ("row_major", "col_major"),
    "slayout": ("none_box", "row_major", "col_major"),
    "s_fractal_size": ("32", "512", "1024"),
}


def check_tile_config(text: str) -> None:
    """Raises :class:`TypeSyntaxError` where ``#pto.tile_buf_config<..>`` has an unknown key, layout or fractal size."""
    place, end = text.index("<") + 1, text.rindex(">")
    place += len(text[place:end]) - len(text[place:end].lstrip())
    stop = place + len(text[place:end].rstrip())
    while place < stop:
        found = _ENTRY.match(text, place, stop)
        if found is None:
            raise TypeSyntaxError("tile-key", "a tile configuration is key=value, ..", place, stop, ", ".join(_KEYS))
        key = found[1]
        if key not in _KEYS:
            message, mended = f"unknown key {key!r}", (choose(key, *_KEYS),)
            raise TypeSyntaxError("tile-key", message, *found.span(1), f"one of {', '.join(_KEYS)}", mended)
        group = 2 if found[2] is not None else 3
        _check_value(key, found[group].rpartition(".")[2], *found.span(group))
        place = found.end()


def _check_value(key: str, value: str, start: int, end: int) -> None:
    words = _WORDS.get(key)
    if words is None or value in words:
        return
    if key == "s_fractal_size":
        message, mended = f"{key} must be 32, 512 or 1024, found {value}", (choose(value, "32", "512", "1024"),)
        raise TypeSyntaxError("tile-fractal", message, start, end, None, mended)
    if not (value.isdecimal() and int(value) < len(words)):
        rule = "tile-layout-keyword"
        message, mended = f"unknown {key} {value!r}", (choose(value, *words),)
        raise TypeSyntaxError(rule, message, start, end, f"one of {', '.join(words)}", mended)

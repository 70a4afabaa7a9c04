"""Pages of the keys of tile types: ``v_row``, ``fractal``, ``pad`` and the others."""

from __future__ import annotations

from typing import NamedTuple

from pto_dialect.syntax.types.forms import WORDS_OF_KEYS

from .page import Code, Page, Section, Table, Text, code, codes

_SHORT = "!pto.tile_buf<vec, 16x64xf32, valid=?x64>"
_LONG = (
    "!pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=64, v_row=?, v_col=64, blayout=row_major,\n"
    "              slayout=none_box, fractal=512, pad=0>"
)


class Key(NamedTuple):
    """One key: what it states, its values unless they are enumerators, the value where it is left out, its examples."""

    meaning: str
    values: str
    default: str
    examples: tuple[str, ...]
    source: str = "language.md#types"


KEYS = {
    "loc": Key("the memory of a tile", "", "", (_LONG,)),
    "dtype": Key("the element type of a tile", "an element type", "", (_LONG,)),
    "rows": Key("the number of rows in memory", "a positive number", "", (_LONG,)),
    "cols": Key("the number of columns in memory", "a positive number", "", (_LONG,)),
    "v_row": Key(
        "the number of rows that have content; operations read and write only these",
        "0 to `rows`, or `?`: a number that `alloc_tile` or `set_validshape` states at run time",
        "",
        (_LONG,),
        "layouts.md#valid-region",
    ),
    "v_col": Key(
        "the number of columns that have content; operations read and write only these",
        "0 to `cols`, or `?`: a number that `alloc_tile` or `set_validshape` states at run time",
        "",
        (_LONG,),
        "layouts.md#valid-region",
    ),
    "valid": Key(
        "rows and columns that have content; operations read and write only these",
        "`RxC`, each up to the size of the tile, or `?`: a number that `alloc_tile` or `set_validshape` states at run "
        "time",
        "the whole tile",
        (_SHORT,),
        "layouts.md#valid-region",
    ),
    "blayout": Key("the order of the blocks, or of all elements without blocks", "", "`row_major`",
                   ("!pto.tile_buf<vec, 16x1xf32, blayout=col_major>", _LONG),
                   "layouts.md#tile-layouts"),
    "slayout": Key("the order of the elements inside a block; `none_box` has no blocks", "", "`none_box`",
                   ("!pto.tile_buf<left, 16x64xf16, slayout=row_major>", _LONG), "layouts.md#tile-layouts"),
    "fractal": Key("the bytes of a block", "32 (scales of MX operands), 512, 1024 (accumulators)", "512",
                   ("!pto.tile_buf<acc, 16x64xf32, blayout=col_major, slayout=row_major, fractal=1024>", _LONG),
                   "layouts.md#fractals"),
    "pad": Key("what loads and `tfillpad` write outside of the valid region", "", "0",
               ("!pto.tile_buf<vec, 16x64xf32, valid=16x60, pad=1>", _LONG)),
    "compact": Key("whether blocks are packed for the valid region (normal), or their columns have one more row each, "
                   "which avoids conflicts of banks (row_plus_one)", "", "0",
                   ("!pto.tile_buf<mat, 16x64xf16, blayout=col_major, slayout=row_major, compact=1>",)),
}  # fmt: skip
"""Keys of ``!pto.tile_buf``."""

_NUMBERED = ("pad", "compact")
"""Keys whose words have numbers, in this order."""


def key_page(name: str) -> Page:
    """Returns the page of a key."""
    key = KEYS[name]
    source = Section("Source", (Text(f"[{_title(key.source)}](../reference/{key.source})"),))
    return Page(f"{name}=", f"a key of tile types: {key.meaning}", (key_section(name), source))


def key_section(name: str) -> Section:
    """Returns what a page that has other content says about the key of the same name."""
    key = KEYS[name]
    values = _words(name) if name in WORDS_OF_KEYS else key.values
    rows = (("meaning", key.meaning), ("values", values), ("if left out", key.default or "an error"))
    return Section("Key of !pto.tile_buf", (Table(("", ""), rows), *(Code("mlir", text) for text in key.examples)))


def _words(name: str) -> str:
    words = WORDS_OF_KEYS[name]
    if name in _NUMBERED:
        return ", ".join(f"{number} {code(word)}" for number, word in enumerate(words))
    return codes(words)


def _title(source: str) -> str:
    return source.partition("#")[2].replace("-", " ").capitalize()

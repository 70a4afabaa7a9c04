"""Types of C++: numbers, pointers, tiles, tensors, and the short names that a text gives to the long ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pto_dialect.ir.core import types as t

from ..operations.tensors import LAYOUTS
from ..operations.tiles import BLAYOUTS, COMPACTS, LOCATIONS, PADS, SLAYOUTS
from .errors import fail
from .names import Names

if TYPE_CHECKING:
    from xdsl.ir import Attribute, Operation

ELEMENTS = {
    "i1": "bool",
    "f16": "half",
    "bf16": "bfloat16_t",
    "f32": "float",
    "f64": "double",
    "index": "int64_t",
    "hif8": "hifloat8_t",
    "f8E4M3FN": "float8_e4m3_t",
    "f8E5M2": "float8_e5m2_t",
    "f8E8M0": "float8_e8m0_t",
    "f4E2M1x2": "float4_e2m1x2_t",
    "f4E1M2x2": "float4_e1m2x2_t",
    **{f"{sign}i{width}": f"int{width}_t" for sign in ("", "s") for width in (8, 16, 32, 64)},
    **{f"ui{width}": f"uint{width}_t" for width in (8, 16, 32, 64)},
}
"""C++ types by the names of elements and numbers."""
_SPACES = {"gm": "__gm__", "ub": "__ubuf__", "l1": "__cbuf__", "l0a": "__ca__", "l0b": "__cb__", "l0c": "__cc__",
           "fb": "__fbuf__", "bt": "__biasbuf__"}  # fmt: skip


def _inverse(table: dict[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for cpp, pto in table.items():
        found.setdefault(pto, cpp)
    return found


_LOCATIONS, _BLAYOUTS, _SLAYOUTS, _LAYOUTS = map(_inverse, (LOCATIONS, BLAYOUTS, SLAYOUTS, LAYOUTS))
_PADS = {number: word for word, number in PADS.items()}
_COMPACTS = {number: word for word, number in COMPACTS.items()}
_FORMS = {
    ("Right", "RowMajor", "ColMajor", 512): "TileRight",
    ("Acc", "ColMajor", "RowMajor", 1024): "TileAcc",
}
"""Short names that the interface has for tiles of the matrix unit."""


def element(type_: Attribute, op: Operation) -> str:
    """Returns the C++ type of an element or number."""
    name = t.element_name(type_)
    found = ELEMENTS.get(name)
    if found is None:
        help = "make a program of level 2 with -p to-level2" if isinstance(type_, t.TileType) else ""
        fail(op, f"values of type {t.type_text(type_)} have no type in C++", help)
    return found


def pointer(type_: t.PtrType, op: Operation) -> str:
    """Returns a pointer with its memory, ready for a name."""
    space = _SPACES.get(type_.space)
    if space is None:
        fail(op, f"pointers into {type_.space} have no type in C++")
    return f"{space} {element(type_.element, op)} *"


def unsigned(type_: Attribute) -> str:
    """Returns the unsigned C++ type with the width of an integer."""
    name = t.element_name(type_)
    return "uint64_t" if name == "index" else f"uint{width_of(type_)}_t"


def width_of(type_: Attribute) -> int:
    """Returns the bits of an integer type."""
    name = t.element_name(type_)
    return 64 if name == "index" else int(name.lstrip("su")[1:])


class Aliases:
    """The types that a text declares before its functions."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._known: dict[str, str] = {}

    def lines(self) -> list[str]:
        """Returns the declarations in the order of their first use."""
        return [f"using {name} = {text};" for text, name in self._known.items()]

    def tile(self, type_: t.TileBufType, op: Operation, location: str = "") -> str:
        """Returns the name of a tile type; ``location`` replaces that of the type."""
        location = location or _LOCATIONS[type_.loc]
        text = _tile_text(type_, location, op)
        size = _sizes((type_.rows, type_.cols))
        if (type_.valid_rows, type_.valid_cols) != (type_.rows, type_.cols):
            size += f"_valid{_sizes((type_.valid_rows, type_.valid_cols))}"
        return self._name(text, f"{location}_{t.element_name(type_.element)}_{size}")

    def tensor(self, type_: str, layout: str, sizes: list[int], strides: list[int], name: str) -> str:
        """Returns the name of the type of a tensor of five dimensions."""
        listed = [", ".join("DYNAMIC" if n == t.DYNAMIC else str(n) for n in one) for one in (sizes, strides)]
        word = "" if layout == "nd" else f", Layout::{_LAYOUTS[layout]}"
        text = f"GlobalTensor<{type_}, Shape<{listed[0]}>, Stride<{listed[1]}>{word}>"
        shown = sizes
        while len(shown) > 2 and shown[0] == 1:
            shown = shown[1:]
        return self._name(text, f"Gm_{name}_{_sizes(shown)}")

    def queue(self, text: str) -> str:
        """Returns the name of the type of a queue."""
        return self._name(text, "Queue")

    def _name(self, text: str, hint: str) -> str:
        if text not in self._known:
            self._known[text] = self._names.take(hint)
        return self._known[text]


def _sizes(sizes: tuple[int, ...] | list[int]) -> str:
    return "x".join("N" if n == t.DYNAMIC else str(n) for n in sizes)


def _tile_text(type_: t.TileBufType, location: str, op: Operation) -> str:
    name = element(type_.element, op)
    blayout, slayout = _BLAYOUTS[type_.blayout], _SLAYOUTS[type_.slayout]
    pad, compact = _PADS.get(type_.pad), _COMPACTS.get(type_.compact)
    if pad is None or compact is None:
        fail(op, f"tiles with {'pad' if pad is None else 'compact'} of this number have no type in C++")
    valid = [type_.valid_rows, type_.valid_cols]
    whole = valid == [type_.rows, type_.cols]
    form = _FORMS.get((location, blayout, slayout, type_.fractal))
    if location == "Left" and (slayout, type_.fractal) == ("RowMajor", 512):
        form = "TileLeft"
    shown = ["DYNAMIC" if n == t.DYNAMIC else str(n) for n in valid]
    if form is not None and pad == "Null" and compact in ("Null", "Normal"):
        sizes = [str(type_.rows), str(type_.cols), *([] if whole else shown)]
        return f"{form}{'Compact' if compact == 'Normal' else ''}<{', '.join([name, *sizes])}>"
    if location == "Left":
        fail(op, "a left tile in another layout than the native one has no type in C++")
    words = [
        (f"BLayout::{blayout}", blayout == "RowMajor"),
        (shown[0], whole),
        (shown[1], whole),
        (f"SLayout::{slayout}", slayout == "NoneBox"),
        (str(type_.fractal), type_.fractal == 512),
        (f"PadValue::{pad}", pad == "Null"),
        (f"CompactMode::{compact}", compact == "Null"),
    ]
    while words and words[-1][1]:
        words.pop()
    listed = [f"TileType::{location}", name, str(type_.rows), str(type_.cols), *(word for word, _ in words)]
    return f"Tile<{', '.join(listed)}>"


__all__ = ["ELEMENTS", "Aliases", "element", "pointer", "unsigned", "width_of"]

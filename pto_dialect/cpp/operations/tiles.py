"""Tiles: the type that a descriptor states, and the handles that a function has for them.

A tile of C++ is an address and two valid sizes, all by value. The call that gives an address (``TASSIGN``) makes the
handle where the sizes of its uses are known there; other handles are made where they are used, as views of the same
bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from .statement import Named

if TYPE_CHECKING:
    from ..translate.interface import Call, Emitter, Group, Operand

LOCATIONS = {
    "Vec": "vec",
    "Mat": "mat",
    "Left": "left",
    "Right": "right",
    "Acc": "acc",
    "Bias": "bias",
    "Scaling": "scaling",
    "ScaleLeft": "scaling",
    "ScaleRight": "scaling",
}
BLAYOUTS = {"RowMajor": "row_major", "ColMajor": "col_major"}
SLAYOUTS = {"NoneBox": "none_box", "RowMajor": "row_major", "ColMajor": "col_major"}
PADS = {"Null": 0, "Zero": 1, "Max": 2, "Min": 3}
COMPACTS = {"Null": 0, "Normal": 1, "RowPlusOne": 2}
_PRIVATE_ELEMENTS = frozenset(("hif8", "hif8x2", "f8E8M0", "f4E1M2x2", "f4E2M1x2", "bf16x2"))
_REFUSED = {"i4": "int4b_t", "f64": "double", "void": "void", "hif4x2": "hifloat4x2_t"}
"""Elements that the dialect has no tiles of, with their names in C++."""
_BYTES = {"64": 8, "32": 4, "16": 2, "8": 1}
DYNAMIC = -1
"""What descriptors have for a size that is only known at run time."""
VIEW = ' {pto.view_semantics = "subview"}'
"""Marks a tile whose bytes another tile owns."""


def element_text(element: str) -> str:
    """Returns an element type as types spell it."""
    return f"!pto.{element}" if element in _PRIVATE_ELEMENTS else element


def element_bytes(element: str) -> int:
    """Returns the bytes of one element; of a packed pair, which is one element."""
    if element in _PRIVATE_ELEMENTS or element.startswith("f8"):
        return 1
    return next(size for width, size in _BYTES.items() if element.endswith(width))


if TYPE_CHECKING:
    Extent = int | str | Operand
    """A size: constant, the name of an index, or an operand of a call."""


class Tile(NamedTuple):
    """A tile of a call: what its descriptor states, with the enumerators of C++, and its state."""

    location: str
    element: str
    rows: int
    cols: int
    blayout: str
    slayout: str
    fractal: int
    pad: str
    compact: str
    address: Operand
    valid: tuple[Extent, Extent]

    def with_known_sizes(self) -> Tile:
        """Returns the tile with valid sizes that are numbers where they are constant."""
        row, col = map(as_number, self.valid)
        return self._replace(valid=(row, col))


def tile_of(group: Group, emitter: Emitter) -> Tile:
    """Returns the tile that a group of operands states."""
    loc, element, shape, blayout, valid, slayout, fractal, pad, compact = group.fields
    if loc not in LOCATIONS:
        emitter.fail(f"tiles of TileType::{loc} have no counterpart in .pto")
    if element in _REFUSED:
        emitter.fail(f"tiles of {_REFUSED[element]} have no counterpart in .pto")
    rows, cols = map(int, shape.split("x"))
    address, *state = group.operands
    valid_row, valid_col = (
        operand if size == DYNAMIC else size for size, operand in zip(map(int, valid.split("x")), state, strict=True)
    )
    sizes = (valid_row, valid_col)
    return Tile(loc, element, rows, cols, blayout, slayout, int(fractal), pad, compact, address, sizes)


def tile_type(tile: Tile, emitter: Emitter) -> str:
    """Returns the type of a tile as the dialect writes it."""
    parts = [LOCATIONS[tile.location], f"{tile.rows}x{tile.cols}x{element_text(tile.element)}"]
    if tile.valid != (tile.rows, tile.cols):
        parts.append("valid=" + "x".join(str(size) if isinstance(size, int) else "?" for size in tile.valid))
    if tile.blayout != "RowMajor":
        parts.append(f"blayout={BLAYOUTS[tile.blayout]}")
    if tile.slayout != "NoneBox":
        parts.append(f"slayout={SLAYOUTS[tile.slayout]}")
    if tile.fractal != 512:
        parts.append(f"fractal={tile.fractal}")
    for word, table, what in ((tile.pad, PADS, "pad"), (tile.compact, COMPACTS, "compact")):
        if word not in table:
            emitter.fail(f"tiles with {what} {word} have no counterpart in .pto")
        if table[word]:
            parts.append(f"{what}={table[word]}")
    return f"!pto.tile_buf<{', '.join(parts)}>"


def full_size(tile: Tile) -> tuple[int, int]:
    """Returns the rows and columns of a tile."""
    return tile.rows, tile.cols


def with_full_size(tile: Tile) -> Tile:
    """Returns a tile all of whose elements are valid."""
    return tile._replace(valid=full_size(tile))


_Key = tuple[str, object, object, object]


class Origin(NamedTuple):
    """What an address is that a call gave: the handle it belongs to, or a number that the program has."""

    base: Named | None = None
    tile: Tile | None = None
    """The tile of ``base``."""
    address: str = ""


@dataclass(slots=True)
class _Handle:
    value: Named
    made_at: Call


class Handles:
    """The handles of the tiles of one function."""

    def __init__(self, emitter: Emitter) -> None:
        self._emitter = emitter
        self._handles: dict[_Key, _Handle] = {}
        self._owned: set[int] = set()
        """Assignments whose bytes have an owner."""
        self._origins: dict[int, Origin] = {}
        """What addresses are, by the call that gave them."""

    def handle(self, tile: Tile, call: Call) -> Named:
        """Returns the handle of a tile at a call; makes it if there is none that may be named there."""
        key = _key(tile, self._emitter)
        known = self._handles.get(key)
        if known is not None and self._emitter.is_visible(known.made_at):
            return known.value
        value = self._make(tile)
        self._handles[key] = _Handle(value, call)
        return value

    def define(self, tile: Tile, value: Named, call: Call) -> None:
        """Makes ``value`` the handle of a tile."""
        self._handles[_key(tile, self._emitter)] = _Handle(value, call)

    def origin(self, call: Call, origin: Origin) -> None:
        """Records what the address is that ``call`` gives."""
        self._origins[id(call)] = origin

    def origin_of(self, address: Operand) -> Origin:
        """Returns what an address is."""
        known = self._origins.get(id(address.assigned)) if address.assigned is not None else None
        if known is not None:
            return known
        if address.value == -1:
            self._emitter.fail("the tile has no address", "assign one with TASSIGN")
        return Origin(address=self._emitter.cast(address, "i64"))

    def make_at_assignment(self, call: Call) -> None:
        """Makes the handles of tiles whose address comes from ``call`` and whose sizes are known there."""
        for user, group in self._emitter.users(call):
            if group.kind != "tile" or user.function == "__pto_assign":  # an assignment names a tile, without sizes
                continue
            tile = tile_of(group, self._emitter)
            if _fits(tile) and all(
                isinstance(size, str | int) or self._emitter.is_available(size) for size in tile.valid
            ):
                self.handle(tile, call)

    def _make(self, tile: Tile) -> Named:
        origin = self.origin_of(tile.address)
        if origin.base is not None and origin.tile is not None and not origin.address:
            return self._window(tile, origin.base, origin.tile)
        emitter, assigned = self._emitter, tile.address.assigned
        text = f"pto.alloc_tile addr = {origin.address}"
        for word, size in zip(("row", "col"), _within(tile, emitter), strict=True):
            if not isinstance(size, int):
                text += f" valid_{word} = {index_name(size, emitter)}"
        # Two handles of one assignment are views of the same bytes; so is what has its address from a computation, as a
        # row of another tile has.
        is_fixed = (
            assigned is not None and assigned.function == "__pto_assign" and assigned.operands[-1].value is not None
        )
        owner = is_fixed and id(assigned) not in self._owned
        if owner:
            self._owned.add(id(assigned))
        hint = (assigned.label if assigned is not None else "") or "tile"
        type_ = tile_type(tile, emitter)
        return Named(emitter.define(f"{text}{'' if owner else VIEW} : {type_}", hint), type_)

    def _window(self, tile: Tile, base: Named, whole: Tile) -> Named:
        """Returns a tile without an address, which is a window of the tile that was made for it."""
        emitter = self._emitter
        tile = tile.with_known_sizes()
        type_ = tile_type(tile, emitter)
        if type_ == base.type:
            return base
        is_part = _is_part(tile, whole)
        if not is_part and (tile.location != whole.location or tile_bytes(tile) != tile_bytes(whole)):
            emitter.fail("a tile without an address keeps its number of bytes", "assign addresses with TASSIGN")
        if not is_part or tile.pad != whole.pad:
            of_all = whole._replace(pad=tile.pad) if is_part else tile
            type_of_all = tile_type(with_full_size(of_all), emitter)
            text = f"pto.treshape {base.name} : {base.type} -> {type_of_all}"
            base = Named(emitter.define(text, "tile"), type_of_all)
            if type_ == type_of_all:
                return base
        return self._part(tile, base)

    def first_part(self, tile: Tile, shape: tuple[int, int], call: Call) -> Named:
        """Returns the first rows and columns of a tile, which has no valid elements besides."""
        part = tile.with_known_sizes()._replace(rows=shape[0], cols=shape[1])
        return self._part(part, self.handle(tile, call))

    def window(self, tile: Tile, of: Tile, at: tuple[Extent, Extent], call: Call) -> Named:
        """Returns the window of a tile that begins at a row and a column and has the sizes of another one."""
        part = of._replace(rows=tile.rows, cols=tile.cols, valid=tile.valid)
        return self._part(part.with_known_sizes(), self.handle(of, call), at)

    def _part(self, tile: Tile, base: Named, at: tuple[Extent, Extent] = (0, 0)) -> Named:
        emitter = self._emitter
        type_, (row, col) = tile_type(tile, emitter), (index_name(place, emitter) for place in at)
        valid = ", ".join(index_name(size, emitter) for size in tile.valid)
        text = f"pto.subview {base.name}[{row}, {col}] sizes [{tile.rows}, {tile.cols}] valid [{valid}]"
        return Named(emitter.define(f"{text} : {base.type} -> {type_}", "window"), type_)


def number_of(size: Extent) -> int | None:
    """Returns a size that is constant."""
    value = size if isinstance(size, int | str) else size.value
    return value if isinstance(value, int) else None


def as_number(size: Extent) -> Extent:
    """Returns a size, as a number if it is constant."""
    number = number_of(size)
    return size if number is None else number


def _within(tile: Tile, emitter: Emitter) -> tuple[Extent, ...]:
    """Returns the valid sizes; a tile without valid elements may state more rows or columns than it has."""
    numbers = [number_of(size) for size in tile.valid]
    if 0 not in numbers:
        return tile.valid
    sizes = zip(tile.valid, numbers, full_size(tile), strict=True)
    none = emitter.constant(0, "index")
    return tuple(none if number is not None and number > room else size for size, number, room in sizes)


def _fits(tile: Tile) -> bool:
    """Returns whether constant valid sizes are inside the tile."""
    numbers = map(number_of, tile.valid)
    return all(number is None or number <= room for number, room in zip(numbers, full_size(tile), strict=True))


def as_scratch(tile: Tile) -> Tile:
    """Returns a scratch tile, whose valid sizes nobody reads: some are declared with sizes that they do not have."""
    return tile if _fits(tile) else with_full_size(tile)


def _is_part(tile: Tile, whole: Tile) -> bool:
    """Returns whether a tile has the layout of the first rows of another one."""
    same = tile._replace(rows=whole.rows, valid=whole.valid, address=whole.address, pad=whole.pad)
    by_rows = tile.blayout == "RowMajor" and tile.slayout == "NoneBox"
    return same == whole and (tile.rows == whole.rows or (by_rows and tile.rows < whole.rows))


def tile_bytes(tile: Tile) -> int:
    """Returns the bytes of a tile."""
    return tile.rows * tile.cols * element_bytes(tile.element)


def _key(tile: Tile, emitter: Emitter) -> _Key:
    row, col = map(identity, tile.valid)
    return tile_type(tile, emitter), identity(tile.address), row, col


def index_name(size: Extent, emitter: Emitter) -> str:
    """Returns the name of a size as an index."""
    if isinstance(size, str):
        return size
    return emitter.constant(size, "index") if isinstance(size, int) else emitter.cast(size, "index")


def identity(size: Extent) -> object:
    """Returns what two operands with the same value have in common."""
    if isinstance(size, int | str):
        return size
    if size.assigned is not None:
        return id(size.assigned)
    return size.name if size.value is None else size.value


__all__ = [
    "BLAYOUTS",
    "COMPACTS",
    "DYNAMIC",
    "LOCATIONS",
    "PADS",
    "SLAYOUTS",
    "Handles",
    "Origin",
    "Tile",
    "as_number",
    "as_scratch",
    "element_bytes",
    "element_text",
    "full_size",
    "identity",
    "index_name",
    "number_of",
    "tile_of",
    "tile_type",
    "with_full_size",
]

"""The program of a record: its instructions in their order as tile operations of one function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import NamedTuple

from isa_ops import IGNORED, Call, call_of
from isa_record import NotMapped, Number, Numbers, Operand, Other, Record, Tile, View, bytes_of

from pto_dialect.ir.core.base import Slot, signature

LOCATIONS = ("vec", "mat", "left", "right", "acc", "bias", "scaling", "scaling", "scaling")
BLAYOUTS = ("row_major", "col_major")
SLAYOUTS = ("none_box", "row_major", "col_major")
LAYOUTS = {
    0: "nd",
    1: "dn",
    2: "nz",
    6: "mx_a_zz",
    9: "mx_b_nn",
}
"""Layouts of tensors by their number."""

MOST_INSTRUCTIONS = 4000


class Window(NamedTuple):
    """The first elements of a tensor."""

    view: View
    sizes: tuple[int, ...]


class _Writer:
    """The lines of a function; what is made once for it is at its beginning."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.head: list[str] = []
        self.body: list[str] = []
        self.names: dict[object, str] = {}
        self.arguments: dict[int, str] = {}

    def once(self, key: object, text: str) -> str:
        name = self.names.get(key)
        if name is None:
            name = self.names[key] = f"%v{len(self.names)}"
            self.head.append(f"{name} = {text}")
        return name

    def constant(self, value: int | float, type_: str) -> str:
        if type_ in ("f32", "f16", "bf16"):
            return self.once((float(value).hex(), type_), f"arith.constant {_float(float(value), type_)} : {type_}")
        return self.once((int(value), type_), f"arith.constant {int(value)} : {type_}")

    def tile(self, tile: Tile) -> tuple[str, str]:
        type_ = tile_type(tile)
        address = self.constant(tile.address, "i64")
        return self.once((tile.address, type_), f"pto.alloc_tile addr = {address} : {type_}"), type_

    def size(self, value: int, constant: bool) -> str:
        """A size or stride; one that is not constant is an argument of the function."""
        if constant:
            return self.constant(value, "index")
        return self.arguments.setdefault(value, f"%n{len(self.arguments)}")

    def view(self, view: View, sizes: tuple[int, ...]) -> tuple[str, str]:
        if view.layout not in LAYOUTS:
            raise NotMapped(f"a tensor of layout {view.layout}")
        if view.memory < 0:
            raise NotMapped("a tensor outside of device memory")
        pointer_type = f"!pto.ptr<{view.element}, gm>"
        bytes_ = self.constant(view.offset, "index")
        at = self.once((view.memory, view.offset), f"pto.addptr %m{view.memory}, {bytes_} : {_BYTES} -> {_BYTES}")
        pointer = self.once((at, view.element), f"pto.castptr {at} : {_BYTES} -> {pointer_type}")
        # What the dialect infers from constant sizes is not always what the instruction set means by them.
        constant = view.layout == 0
        shape = ", ".join(self.size(size, constant) for size in view.shape)
        strides = ", ".join(self.size(size, constant) for size in view.strides)
        taken = ", ".join(self.size(size, constant) for size in sizes)
        dims = ("x".join(map(str, d)) if constant else "x".join("?" * len(d)) for d in (view.shape, sizes))
        kinds = ("tensor_view", "partition_tensor_view")
        whole, part = (f"!pto.{kind}<{d}x{view.element}>" for kind, d in zip(kinds, dims, strict=True))
        layout = f" {{layout = #pto.layout<{LAYOUTS[view.layout]}>}}"
        text = f"pto.make_tensor_view {pointer}, shape = [{shape}], strides = [{strides}]{layout} : {whole}"
        name = self.once(view, text)
        offsets = ", ".join([self.constant(0, "index")] * len(view.shape))
        text = f"pto.partition_view {name}, offsets = [{offsets}], sizes = [{taken}] : {whole} -> {part}"
        return self.once(("part", view, sizes), text), part

    def value(self, name: str, operand: Operand | Window, call: Call) -> tuple[str, str]:
        """The name and the type of an operand."""
        if isinstance(operand, Tile):
            tile = _paired(operand) if call.op.name in _NUMBERS else operand
            return self.tile(_whole(tile) if name == "tmp" else tile)
        if isinstance(operand, View):
            return self.view(operand, operand.shape)
        if isinstance(operand, Window):
            return self.view(operand.view, operand.sizes)
        if isinstance(operand, Number):
            type_ = _scalar_type(name, call)
            return self.constant(operand.value, type_), type_
        if isinstance(operand, Other) and operand.type.endswith("MrgSortExecutedNumList"):
            return self.once("executed", "arith.constant dense<0> : vector<4xi16>"), "vector<4xi16>"
        raise NotMapped(f"{call.op.name}: {name} is {operand}")

    def call(self, call: Call) -> None:
        values: list[tuple[str, str]] = []
        sizes: list[int] = []
        declared = signature(call.op)
        operands = _product(call) or _transferred(call, self.target)
        for slot in declared.operands:
            given = operands.get(slot.name) or _default(slot)
            sizes.append(len(given))
            values += [self.value(slot.name, operand, call) for operand in given]
        attributes = dict(call.attributes)
        if declared.segmented:
            attributes["operandSegmentSizes"] = f"array<i32: {', '.join(map(str, sizes))}>"
        dictionary = ", ".join(f"{name} = {text}" for name, text in attributes.items())
        names = ", ".join(name for name, _ in values)
        types = ", ".join(type_ for _, type_ in values)
        self.body.append(f'"{call.op.name}"({names}){f" {{{dictionary}}}" if dictionary else ""} : ({types}) -> ()')


_BYTES = "!pto.ptr<ui8, gm>"


class Program(NamedTuple):
    """The text of a program whose arguments are the device memories and then ``sizes``."""

    text: str
    sizes: tuple[int, ...]


def program_of(record: Record, target: str) -> Program:
    """The program of a record."""
    writer = _Writer(target)
    instructions = [one for one in record.instructions if one.name not in IGNORED]
    if not instructions:
        raise NotMapped("no tile instruction")
    if len(instructions) > MOST_INSTRUCTIONS:
        raise NotMapped(f"more than {MOST_INSTRUCTIONS} instructions")
    for one in instructions:
        writer.call(call_of(one))
    parameters = [f"%m{number}: {_BYTES}" for number in record.memories]
    parameters += [f"{name}: index" for name in writer.arguments.values()]
    lines = "".join(f"    {line}\n" for line in (*writer.head, *writer.body, "return"))
    text = (
        f'module attributes {{pto.release = "{HEADERS}", pto.target_arch = "{target}"}} {{\n'
        f"  func.func @test({', '.join(parameters)}) attributes {{pto.kernel}} {{\n{lines}  }}\n}}\n"
    )
    return Program(text, tuple(writer.arguments))


def tile_type(tile: Tile) -> str:
    """The type of a tile as the dialect writes it."""
    if tile.loc >= len(LOCATIONS):
        raise NotMapped("control tiles")
    parts = [LOCATIONS[tile.loc], f"{tile.rows}x{tile.cols}x{tile.element}"]
    if (tile.valid_rows, tile.valid_cols) != (tile.rows, tile.cols):
        parts.append(f"valid={tile.valid_rows}x{tile.valid_cols}")
    if tile.blayout:
        parts.append(f"blayout={BLAYOUTS[tile.blayout]}")
    if tile.slayout:
        parts.append(f"slayout={SLAYOUTS[tile.slayout]}")
    if tile.fractal != 512:
        parts.append(f"fractal={tile.fractal}")
    if tile.pad > 3:
        raise NotMapped("pad values other than zero, largest and smallest")
    if tile.pad:
        parts.append(f"pad={tile.pad}")
    if tile.compact:
        parts.append(f"compact={tile.compact}")
    return f"!pto.tile_buf<{', '.join(parts)}>"


HEADERS = "0.50"
"""A release that leaves the saturation that a call does not state to the headers, as the calls of the tests do."""
_NUMBERS = ("pto.tcvt", "pto.tload", "pto.tstore")
"""What counts single numbers of 4 bits in vector tiles; other instructions and the dialect count pairs."""


def _paired(tile: Tile) -> Tile:
    """A vector tile of packed pairs whose columns have been counted as single numbers."""
    if not (tile.element.startswith("!pto.f4") and LOCATIONS[tile.loc] == "vec"):
        return tile
    return tile._replace(cols=tile.cols // 2, valid_cols=-(-tile.valid_cols // 2))


def _paired_view(view: View) -> View:
    shape = (*view.shape[:4], -(-view.shape[4] // 2))
    return view._replace(shape=shape, strides=(*(step // 2 for step in view.strides[:4]), 1))


def _whole(tile: Tile) -> Tile:
    """A scratch tile, whose valid region is not looked at: some are declared with one that they do not have."""
    rows, cols = min(tile.valid_rows, tile.rows), min(tile.valid_cols, tile.cols)
    return tile._replace(valid_rows=rows, valid_cols=cols)


def _transferred(call: Call, target: str) -> Mapping[str, Sequence[Operand | Window]]:
    """The operands of an operation; those of a transfer in the sizes that the instruction moves.

    A tensor may be larger or smaller than the valid region of the tile, which the dialect does not allow.
    """
    if call.op.name not in ("pto.tload", "pto.tstore"):
        return call.operands
    load = call.op.name == "pto.tload"
    (source,), (destination,) = call.operands["src"], call.operands["dst"]
    tile, view = (destination, source) if load else (source, destination)
    if not isinstance(tile, Tile) or not isinstance(view, View) or view.layout > 1:
        return call.operands
    if _paired(tile) is not tile:
        view = _paired_view(view)
        return {**call.operands, "src" if load else "dst": [view]}
    if prod(view.shape) == tile.valid_rows * tile.valid_cols or prod(view.shape[:3]) != 1:
        return call.operands
    if LOCATIONS[tile.loc] == "vec":
        tile, window = _bursts(tile, view, target)
    else:
        rows, cols = min(view.shape[3], tile.valid_rows), min(view.shape[4], tile.valid_cols)
        tile, window = tile._replace(valid_rows=rows, valid_cols=cols), Window(view, (1, 1, 1, rows, cols))
    pair = (window, tile) if load else (tile, window)
    return {**call.operands, "src": [pair[0]], "dst": [pair[1]]}


def _bursts(tile: Tile, view: View, target: str) -> tuple[Tile, Window]:
    """What is moved between a vector tile and a tensor: a burst for each row of the tensor (column, in layout DN).

    The tile says how long a burst is. On a2a3 the gap between bursts is that of the tensor, whatever their length.
    """
    by_cols = view.layout == 1
    count, length = (4, tile.valid_rows) if by_cols else (3, tile.valid_cols)
    room = tile.cols if by_cols else tile.rows
    number = min(view.shape[count], room)
    pitch = view.strides[count]
    if target == "a2a3":
        pitch += length - view.shape[7 - count]
    shape, strides = [1] * 5, [*view.strides]
    shape[count], shape[7 - count] = number, length
    strides[count], strides[7 - count] = pitch, 1
    rows, cols = (length, number) if by_cols else (number, length)
    moved = view._replace(shape=tuple(shape), strides=tuple(strides))
    return tile._replace(valid_rows=rows, valid_cols=cols), Window(moved, moved.shape)


def _product(call: Call) -> Mapping[str, Sequence[Operand]] | None:
    """The operands of a matrix product: its sizes are those of the left and the right tile alone."""
    left, right = next(
        ((a, b) for a, b in (("lhs", "rhs"), ("a", "b")) if a in call.operands and b in call.operands), (None, None)
    )
    if left is None or right is None:
        return None
    (lhs,), (rhs,) = call.operands[left], call.operands[right]
    assert isinstance(lhs, Tile) and isinstance(rhs, Tile)
    rows = 1 if call.op.name.startswith("pto.tgemv") else lhs.valid_rows
    found: dict[str, list[Operand]] = {**call.operands, right: [rhs._replace(valid_rows=lhs.valid_cols)]}
    for name in ("dst", "acc_in", "c_in", "bias"):
        for tile in call.operands.get(name, ()):
            assert isinstance(tile, Tile)
            of_rows = tile.valid_rows if name == "bias" else rows
            if of_rows <= tile.rows and rhs.valid_cols <= tile.cols:
                found[name] = [tile._replace(valid_rows=of_rows, valid_cols=rhs.valid_cols)]
    return found


def _default(slot: Slot) -> list[Operand]:
    """Window offsets are 0 where none are given."""
    return [Number("i64", 0)] if slot.name in ("indexRow", "indexCol") else []


_SCALARS = {"indexRow": "index", "indexCol": "index", "preQuantScalar": "i64", "blockLen": "i32", "slope": "f32"}


def _scalar_type(name: str, call: Call) -> str:
    if name in _SCALARS:
        return _SCALARS[name]
    if name == "diagonal":
        return "i32"
    tiles = [one for role in ("src", "src0", "scalar", "dst") for one in call.operands.get(role, ())]
    element = next(one.element for one in tiles if isinstance(one, Tile))
    return element.removeprefix("u")


def _float(value: float, type_: str) -> str:
    """A float constant; what has no digits is written as its bits."""
    if value != value or value in (float("inf"), float("-inf")):
        bits = {"f32": ("0x7FC00000", "0x7F800000", "0xFF800000"), "f16": ("0x7E00", "0x7C00", "0xFC00")}
        nan, plus, minus = bits.get(type_, ("0x7FC0", "0x7F80", "0xFF80"))
        return nan if value != value else plus if value > 0 else minus
    text = repr(value)
    return text if "." in text or "inf" in text else text.replace("e", ".0e")


__all__ = ["Numbers", "bytes_of", "program_of", "tile_type"]

"""The program of a record: its instructions in their order as tile operations of one function."""

from __future__ import annotations

from isa_ops import IGNORED, Call, call_of
from isa_record import NotMapped, Number, Numbers, Operand, Other, Record, Tile, View, bytes_of

from pto_dialect.ir.base import Slot, signature

LOCATIONS = ("vec", "mat", "left", "right", "acc", "bias", "scaling", "scaling", "scaling")
BLAYOUTS = ("row_major", "col_major")
SLAYOUTS = ("none_box", "row_major", "col_major")
LAYOUTS = {
    0: "nd",
    1: "dn",
    2: "nz",
    4: "mx_a_nd",
    5: "mx_a_dn",
    6: "mx_a_zz",
    7: "mx_b_nd",
    8: "mx_b_dn",
    9: "mx_b_nn",
}
"""Layouts of tensors by their number."""

MOST_INSTRUCTIONS = 4000


class _Writer:
    """The lines of a function; what is made once for it stands at its beginning."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.head: list[str] = []
        self.body: list[str] = []
        self.names: dict[object, str] = {}

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

    def view(self, view: View) -> tuple[str, str]:
        if view.layout not in LAYOUTS:
            raise NotMapped(f"a tensor of layout {view.layout}")
        if view.memory < 0:
            raise NotMapped("a tensor outside of device memory")
        pointer_type = f"!pto.ptr<{view.element}, gm>"
        bytes_ = self.constant(view.offset, "index")
        at = self.once((view.memory, view.offset), f"pto.addptr %m{view.memory}, {bytes_} : {_BYTES} -> {_BYTES}")
        pointer = self.once((at, view.element), f"pto.castptr {at} : {_BYTES} -> {pointer_type}")
        shape = ", ".join(self.constant(size, "index") for size in view.shape)
        strides = ", ".join(self.constant(size, "index") for size in view.strides)
        dims = "x".join(map(str, view.shape))
        whole, part = (f"!pto.{kind}<{dims}x{view.element}>" for kind in ("tensor_view", "partition_tensor_view"))
        layout = f" {{layout = #pto.layout<{LAYOUTS[view.layout]}>}}"
        text = f"pto.make_tensor_view {pointer}, shape = [{shape}], strides = [{strides}]{layout} : {whole}"
        name = self.once(view, text)
        zero = self.constant(0, "index")
        offsets = ", ".join([zero] * len(view.shape))
        text = f"pto.partition_view {name}, offsets = [{offsets}], sizes = [{shape}] : {whole} -> {part}"
        return self.once(("part", view), text), part

    def value(self, name: str, operand: Operand, call: Call) -> tuple[str, str]:
        """The name and the type of an operand."""
        if isinstance(operand, Tile):
            return self.tile(operand)
        if isinstance(operand, View):
            return self.view(operand)
        if isinstance(operand, Number):
            type_ = _scalar_type(name, call)
            return self.constant(operand.value, type_), type_
        if isinstance(operand, Other) and operand.type.endswith("MrgSortExecutedNumList"):
            return self.once("executed", "vector.splat"), "vector<4xi16>"
        raise NotMapped(f"{call.op.name}: {name} is {operand}")

    def call(self, call: Call) -> None:
        values: list[tuple[str, str]] = []
        sizes: list[int] = []
        declared = signature(call.op)
        for slot in declared.operands:
            given = call.operands.get(slot.name) or _default(slot)
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


def program_of(record: Record, target: str) -> str:
    """The text of a record's program; device memory n is the argument ``%mn``."""
    writer = _Writer(record)
    instructions = [one for one in record.instructions if one.name not in IGNORED]
    if not instructions:
        raise NotMapped("no tile instruction")
    if len(instructions) > MOST_INSTRUCTIONS:
        raise NotMapped(f"more than {MOST_INSTRUCTIONS} instructions")
    for one in instructions:
        writer.call(call_of(one))
    arguments = ", ".join(f"%m{number}: {_BYTES}" for number in record.memories)
    lines = "".join(f"    {line}\n" for line in (*writer.head, *writer.body, "return"))
    return (
        f'module attributes {{pto.target_arch = "{target}"}} {{\n'
        f"  func.func @test({arguments}) attributes {{pto.kernel}} {{\n{lines}  }}\n}}\n"
    )


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

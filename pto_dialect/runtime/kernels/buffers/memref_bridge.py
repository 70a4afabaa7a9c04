"""Tiles and memrefs over each other's memory (the older dialect's lowering). Source: docs/reference/execution.md,
"Pointers, tiles and views".
"""

from __future__ import annotations

import re
from typing import Any

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, SSAValue

from pto_dialect.analysis.type_facts import space_of
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.attributes import OpaqueAttr
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.memory.memref import MemRef
from pto_dialect.runtime.memory.spaces import Pointer
from pto_dialect.runtime.memory.values import UNBOUND, Tile
from pto_dialect.runtime.run.machine import Core

from ..core.memref_maker import memref_over
from ..registry import kernel
from .tile_maker import TileMaker
from .views import maker_of

_LOCATIONS = {"ub": "vec", "l1": "mat", "l0a": "left", "l0b": "right", "l0c": "acc", "bt": "bias", "fb": "scaling"}
_FIELD = re.compile(r"(\w+)\s*=\s*([\w.]+)")
_LAYOUTS = {"blayout": ("row_major", "col_major"), "slayout": ("none_box", "row_major", "col_major")}


def tile_type(type_: Attribute, config: Attribute | None, g: Generator) -> t.TileBufType:
    """Returns the tile type of a memref with a layout attribute."""
    assert isinstance(type_, MemRefType)
    *outer, cols = shape = t.shape_of(type_)
    rows = 1
    for extent in outer:
        rows *= extent
    space = space_of(type_)
    if t.DYNAMIC in shape or space not in _LOCATIONS:
        raise g.error("unmodelled", f"{t.type_text(type_)} is no tile")
    fields = dict(_FIELD.findall(config.data)) if isinstance(config, OpaqueAttr) else {}
    layout: dict[str, Any] = {name: _layout_name(fields.get(name, "0"), words) for name, words in _LAYOUTS.items()}
    fractal = int(fields.get("s_fractal_size", "512"))
    loc = _LOCATIONS[space]
    return t.TileBufType(loc, rows, cols, type_.element_type, fractal=fractal, **layout)


def _layout_name(text: str, words: tuple[str, ...]) -> str:
    text = text.rpartition(".")[2]
    return words[int(text)] if text.isdecimal() else text


def tile_at(maker: TileMaker, core: Core, source: Any, rows: int | None, cols: int | None) -> Tile:
    """Returns the tile over the memory of ``source``."""
    return maker(core, core.pointer_of(source).offset, rows, cols)


def _tile_over(op: PtoOp, g: Generator, maker: TileMaker, source: SSAValue) -> str:
    sizes = (g.operand(op, name) for name in ("valid_row", "valid_col"))
    rows, cols = ("None" if size is None else str(g.name(size)) for size in sizes)
    return f"{g.argument(tile_at)}({g.argument(maker)}, core, {g.name(source)}, {rows}, {cols})"


@kernel("pto.bind_tile", "pto.materialize_tile")
def bind_tile(op: PtoOp, g: Generator) -> None:
    """The tile over the bytes of a memref, with the layout of the attribute or of the result type."""
    source, result = named(op, "source"), op.results[0]
    config = op.attributes.get("config")
    type_ = result.type if isinstance(result.type, t.TileBufType) else tile_type(source.type, config, g)
    g.define(result, _tile_over(op, g, maker_of(type_, g), source))


@kernel("pto.declare_tile_memref")
def declare_tile_memref(op: PtoOp, g: Generator) -> None:
    """A memref that has no memory until a later operation binds it."""
    g.define(op.results[0], g.emitter.constant(UNBOUND, "unbound"))


class AtAddress:
    """A memref, or a tile if a layout says so, at a byte address of a memory."""

    def __init__(self, space: str, make: Any) -> None:
        self.space = space
        self.make = make
        self.label = "at_address"

    def __call__(self, core: Core, address: int) -> MemRef:
        """Returns the memref whose first byte is at ``address``."""
        arena, offset = core.locate(self.space, address)
        return self.make(Pointer(arena, offset, self.make.fmt.storage, self.make.fmt.bytes))


@kernel("pto.pointer_cast")
def pointer_cast(op: PtoOp, g: Generator) -> None:
    """A memref, or a tile where a layout is given, at one byte address. Raises ``ProgramError`` for several
    addresses.
    """
    groups, result = g.operands(op), op.results[0]
    if len(groups["addrs"]) != 1:
        raise g.error("unmodelled", "a memref over several buffers cannot be executed", op)
    address = groups["addrs"][0]
    config = op.attributes.get("config")
    if config is not None:
        maker = maker_of(tile_type(result.type, config, g), g)
        sizes = (next(iter(groups[name]), None) for name in ("valid_row", "valid_col"))
        rows, cols = ("None" if size is None else str(g.name(size)) for size in sizes)
        g.define(result, f"{g.argument(maker)}(core, {g.name(address)}, {rows}, {cols})")
        return
    make = AtAddress(space_of(result.type) or "gm", memref_over(result.type, g))
    g.define(result, f"{g.argument(make)}(core, {g.name(address)})")


@kernel("pto.simd.tile_to_memref")
def tile_to_memref(op: PtoOp, g: Generator) -> None:
    """The memref over the bytes of a tile."""
    make = memref_over(op.results[0].type, g)
    g.define(op.results[0], f"{g.argument(make)}(core.pointer_of({g.name(named(op, 'src'))}))")

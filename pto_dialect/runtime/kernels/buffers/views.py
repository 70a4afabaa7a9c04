"""Allocation and views: handles to bytes, no data moves. Source: docs/reference/execution.md, "Pointers, tiles and
views"; docs/reference/layouts.md, "Views of global memory".
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.mx_layouts import MX_LAYOUTS, inferred_layout
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.runtime.compile.generator import Expr, Generator
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.extents import entry_of
from pto_dialect.runtime.memory.gm_parts import GmParts
from pto_dialect.runtime.memory.mx_view import MxTensor
from pto_dialect.runtime.memory.spaces import Array, Pointer
from pto_dialect.runtime.memory.values import UNBOUND, GmTensor, MultiTile, Tile, ValueTile
from pto_dialect.runtime.run.machine import Core
from pto_dialect.syntax.types.attributes import int_list
from pto_dialect.targets.memory import MX_SCALE_ADDRESS_DIVISOR

from ..registry import kernel, kernels
from .tile_maker import MATRIX_SPACES, TileMaker, tile_maker

_MOVES = Role.TILE_LOAD | Role.TILE_STORE


def maker_of(type_: Any, g: Generator) -> TileMaker:
    """Returns the builder of a tile type; raises an error of the operation when there is none."""
    if not isinstance(type_, t.TileBufType):
        raise g.error("unmodelled", f"{t.type_text(type_)} is not a tile that can be executed")
    try:
        return tile_maker(type_, g.profile)
    except Fault as fault:
        raise g.error(fault.rule, fault.message) from None


@kernel("pto.alloc_tile")
def alloc_tile(op: PtoOp, g: Generator) -> None:
    """A tile at the address that the program states or the placement has chosen; valid sizes may be run-time values."""
    type_ = op.results[0].type
    if isinstance(type_, t.TileType):
        # A tile value that nothing has written yet.
        fmt = g.argument(g.format(type_.element))
        g.define(op.results[0], f"{g.argument(ValueTile)}({type_.rows}, {type_.cols}, {fmt})")
        return
    maker = maker_of(type_, g)
    address = g.operand(op, "addr")
    base = g.name(address) if address is not None else str(g.placement[op])
    extra = ""
    for key in ("valid_row", "valid_col"):
        value = g.operand(op, key)
        if value is not None:
            extra += f", {key}s={g.name(value)}"
    g.define(op.results[0], f"{g.argument(maker)}(core, {base}{extra})")
    if maker.space in MATRIX_SPACES and not extra:
        g.hold(op.results[0], _zeros(maker.type.rows, maker.type.cols))


@lru_cache(16)
def _zeros(rows: int, cols: int) -> Array:
    zeros = np.zeros((rows, cols), np.float32)
    zeros.flags.writeable = False
    return zeros


def make_multi(maker: TileMaker, core: Core, address: int, count: int, rows: int | None, cols: int | None) -> MultiTile:
    """Returns ``count`` consecutive tiles."""
    stride = -(-maker.nbytes // 32) * 32
    return MultiTile([maker(core, address + i * stride, rows, cols) for i in range(count)])


@kernel("pto.alloc_multi_tile")
def alloc_multi_tile(op: PtoOp, g: Generator) -> None:
    """Several consecutive tiles of one type, as the slots of a buffer."""
    type_ = op.results[0].type
    assert isinstance(type_, t.MultiTileBufType)
    maker = maker_of(type_.slot, g)
    address = g.operand(op, "addr")
    base = g.name(address) if address is not None else str(g.placement[op])
    sizes = [g.operand(op, key) for key in ("valid_row", "valid_col")]
    rows, cols = ("None" if v is None else str(g.name(v)) for v in sizes)
    g.define(
        op.results[0], f"{g.argument(make_multi)}({g.argument(maker)}, core, {base}, {type_.count}, {rows}, {cols})"
    )


@kernel("pto.multi_tile_get")
def multi_tile_get(op: PtoOp, g: Generator) -> None:
    """The tile in the slot whose index is an operand or an attribute."""
    slot = g.operand(op, "slot")
    index = g.name(slot) if slot is not None else op.attributes["slot"].value.data  # pyright: ignore
    g.define(op.results[0], f"{g.name(named(op, 'source'))}.get({index})")


@kernel("pto.tassign")
def tassign(op: PtoOp, g: Generator) -> None:
    """The tile at another byte address; one that was only declared gets its memory."""
    tile, address = (named(op, name) for name in ("tile", "addr"))
    maker = maker_of(op.results[0].type, g)
    g.define(op.results[0], f"{g.argument(placed)}({g.argument(maker)}, core, {g.name(tile)}, {g.name(address)})")


def placed(maker: TileMaker, core: Core, tile: Tile, address: int) -> Tile:
    """Returns ``tile`` at byte ``address``; a tile that was only declared gets its memory here."""
    if tile is not UNBOUND:
        return moved(core, tile, address)
    type_ = maker.type
    rows = type_.rows if type_.valid_rows == t.DYNAMIC else None
    cols = type_.cols if type_.valid_cols == t.DYNAMIC else None
    return maker(core, address, rows, cols)


@kernel("pto.tget_scale_addr")
def tget_scale_addr(op: PtoOp, g: Generator) -> None:
    """Binds the scale tile to the address of the tile it belongs to (docs/reference/layouts.md, "MX scales")."""
    source = named(op, "src")
    scale = g.operand(op, "dst")
    if scale is None:
        raise g.error("unmodelled", f"{op.name} of tile values cannot be executed: they have no address", op)
    address = f"{g.name(source)}.pointer.offset // {MX_SCALE_ADDRESS_DIVISOR}"
    g.rebind(scale, f"{g.argument(moved)}(core, {g.name(scale)}, {address})")


def moved(core: Core, tile: Tile, address: int) -> Tile:
    """Returns ``tile`` at byte ``address`` of its memory of ``core``."""
    if not isinstance(tile, Tile):
        raise Fault("unmodelled", "a memref cannot be given another address")
    return tile.moved(core.arena(tile.pointer.arena.space), address)


def retyped(maker: TileMaker, tile: Tile) -> Tile:
    """Returns the bytes of ``tile`` as a tile of another type."""
    if tile.row0 or tile.col0:
        raise Fault("unmodelled", "a subview cannot be reshaped")
    arena, offset = tile.pointer.arena, tile.pointer.offset
    known = arena.handles.get((maker, offset)) if maker.fixed else None
    if known is not None:
        return known
    rows = tile.valid_rows if maker.type.valid_rows == t.DYNAMIC else None
    cols = tile.valid_cols if maker.type.valid_cols == t.DYNAMIC else None
    made = maker.at(Pointer(arena, offset, maker.fmt.storage, maker.fmt.bytes), rows, cols)
    if maker.fixed:
        arena.handles[maker, offset] = made
    return made


@kernel("pto.treshape", "pto.bitcast")
def reshape(op: PtoOp, g: Generator) -> None:
    """The bytes of a tile as a tile of another shape, layout or element type."""
    maker = maker_of(op.results[0].type, g)
    g.define(op.results[0], f"{g.argument(retyped)}({g.argument(maker)}, {g.name(named(op, 'src'))})")


@kernel("pto.subview")
def subview(op: PtoOp, g: Generator) -> None:
    """The tile over a rectangle of another tile; its valid region follows from the operands, the type or the source."""
    groups = g.operands(op)
    sizes = int_list(op.attributes["sizes"]) or []
    row, col = (g.name(v) for v in groups["offsets"])
    type_ = op.results[0].type
    if not isinstance(type_, t.TileBufType):
        raise g.error("unmodelled", f"{op.name} shows a part of a buffer, found {t.type_text(type_)}")
    source = g.name(groups["source"][0])
    valid: list[str] = []
    for key, size, stated, axis in (
        ("valid_row", sizes[0], type_.valid_rows, "valid_rows"),
        ("valid_col", sizes[1], type_.valid_cols, "valid_cols"),
    ):
        if groups[key]:
            valid.append(f"min({g.name(groups[key][0])}, {size})")
        elif stated != t.DYNAMIC:
            valid.append(str(stated))
        else:
            offset = row if key == "valid_row" else col
            valid.append(f"max(0, min({size}, {source}.{axis} - {offset}))")
    g.define(op.results[0], f"{source}.window({row}, {col}, {sizes[0]}, {sizes[1]}, {', '.join(valid)})")


@kernel("pto.set_validshape")
def set_validshape(op: PtoOp, g: Generator) -> None:
    """Changes the numbers of valid rows and columns of a tile for instructions that are issued afterwards."""
    tile, rows, cols = (g.name(named(op, name)) for name in ("source", "valid_row", "valid_col"))
    g.emitter.line(f"core.set_valid({tile}, {rows}, {cols})")


@kernel("pto.get_validshape")
def get_validshape(op: PtoOp, g: Generator) -> None:
    """The numbers of valid rows and columns of a tile."""
    tile = g.name(named(op, "source"))
    g.define(op.results[0], f"{tile}.valid_rows")
    g.define(op.results[1], f"{tile}.valid_cols")


@kernels({"pto.tile_valid_rows": "valid_rows", "pto.tile_valid_cols": "valid_cols"})
def valid_extent(op: PtoOp, g: Generator, extent: str) -> None:
    """The number of valid rows or columns of a tile."""
    g.define(op.results[0], f"{g.name(named(op, 'src'))}.{extent}")


@kernel("pto.make_tensor_view")
def make_tensor_view(op: PtoOp, g: Generator) -> None:
    """A view of global memory from a pointer, with extents and strides in elements; views of scales take the layout of
    the tile that loads them."""
    groups = g.operands(op)
    type_ = op.results[0].type
    assert isinstance(type_, t.TensorViewType)
    stated = getattr(op.attributes.get("layout"), "value", None)
    scales = t.element_name(type_.element) == "f8E8M0" and len(groups["shape"]) == 2
    layout = stated or (inferred_layout(op.results[0]) if scales else None) or "nd"
    blocks = layout in MX_LAYOUTS and len(groups["shape"]) == 2
    shape, strides = (f"({''.join(f'{g.name(v)}, ' for v in groups[k])})" for k in ("shape", "strides"))
    fmt = g.argument(g.format(type_.element))
    maker = g.argument(MxTensor if blocks else GmTensor)
    g.define(op.results[0], f"{maker}({g.name(groups['ptr'][0])}, {shape}, {strides}, {fmt}, {layout!r})")
    if g.variant.shares_parts and not blocks:
        _prepare_parts(op, g)


def _prepare_parts(view: PtoOp, g: Generator) -> None:
    """Computes before a loop the facts that all parts share which the loop makes and only loads or stores."""
    name = g.name(view.results[0])
    known: dict[str, Expr] = {}
    for use in view.results[0].uses:
        op = use.operation
        if not has_role(op, Role.PART) or op.parent is view.parent or not _only_moved(op.results[0]):
            continue
        assert isinstance(op, PtoOp)
        sizes = [constant_of(value) for value in g.operands(op)["sizes"]]
        if len(sizes) == len(g.operands(view)["strides"]) and all(isinstance(n, int) and n > 0 for n in sizes):
            text = f"{g.argument(GmParts)}({name}, {g.argument(sizes)})"
            if text not in known:
                known[text] = g.define_local(f"{view.results[0].name_hint or ''}_parts", text)
            g.common[op.results[0]] = known[text]


def _only_moved(part: SSAValue) -> bool:
    """Returns whether the part is only a source of loads or a destination of stores."""
    return all(has_role(use.operation, _MOVES) for use in part.uses)


@kernel("pto.partition_view")
def partition_view(op: PtoOp, g: Generator) -> None:
    """The part of a view that starts at the offsets and has the sizes, both in elements."""
    groups = g.operands(op)
    source, result = groups["source"][0], op.results[0]
    common = g.common.get(result)
    if common is not None:
        view = source.owner
        assert isinstance(view, PtoOp)
        pairs = zip(groups["offsets"], g.operands(view)["strides"], strict=True)
        terms = [f"{g.name(offset)} * {g.name(stride)}" for offset, stride in pairs if constant_of(offset) != 0]
        distance = g.define_local(f"{result.name_hint or 'part'}_at", " + ".join(terms) or "0")
        g.parts[result] = common, distance
        g.names[result] = f"{common}.part({distance})"
        return
    offsets, sizes = (f"({''.join(f'{g.name(v)}, ' for v in groups[k])})" for k in ("offsets", "sizes"))
    g.define(result, f"{g.name(source)}.part({offsets}, {sizes})")


@kernels({"pto.get_tensor_view_dim": "shape", "pto.get_tensor_view_stride": "strides"})
def view_extent(op: PtoOp, g: Generator, numbers: str) -> None:
    """The extent or the stride of one dimension of a view, in elements."""
    view, axis = (g.name(named(op, name)) for name in ("tensor_view", "dim_index"))
    g.define(op.results[0], f"{g.argument(entry_of)}({view}.{numbers}, {axis})")

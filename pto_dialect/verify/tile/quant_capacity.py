"""Rules about the physical shapes of the tiles of block quantization, which addresses elements beyond the
valid ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from pto_dialect.ir.core.extents import round_up
from pto_dialect.targets.matmul_types import MX_SCALE_GROUP

from .facts import Tile
from .quant import check_block_shapes
from .relations import ALWAYS, Finding, TileOperands, relation

_TILES: Final = ("src", "dst", "exp", "max", "scaling", "exp_zz")
_UNROLLED: Final = 256
"""Elements of one step of the unrolled loop over f32 sources."""
_LEAST_UNROLLED: Final = 1024
_SCALE_BLOCK: Final[Mapping[int, int]] = MappingProxyType({32: 64, 16: 128})
"""Bits of an element -> scales that one instruction writes."""


@relation("pto.tquant.mx")
def check_block_capacity(t: TileOperands) -> Iterator[Finding]:
    """Known sizes, row lengths and capacity of the tiles whose valid elements are right."""
    shaped = {finding.operand for finding in check_block_shapes(t)}
    yield from (finding for finding in _block_capacity(t) if finding.operand not in shaped)


def _block_capacity(t: TileOperands) -> Iterator[Finding]:
    tiles = dict(t.tiles(*_TILES))
    for name, tile in tiles.items():
        if min(tile.rows, tile.cols, tile.valid_rows, tile.valid_cols) < 0:
            yield t.finding("quant-mx-room", ALWAYS, name, f"{name} of pto.tquant.mx must have known sizes")
            return
    if {"src", "dst", "exp", "max", "scaling"} - tiles.keys():
        return
    src = tiles["src"]
    packed, along_rows = t.enumerator("quant_type") == "MXFP4_E2M1", t.enumerator("grpAxis") == "axis0"
    if packed or not along_rows:
        yield from _columns(t, "dst", tiles["dst"], src.cols // 2 if packed else src.cols)
    if along_rows:
        yield from _along_rows(t, src, tiles)
    else:
        yield from _along_columns(t, src, tiles)


def _columns(t: TileOperands, name: str, tile: Tile, wanted: int) -> Iterator[Finding]:
    if tile.cols != wanted:
        message = f"{name} of pto.tquant.mx must have {wanted} physical columns, found {tile.cols}"
        yield t.finding("quant-mx-room", ALWAYS, name, message)


def _capacity(t: TileOperands, name: str, tile: Tile, wanted: int) -> Iterator[Finding]:
    if tile.rows * tile.cols < wanted:
        message = f"{name} of pto.tquant.mx needs room for {wanted} elements, found {tile.rows * tile.cols}"
        yield t.finding("quant-mx-room", ALWAYS, name, message)


def _along_rows(t: TileOperands, src: Tile, tiles: Mapping[str, Tile]) -> Iterator[Finding]:
    names, needed = ["max", "scaling", "exp"], src.valid_rows // MX_SCALE_GROUP * src.cols
    if t.number("interleave"):
        names.remove("exp")
        wanted, exp = (src.rows // 64, round_up(2 * src.cols, 32)), tiles["exp"]
        if (exp.rows, exp.cols) != wanted:
            message = f"interleaved exponents must be {wanted[0]}x{wanted[1]} elements, found {exp.rows}x{exp.cols}"
            yield t.finding("quant-mx-room", ALWAYS, "exp", message)
    for name in names:
        yield from _columns(t, name, tiles[name], src.cols)
        yield from _capacity(t, name, tiles[name], needed)


def _along_columns(t: TileOperands, src: Tile, tiles: Mapping[str, Tile]) -> Iterator[Finding]:
    for name in ("max", "scaling"):
        tile = tiles[name]
        if tile.valid_rows != 1 and tile.cols != tile.valid_cols:
            message = f"{name} of pto.tquant.mx is one row, or its rows follow each other without a gap"
            yield t.finding("quant-mx-room", ALWAYS, name, f"{message}, found {tile.valid_cols} of {tile.cols} columns")
    groups, exp = src.valid_rows * (src.valid_cols // MX_SCALE_GROUP), tiles["exp"]
    needed = groups
    if exp.rows == 1:
        if src.cols != src.valid_cols:
            found = f"{src.valid_cols} of {src.cols} columns"
            message = f"exponents in one row need a source without padding, found {found}"
            yield t.finding("quant-mx-room", ALWAYS, "src", message)
        elements, valid = src.rows * src.cols, src.valid_rows * src.cols
        unrolled = src.bits == 32 and elements > _LEAST_UNROLLED and not elements % _UNROLLED and not valid % _UNROLLED
        block = _SCALE_BLOCK.get(src.bits, 1)
        needed = round_up(groups * (1 + unrolled), block)
    elif exp.valid_rows == 1 != src.valid_rows:
        yield t.finding("quant-mx-room", ALWAYS, "exp", f"a list of exponents is one row, found {exp.rows} rows")
    yield from _capacity(t, "max", tiles["max"], groups)
    yield from _capacity(t, "scaling", tiles["scaling"], needed)

"""Rules of sequences, triangles, sorting, histograms and random numbers.

Source: docs/reference/tiles.md, "Irregular operations".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from xdsl.dialects.builtin import IntegerType, Signedness, VectorType
from xdsl.ir import Operation

from pto_dialect.diagnostics.remedies.types import nearest_number
from pto_dialect.ir.core.types import I16
from pto_dialect.targets.element_types import signless
from pto_dialect.targets.tile_dtypes import TRANDOM_ROUNDS

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import SHAPES
from .facts import Tile, statically_differ, tile_of
from .relations import ADVICE, ALWAYS, Finding, TileOperands, cell, relation

_COUNTS = "vector<4xi16>"
_COUNT_TYPES = tuple(VectorType(kind, [4]) for kind in (I16, IntegerType(16, Signedness.UNSIGNED)))


_SORT_MULTIPLE: Final = 64
"""A block length is a multiple of this many elements."""


@relation("pto.tci")
def check_sequence(t: TileOperands) -> Iterator[Finding]:
    """Checks start value and width."""
    dst = t.tile("dst")
    if dst is None:
        return
    if t.type_name("S") != dst.element:
        message = f"S of pto.tci must have the element type of dst, {dst.element}, found {t.type_name('S')}"
        yield t.finding("tci-types", ALWAYS, "S", message)
    tmp = t.tile("tmp")
    if tmp is not None and (tmp.bits != 32 or tmp.layout not in (None, "ND")):
        found = f"{tmp.element} ({tmp.layout_text})"
        message = f"tmp of pto.tci must have 4-byte elements and be row_major without boxes on a2a3, found {found}"
        yield t.finding("tci-types", cell("E/"), "tmp", message)
    elif tmp is not None and tmp.layout is not None and tmp.fractal != 512:
        message = f"tmp of pto.tci must have fractal 512 on a2a3, found {tmp.fractal}"
        yield t.finding("tci-types", cell("E/"), "tmp", message)
    if dst.cols == 1:
        yield t.finding("tci-types", ALWAYS, "dst", "dst of pto.tci must have more than one column")


@relation("pto.ttri")
def check_triangle(t: TileOperands) -> Iterator[Finding]:
    """Checks which triangle is selected."""
    flag = t.number("upperOrLower")
    if flag not in (None, 0, 1):
        message, mended = f"upperOrLower must be 0 or 1, found {flag}", (nearest_number(flag, "0", "1"),)
        yield t.finding("ttri-flag", ALWAYS, "upperOrLower", message, remedies=mended)


@relation("pto.tsort32")
def check_sort_positions(t: TileOperands) -> Iterator[Finding]:
    """Checks the positions that a sort yields."""
    idx = t.tile("idx")
    if idx is not None and signless(idx.element) != "i32":
        yield t.finding("sort-types", ALWAYS, "idx", f"idx of pto.tsort32 must be i32 or ui32, found {idx.element}")


@relation("pto.tmrgsort")
def check_merge_form(t: TileOperands) -> Iterator[Finding]:
    """Checks the operands of the two formats of a merge."""
    sources = t.values.get("srcs", ())
    if "blockLen" in t.values:
        if len(sources) != 1 or "tmp" in t.values or "excuted" in t.values:
            message = "tmrgsort with a block length takes one source and one destination"
            yield t.finding("mrgsort-form", ALWAYS, None, message)
    else:
        if not 2 <= len(sources) <= 4:
            message = f"tmrgsort merges 2 to 4 sources, found {len(sources)}"
            yield t.finding("mrgsort-form", ALWAYS, "srcs", message, "one source is merged with a block length")
        if "excuted" not in t.values:
            if not t.value_form:
                message = "tmrgsort of several sources needs counts after its destination"
                yield t.finding("mrgsort-form", ALWAYS, None, message, f"outs(%dst, %excuted : type, {_COUNTS})")
        elif t.type("excuted") not in _COUNT_TYPES:
            message = f"excuted must be {_COUNTS}, found {t.type_name('excuted')}"
            yield t.finding("mrgsort-form", ALWAYS, "excuted", message)


@relation("pto.tmrgsort")
def check_merge_shapes(t: TileOperands) -> Iterator[Finding]:
    """Checks that each list is one row, the element types are equal, and the merged list fits."""
    dst, tmp = t.tile("dsts"), t.tile("tmp")
    sources = [tile_of(value) for value in t.values.get("srcs", ())]
    named: list[tuple[str, int, Tile | None]] = [("srcs", i, tile) for i, tile in enumerate(sources)]
    named += [("dsts", 0, dst), ("tmp", 0, tmp)]
    for name, index, tile in named:
        if tile is None:
            continue
        if tile.rows >= 0 and tile.rows != 1:
            message = f"{name} of pto.tmrgsort must be one row, found {tile.rows}"
            yield t.finding("mrgsort-form", ALWAYS, name, message, index=index)
        if dst is not None and tile.element != dst.element:
            message = f"{name} of pto.tmrgsort must have the element type of dst, {dst.element}"
            yield t.finding("mrgsort-form", ALWAYS, name, f"{message}, found {tile.element}", index=index)
    if dst is None:
        return
    if "blockLen" in t.values and sources and sources[0] is not None and statically_differ(sources[0].cols, dst.cols):
        message = f"src and dst of pto.tmrgsort must have as many columns, found {sources[0].cols} and {dst.cols}"
        yield t.finding("mrgsort-form", ALWAYS, "dsts", message)
    if tmp is None or tmp.cols < 0:
        return
    widths = [tile.cols for tile in sources if tile is not None]
    if tmp.cols < dst.cols:
        message = f"tmp of pto.tmrgsort must have {dst.cols} columns like dst, found {tmp.cols}"
        yield t.finding("mrgsort-form", ALWAYS, "tmp", message)
    elif min(widths, default=-1) >= 0 and tmp.cols < sum(widths):
        message = f"tmp of pto.tmrgsort needs the {sum(widths)} columns of all sources, found {tmp.cols}"
        yield t.finding("mrgsort-form", ADVICE, "tmp", message)


@checks(SHAPES, "pto.tmrgsort")
def check_block_length(op: Operation, ctx: Context) -> None:
    """Checks constant block lengths."""
    value = ctx.operand(op, "blockLen")
    length = ctx.constant(value)
    if length is not None and (length <= 0 or length % _SORT_MULTIPLE):
        message = f"blockLen must be a positive multiple of {_SORT_MULTIPLE}, found {length}"
        ctx.report("mrgsort-form", op, message, at=value)


@relation("pto.thistogram")
def check_histogram(t: TileOperands) -> Iterator[Finding]:
    """Checks byte, filter and bins of a histogram."""
    byte, legacy = t.number("byte"), t.number("isMSB")
    if legacy is not None:
        stated, byte = byte, 1 if legacy else 0
        if stated not in (None, byte):
            message = f"byte = {stated} contradicts the older isMSB, which means byte = {byte}"
            yield t.finding("hist-form", ALWAYS, "isMSB", message, "leave isMSB out")
            return
    byte = 1 if byte is None else byte
    if not 0 <= byte <= 3:
        message, mended = f"byte must be 0, 1, 2 or 3, found {byte}", (nearest_number(byte, "0", "1", "2", "3"),)
        yield t.finding("hist-form", ALWAYS, "byte", message, remedies=mended)
        return
    for name, tile in t.tiles("src", "dst", "idx"):
        if tile.loc not in (None, "vec"):
            yield t.memory_finding("hist-form", ALWAYS, name, tile.loc, "vec")
        elif name != "idx" and tile.layout not in (None, "ND"):
            yield t.finding("hist-form", ALWAYS, name, f"{name} of pto.thistogram must be ND, found {tile.layout}")
    yield from _bins(t)
    src, idx = t.tile("src"), t.tile("idx")
    if src is None or idx is None:
        return
    if signless(idx.element) != "i8":
        yield t.finding("hist-form", ALWAYS, "idx", f"idx of pto.thistogram must be ui8, found {idx.element}")
    if src.bits == 16:
        if byte > 1:
            yield t.finding("hist-form", ALWAYS, "byte", f"a 16-bit source has bytes 0 and 1, found byte = {byte}")
        yield from _column_filter(t, src, idx)
    elif byte != 3:
        yield from _row_filter(t, src, idx, 3 - byte)


def _bins(t: TileOperands) -> Iterator[Finding]:
    src, dst = t.tile("src"), t.tile("dst")
    if src is None or dst is None:
        return
    if signless(dst.element) != "i32":
        yield t.finding("hist-form", ALWAYS, "dst", f"dst of pto.thistogram must be ui32, found {dst.element}")
    if statically_differ(src.rows, dst.rows) or statically_differ(src.valid_rows, dst.valid_rows):
        message = f"dst needs the rows of src, {src.rows} ({src.valid_rows} valid)"
        found = f"{dst.rows} ({dst.valid_rows} valid)"
        yield t.finding("hist-form", ALWAYS, "dst", f"{message}, found {found}".replace("-1", "?"))
    if 0 <= dst.cols < 256 or 0 < dst.valid_cols < 256:
        message = f"dst needs 256 columns, found {dst.cols} ({dst.valid_cols} valid)"
        yield t.finding("hist-form", ALWAYS, "dst", message)


def _column_filter(t: TileOperands, src: Tile, idx: Tile) -> Iterator[Finding]:
    """Checks a 16-bit source: one filter byte for each row."""
    if idx.layout not in (None, "DN"):
        message = f"idx of a 16-bit source must be DN, found {idx.layout}"
        yield t.finding("hist-form", ALWAYS, "idx", message, "blayout=col_major")
    elif statically_differ(src.rows, idx.rows) or statically_differ(src.valid_rows, idx.valid_rows):
        extents = _extents(src.rows, src.valid_rows, idx.rows, idx.valid_rows, "rows")
        message = f"idx of a 16-bit source needs {extents}"
        yield t.finding("hist-form", ALWAYS, "idx", message)
    elif idx.cols > 1 or idx.valid_cols > 1:
        yield t.finding("hist-form", ALWAYS, "idx", f"idx of a 16-bit source is one column, found {idx.cols}")


def _extents(size: int, valid: int, found: int, found_valid: int, what: str) -> str:
    """Returns which extent of src idx must have, and the one that it has: the valid one where the other is right."""
    if statically_differ(size, found):
        return f"the {what} of src, {size}, found {found}"
    return f"the valid {what} of src, {valid}, found {found_valid}"


def _row_filter(t: TileOperands, src: Tile, idx: Tile, depth: int) -> Iterator[Finding]:
    """Checks a 32-bit source: one row of filter bytes for each byte above the selected one."""
    if idx.layout not in (None, "ND"):
        yield t.finding("hist-form", ALWAYS, "idx", f"idx of a 32-bit source must be ND, found {idx.layout}")
    elif statically_differ(src.cols, idx.cols) or statically_differ(src.valid_cols, idx.valid_cols):
        message = (
            f"idx of a 32-bit source needs {_extents(src.cols, src.valid_cols, idx.cols, idx.valid_cols, 'columns')}"
        )
        yield t.finding("hist-form", ALWAYS, "idx", message)
    elif statically_differ(idx.rows, depth) or (idx.valid_rows > 0 and idx.valid_rows != depth):
        message = f"byte = {3 - depth} of a 32-bit source needs {depth} rows of idx, found {idx.rows}"
        yield t.finding("hist-form", ALWAYS, "idx", message)


_WORDS: Final = ("key0", "key1", "counter0", "counter1", "counter2", "counter3")


@relation("pto.trandom")
def check_random_numbers(t: TileOperands) -> Iterator[Finding]:
    """Checks rounds and element width of random numbers."""
    rounds = t.number("rounds")
    if rounds is not None and rounds not in TRANDOM_ROUNDS:
        message, mended = f"rounds must be 7 or 10, found {rounds}", (nearest_number(rounds, "7", "10"),)
        yield t.finding("random-rounds", ALWAYS, "rounds", message, remedies=mended)
    for name in _WORDS:
        if t.type_name(name) not in ("", "i32"):
            message = f"{name} of pto.trandom must be i32, found {t.type_name(name)}"
            yield t.finding("random-rounds", ALWAYS, name, message)

"""Rules of padding, concatenation and single elements. Source: docs/reference/constraints.md, "Tile moves"."""

from __future__ import annotations

from collections.abc import Iterator

from pto_dialect.diagnostics.remedies.order import without_attribute
from pto_dialect.ir.core.types import TileBufType, type_text
from pto_dialect.ir.tile.move import TFillPadInplaceOp, TFillPadOp

from .facts import Tile
from .relations import ALWAYS, Finding, TileOperands, relation
from .scalar import element_text

_FILLS = ("pto.tfillpad", "pto.tfillpad_expand", "pto.tfillpad_inplace")


@relation(*_FILLS)
def check_padding(t: TileOperands) -> Iterator[Finding]:
    """Checks pad value, element size and shape."""
    src, dst = t.tile("src"), t.tile("dst")
    if src is None or dst is None:
        return
    both_mat = src.loc == "mat" == dst.loc
    if isinstance(t.op, TFillPadOp) and "mode" in t.op.attributes:
        fixed = (without_attribute("mode"),)
        yield t.finding("fillpad-mode", ALWAYS, "mode", "pto.tfillpad has no mode", "leave it out", remedies=fixed)
    if dst.pad == "null":
        message = f"dst of {t.op_name} must have a pad value, found pad=null"
        yield t.finding("fillpad-padval", ALWAYS, "dst", message, "pad=1 (zero), pad=2 (max) or pad=3 (min)")
    stated = t.enumerator("padValue")
    if stated and dst.loc not in (None, "mat"):
        yield t.finding("fillpad-padval", ALWAYS, "padValue", f"padValue belongs to tiles in mat, found {dst.loc}")
    elif stated and dst.pad is not None and stated != dst.pad:
        message = f"padValue must be the pad value of dst, {dst.pad}, found {stated}"
        yield t.finding("fillpad-padval", ALWAYS, "padValue", message)
    if src.bits != dst.bits:
        message = f"src and dst of {t.op_name} must have elements of one size"
        yield t.finding("fillpad-elem", ALWAYS, "src", f"{message}, found {src.element} and {dst.element}")
    elif src.bits not in (8, 16, 32):
        message = f"elements of {t.op_name} must have 1, 2 or 4 bytes, found {src.element}"
        yield t.finding("fillpad-elem", ALWAYS, "src", message)
    yield from _fill_shape(t, src, dst, both_mat)


def _fill_shape(t: TileOperands, src: Tile, dst: Tile, both_mat: bool) -> Iterator[Finding]:
    source, target = t.type("src"), t.type("dst")
    if isinstance(t.op, TFillPadOp) and both_mat and isinstance(source, TileBufType) and source != target:
        assert target is not None
        message = "src and dst of a pto.tfillpad in mat must have one type"
        yield t.finding("fillpad-shape", ALWAYS, "src", f"{message}, found {source} and {type_text(target)}")
        return
    if min(src.rows, src.cols, dst.rows, dst.cols) < 0:
        return
    found = f"found {src.rows}x{src.cols} and {dst.rows}x{dst.cols}"
    equal = (src.rows, src.cols) == (dst.rows, dst.cols)
    if isinstance(t.op, TFillPadInplaceOp) or (isinstance(t.op, TFillPadOp) and dst.loc not in (None, "vec")):
        if not equal:
            message = f"src and dst of {t.op_name} must have the same shape, {found}"
            yield t.finding("fillpad-shape", ALWAYS, "src", message)
    elif src.rows > dst.rows or src.cols > dst.cols:
        yield t.finding("fillpad-shape", ALWAYS, "src", f"src of {t.op_name} must fit into dst, {found}")


@relation("pto.tconcat")
def check_concatenation(t: TileOperands) -> Iterator[Finding]:
    """Checks that both sources fit into the destination."""
    dst, sources = t.tile("dst"), t.tiles("src0", "src1")
    counts = [tile.valid_cols for _, tile in sources]
    if dst is not None and dst.cols >= 0 and len(counts) == 2 and min(counts) >= 0 and sum(counts) > dst.cols:
        message = f"dst of pto.tconcat needs {counts[0]} + {counts[1]} columns, found {dst.cols}"
        yield t.finding("tconcat-cols", ALWAYS, "dst", message)


@relation("pto.tconcatidx")
def check_concatenation_counts(t: TileOperands) -> Iterator[Finding]:
    """Checks types and extent of the counts."""
    for name, tile in t.tiles("src0Idx", "src1Idx"):
        if tile.element not in ("i8", "i16", "i32"):
            message = f"{name} of pto.tconcatidx must be i8, i16 or i32, found {tile.element}"
            yield t.finding("concatidx-idx", ALWAYS, name, message)
        if tile.valid_cols == 0:
            message = f"{name} of pto.tconcatidx must have at least one valid column"
            yield t.finding("concatidx-idx", ALWAYS, name, message)


@relation("pto.tgetval")
def check_read_element(t: TileOperands) -> Iterator[Finding]:
    """Checks location and type of a read element."""
    src = t.tile("src")
    if src is None:
        return
    if src.loc not in (None, "vec"):
        message = f"the scalar unit reads tiles in vec only, found {src.loc}"
        yield t.finding("getset-val", ALWAYS, "src", message, "move the tile to vec first")
    elif t.op.results and type_text(t.op.results[0].type).removeprefix("!pto.") != src.element:
        message = f"the result of pto.tgetval has the element type of src, {src.element}"
        yield t.finding("getset-val", ALWAYS, None, f"{message}, found {type_text(t.op.results[0].type)}")


@relation("pto.tsetval")
def check_write_element(t: TileOperands) -> Iterator[Finding]:
    """Checks the type of a written element."""
    dst = t.tile("dst")
    if dst is not None and element_text(t, "val") not in ("", dst.element):
        message = f"val of pto.tsetval must have the element type of dst, {dst.element}"
        yield t.finding("getset-val", ALWAYS, "val", f"{message}, found {t.type_name('val')}")

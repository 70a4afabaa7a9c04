"""Write-backs of accumulators: to global memory, to L1 and to the unified buffers of vector cores.

Source: docs/reference/layouts.md, "Write-back addresses", "Moves between tiles".
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Attribute, SSAValue

from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.types import PtrType
from pto_dialect.ir.cube.fixpipe import MteL0cGmOp, MteL0cL1Op, MteL0cUbOp
from pto_dialect.passes.instructions.geometry import FRACTAL_ROWS, NotLoweredError, Reader, Tile
from pto_dialect.passes.instructions.views import fitted, view_of
from pto_dialect.passes.instructions.writer import Number, Writer, enum
from pto_dialect.targets.profile import Profile

from .conversion import Conversion, conversion_of

_TO_CORES = {
    "": ("single", 0),
    "single_mode_vec0": ("single", 0),
    "single_mode_vec1": ("single", 1),
    "dual_mode_split_m": ("split_m", None),
    "dual_mode_split_n": ("split_n", None),
}
"""Modes of a move to vector cores as the enumerator of ``dst_mode`` and the id of the core."""


@dataclass
class WriteBack:
    """One write-back: what is read of an accumulator, and what is made of it."""

    writer: Writer
    cls: type[MteL0cGmOp | MteL0cL1Op | MteL0cUbOp]
    source: Tile
    conversion: Conversion
    row: Number
    col: Number

    def put(self, target: SSAValue, sizes: tuple[Number, Number], layout: str, stride: Number, first: Number) -> None:
        """Writes the instruction for ``sizes`` elements from column ``first`` on, to ``target``."""
        writer, reader = self.writer, Reader(self.writer)
        column = writer.add(self.col, first)
        start = reader.offset(self.source, self.row, column)
        mode, _, operand = layout.partition(" ")
        attributes = {**self.conversion.attributes, "mode": enum("acc_store_mode", mode)}
        operands: dict[str, SSAValue | tuple[SSAValue, ...] | None] = {
            "source": writer.advanced(self.source.pointer, start),
            "destination": target,
            "m": writer.i64(sizes[0]),
            "n": writer.i64(sizes[1]),
            "src_stride": writer.i64(self.source.height),
            "dst_stride": writer.i64(stride),
            "pre_quant": self.conversion.quantiser(writer, column),
            operand or "split": writer.i64(1) if operand else None,
        }
        if self.cls is MteL0cGmOp:
            operands |= {"sid": writer.i64(0), "l2_cache_ctrl": writer.i64(0)}
        elif self.cls is MteL0cUbOp:
            word_, core = _TO_CORES[enumerator(writer.anchor, "accToVecMode")]
            attributes["dst_mode"] = enum("acc_store_ub_dst_mode", word_)
            operands["sub_blockid"] = None if core is None else writer.i64(core)
            if core is None and not (self.conversion.plain and mode == "nz2nd"):
                raise NotLoweredError(writer.anchor, f"dst_mode({word_}) excludes quantisation, relu and other layouts")
        writer.pto(self.cls, operands, attributes)


# ------------------------------------------------------------ to global memory


def store(writer: Writer, profile: Profile) -> None:
    """``tstore`` and ``tstore_fp`` of an accumulator."""
    op = writer.anchor
    assert isinstance(op, PtoOp)
    groups = operand_groups(op)
    reader = Reader(writer)
    source, view = reader.tile(groups["src"][0]), view_of(writer, groups["dst"][0])
    _check_source(writer, source)
    view, (rows, cols) = fitted(writer, view, source.rows, source.cols, loads=False)
    if not (writer.is_equal(rows, source.rows) and writer.is_equal(cols, source.cols)):
        raise NotLoweredError(op, "its view and its tile have other rows and other columns")
    element: Attribute = groups["dst"][0].type.element  # pyright: ignore[reportAttributeAccessIssue]
    target = writer.seen_as(view.pointer, element)
    back = WriteBack(writer, MteL0cGmOp, source, conversion_of(writer, profile, source.type.element, element), 0, 0)
    down, across = view.rows, view.cols
    if len(down) == 1 and len(across) == 1:
        line, step = down[0].stride, across[0].stride
        if step == 1:
            writer.unless_empty((rows, cols), lambda: back.put(target, (rows, cols), "nz2nd", line, 0))
        elif line == 1:
            writer.unless_empty((rows, cols), lambda: back.put(target, (rows, cols), "nz2dn loop0_src_stride", step, 0))
        else:
            raise NotLoweredError(op, "neither its rows nor its columns are side by side in global memory")
        return
    if len(down) == 1 and len(across) == 2 and across[1].stride == 1 and across[1].size in (8, 16, 32):
        (_, distance), (width, _), line = across[0], across[1], down[0].stride
        _by_blocks(back, target, (rows, cols), (width, line, distance))
        return
    raise NotLoweredError(op, "its view has more steps than a write-back follows")


def _by_blocks(
    back: WriteBack, target: SSAValue, sizes: tuple[Number, Number], to: tuple[Number, Number, Number]
) -> None:
    """Consecutive columns of blocks: at once for f32, else one instruction for each.

    ``to`` has the columns of a block, the distance of its rows and that of blocks, in elements of the destination.
    """
    writer = back.writer
    width, line, distance = to
    rows, cols = sizes
    assert isinstance(width, int)
    assert isinstance(target.type, PtrType)
    wide = str(target.type.element) == "f32" and line == width and width in (8, 16)
    if wide:
        layout = "nz2nz split" if width < FRACTAL_ROWS else "nz2nz"
        writer.unless_empty((rows, cols), lambda: back.put(target, (rows, cols), layout, distance, 0))
        return
    if width < FRACTAL_ROWS:
        raise NotLoweredError(writer.anchor, f"blocks of {width} columns that are not f32 in L0C")

    def column(block: Number) -> None:
        first = writer.mul(block, width)
        n = writer.least(width, writer.sub(cols, first)) if not _whole(cols, width) else width
        moved = writer.advanced(target, writer.mul(block, distance))
        writer.unless_empty((rows, n), lambda: back.put(moved, (rows, n), "nz2nd", line, first))

    writer.repeat(writer.ceildiv(cols, width), column)


def _whole(cols: Number, width: int) -> bool:
    return isinstance(cols, int) and cols % width == 0


def _check_source(writer: Writer, source: Tile) -> None:
    if source.kind != "NZ":
        raise NotLoweredError(writer.anchor, f"a write-back reads accumulators in blocks, not {source.kind}")


# ------------------------------------------------------------ to L1 and to vector cores


def move_out(writer: Writer, profile: Profile, source: Tile, dst: Tile, window: Window) -> None:
    """``tmov``, ``textract`` and ``tinsert`` of an accumulator into L1 or into the memory of vector cores."""
    _check_source(writer, source)
    cls = MteL0cUbOp if dst.type.loc == "vec" else MteL0cL1Op
    conversion = conversion_of(writer, profile, source.type.element, dst.type.element)
    back = WriteBack(writer, cls, source, conversion, window.row, window.col)
    sizes = _sizes(writer, source, dst, conversion, window)
    row, col = writer.add(dst.row, window.to_row), writer.add(dst.col, window.to_col)
    if dst.kind in ("ND", "DN"):
        _lines(back, dst, sizes, (row, col))
    elif dst.kind == "NZ":
        if enumerator(writer.anchor, "accToVecMode").startswith("dual"):
            raise NotLoweredError(writer.anchor, "halves for both vector cores lie in rows, not in blocks")
        reader = Reader(writer)
        offset = reader.offset(dst, window.to_row, window.to_col)
        to = (dst.width, dst.width, dst.height * dst.width)
        _by_blocks(back, writer.advanced(dst.pointer, offset), sizes, to)
    else:
        raise NotLoweredError(writer.anchor, f"no write-back makes the layout {dst.kind}")


def _lines(back: WriteBack, dst: Tile, sizes: tuple[Number, Number], at: tuple[Number, Number]) -> None:
    writer = back.writer
    pitch = dst.base_type.cols if dst.kind == "ND" else dst.base_type.rows
    layout = "nz2nd" if dst.kind == "ND" else "nz2dn loop0_src_stride"
    line, inside = at if dst.kind == "ND" else at[::-1]
    start = writer.add(writer.mul(line, pitch), inside)
    Reader(writer).aligned(start, 32 // dst.bytes, "element")
    target = writer.advanced(dst.pointer, start)
    writer.unless_empty(sizes, lambda: back.put(target, sizes, layout, pitch, 0))


@dataclass(frozen=True)
class Window:
    """Where a move starts: in its source (``row``, ``col``) and in its destination (``to_row``, ``to_col``).
    ``of_source``: it moves the valid region of the source, not that of the destination; ``whole``: whole blocks are
    written."""

    row: Number = 0
    col: Number = 0
    to_row: Number = 0
    to_col: Number = 0
    of_source: bool = False
    whole: bool = False


def _sizes(writer: Writer, source: Tile, dst: Tile, conversion: Conversion, window: Window) -> tuple[Number, Number]:
    """Rows and columns that are written, to both vector cores together."""
    if window.of_source or enumerator(writer.anchor, "accToVecMode").startswith("dual"):
        return source.rows, source.cols
    if not (window.whole and dst.type.loc == "mat" and dst.kind == "NZ"):
        rows, cols = dst.rows, dst.cols
        if window.whole:
            return writer.least(rows, source.rows), writer.least(cols, source.cols)
        return rows, cols
    if not isinstance(source.cols, int) or (conversion.table and source.cols % dst.width):
        raise NotLoweredError(writer.anchor, "only a run knows how many columns of blocks it writes")
    width = dst.width
    cols = -(-source.cols // width) * width
    return min(source.type.rows, dst.type.rows), min(cols, source.type.cols, dst.type.cols)

"""Loads: from global memory into L1, and from there into L0A, L0B, the bias table and the fixpipe buffer.

Source: docs/reference/layouts.md, "Transfers", "Loads with a change of layout", "Loads into L0".
"""

from __future__ import annotations

from xdsl.dialects.builtin import BoolAttr, i1
from xdsl.ir import SSAValue

from pto_dialect.ir.core.extents import round_up
from pto_dialect.ir.core.operands import find
from pto_dialect.ir.cube.mte import MteGmL1FracOp, MteGmL1Op, MteL1BtOp, MteL1FbOp, MteL1L0aOp, MteL1L0bOp
from pto_dialect.ir.tile.memory import TLoadOp
from pto_dialect.passes.instructions.geometry import FRACTAL_ROWS, ROW_BYTES, NotLoweredError, Reader, Tile
from pto_dialect.passes.instructions.views import Step, View, fitted, view_of
from pto_dialect.passes.instructions.writer import Number, Writer, enum
from pto_dialect.targets.profile import Profile

from .free_bytes import is_free_after
from .scales import holds_scales, load_scales

_ZERO_PAD = 1
_BLOCK = FRACTAL_ROWS * ROW_BYTES
"""Bytes of a block of an operand."""
_TURNED = {"transpose": BoolAttr(True, i1)}


# ------------------------------------------------------------ global memory to L1


def load(writer: Writer, profile: Profile) -> None:
    """``tload`` into L1: a load that makes blocks, or bursts where the tile has none."""
    op = writer.anchor
    assert isinstance(op, TLoadOp) and op.dst is not None
    for name in ("pad_value", "left_padding_num", "right_padding_num", "init_condition"):
        if find(op, name) is not None:
            raise NotLoweredError(op, f"{name} has no counterpart in a load into L1")
    tile = Reader(writer).tile(op.dst)
    if holds_scales(tile.type):
        load_scales(writer, op.src, tile)
        return
    view = view_of(writer, op.src)
    view, (rows, cols) = fitted(writer, view, tile.rows, tile.cols)
    if tile.kind in ("ND", "DN"):
        _bursts(writer, tile, view, rows, cols)
    elif tile.kind in ("NZ", "ZN") and tile.loadable:
        _blocks(writer, tile, view, rows, cols)
    else:
        raise NotLoweredError(op, f"no load into L1 makes the layout {tile.kind}")


def _single(writer: Writer, steps: tuple[Step, ...], size: Number) -> Step:
    if len(steps) != 1:
        raise NotLoweredError(writer.anchor, "its view has more steps than a load follows")
    (step,) = steps
    return Step(size, step.stride)


def _bursts(writer: Writer, tile: Tile, view: View, rows: Number, cols: Number) -> None:
    lines, along = (view.rows, view.cols), (rows, cols)
    if tile.kind == "DN":
        lines, along = lines[::-1], along[::-1]
    line, element = (_single(writer, *pair) for pair in zip(lines, along, strict=True))
    dense = element.stride == 1 if isinstance(element.stride, int) else False
    if not dense and element.size != 1:
        raise NotLoweredError(writer.anchor, "its elements are not side by side in global memory")
    if tile.type.pad:
        raise NotLoweredError(writer.anchor, "a load into L1 does not fill up rows")
    pitch = tile.base_type.cols if tile.kind == "ND" else tile.base_type.rows
    start = (
        writer.add(writer.mul(tile.row, pitch), tile.col)
        if tile.kind == "ND"
        else writer.add(writer.mul(tile.col, pitch), tile.row)
    )
    Reader(writer).aligned(start, ROW_BYTES // tile.bytes, "element")
    size = tile.bytes
    operands: dict[str, SSAValue | tuple[SSAValue, ...] | None] = {
        "source": writer.seen_as(view.pointer, tile.type.element),
        "destination": writer.advanced(tile.pointer, start),
        "len_burst": writer.i64(writer.mul(element.size, size)),
        "n_burst": writer.i64(line.size),
        "nburst_src_stride": writer.i64(writer.mul(line.stride, size)),
        "nburst_dst_stride": writer.i64(pitch * size),
    }
    writer.unless_empty((line.size, element.size), lambda: writer.pto(MteGmL1Op, operands))


def _blocks(writer: Writer, tile: Tile, view: View, rows: Number, cols: Number) -> None:
    height, size = tile.height, tile.bytes
    _check_pad(writer, tile, cols)
    along = tile.image(rows, cols)
    down, across = (view.cols, view.rows) if tile.turned else (view.rows, view.cols)
    group, step = Step(1, 0), 0
    if len(down) == 2 and len(across) == 1:
        group, inner = down
        _whole(writer, down, along[0])
        line, element = inner, Step(along[1], across[0].stride)
        step = inner.size
    elif len(across) == 2 and len(down) == 1:
        group, inner = across
        _whole(writer, across, along[1])
        Reader(writer).aligned(inner.size, ROW_BYTES // size, "column")
        line, element = Step(along[0], down[0].stride), inner
        step = writer.mul(writer.div(inner.size, ROW_BYTES // size), height)
    else:
        line, element = _single(writer, down, along[0]), _single(writer, across, along[1])
    mode, inner_stride = _order(writer, line, element)
    reader = Reader(writer)
    operands: dict[str, SSAValue | tuple[SSAValue, ...] | None] = {
        "source": writer.seen_as(view.pointer, tile.type.element),
        "destination": writer.advanced(tile.pointer, reader.offset(tile, 0, 0)),
        "n_value": writer.i64(line.size),
        "d_value": writer.i64(element.size),
        "src_inner_stride": writer.i64(writer.mul(inner_stride, size)),
        "src_outer_stride": writer.i64(writer.mul(group.stride, size)),
        "group_count": writer.i64(group.size),
        "dst_loop2_stride": writer.i64(1),
        "dst_loop3_stride": writer.i64(height),
        "dst_loop4_stride": writer.i64(step),
        "l2_cache_ctrl": writer.i64(0),
        "smallc0_en": writer.i1(False),
    }
    modes = {"mode": enum("cube_load_frac_mode", mode)}
    sizes = (line.size, element.size, group.size)
    writer.unless_empty(sizes, lambda: writer.pto(MteGmL1FracOp, operands, modes))


def _whole(writer: Writer, steps: tuple[Step, ...], size: Number) -> None:
    if not writer.is_equal(writer.mul(steps[0].size, steps[1].size), size):
        raise NotLoweredError(writer.anchor, "its view and its tile have other rows and other columns")


def _order(writer: Writer, line: Step, element: Step) -> tuple[str, Number]:
    """Returns the mode of the load and the distance of lines of the source, in elements."""
    if element.size == 1 or element.stride == 1:
        return "nd2nz", element.size if line.size == 1 else line.stride
    if line.size == 1 or line.stride == 1:
        return "dn2nz", element.stride
    raise NotLoweredError(writer.anchor, "neither its rows nor its columns are side by side in global memory")


def _check_pad(writer: Writer, tile: Tile, cols: Number) -> None:
    """A load fills the rest of the last row of a block with zeros, and nothing after it."""
    if not tile.type.pad:
        return
    lanes = ROW_BYTES // tile.bytes
    covered = isinstance(cols, int) and round_up(cols, lanes) == tile.type.cols
    if tile.turned or not covered or (tile.type.pad != _ZERO_PAD and cols != tile.type.cols):
        raise NotLoweredError(writer.anchor, "a load into L1 fills up a row of a block with zeros and nothing else")


# ------------------------------------------------------------ L1 to L0


def move_operand(writer: Writer, source: Tile, dst: Tile, row: Number, col: Number) -> None:
    """``tmov`` and ``textract`` into L0A or L0B: a load of blocks, turned where the operand lies the other way."""
    op = writer.anchor
    left = dst.type.loc == "left"
    list_ = source.kind == "ND" and source.base_type.rows == 1
    if not (list_ or source.kind in ("NZ", "ZN")) or not (source.loadable and dst.loadable):
        raise NotLoweredError(op, f"no load into L0 reads the layout {source.kind}")
    if dst.bytes != source.bytes:
        raise NotLoweredError(op, "a load into L0 copies elements of equal width")
    if 0 in (dst.rows, dst.cols):
        return
    turned = source.turned != dst.turned
    down, across = source.image(dst.rows, dst.cols)
    reader = Reader(writer)
    origin = source.image(writer.add(source.row, row), writer.add(source.col, col))
    reader.aligned(origin[0], FRACTAL_ROWS, "row")
    start = reader.offset(source, row, col)
    offset = reader.offset(dst, 0, 0)
    numbers = _window(writer, source, dst, down, across, turned)
    if source.height == 1:
        _check_blocks(writer, source, start, across)
        _check_blocks(writer, dst, offset, across)
    pointers = {
        "source": writer.advanced(source.pointer, start),
        "destination": writer.seen_as(writer.advanced(dst.pointer, offset), source.type.element),
    }
    names = ("m", "k", "start_row", "start_col") if left else ("k", "n", "start_row", "start_col")
    if len(numbers) == 6:
        names = ("m_start", "k_start", "m_step", "k_step", "src_stride", "dst_stride")
    operands = dict(zip(names, map(writer.i64, numbers), strict=True))
    cls, clauses = MteL1L0aOp if left else MteL1L0bOp, _TURNED if turned else None
    writer.unless_empty((dst.rows, dst.cols), lambda: writer.pto(cls, {**pointers, **operands}, clauses))


def _window(writer: Writer, source: Tile, dst: Tile, down: Number, across: Number, turned: bool) -> tuple[Number, ...]:
    """Returns the extents of a load of a whole operand from its beginning, or of a window of fractals.

    ``down`` and ``across`` are what is read of the image of the source.
    """
    op = writer.anchor
    lanes = source.width
    group = max(FRACTAL_ROWS, lanes) if turned else 1
    to_height, to_width = dst.height, dst.type.cols if not dst.turned else dst.type.rows
    if turned and isinstance(down, int) and isinstance(across, int):
        if round_up(across, group) > to_height or round_up(down, group) > round_up(to_width, lanes):
            raise NotLoweredError(op, f"a turned load copies groups of {group} x {group} elements, which do not fit")
    elif group > FRACTAL_ROWS:
        raise NotLoweredError(op, f"a turned load copies groups of {group} x {group} elements of sizes that are known")
    extents = (dst.rows, dst.cols)
    if all(isinstance(size, int) for size in extents):
        outer, inner = (down, across) if not turned else (across, down)
        assert isinstance(outer, int) and isinstance(inner, int)
        reads = round_up(outer, FRACTAL_ROWS) if not turned else round_up(inner, group)
        writes = round_up(outer, group if turned else FRACTAL_ROWS)
        if reads == source.height and writes == to_height:
            return (*extents, 0, 0)
    steps = [_steps(writer, size, unit, group) for size, unit in ((down, FRACTAL_ROWS), (across, lanes))]
    for height in (source.height, to_height):
        if height % FRACTAL_ROWS and height != 1:
            raise NotLoweredError(op, f"{height} rows are no whole blocks")
    strides = [max(1, height // FRACTAL_ROWS) for height in (source.height, to_height)]
    if source.height == 1 and to_height == 1:
        # A single row is contiguous: consecutive blocks of 512 bytes.
        steps = [1, writer.ceildiv(writer.mul(across, source.bytes), _BLOCK)]
    elif 1 in (source.height, to_height):
        raise NotLoweredError(op, "one of its tiles is a list and the other one has blocks")
    return (0, 0, *steps, *strides)


def _check_blocks(writer: Writer, tile: Tile, start: Number, across: Number) -> None:
    """Makes sure that the whole blocks of ``across`` elements of a single row, from ``start`` on, are in the bytes of
    its tile, or after them in bytes of no other tile."""
    unit = _BLOCK // tile.bytes
    cols = tile.base_type.cols
    stop = start + round_up(across, unit) if isinstance(start, int) and isinstance(across, int) else None
    if stop is not None and (stop <= cols or is_free_after(writer, tile, stop * tile.bytes)):
        return
    if cols % unit:
        reason = f"a row in {tile.type.loc} of {cols} elements is no whole blocks of {_BLOCK} bytes, which a load moves"
        if stop is not None:
            reason += ", and what comes after it may belong to others"
        help = f"a tile of {round_up(cols, unit)} columns, of which fewer may be valid, has whole blocks"
        raise NotLoweredError(writer.anchor, reason, help)
    Reader(writer).aligned(start, unit, "column")


def _steps(writer: Writer, size: Number, unit: int, group: int) -> Number:
    both = max(unit, group)
    return writer.mul(writer.ceildiv(size, both), both // unit)


# ------------------------------------------------------------ L1 to tables


def move_bias(writer: Writer, source: Tile, dst: Tile, row: Number, col: Number) -> None:
    """``tmov`` and ``textract`` into the bias table."""
    _table(writer, source, dst, row, col, MteL1BtOp, "mte_l1_bt")


def move_table(writer: Writer, source: Tile, dst: Tile, row: Number, col: Number) -> None:
    """``tmov`` and ``textract`` into the fixpipe buffer."""
    if dst.bytes != source.bytes:
        raise NotLoweredError(writer.anchor, "a load into the fixpipe buffer copies elements of equal width")
    _table(writer, source, dst, row, col, MteL1FbOp, "mte_l1_fb")


def _table(
    writer: Writer, source: Tile, dst: Tile, row: Number, col: Number, cls: type[MteL1BtOp | MteL1FbOp], name: str
) -> None:
    op = writer.anchor
    if source.base_type.rows != 1 or source.kind not in ("ND", "NZ") or dst.kind != "ND" or dst.base_type.rows != 1:
        raise NotLoweredError(op, "a table is loaded from one row")
    start, target = (writer.add(tile.col, number) for tile, number in ((source, col), (dst, 0)))
    reader = Reader(writer)
    reader.aligned(writer.add(source.row, row), source.base_type.rows + 1, "row")
    reader.aligned(start, ROW_BYTES // source.bytes, "column")
    unit = ROW_BYTES if cls is MteL1BtOp else 2 * ROW_BYTES
    reader.aligned(target, unit // dst.bytes, "column")
    operands = {
        "source": writer.advanced(source.pointer, start),
        "destination": writer.advanced(dst.pointer, target),
        "len_burst": writer.i64(writer.ceildiv(writer.mul(dst.cols, source.bytes), unit)),
        "n_burst": writer.i64(1),
        "nburst_src_gap": writer.i64(0),
        "nburst_dst_gap": writer.i64(0),
    }
    writer.unless_empty((dst.cols,), lambda: writer.pto(cls, operands))

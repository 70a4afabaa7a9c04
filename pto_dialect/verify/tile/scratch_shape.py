"""Rules about the shape and layout of scratch tiles on a2a3, where instructions write them row by row.

Source: docs/reference/constraints.md, "Tile arithmetic". a5 ignores most scratch tiles.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pto_dialect.targets.vector_unit import VL_BYTES, VLANE_BYTES

from .facts import DYNAMIC, Tile, statically_differ
from .relations import ALWAYS, Finding, TileOperands, cell, relation
from .scalar import byte_size

ON_A2A3: Final = cell("E/")


def _short(found: int, needed: int) -> bool:
    """Returns whether a size is known to be less than required."""
    return found != DYNAMIC and needed != DYNAMIC and found < needed


def _finding(t: TileOperands, message: str) -> Finding:
    return t.finding("tile-tmp-shape", ON_A2A3, "tmp", f"tmp of {t.op_name} {message}")


# ------------------------------------------------------------ positions of extrema


def candidate_columns(bits: int, columns: int) -> int:
    """Returns the columns of scratch for the extrema of ``columns`` elements of ``bits`` bits: for each repeat of the
    vector unit a value with its position, and then a value, each list in whole blocks."""
    block = 8 * VLANE_BYTES // bits
    repeats = -(-columns * bits // (8 * VL_BYTES))
    return (-(-2 * repeats // block) + -(-repeats // block)) * block


def _candidates(t: TileOperands, src: Tile, tmp: Tile) -> Iterator[Finding]:
    if src.valid_cols == DYNAMIC or not src.bits:
        return
    needed = candidate_columns(src.bits, src.valid_cols)
    if _short(tmp.valid_cols, needed):
        yield _finding(t, f"needs {needed} valid columns for {src.valid_cols} of src, found {tmp.valid_cols}")


def _same_region(a: Tile, b: Tile) -> bool:
    return (a.valid_rows, a.valid_cols) == (b.valid_rows, b.valid_cols)


@relation("pto.tcolargmax", "pto.tcolargmin")
def check_column_positions(t: TileOperands) -> Iterator[Finding]:
    """Checks the scratch for positions of the extrema of columns."""
    src, tmp = t.tile("src"), t.tile("tmp")
    if src is None or tmp is None:
        return
    # One row is a workspace; with the rows of the source it is treated like the source.
    if tmp.rows == src.rows > 1 and _short(src.cols, tmp.cols):
        message = (
            f"tmp of {t.op_name} has {tmp.cols} columns, more than the {src.cols} of src, which may be searched too"
        )
        yield t.finding("tile-tmp-shape", cell("W/"), "tmp", message, f"{src.rows}x{src.cols} as src")
    if _same_region(src, tmp):
        return
    if tmp.valid_rows == 0:
        yield _finding(t, "needs a valid row, found none")
    yield from _candidates(t, src, tmp)


@relation("pto.trowargmax", "pto.trowargmin")
def check_row_positions(t: TileOperands) -> Iterator[Finding]:
    """Checks the scratch for positions of the extrema of rows: a value and a position for each row, or lists of
    candidates."""
    src, tmp = t.tile("src"), t.tile("tmp")
    if src is None or tmp is None or not src.bits or _same_region(src, tmp):
        return
    if src.valid_cols == DYNAMIC or src.valid_cols * src.bits > 8 * VL_BYTES:
        if statically_differ(tmp.rows, src.rows):
            yield _finding(t, f"needs {src.rows} rows like src, found {tmp.rows}")
        if _short(tmp.valid_rows, src.valid_rows):
            yield _finding(t, f"needs {src.valid_rows} valid rows like src, found {tmp.valid_rows}")
        yield from _candidates(t, src, tmp)
    elif tmp.layout == "DN":
        if tmp.cols != 1 or tmp.valid_cols not in (1, DYNAMIC):
            yield _finding(t, f"is one column when col_major, found {tmp.cols}")
        if src.valid_rows != DYNAMIC and _short(tmp.valid_rows, 2 * src.valid_rows):
            yield _finding(t, f"needs {2 * src.valid_rows} valid rows when col_major, found {tmp.valid_rows}")
    elif tmp.layout not in ("ND", None):
        yield _finding(t, f"is row_major, or one col_major column, without boxes, found {tmp.layout_text}")
    else:
        if _short(tmp.valid_rows, src.valid_rows):
            yield _finding(t, f"needs {src.valid_rows} valid rows like src, found {tmp.valid_rows}")
        if _short(tmp.valid_cols, 2):
            yield _finding(t, f"needs 2 valid columns, found {tmp.valid_cols}")


# ------------------------------------------------------------ sums and extrema of rows

_GROUPED = frozenset(((64, 128), (32, 256), (16, 512), (8, 1024)))
"""Shapes of f32 tiles that are reduced in groups of 8 elements, which are contiguous in the scratch."""
_GROUPED_BYTES = 4096


@relation("pto.trowsum")
def check_row_sums(t: TileOperands) -> Iterator[Finding]:
    """Checks the scratch for partial sums of rows: one repeat for each pair of repeats of a row."""
    yield from _row_results(t, paired=True)


@relation("pto.trowmax", "pto.trowmin")
def check_row_extrema(t: TileOperands) -> Iterator[Finding]:
    """Checks the scratch for partial extrema of rows: one repeat for each row."""
    yield from _row_results(t, paired=False)


def _row_results(t: TileOperands, paired: bool) -> Iterator[Finding]:
    """Checks the scratch for partial results of rows longer than a repeat of the vector unit."""
    src, tmp, dst = t.tile("src"), t.tile("tmp"), t.tile("dst")
    if src is None or tmp is None or src.element not in ("f16", "f32") or src.valid_cols == DYNAMIC:
        return
    repeat = 8 * VL_BYTES // src.bits
    if src.valid_cols <= repeat:
        return
    shape = (src.rows, src.cols)
    whole = shape == (src.valid_rows, src.valid_cols)
    if src.element == "f32" and shape in _GROUPED and whole and dst is not None and dst.layout == "DN":
        size = byte_size(tmp)
        if size is not None and size < _GROUPED_BYTES:
            yield _finding(t, f"needs {_GROUPED_BYTES} bytes for {src.rows}x{src.cols} of src, found {size}")
        return
    pairs = src.valid_cols // repeat // 2 if paired else 1
    needed = max(1, pairs) * repeat
    if _short(tmp.cols, needed):
        yield _finding(t, f"needs {needed} columns for {src.valid_cols} of src, found {tmp.cols}")
    if _short(tmp.rows, src.valid_rows):
        yield _finding(t, f"needs {src.valid_rows} rows like src, found {tmp.rows}")


# ------------------------------------------------------------ other operations


@relation("pto.tcolsum")
def check_halves(t: TileOperands) -> Iterator[Finding]:
    """Checks the scratch for sums of pairs of rows."""
    src, tmp = t.tile("src"), t.tile("tmp")
    if src is not None and tmp is not None and t.number("isBinary") and _short(tmp.cols, src.valid_cols):
        message = f"tmp of {t.op_name} needs {src.valid_cols} columns for those of src, found {tmp.cols}"
        yield t.finding("tile-tmp-shape", ALWAYS, "tmp", message)


@relation("pto.tprelu")
def check_mask_rows(t: TileOperands) -> Iterator[Finding]:
    """Checks the scratch for a packed mask of each row, and one row more."""
    tmp, dst = t.tile("tmp"), t.tile("dst")
    if tmp is None or dst is None:
        return
    if dst.valid_rows != DYNAMIC and _short(tmp.rows, dst.valid_rows + 1):
        yield _finding(t, f"needs {dst.valid_rows + 1} rows, one more than dst, found {tmp.rows}")
    if dst.valid_cols != DYNAMIC and _short(tmp.valid_cols, -(-dst.valid_cols // 8)):
        yield _finding(t, f"needs {-(-dst.valid_cols // 8)} valid columns for a packed mask, found {tmp.valid_cols}")


@relation("pto.tquant")
def check_copy_of_source(t: TileOperands) -> Iterator[Finding]:
    """Checks the scratch for a converted source."""
    src, tmp = t.tile("src"), t.tile("tmp")
    if src is None or tmp is None:
        return
    if tmp.blayout not in ("row_major", None):
        yield _finding(t, f"is row_major, found {tmp.blayout}")
    if (tmp.rows, tmp.cols) != (src.rows, src.cols) and DYNAMIC not in (tmp.rows, tmp.cols, src.rows, src.cols):
        yield _finding(t, f"has the shape of src, {src.rows}x{src.cols}, found {tmp.rows}x{tmp.cols}")
    elif statically_differ(tmp.valid_rows, src.valid_rows) or statically_differ(tmp.valid_cols, src.valid_cols):
        wanted = f"{src.valid_rows}x{src.valid_cols}"
        yield _finding(t, f"has the {wanted} valid elements of src, found {tmp.valid_rows}x{tmp.valid_cols}")


@relation("pto.txors")
def check_in_rows(t: TileOperands) -> Iterator[Finding]:
    """Checks that scratch has the layout of the operands."""
    tmp = t.tile("tmp")
    if tmp is not None and tmp.blayout == "col_major":
        yield _finding(t, "is row_major, found col_major")


@relation(*(f"pto.trowexpand{op}" for op in ("add", "sub", "mul", "div", "max", "min", "expdif")))
def check_column_of_scalars(t: TileOperands) -> Iterator[Finding]:
    """Checks the scratch for broadcasting one col_major column; rows of whole blocks need none."""
    src0, src1, tmp, dst = (t.tile(name) for name in ("src0", "src1", "tmp", "dst"))
    if src0 is None or src1 is None or tmp is None or dst is None:
        return
    spread = src1 if _compatible(src0, dst) else src0 if _compatible(src1, dst) else None
    if spread is None or spread.blayout is None:
        return
    if spread.blayout == "col_major" and spread.valid_cols in (1, DYNAMIC):
        return
    found = f"{spread.blayout} with {spread.valid_cols} columns"
    yield _finding(t, f"is for a col_major operand of one column, found {found}")


def _compatible(a: Tile, b: Tile) -> bool:
    return not statically_differ(a.valid_rows, b.valid_rows) and not statically_differ(a.valid_cols, b.valid_cols)

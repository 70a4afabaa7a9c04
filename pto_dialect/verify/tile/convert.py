"""Rules of element type conversion. Source: docs/reference/constraints.md, "Tile arithmetic";
docs/reference/targets.md, "Conversions".
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation

from pto_dialect.diagnostics.remedies.order import without_attribute
from pto_dialect.ir.buffers.views import SubviewOp
from pto_dialect.targets.element_types import FP4, is_low_precision
from pto_dialect.targets.tcvt_pairs import fits_always, wraps_by_default

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import SHAPES, WARNING
from .facts import Tile, place, statically_differ, tile_of
from .relations import ALWAYS, Finding, TileOperands, relation, unless


@relation("pto.tcvt")
def check_pairs(t: TileOperands) -> Iterator[Finding]:
    """Checks pairs of element types. Without low precision every pair is converted, documented or not."""
    src, dst = t.tile("src"), t.tile("dst")
    if src is None or dst is None:
        return
    source, target = src.element, dst.element
    pair = f"{source} to {target}"
    if is_low_precision(source) or is_low_precision(target):
        # A target without any low-precision conversion refuses the element type itself (tile-lowprec).
        severity = unless(lambda p: p.arch == "a2a3" or p.tcvt_finding(source, target) is None)
        if severity.a5 is not None:
            help = "low-precision types convert from and to f32, hif8 also from f16, fp4 from and to bf16"
            yield t.finding("tcvt-lowprec-pair", severity, None, f"pto.tcvt does not convert {pair}", help)
    else:
        severity = unless(lambda p: p.tcvt_finding(source, target) is None, WARNING)
        if severity.a2a3 is not None or severity.a5 is not None:
            both = severity.a2a3 is severity.a5
            where = "" if both else f" on {'a5' if severity.a5 is not None else 'a2a3'}"
            yield t.finding(
                "tcvt-pair-undocumented", severity, None, f"the conversion of {pair} is not documented{where}"
            )


@relation("pto.tcvt")
def check_saturation(t: TileOperands) -> Iterator[Finding]:
    """Checks for ``sat_mode OFF`` where the target always saturates what is out of range."""
    src, dst = t.tile("src"), t.tile("dst")
    if src is None or dst is None or t.enumerator("sat_mode") != "OFF" or fits_always(src.element, dst.element):
        return
    severity = unless(lambda p: p.arch != "a2a3" or wraps_by_default(src.element, dst.element), WARNING)
    if severity.a2a3 is not None:
        message = f"the conversion of {src.element} to {dst.element} saturates on a2a3, sat_mode OFF has no effect"
        yield t.finding(
            "tcvt-sat-no-effect", severity, None, message, "leave it out", remedies=(without_attribute("sat_mode"),)
        )


@relation("pto.tcvt")
def check_valid_regions(t: TileOperands) -> Iterator[Finding]:
    """Checks for equal valid regions in elements; a packed fp4 pair counts twice along its row (or column)."""
    src, dst = t.tile("src"), t.tile("dst")
    if src is None or dst is None:
        return
    (rows, cols), (wanted_rows, wanted_cols) = _valid(src), _valid(dst)
    if statically_differ(rows, wanted_rows) or statically_differ(cols, wanted_cols):
        found = f"{rows}x{cols} and {wanted_rows}x{wanted_cols}".replace("-1", "?")
        message = f"src and dst of pto.tcvt must have the same valid elements, found {found}"
        yield t.finding("tcvt-shape", ALWAYS, "src", message)


def _valid(tile: Tile) -> tuple[int, int]:
    return _logical(tile, tile.valid_rows, tile.valid_cols)


def _logical(tile: Tile, rows: int, cols: int) -> tuple[int, int]:
    """Returns the numbers of elements along each dimension."""
    if tile.element not in FP4:
        return rows, cols
    if tile.blayout == "col_major":
        return (rows * 2 if rows > 0 else rows), cols
    return rows, (cols * 2 if cols > 0 else cols)


@checks(SHAPES, "pto.tcvt")
def check_physical_shapes(op: Operation, ctx: Context) -> None:
    """Checks for equal physical shapes, unless an operand is a window of a larger tile."""
    source, target = ctx.operand(op, "src"), ctx.operand(op, "dst") or next(iter(op.results), None)
    src, dst = tile_of(source), tile_of(target)
    if src is None or dst is None or source is None or target is None:
        return
    if type(source.owner) is SubviewOp or type(target.owner) is SubviewOp:
        return
    found, wanted = _logical(src, src.rows, src.cols), _logical(dst, dst.rows, dst.cols)
    if min(*found, *wanted) >= 0 and found != wanted:
        message = f"src and dst of pto.tcvt must have the same shape, found {found[0]}x{found[1]}"
        ctx.report("tcvt-shape", op, f"{message} and {wanted[0]}x{wanted[1]} elements", at=place(op, source))


@relation("pto.tcvt")
def check_scratch(t: TileOperands) -> Iterator[Finding]:
    """Checks the scratch tile."""
    for _, tile in t.tiles("tmp"):
        if tile.loc not in (None, "vec"):
            yield t.memory_finding("tcvt-tmp", ALWAYS, "tmp", tile.loc, "vec")
        elif tile.blayout == "col_major":
            yield t.finding("tcvt-tmp", ALWAYS, "tmp", "tmp of pto.tcvt must be row_major, found col_major")

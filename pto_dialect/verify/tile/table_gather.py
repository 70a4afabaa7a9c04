"""Rules of gathers from and scatters to a table in global memory (``mgather``, ``mscatter``).

Source: docs/reference/tiles.md, "Irregular operations".
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation

from pto_dialect.analysis.release import release_of
from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.diagnostics.remedies.order import missing_entry
from pto_dialect.ir.buffers.views import stated_layout
from pto_dialect.ir.core.types import OpaqueType, PartitionViewType, TileBufType
from pto_dialect.ir.tile.memory import MGatherOp
from pto_dialect.targets.element_types import signed_as_signless
from pto_dialect.targets.tile_dtypes import MGATHER_INDEX, MSCATTER_ATOMIC

from ..engine.checks import checks
from ..engine.context import Context, element_of
from ..engine.rule import STRUCTURE, TRIPLES
from .facts import Tile, statically_differ
from .relations import ALWAYS, Finding, TileOperands, relation, unless

_MODE = "coalesce = #pto<coalesce row>"
_ADD_MODE = f"add {_MODE}"


def _data(t: TileOperands) -> str:
    return "dst" if isinstance(t.op, MGatherOp) else "src"


def _to_mat(t: TileOperands) -> bool:
    tile = t.tile(_data(t))
    return tile is not None and tile.loc == "mat"


@relation("pto.mgather", "pto.mscatter")
def check_table_type(t: TileOperands) -> Iterator[Finding]:
    """Checks the element type of the table."""
    name = _data(t)
    tile, table = t.tile(name), t.type("mem")
    if tile is None or table is None or isinstance(table, OpaqueType):
        return
    element = element_of(table)
    if isinstance(table, TileBufType):
        message = f"mem of {t.op_name} must be a view of global memory, found a tile"
        yield t.finding("mgs-table", ALWAYS, "mem", message)
    elif element is not None and element != tile.element:
        message = f"mem of {t.op_name} must have the element type of {name}, {tile.element}, found {element}"
        yield t.finding("mgs-table", ALWAYS, "mem", message)


@relation("pto.mgather", "pto.mscatter")
def check_layouts(t: TileOperands) -> Iterator[Finding]:
    """Checks locations and layouts of tile and indices."""
    name = _data(t)
    tile, idx = t.tile(name), t.tile("idx")
    if _to_mat(t) and name == "dst":
        assert tile is not None
        yield from _mat_destination(t, tile)
        if idx is not None:
            message = f"idx of {t.op_name} into mat must be a view of global memory, found a tile"
            yield t.finding("mgs-layout", ALWAYS, "idx", message)
        return
    if "scratch" in t.values:
        yield t.finding("mgs-layout", ALWAYS, "scratch", f"{t.op_name} takes scratch only when it fills a tile in mat")
    if tile is not None and tile.loc not in (None, "vec"):
        yield t.memory_finding("mgs-layout", ALWAYS, name, tile.loc, "vec")
    elif tile is not None and tile.layout not in (None, "ND"):
        yield t.finding("mgs-layout", ALWAYS, name, f"{name} of {t.op_name} must be ND, found {tile.layout}")
    if idx is not None and idx.loc not in (None, "vec"):
        yield t.memory_finding("mgs-layout", ALWAYS, "idx", idx.loc, "vec")
    elif idx is not None and idx.slayout not in (None, "none_box"):
        message = f"idx of {t.op_name} must not have inner blocks, found slayout {idx.slayout}"
        yield t.finding("mgs-layout", ALWAYS, "idx", message)


def _mat_destination(t: TileOperands, tile: Tile) -> Iterator[Finding]:
    if tile.layout != "NZ" or tile.fractal != 512:
        found = f"{tile.layout} with fractal {tile.fractal}"
        message = f"a mat dst of pto.mgather must be NZ with fractal 512, found {found}"
        yield t.finding("mgs-layout", ALWAYS, "dst", message)
    elif tile.bits and (tile.cols % (256 // tile.bits) or tile.rows % 16):
        block = f"16x{256 // tile.bits}"
        message = f"a mat dst of pto.mgather has whole blocks of {block}, found {tile.rows}x{tile.cols}"
        yield t.finding("mgs-layout", ALWAYS, "dst", message)
    scratch = "scratch" in t.values
    if t.enumerator("coalesce") == "elem" and not scratch and not t.value_form:
        message = "pto.mgather of single elements into mat needs a scratch view"
        yield t.finding("mgs-layout", ALWAYS, None, message, "add %scratch as the last input")
    elif t.enumerator("coalesce") == "row" and scratch:
        yield t.finding("mgs-layout", ALWAYS, "scratch", "pto.mgather of whole rows takes no scratch view")


@relation("pto.mgather", "pto.mscatter")
def check_indices(t: TileOperands) -> Iterator[Finding]:
    """Checks type and extent of the indices."""
    kind = t.type("idx")
    element = element_of(kind) if kind is not None else None
    if element is not None and signed_as_signless(element).removeprefix("u") != MGATHER_INDEX:
        yield t.finding("mgs-index", ALWAYS, "idx", f"idx of {t.op_name} must be i32, found {element}")
    name = _data(t)
    tile, idx = t.tile(name), t.tile("idx")
    if tile is None or idx is None or isinstance(kind, PartitionViewType):
        return
    mode = t.enumerator("coalesce")
    rows = idx.blayout != "col_major" and idx.valid_rows <= 1 and not statically_differ(idx.valid_cols, tile.valid_rows)
    column = (
        idx.blayout != "row_major" and idx.valid_cols <= 1 and not statically_differ(idx.valid_rows, tile.valid_rows)
    )
    each = not statically_differ(idx.valid_rows, tile.valid_rows) and not statically_differ(
        idx.valid_cols, tile.valid_cols
    )
    # Without a mode the newer version also takes one index per row from a row-major column.
    upright = idx.valid_cols <= 1 and not statically_differ(idx.valid_rows, tile.valid_rows)
    good = {"row": rows or column, "elem": each}.get(mode, rows or upright or each)
    if not good:
        wanted = {
            "row": f"1x{tile.valid_rows} (row_major) or {tile.valid_rows}x1 (col_major)",
            "elem": f"{tile.valid_rows}x{tile.valid_cols}",
        }
        text = wanted.get(mode) or " or ".join(wanted.values())
        found = f"{idx.valid_rows}x{idx.valid_cols} ({idx.blayout or 'row_major'})"
        message = f"idx of {t.op_name} must have {text} valid elements, found {found}".replace("-1", "?")
        yield t.finding("mgs-index", ALWAYS, "idx", message)


@checks(STRUCTURE, "pto.mgather")
def check_gather_mode(op: Operation, ctx: Context) -> None:
    """Checks whether rows or elements are gathered; in the value form, and in older releases, the types decide."""
    if not enumerator(op, "coalesce") and not op.results and release_of(op).has("gather-mode"):
        message = "pto.mgather states its coalesce mode"
        ctx.report("mgs-coalesce", op, message, help=_ADD_MODE, remedies=(missing_entry(_MODE),))


@relation("pto.mscatter")
def check_atomic(t: TileOperands) -> Iterator[Finding]:
    """Checks the element types of the atomic modes, and what requires a coalesce mode."""
    mode, src = t.enumerator("scatterAtomicOp"), t.tile("src")
    allowed = MSCATTER_ATOMIC.get(mode)
    if allowed is not None and src is not None and signed_as_signless(src.element) not in allowed:
        message = f"mscatter cannot {mode} elements of type {src.element}: allowed are {', '.join(sorted(allowed))}"
        yield t.finding("mgs-atomic", ALWAYS, "src", message)
    for name in ("scatterAtomicOp", "scatterOob", "scatterConflict"):
        if t.enumerator(name) and not t.enumerator("coalesce"):
            message, fixed = f"{name} needs a coalesce mode", (missing_entry(_MODE),)
            yield t.finding("mgs-coalesce", ALWAYS, name, message, _ADD_MODE, remedies=fixed)
    if t.enumerator("scatterConflict"):
        severity = unless(lambda profile: profile.arch == "a5")
        yield t.finding("mgs-coalesce", severity, "scatterConflict", "scatterConflict exists on a5 only")


@checks(TRIPLES, "pto.mgather", "pto.mscatter")
def check_table_layout(op: Operation, ctx: Context) -> None:
    """Checks the layout that the view of the table states."""
    table = ctx.operand(op, "mem")
    layout = None if table is None else stated_layout(table)
    if layout not in (None, "nd"):
        ctx.report("mgs-table", op, f"mem of {op.name} must be an nd view, found {layout}", at=table)

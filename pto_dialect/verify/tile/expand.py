"""Rules of tile operations that broadcast a vector over rows. Source: docs/reference/constraints.md, "Tile
arithmetic".
"""

from __future__ import annotations

from collections.abc import Iterator

from pto_dialect.diagnostics.remedies.order import without_operand
from pto_dialect.targets.tile_rules import ROWEXPAND_TMP_OPS

from ..engine.rule import WARNING
from .facts import Tile, statically_differ
from .relations import ADVICE, ALWAYS, Cell, Finding, TileOperands, relation, unless

_EXTREMA = tuple(f"pto.trowexpand{op}" for op in ("max", "min", "expdif"))
"""Operations that are refused where neither operand can be the vector."""
_NOT_FULL = {
    "pto.trowexpandadd": ALWAYS,
    **dict.fromkeys(("pto.trowexpandsub", "pto.trowexpandmul", "pto.trowexpanddiv"), ADVICE),
}
"""Explanation for a first operand that does not have the shape of dst."""


@relation(*_NOT_FULL)
def check_arithmetic_vector(t: TileOperands) -> Iterator[Finding]:
    """Checks that one operand is the vector: the second, unless the first has the shape of one and the second fills
    dst."""
    full, vector, dst = t.tile("src0"), t.tile("src1"), t.tile("dst")
    if full is None or vector is None or dst is None:
        return
    if not _fills(full, dst) and vector_fault(full, dst) is None and _fills(vector, dst):
        return
    severity = _NOT_FULL[t.op_name]
    yield from _not_full(t, "src0", full, dst, severity)
    fault = vector_fault(vector, dst)
    if fault is not None:
        yield t.finding("rowexpand-vector", severity, "src1", f"src1 of {t.op_name} must have {fault}")


@relation(*_EXTREMA)
def check_either_is_vector(t: TileOperands) -> Iterator[Finding]:
    """Checks that one operand fills the destination and the other is the vector."""
    dst, sources = t.tile("dst"), t.tiles("src0", "src1")
    if dst is None or len(sources) != 2 or (dst.valid_rows == 0 and dst.valid_cols == 0):
        return
    if dst.valid_rows == 0 or dst.valid_cols == 0:
        yield _nothing_to_do(t, "dst", dst)
        return
    full = [name for name, tile in sources if _fills(tile, dst)]
    vectors = [name for name, tile in sources if vector_fault(tile, dst) is None]
    if any(name != other for name in full for other in vectors):
        return
    name = full[0] if full else "src0"
    other = "src1" if name == "src0" else "src0"
    tile, vector = t.tile(name), t.tile(other)
    assert tile is not None and vector is not None
    if not full:
        yield from _not_full(t, name, tile, dst, ALWAYS)
    fault = vector_fault(vector, dst)
    if fault is not None:
        yield t.finding("rowexpand-vector", ALWAYS, other, f"{other} of {t.op_name} must have {fault}")


def _fills(tile: Tile, dst: Tile) -> bool:
    same = not statically_differ(tile.valid_rows, dst.valid_rows) and not statically_differ(
        tile.valid_cols, dst.valid_cols
    )
    return same and tile.blayout != "col_major"


def _not_full(t: TileOperands, name: str, tile: Tile, dst: Tile, severity: Cell) -> Iterator[Finding]:
    if tile.blayout == "col_major":
        message = f"{name} of {t.op_name} must be row_major, found col_major"
        yield t.finding("tile-row-major", severity, name, message)
    for rule_, axis, found, wanted in (
        ("tile-valid-rows", "rows", tile.valid_rows, dst.valid_rows),
        ("tile-valid-cols", "columns", tile.valid_cols, dst.valid_cols),
    ):
        if statically_differ(found, wanted):
            what = f"must have the same number of valid {axis}, found {found} and {wanted}"
            yield t.finding(rule_, severity, name, f"{name} and dst of {t.op_name} {what}")


def vector_fault(vector: Tile, dst: Tile) -> str | None:
    """Returns what is wrong with a broadcast operand, as the object of "must have"; ``None`` for a valid one."""
    if statically_differ(vector.valid_rows, dst.valid_rows):
        return f"{dst.valid_rows} valid rows like dst, found {vector.valid_rows}"
    if vector.valid_cols < 0 or vector.blayout is None or vector.bits == 0:
        return None
    if vector.blayout == "col_major":
        return None if vector.valid_cols == 1 else f"1 valid column when col_major, found {vector.valid_cols}"
    copies = 256 // vector.bits
    if vector.valid_cols == copies:
        return None
    return f"{copies} valid columns (32 bytes) when row_major, found {vector.valid_cols}"


@relation("pto.trowexpand")
def check_expand_nonempty(t: TileOperands) -> Iterator[Finding]:
    """Checks that there are rows to copy and columns to fill."""
    dst = t.tile("dst")
    if dst is None or (dst.valid_rows == 0 and dst.valid_cols == 0):
        return
    for name, tile in t.tiles("src", "dst"):
        if tile.valid_rows == 0 or tile.valid_cols == 0:
            yield _nothing_to_do(t, name, tile)


def _nothing_to_do(t: TileOperands, name: str, tile: Tile) -> Finding:
    found = f"{tile.valid_rows}x{tile.valid_cols}".replace("-1", "?")
    return t.finding(
        "rowexpand-nonempty", ALWAYS, name, f"{name} of {t.op_name} must not be empty, found {found} valid elements"
    )


@relation(*(f"pto.{op}" for op in sorted(ROWEXPAND_TMP_OPS)))
def check_no_scratch(t: TileOperands) -> Iterator[Finding]:
    """Reports scratch tiles on a5, except for the precise division, which uses one."""
    if "tmp" in t.values and t.enumerator("precisionType") != "high_precision":
        severity = unless(lambda profile: profile.tile_rules.rowexpand_tmp is None, WARNING)
        message = f"{t.op_name} takes no scratch tile on a5"
        yield t.finding("rowexpand-no-tmp-a5", severity, "tmp", message, "leave it out", remedies=(without_operand(),))

"""Rules of gathers and scatters inside the vector buffer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from pto_dialect.targets.element_types import signless
from pto_dialect.targets.tile_dtypes import GATHER_COMPARE_MODES, SCATTER_INDEX

from .facts import Tile
from .form import form_key
from .relations import ALWAYS, Finding, TileOperands, relation, unless

MASK_FACTOR: Final[Mapping[str, int]] = MappingProxyType({"P1111": 1, "P0101": 2, "P1010": 2})
"""Elements per selected element; every other pattern selects one of four."""


@relation("pto.tgather")
def check_gather_form(t: TileOperands) -> Iterator[Finding]:
    """Checks that a gather has exactly one of three forms."""
    given = [name for name in ("indices", "tmp", "kValue", "cdst") if name in t.values]
    match form_key(t):
        case "tgather[mask]":
            if given:
                message = f"tgather with a mask pattern takes src and dst only, found {given[0]} too"
                yield t.finding("gather-form", ALWAYS, given[0], message)
        case "tgather[compare]":
            missing = [name for name in ("cdst", "kValue", "tmp") if name not in given]
            if missing:
                message = f"tgather that compares needs {' and '.join(missing)}"
                yield t.finding("gather-form", ALWAYS, None, message, "ins(%src, %kValue, %tmp) outs(%dst, %cdst)")
            if "indices" in given:
                yield t.finding("gather-form", ALWAYS, "indices", "tgather that compares takes no indices")
        case _:
            if "indices" not in given:
                message = "tgather needs indices, a mask pattern, or a value to compare with"
                yield t.finding("gather-form", ALWAYS, None, message)
            elif "tmp" not in given and not t.value_form:
                severity = unless(lambda profile: profile.arch == "a5")
                yield t.finding("gather-form", severity, None, "tgather with indices needs a scratch tile", "add %tmp")
    if "axis" in t.op.attributes and not t.enumerator("maskPattern"):
        yield t.finding("gather-form", ALWAYS, "axis", "an axis belongs to a mask pattern")


@relation("pto.tgather")
def check_gather_columns(t: TileOperands) -> Iterator[Finding]:
    """Checks that whole rows are gathered."""
    names = {"tgather[index]": ("dst", "indices"), "tgather[mask]": ("dst",)}.get(form_key(t), ())
    for name, tile in t.tiles(*names):
        if 0 <= tile.valid_cols != tile.cols:
            message = f"all {tile.cols} columns of {name} of pto.tgather must be valid, found {tile.valid_cols}"
            yield t.finding("gather-full-cols", ALWAYS, name, message)


@relation("pto.tgather")
def check_gather_types(t: TileOperands) -> Iterator[Finding]:
    """Checks the element types of the operands other than the data."""
    form = form_key(t)
    src, dst, indices = t.tile("src"), t.tile("dst"), t.tile("indices")
    if form == "tgather[compare]":
        yield from _compare_types(t)
    elif form == "tgather[mask]" and src is not None and dst is not None and src.bits != dst.bits:
        message = "src and dst of pto.tgather must have elements of one size"
        message = f"{message}, found {src.element} and {dst.element}"
        yield t.finding("gather-index", ALWAYS, "dst", message)
    elif form == "tgather[index]" and indices is not None:
        severity = unless(lambda profile: signless(indices.element) in profile.gather_index)
        if severity.a2a3 is not None:
            allowed = "i32" if severity.a5 is None else "i32, or i16 on a5"
            message = f"indices of pto.tgather must be {allowed}, found {indices.element}"
            yield t.finding("gather-index", severity, "indices", message)


def _compare_types(t: TileOperands) -> Iterator[Finding]:
    mode, src = t.enumerator("cmpMode") or "eq", t.tile("src")
    if mode not in GATHER_COMPARE_MODES:
        message = f"tgather compares with eq or gt, found {mode}"
        yield t.finding("gather-cmp", ALWAYS, mode, message)
    dst = t.tile("dst")
    if dst is not None and signless(dst.element) != "i32":
        yield t.finding("gather-cmp", ALWAYS, "dst", f"dst holds positions and must be i32, found {dst.element}")
    if src is None:
        return
    if t.type_name("kValue") not in ("", src.element):
        message = f"kValue must have the element type of src, {src.element}, found {t.type_name('kValue')}"
        yield t.finding("gather-cmp", ALWAYS, "kValue", message)
    if mode != "eq":
        severity = unless(lambda profile: signless(src.element) not in profile.gather_compare_eq_only)
        message = f"tgather of {src.element} compares with eq only on a2a3, found {mode}"
        yield t.finding("gather-cmp", severity, mode, message)


@relation("pto.tgather")
def check_gather_counts(t: TileOperands) -> Iterator[Finding]:
    """Checks the number of elements that a mask selects; without an axis the older form, whose extents are free."""
    if form_key(t) == "tgather[mask]" and t.enumerator("axis"):
        small, large = t.tile("dst"), t.tile("src")
        if small is not None and large is not None:
            along, across = _extents(t, small, large)
            factor = MASK_FACTOR.get(t.enumerator("maskPattern"), 4)
            if min(along) >= 0 and along[1] != along[0] * factor:
                message = f"{t.enumerator('maskPattern')} keeps {along[1] // factor} of {along[1]} elements of src"
                yield t.finding("gather-mask-count", ALWAYS, "dst", f"{message}, found {along[0]} in dst")
            if min(across) >= 0 and across[0] != across[1]:
                message = f"across the axis src and dst must agree, found {across[1]} and {across[0]}"
                yield t.finding("gather-mask-count", ALWAYS, "dst", message)


def _extents(t: TileOperands, first: Tile, second: Tile) -> tuple[tuple[int, int], tuple[int, int]]:
    """Returns the valid extents of two tiles along the mask axis and across it."""
    rows = (first.valid_rows, second.valid_rows)
    cols = (first.valid_cols, second.valid_cols)
    return (rows, cols) if t.enumerator("axis") == "col" else (cols, rows)


@relation("pto.tscatter")
def check_scatter_form(t: TileOperands) -> Iterator[Finding]:
    """Checks that a scatter has indexes or a pattern."""
    masked = bool(t.enumerator("maskPattern"))
    if ("indexes" in t.values) == masked:
        found = "both" if masked else "neither"
        message = f"tscatter takes either indexes or a mask pattern, found {found}"
        yield t.finding("scatter-form", ALWAYS, "indexes" if masked else None, message)
    elif "axis" in t.op.attributes and not masked:
        yield t.finding("scatter-form", ALWAYS, "axis", "an axis belongs to a mask pattern")


@relation("pto.tscatter")
def check_scatter_index(t: TileOperands) -> Iterator[Finding]:
    """Checks the width of the indexes."""
    src, indexes = t.tile("src"), t.tile("indexes")
    wanted = SCATTER_INDEX.get(signless(src.element)) if src is not None else None
    if wanted is not None and indexes is not None and signless(indexes.element) != wanted:
        assert src is not None
        message = f"indexes of {src.element} data must be {wanted}, found {indexes.element}"
        yield t.finding("scatter-index-size", ALWAYS, "indexes", message)


@relation("pto.tscatter")
def check_scatter_counts(t: TileOperands) -> Iterator[Finding]:
    """Checks the extents of a masked scatter; in the older form the source is the wide tile."""
    src, dst = t.tile("src"), t.tile("dst")
    if form_key(t) != "tscatter[mask]" or src is None or dst is None:
        return
    factor = MASK_FACTOR.get(t.enumerator("maskPattern"), 4)
    along, across = _extents(t, src, dst)
    if min(along) >= 0 and max(along) != min(along) * factor:
        message = f"{t.enumerator('maskPattern')} spreads over {factor} times the elements of src"
        message = f"{message}, found {along[0]} and {along[1]}"
        yield t.finding("scatter-mask-cols", ALWAYS, "dst", message)
    if min(across) >= 0 and across[0] != across[1]:
        message = f"across the axis src and dst must agree, found {across[0]} and {across[1]}"
        yield t.finding("scatter-mask-cols", ALWAYS, "dst", message)

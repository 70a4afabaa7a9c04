"""Rules of quantization and dequantization of vector tiles."""

from __future__ import annotations

from collections.abc import Iterator

from pto_dialect.targets.element_types import signless
from pto_dialect.targets.matmul_types import MX_SCALE_GROUP
from pto_dialect.targets.tile_dtypes import TDEQUANT_DST, TQUANT_FORMS

from .facts import DYNAMIC, Tile, statically_differ
from .relations import ADVICE, ALWAYS, Finding, TileOperands, cell, relation


@relation("pto.tquant")
def check_quantisation(t: TileOperands) -> Iterator[Finding]:
    """Checks offset, element types and parameters."""
    kind, dst = t.enumerator("quant_type"), t.tile("dst")
    form = TQUANT_FORMS.get(kind)
    if form is None:
        message = f"pto.tquant quantises to INT8_SYM or INT8_ASYM, found {kind}"
        yield t.finding("quant-form", ALWAYS, kind, message, "pto.tquant.mx quantises in blocks")
        return
    if form.offset is None and "offset" in t.values:
        yield t.finding("quant-form", ALWAYS, "offset", f"{kind} takes no offset")
    elif form.offset is not None and "offset" not in t.values:
        message = f"{kind} needs an offset"
        yield t.finding("quant-form", ALWAYS, kind, message, "add %offset as the last input")
    for _, offset in t.tiles("offset"):
        if form.offset is not None and offset.element != form.offset:
            message = f"offset of pto.tquant must be {form.offset}, found {offset.element}"
            yield t.finding("quant-types", ALWAYS, "offset", message)
    if dst is not None and signless(dst.element) != "i8":
        message = f"dst of pto.tquant must be {form.dst} for {kind}, found {dst.element}"
        yield t.finding("quant-types", ALWAYS, "dst", message)
    elif dst is not None and dst.element != form.dst and dst.element != f"s{form.dst}":
        message = f"{kind} gives {form.dst}, found {dst.element}"
        yield t.finding("quant-types", ADVICE, "dst", message)
    for name, tile in t.tiles("fp", "offset"):
        if dst is not None and tile.blayout is not None:
            yield from _parameter(t, name, tile, dst)


def _parameter(t: TileOperands, name: str, tile: Tile, dst: Tile) -> Iterator[Finding]:
    """Checks a parameter: one for each row; the older version takes a single one, or a tile of the shape of
    the others."""
    if tile.blayout == "row_major":
        message = f"{name} of pto.tquant is one column (col_major), found a row_major tile"
        if _region(tile) != (1, 1):
            older = _region(tile) == _region(dst)
            yield t.finding("quant-types", cell("W/") if older else cell("E/"), name, message)
    elif statically_differ(tile.valid_rows, dst.valid_rows) or tile.valid_cols not in (1, DYNAMIC):
        found = f"{tile.valid_rows}x{tile.valid_cols}".replace("-1", "?")
        message = f"{name} of pto.tquant has one valid column and the rows of dst, found {found}"
        yield t.finding("quant-types", cell("E/"), name, message)


@relation("pto.tquant")
def check_scratch_type(t: TileOperands) -> Iterator[Finding]:
    """Checks that scratch holds converted elements."""
    tmp = t.tile("tmp")
    if tmp is not None and tmp.element != "f32":
        yield t.finding("quant-types", ALWAYS, "tmp", f"tmp of pto.tquant must be f32, found {tmp.element}")


@relation("pto.tdequant")
def check_dequantisation(t: TileOperands) -> Iterator[Finding]:
    """Checks the element types of a dequantization."""
    for name, tile in t.tiles("scale", "offset", "dst"):
        if tile.element != TDEQUANT_DST:
            message = f"{name} of pto.tdequant must be {TDEQUANT_DST}, found {tile.element}"
            yield t.finding("dequant-types", ALWAYS, name, message)


@relation("pto.tquant.mx")
def check_block_form(t: TileOperands) -> Iterator[Finding]:
    """Checks modes and element types."""
    kind, src = t.enumerator("quant_type"), t.tile("src")
    missing = [name for name in ("dst", "exp", "max", "scaling") if name not in t.values]
    if missing and not t.value_form:
        message = f"pto.tquant.mx writes dst, exp, max and scaling, {' and '.join(missing)} is missing"
        yield t.finding("quant-mx-form", ALWAYS, None, message)
    if kind not in ("MXFP8", "MXFP4_E2M1"):
        yield t.finding("quant-mx-form", ALWAYS, kind, f"pto.tquant.mx quantises to MXFP8 or MXFP4_E2M1, found {kind}")
        return
    if src is not None:
        if kind != "MXFP8" and src.element == "f32":
            yield t.finding("quant-mx-form", ALWAYS, "src", f"{kind} quantises f16 or bf16, found f32")
        for name, tile in t.tiles("max", "scaling"):
            if tile.element != src.element:
                message = f"{name} of pto.tquant.mx must have the element type of src, {src.element}"
                yield t.finding("quant-mx-form", ALWAYS, name, f"{message}, found {tile.element}")
    for name, tile in t.tiles("exp", "exp_zz"):
        if signless(tile.element) != "i8":
            yield t.finding("quant-mx-form", ALWAYS, name, f"{name} of pto.tquant.mx must be ui8, found {tile.element}")
    dst = t.tile("dst")
    if dst is not None:
        good = signless(dst.element) == "i8" if kind == "MXFP8" else dst.element == "f4E2M1x2"
        if not good:
            wanted = "i8" if kind == "MXFP8" else "f4E2M1x2"
            yield t.finding("quant-mx-form", ALWAYS, "dst", f"dst of {kind} must be {wanted}, found {dst.element}")
    yield from _block_modes(t)


def _block_modes(t: TileOperands) -> Iterator[Finding]:
    axis = t.enumerator("grpAxis") or "axis1"
    reordered, store = "exp_zz" in t.values, t.enumerator("storeMode")
    if t.number("interleave") and axis != "axis0":
        yield t.finding("quant-mx-form", ALWAYS, "interleave", "interleave groups along axis0")
    if reordered and axis != "axis1":
        yield t.finding("quant-mx-form", ALWAYS, "exp_zz", "reordered exponents group along axis1")
    if reordered and (t.enumerator("quantScaleAlg") or "ocp") != "ocp":
        yield t.finding("quant-mx-form", ALWAYS, "exp_zz", "reordered exponents exist for the ocp algorithm only")
    if reordered != bool(store):
        key = "exp_zz" if reordered else "storeMode"
        yield t.finding("quant-mx-form", ALWAYS, key, "exp_zz and storeMode belong together")


@relation("pto.tquant.mx")
def check_block_shapes(t: TileOperands) -> Iterator[Finding]:
    """Checks the extents of groups, exponents, maxima and scales."""
    src = t.tile("src")
    if src is None or min(src.valid_rows, src.valid_cols) < 0:
        return
    rows, cols = src.valid_rows, src.valid_cols
    along_rows, interleaved = t.enumerator("grpAxis") == "axis0", bool(t.number("interleave"))
    extent, multiple = (rows, MX_SCALE_GROUP * (1 + interleaved)) if along_rows else (cols, MX_SCALE_GROUP)
    if extent % multiple:
        axis = "rows" if along_rows else "columns"
        message = f"src of pto.tquant.mx must have a multiple of {multiple} valid {axis}, found {extent}"
        yield t.finding("quant-mx-shape", ALWAYS, "src", message)
        return
    grouped = (rows // MX_SCALE_GROUP, cols) if along_rows else (rows, cols // MX_SCALE_GROUP)
    flat = None if along_rows else (1, rows * cols // MX_SCALE_GROUP)
    for name, tile in t.tiles("exp", "max", "scaling"):
        wanted = (rows // 64, 2 * cols) if interleaved and name == "exp" else grouped
        if _region(tile) not in (wanted, flat) and min(_region(tile)) >= 0:
            found = f"{tile.valid_rows}x{tile.valid_cols}"
            message = f"{name} of pto.tquant.mx must have {wanted[0]}x{wanted[1]} valid elements, found {found}"
            yield t.finding("quant-mx-shape", ALWAYS, name, message)
    groups = cols // MX_SCALE_GROUP
    for name, tile in t.tiles("exp_zz"):
        if rows % 16 or groups % 2:
            found = f"{rows} rows of {groups} groups"
            message = f"{name} of pto.tquant.mx has whole boxes of 16 rows and 2 groups, found {found}"
            # The reference allocates exponents as a list of one row, whatever the rows of the source.
            severity = ADVICE if tile.valid_rows == 1 else ALWAYS
            yield t.finding(
                "quant-mx-shape", severity, name, message, "valid rows a multiple of 16, valid columns of 64"
            )
    dst = t.tile("dst")
    packed = cols // 2 if t.enumerator("quant_type") == "MXFP4_E2M1" else cols
    if dst is not None and min(_region(dst)) >= 0 and _region(dst) != (rows, packed):
        found = f"{dst.valid_rows}x{dst.valid_cols}"
        message = f"dst of pto.tquant.mx must have {rows}x{packed} valid elements, found {found}"
        yield t.finding("quant-mx-shape", ALWAYS, "dst", message)


def _region(tile: Tile) -> tuple[int, int]:
    return tile.valid_rows, tile.valid_cols

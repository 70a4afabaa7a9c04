"""Rules about scalars, storage, predicates and high precision in tile arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation

from pto_dialect.diagnostics.remedies.order import other_operation
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.types import OpaqueType, element_name, type_text
from pto_dialect.targets.element_types import signless
from pto_dialect.targets.profile import Profile

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import ERROR, SHAPES, STRUCTURE, WARNING
from .facts import Tile
from .relations import ADVICE, ALWAYS, Finding, TileOperands, cell, relation, unless

STRICT_SCALARS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "pto.texpands": ("scalar", "dst"),
        "pto.tfmods": ("scalar", "src"),
        "pto.trems": ("scalar", "src"),
        "pto.tpows": ("scalar", "src"),
        "pto.taxpy": ("scalar", "src"),
    }
)
"""Operation -> (scalar, tile whose element type it has)."""
SOFT_SCALARS: Final = ("tadds", "tsubs", "tmuls", "tdivs", "tmaxs", "tmins", "tcmps", "tsels")
"""Operations that convert a scalar of another type."""


@relation(*STRICT_SCALARS)
def check_strict_scalar(t: TileOperands) -> Iterator[Finding]:
    """Checks scalars that are not converted."""
    number, like = STRICT_SCALARS[t.op_name]
    tile = t.tile(like)
    if tile is not None and t.type_name(number) and element_text(t, number) != tile.element:
        message = f"{number} of {t.op_name} must have the element type of {like}, {tile.element}"
        yield t.finding("tile-scalar-type", ALWAYS, number, f"{message}, found {t.type_name(number)}")


_WIDTH_CHECKED: Final = {"pto.tdivs": True}
"""Operations whose scalar is not an index."""
_REVERSED: Final = {"pto.tdivs": ("scalar", "src")}
"""Tile and scalar of an operation that also takes the scalar first."""


@relation(*(f"pto.{op}" for op in SOFT_SCALARS))
def check_soft_scalar(t: TileOperands) -> Iterator[Finding]:
    """Checks scalars that are converted to the element type of the tile."""
    data, number = "src", "scalar"
    if t.tile(data) is None:
        data, number = _REVERSED.get(t.op_name, (data, number))
    tile = t.tile(data) or t.tile("src0")
    if tile is None or t.tile(number) is not None or not t.type_name(number):
        return
    if _WIDTH_CHECKED.get(t.op_name) and isinstance(t.type(number), IndexType):
        message = f"the number of {t.op_name} must be an integer or a float of a known width, found index"
        yield t.finding("tile-scalar-type", ALWAYS, number, message)
    elif element_text(t, number) != tile.element:
        message = f"the number has type {t.type_name(number)} and is converted to {tile.element}"
        yield t.finding("tile-scalar-type-soft", ADVICE, number, message)


def element_text(t: TileOperands, name: str) -> str:
    """Returns the type of a scalar operand as element types are named."""
    kind = t.type(name)
    return "" if kind is None else element_name(kind)


@relation("pto.tdivs")
def check_one_scalar(t: TileOperands) -> Iterator[Finding]:
    """Checks for one tile and one scalar."""
    tiles = [name for name in ("src", "scalar") if t.tile(name) is not None]
    if len(tiles) == 1 or any(isinstance(t.type(name), OpaqueType) for name in ("src", "scalar")):
        return
    found = " and ".join(t.type_name(name) for name in ("src", "scalar"))
    message = f"pto.tdivs takes one tile and one number, found {found}"
    help, fixed = ("use pto.tdiv for two tiles", (other_operation("pto.tdiv", False),)) if tiles else (None, ())
    yield t.finding("tile-one-scalar", ALWAYS, "scalar", message, help, remedies=fixed)


_PACKED_BITS: Final = {"pto.tcmp": ALWAYS, "pto.tcmps": ADVICE}
_TOO_NARROW: Final = {"pto.tcmp": cell("W/E"), "pto.tcmps": ADVICE}


@relation(*_PACKED_BITS)
def check_compare_destination(t: TileOperands) -> Iterator[Finding]:
    """Checks the destination of packed bits."""
    dst, src = t.tile("dst"), t.tile("src0") or t.tile("src")
    if dst is None:
        return
    if dst.element not in ("i8", "si8", "ui8"):
        severity = _PACKED_BITS[t.op_name]
        message = f"dst of {t.op_name} holds packed bits and must be i8, found {dst.element}"
        yield t.finding("tile-cmp-dst", severity, "dst", message)
    elif src is not None and src.valid_cols >= 0 and 0 <= dst.cols * 8 < src.valid_cols:
        needed = -(-src.valid_cols // 8)
        message = f"dst of {t.op_name} needs {needed} bytes in each row for {src.valid_cols} bits, found {dst.cols}"
        yield t.finding("tile-cmp-dst", _TOO_NARROW[t.op_name], "dst", message)
    elif src is not None and src.rows != dst.rows and _PACKED_BITS[t.op_name] is ALWAYS:
        message = f"dst of {t.op_name} has as many rows as its sources, found {dst.rows} and {src.rows}"
        yield t.finding("tile-cmp-dst", cell("/E"), "dst", message)


_AS_EQUALITY: Final = ("lt", "le", "gt", "ge")
_TO_FLOATS: Final = "convert them to f32 with pto.tcvt, which is exact up to 2^24"


@relation("pto.tcmp", "pto.tcmps")
def check_compared_words(t: TileOperands) -> Iterator[Finding]:
    """Checks for 32-bit integers that a2a3 compares in another way than the mode says."""
    name = "src0" if t.tile("src0") else "src"
    src, mode = t.tile(name), t.enumerator("cmpMode")
    if src is not None and signless(src.element) == "i32" and mode in _AS_EQUALITY:
        message = f"{t.op_name} of i32 compares for equality on a2a3, not with {mode}"
        yield t.finding("tile-cmp-integers", cell("W/"), name, message, _TO_FLOATS)


@relation("pto.tcmps")
def check_compared_halves(t: TileOperands) -> Iterator[Finding]:
    """Checks for 16-bit integers, which a2a3 compares with a number as if they were floats."""
    src = t.tile("src")
    if src is not None and signless(src.element) == "i16":
        message = f"{t.op_name} of {src.element} compares the bits as f16 on a2a3: negative zeros and NaN differ"
        yield t.finding("tile-cmp-integers", cell("W/"), "src", message, _TO_FLOATS)


@relation("pto.tsel", "pto.tsels")
def check_selection_mask(t: TileOperands) -> Iterator[Finding]:
    """Checks a mask with one bit for each element."""
    mask, dst = t.tile("mask"), t.tile("dst")
    if mask is None or dst is None or min(mask.rows, mask.cols, dst.valid_rows, dst.valid_cols) < 0:
        return
    bits, needed = mask.rows * mask.cols * mask.bits, dst.valid_rows * dst.valid_cols
    if 0 < bits < needed:
        yield t.finding("tile-sel-mask", ADVICE, "mask", f"mask of {t.op_name} holds {bits} bits for {needed} elements")


_PRECISE = {"pto.trsqrt": 32, "pto.trowexpanddiv": 0}
"""Operations with a precise variant, and the bytes of its scratch."""


@relation(*_PRECISE)
def check_high_precision(t: TileOperands) -> Iterator[Finding]:
    """Checks the scratch of the precise variants."""
    tmp = t.tile("tmp")
    if tmp is None:
        if t.enumerator("precisionType") == "high_precision" and not t.value_form:
            message = f"{t.op_name} with high_precision needs a scratch tile"
            yield t.finding("tile-highprec-tmp", ALWAYS, "high_precision", message, "add %tmp as the last input")
        return
    size, least = byte_size(tmp), _PRECISE[t.op_name]
    if size is not None and size < least:
        yield t.finding("tile-highprec-tmp", ALWAYS, "tmp", f"tmp of {t.op_name} needs {least} bytes, found {size}")


def byte_size(tile: Tile) -> int | None:
    """Returns the bytes of a tile's physical shape; ``None`` when it is not static."""
    return None if min(tile.rows, tile.cols) < 0 else tile.rows * tile.cols * tile.bits // 8


@relation("pto.tpow", "pto.tpows")
def check_power_form(t: TileOperands) -> Iterator[Finding]:
    """Checks scratch and precision of powers."""
    dst = t.tile("dst")
    if "tmp" in t.values and dst is not None and signless(dst.element).startswith("i"):
        yield t.finding("tile-pow-form", ALWAYS, "tmp", f"{t.op_name} of {dst.element} takes no scratch tile")
    if t.enumerator("precisionType") == "high_precision":
        severity = unless(lambda profile: bool(profile.tile_dtypes["tpow[high_precision]"]))
        yield t.finding("tile-pow-form", severity, "high_precision", f"precise {t.op_name} exists on a5 only")


@relation("pto.taddc", "pto.taddsc")
def check_sum_shapes(t: TileOperands) -> Iterator[Finding]:
    """Checks for one physical shape."""
    operands = [(n, x) for n, x in t.tiles("src0", "src1", "src2", "dst") if min(x.rows, x.cols) >= 0]
    if not operands:
        return
    first, model = operands[0]
    for name, tile in operands[1:]:
        if (tile.rows, tile.cols) != (model.rows, model.cols):
            found = f"{tile.rows}x{tile.cols} and {model.rows}x{model.cols}"
            message = f"{name} and {first} of {t.op_name} must have the same shape, found {found}"
            yield t.finding("taddc-shape", ALWAYS, name, message)


def _nowhere(profile: Profile) -> bool:
    return False


_IN_PLACE: Final[Mapping[str, Callable[[Profile], bool]]] = MappingProxyType(
    {
        **dict.fromkeys(("pto.tands", "pto.tors", "pto.txors"), _nowhere),
        "pto.trecip": lambda profile: profile.tile_rules.trecip_in_place != "error",
        "pto.tprelu": lambda profile: profile.tile_rules.tprelu_shared != "error",
    }
)
"""Operation -> whether its operands may alias on a target."""


_UNUSED_SCRATCH: Final = {"pto.txors": "a5"}
"""The target on which an operation does not use its scratch tile, so that the tile may also be another operand."""


@checks(STRUCTURE, *_IN_PLACE)
def check_distinct_storage(op: Operation, ctx: Context) -> None:
    """Reports a value that is used twice by an operation that does not work in place."""
    operands = [value for value in op.operands if type_text(value.type).startswith("!")]
    repeated = next((v for i, v in enumerate(operands) if any(v is w for w in operands[:i])), None)
    if repeated is None:
        return
    severity = ctx.refused(_IN_PLACE[op.name], ERROR)
    idle = _UNUSED_SCRATCH.get(op.name) == ctx.profile.arch
    if severity is not None and idle and named(op, "src") is not named(op, "dst"):
        severity = WARNING
    if severity is not None:
        where = "" if _IN_PLACE[op.name] is _nowhere else f" on {ctx.profile.name}"
        message = f"{op.name} does not work in place{where}: its operands must be different tiles"
        ctx.report(
            "tile-distinct-storage", op, message, at=repeated, severity=severity, help="give it another destination"
        )


@checks(SHAPES, "pto.tshls")
def check_shift_count(op: Operation, ctx: Context) -> None:
    """Checks constant shift counts."""
    count = ctx.constant(named(op, "scalar"))
    if count is not None and count < 0:
        ctx.report(
            "tile-shift-nonneg", op, f"the shift count must not be negative, found {count}", at=named(op, "scalar")
        )

"""Forms of operations that the headers of the C++ interface accept and the dialect does not.

A C++ kernel is compiled with these headers, not by the compiler of the dialect: such a form is a warning in a kernel
that was translated, and an error in a `.pto` program. Source: docs/cpp.md, "Rules of the headers".
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation, SSAValue

from pto_dialect.analysis.constants import constant_of
from pto_dialect.ir.buffers.views import stated_layout
from pto_dialect.ir.core.attributes import EnumAttr
from pto_dialect.ir.core.operands import find
from pto_dialect.ir.core.placement import element_of, location
from pto_dialect.ir.core.types import PartitionViewType, TileBufType, bit_width, shape_of

ADVICE = "the headers have this form, the compiler of the dialect refuses it in a .pto program"
UNSIGNED = ""
"""The advice about numbers of unsigned tiles, which have a type of their own in C++: nothing is reported."""
OVERRUN = "the headers do not check this tile: the operation writes beyond its end, so keep the memory there free"

HEADER_RULES: dict[str, str] = {
    **dict.fromkeys(
        ("reduce-arg-dst", "tile-same-shape", "gather-mask-count", "scatter-mask-cols", "matmul-shape"), ADVICE
    ),
    "extract-bounds": ADVICE,
    "pipe-epilogue-ends": ADVICE,
    "quant-mx-room": OVERRUN,
}
"""Rules of shapes and positions that the headers do not have, with the advice about what breaks them."""

_WIDE = "tadd tadds tcmp tcmps tcolexpand tcolmax tcolmin tcolsum tdiv tdivs texpands tgather tmax tmaxs tmin tmins"
_WIDE += " tmul tmuls tpartadd tpartmax tpartmin trem trems trowexpand trowmax trowmin trowsum tscatter tsel tsels"
_WIDE += " tshl tshls tshr tshrs tsub tsubs ttri"
_BFLOAT = "tcmps tmax tmul tsub trowexpandadd trowexpanddiv trowexpandmax trowexpandmin trowexpandmul trowexpandsub"

_WINDOWS = frozenset(("textract", "tinsert"))
"""Operations whose vector tiles have other types than the tiles of L1 and of the matrix unit."""
_BITS = frozenset(("tand", "tor"))
"""Operations with the bits of elements, whatever they mean."""
_SHORT_AND_WIDE = frozenset(("i16", "ui16", "i32", "ui32"))

HEADER_DTYPES: dict[str, tuple[tuple[frozenset[str], frozenset[str]], ...]] = {
    "a5": (
        (frozenset(_WIDE.split()), frozenset(("i64", "ui64"))),
        (frozenset(_BFLOAT.split()), frozenset(("bf16",))),
        (frozenset(("tabs",)), frozenset(("i8", "i16", "i32"))),
        (frozenset(("textract",)), _SHORT_AND_WIDE),
        (_BITS, frozenset(("f16", "bf16", "f32"))),
    ),
    "a2a3": (
        (frozenset(("texpands",)), frozenset(("i8", "ui8"))),
        (frozenset(("tands", "tors", "txors", "tnot")), frozenset(("i8", "ui8", "i32", "ui32"))),
        (_WINDOWS, _SHORT_AND_WIDE),
        (_BITS, frozenset(("f16", "bf16"))),
    ),
}
"""For each chip family: operations, and element types that the headers have beyond those of the dialect."""

HEADER_ATOMICS: dict[str, dict[str, frozenset[str]]] = {
    "a5": {"add": frozenset(("bf16",)), "max": frozenset(("ui32",)), "min": frozenset(("ui32",))},
    "a2a3": {"add": frozenset(("bf16", "i16", "i8"))},
}
"""For each chip family: what a scatter does with an element of a table, and the types that the headers do it with
beyond those of the dialect."""


def header_advice(rule: str, op: Operation, at: object, family: str) -> str | None:
    """Returns the advice about what breaks ``rule`` in ``op``, where the headers of the chip ``family`` (``"a2a3"`` or
    ``"a5"``) accept it; ``UNSIGNED`` where nothing is to be reported, ``None`` where they do not. ``at`` is the operand
    that a finding points at."""
    if rule in HEADER_RULES:
        return HEADER_RULES[rule]
    if rule in _OF_NUMBERS and _is_own_number(op, at):
        return UNSIGNED
    if not isinstance(at, SSAValue):
        target = find(op, "dst")
        form = (family, op.name, None if target is None else element_of(target))
        return ADVICE if form in _WITHOUT_SCRATCH.get(rule, ()) else None
    accepts = _FORMS.get((rule, op.name)) or _FORMS.get((rule, ANY))
    if accepts is None or not accepts(op, at, family):
        return None
    return OVERRUN if rule in _SCRATCH else ADVICE


def _has_type(op: Operation, at: SSAValue, family: str) -> bool:
    """Returns whether the headers have the element type of an operand."""
    name, element = op.name.removeprefix("pto."), element_of(at)
    return any(name in names and element in elements for names, elements in HEADER_DTYPES.get(family, ()))


def _has_type_of_vector(op: Operation, at: SSAValue, family: str) -> bool:
    """As ``_has_type`` for tiles of the vector unit; those of other memories have types of their own."""
    return location(at) == "vec" and _has_type(op, at, family)


def _tiles(op: Operation) -> tuple[TileBufType, TileBufType] | None:
    """Returns the types of source and destination where both are tiles."""
    source, target = find(op, "src"), find(op, "dst")
    if source is None or target is None:
        return None
    one, other = source.type, target.type
    return (one, other) if isinstance(one, TileBufType) and isinstance(other, TileBufType) else None


def _is_gathered_in_rows(op: Operation, at: SSAValue, family: str) -> bool:
    """Returns whether the headers gather elements of 64 bits to where they gather others. With a mask they begin a row
    of the destination for each row of the source, others follow each other."""
    if not _has_type(op, at, family):
        return False
    if find(op, "indices") is not None:
        return True
    tiles = _tiles(op)
    return tiles is not None and find(op, "kValue") is None and tiles[0].valid_cols == tiles[1].cols


def _is_column(op: Operation, at: SSAValue, family: str) -> bool:
    """Returns whether a tile is filled column by column."""
    return isinstance(at.type, TileBufType) and at.type.slayout == "none_box"


def _is_own_number(op: Operation, at: object) -> bool:
    """Returns whether a number has the width of unsigned elements; the numbers of the dialect have no sign."""
    tile = find(op, "src") or find(op, "dst")
    element = "" if tile is None else element_of(tile) or ""
    number = at if isinstance(at, SSAValue) else next(iter(op.results), None)
    return number is not None and isinstance(number.type, IntegerType) and element == f"ui{bit_width(number.type)}"


def _has_short_positions(op: Operation, at: SSAValue, family: str) -> bool:
    """Returns whether positions of partial extrema have 16 bits."""
    return element_of(at) in ("i16", "ui16")


def _has_more_filters(op: Operation, at: SSAValue, family: str) -> bool:
    """Returns whether the filters of a histogram are one column with more rows than the source has."""
    source, filters = find(op, "src"), at.type
    if source is None or at is not find(op, "idx") or not isinstance(filters, TileBufType):
        return False
    is_column = filters.blayout == "col_major" and filters.cols == 1
    return is_column and isinstance(source.type, TileBufType) and filters.rows > source.type.rows


def _is_inserted_in_boxes(op: Operation, at: SSAValue, family: str) -> bool:
    """Returns whether a vector tile in boxes along the rows is inserted into a tile of L1 that has the same; boxes of
    rows are copied as they are."""
    tiles = _tiles(op)
    if family != "a5" or tiles is None:
        return False
    one, other = tiles
    if (one.loc, other.loc) != ("vec", "mat"):
        return False
    if (one.blayout, one.slayout) != (other.blayout, other.slayout) or one.blayout != "row_major":
        return False
    if one.slayout == "col_major":
        return True
    return one.slayout == "row_major" and (one.rows, one.cols) == (other.rows, other.cols)


def _is_extracted_in_boxes(op: Operation, at: SSAValue, family: str) -> bool:
    """Returns whether a window of a vector tile in boxes becomes one of the same layout."""
    tiles = _tiles(op)
    if family != "a5" or tiles is None:
        return False
    one, other = tiles
    if (one.loc, other.loc) != ("vec", "vec"):
        return False
    return (one.blayout, one.slayout) == (other.blayout, other.slayout) == ("col_major", "row_major")


def _is_transposed(op: Operation, at: SSAValue, family: str) -> bool:
    """Returns whether elements are moved only, whatever they mean."""
    return family == "a5"


def _is_empty(op: Operation, at: SSAValue, family: str) -> bool:
    """Returns whether a part of a tensor has no elements, of which transfers move none."""
    if isinstance(at.type, PartitionViewType):
        return 0 in (shape_of(at.type) or ())
    return constant_of(at) == 0


def _is_one_line(op: Operation, at: SSAValue, family: str) -> bool:
    """Returns whether scratch of the extrema of rows has room for one row."""
    return isinstance(at.type, TileBufType) and at.type.rows == 1


def _has_packed_scales(op: Operation, at: SSAValue, family: str) -> bool:
    """Returns whether the scales of a queue are the 64-bit words that the fixpipe reads."""
    return element_of(at) in ("i64", "ui64")


def _is_combined(op: Operation, at: SSAValue, family: str) -> bool:
    """Returns whether a scatter combines elements as the headers of a chip do."""
    mode = op.attributes.get("scatterAtomicOp")
    return isinstance(mode, EnumAttr) and element_of(at) in HEADER_ATOMICS[family].get(mode.value, ())


def _has_table_in_blocks(op: Operation, at: SSAValue, family: str) -> bool:
    """Returns whether a table in blocks (nz) and a vector tile with the same blocks (NZ) exchange rows or elements."""
    tile, table = find(op, "dst") or find(op, "src"), find(op, "mem")
    if family != "a2a3" or tile is None or table is None or at not in (tile, table):
        return False
    kind = tile.type
    if not isinstance(kind, TileBufType) or (kind.loc, kind.fractal) != ("vec", 512):
        return False
    return (kind.blayout, kind.slayout) == ("col_major", "row_major") and stated_layout(table) == "nz"


def _packs_words(op: Operation, at: SSAValue, family: str) -> bool:
    """Returns whether the bits of a comparison are packed into words of 32 bits."""
    return family == "a5" and element_of(at) in ("i32", "ui32")


def _is_any(op: Operation, at: SSAValue, family: str) -> bool:
    return True


ANY = ""
_FORMS: dict[tuple[str, str], Callable[[Operation, SSAValue, str], bool]] = {
    ("tile-dtype", ANY): _has_type,
    ("tile-dtype", "pto.textract"): _has_type_of_vector,
    ("tile-dtype", "pto.tinsert"): _has_type_of_vector,
    ("tile-dtype", "pto.tgather"): _is_gathered_in_rows,
    ("tile-row-major", "pto.texpands"): _is_column,
    ("tile-tmp-dtype", "pto.tpartargmax"): _has_short_positions,
    ("tile-tmp-dtype", "pto.tpartargmin"): _has_short_positions,
    ("tile-cmp-dst", "pto.tcmp"): _packs_words,
    ("hist-form", ANY): _has_more_filters,
    ("tinsert-pair", ANY): _is_inserted_in_boxes,
    ("textract-pair", ANY): _is_extracted_in_boxes,
    ("tile-lowprec", "pto.ttrans"): _is_transposed,
    ("mgs-atomic", "pto.mscatter"): _is_combined,
    ("mgs-layout", ANY): _has_table_in_blocks,
    ("mgs-table", ANY): _has_table_in_blocks,
    ("part-bounds", ANY): _is_empty,
    ("tload-types", ANY): _is_empty,
    ("pipe-epilogue", "pto.set_quant_vector"): _has_packed_scales,
    ("tile-tmp-shape", "pto.trowargmax"): _is_one_line,
    ("tile-tmp-shape", "pto.trowargmin"): _is_one_line,
    ("tile-tmp-size", "pto.tsort32"): _is_any,
}
"""Rules with an operation, or any, and which forms that break them the headers accept."""
_WITHOUT_SCRATCH: dict[str, frozenset[tuple[str, str, str | None]]] = {
    "tile-highprec-tmp": frozenset(
        (("a5", "pto.trsqrt", "f32"), ("a5", "pto.trowexpanddiv", "f32"), ("a5", "pto.trowexpanddiv", "f16"))
    )
}
"""Rules that ask for a scratch tile, and chips, operations and elements whose headers need none. Halves of ``trsqrt``
are left out, because the headers round them twice."""
_SCRATCH = frozenset(("tile-tmp-shape", "tile-tmp-size"))
_OF_NUMBERS = frozenset(("tile-scalar-type", "getset-val"))

__all__ = ["ADVICE", "HEADER_ATOMICS", "HEADER_DTYPES", "HEADER_RULES", "OVERRUN", "UNSIGNED", "header_advice"]

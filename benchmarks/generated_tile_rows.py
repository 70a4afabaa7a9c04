"""What a random tile program may say: kinds of tiles, and one row for each operation on them."""

from __future__ import annotations

from typing import NamedTuple

_NZ = "blayout=col_major, slayout=row_major"

SORTS: dict[str, str] = {
    "wide": "!pto.tile_buf<vec, 16x64xf32>",
    "half": "!pto.tile_buf<vec, 16x64xf16>",
    "whole": "!pto.tile_buf<vec, 16x64xi32>",
    "column": "!pto.tile_buf<vec, 16x1xf32, blayout=col_major>",
    "row": "!pto.tile_buf<vec, 1x64xf32>",
    "turned": "!pto.tile_buf<vec, 64x16xf32>",
    "mask": "!pto.tile_buf<vec, 16x64xui8>",
    "part": "!pto.tile_buf<vec, 8x64xf32>",
    "records": "!pto.tile_buf<vec, 16x128xf32>",
    "numbers": "!pto.tile_buf<vec, 1x64xi32>",
    "mat": f"!pto.tile_buf<mat, 32x32xf16, {_NZ}>",
    "left": "!pto.tile_buf<left, 32x32xf16, {layout}>",
    "right": "!pto.tile_buf<right, 32x32xf16, slayout=col_major>",
    "acc": f"!pto.tile_buf<acc, 32x32xf32, {_NZ}, fractal=1024>",
}
"""Types of tiles by name; ``{layout}`` differs with the chip."""

LEFT_LAYOUT = {"a5": _NZ, "a2a3": "slayout=row_major"}

BUFFERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "a": ("f32", ("wide", "turned", "row", "acc", "part")),
    "b": ("f32", ("wide", "acc", "records")),
    "h": ("f16", ("half", "mat")),
    "i": ("i32", ("whole",)),
}
"""Arguments: their elements, and the kinds of tiles that are loaded from or stored to them."""


class Row(NamedTuple):
    """``pto.OP ins(SOURCES) outs(TARGET)``: kinds of the sources, of scratch tiles after them, and of the target;
    ``more`` stands after the last operand; a source may be ``f32`` or ``i32``, a number. ``apart``: the target is no
    source."""

    op: str
    sources: tuple[str, ...]
    target: str
    scratch: tuple[str, ...] = ()
    more: str = ""
    apart: bool = False


def _rows(ops: str, sources: str, target: str, scratch: str = "") -> tuple[Row, ...]:
    return tuple(Row(op, tuple(sources.split()), target, tuple(scratch.split())) for op in ops.split())


VECTOR: tuple[Row, ...] = (
    *_rows("tabs tsqrt trelu tneg texp", "wide", "wide"),
    Row("trecip", ("wide",), "wide", apart=True),
    *_rows("tadd tsub tmul tmax tmin tdiv", "wide wide", "wide"),
    *_rows("tadds tsubs tmuls tmaxs tmins", "wide f32", "wide"),
    *_rows("tabs trelu texp", "half", "half"),
    *_rows("tadd tmul tmax", "half half", "half"),
    *_rows("tadd tsub tmul tmax tmin", "whole whole", "whole"),
    *_rows("tadds tmuls", "whole i32", "whole"),
    *_rows("tcvt", "wide", "half"),
    *_rows("tcvt", "half", "wide"),
    *_rows("tcvt", "whole", "wide"),
    *_rows("trowsum trowmax trowmin", "wide", "column", "wide"),
    *_rows("tcolmax tcolmin", "wide", "row"),
    *_rows("trowexpand", "column", "wide"),
    *_rows("tcolexpand", "row", "wide"),
    *_rows("trowexpandmul trowexpandsub trowexpanddiv", "wide column", "wide"),
    *_rows("tcolexpandmul tcolexpandsub", "wide row", "wide"),
    *_rows("texpands", "f32", "wide"),
    *_rows("texpands", "i32", "whole"),
    *_rows("ttrans", "wide", "turned", "turned"),
    Row("tcmp", ("wide", "wide"), "mask", (), " {cmpMode = #pto<cmp gt>}"),
    Row("tcmps", ("wide", "f32"), "mask", (), " {cmpMode = #pto<cmp lt>}"),
    *_rows("tsel", "mask wide wide", "wide", "mask"),
    *_rows("tmov", "wide", "wide"),
    *_rows("tadd tmul", "row row", "row"),
    *_rows("tadds", "turned f32", "turned"),
    *_rows("tci", "i32", "numbers"),
    *_rows("tcolexpand", "numbers", "whole"),
    Row("tgather", ("records",), "wide", (), ", {maskPattern = #pto.mask_pattern<P0101>}"),
)
"""Operations of vector cores."""

CUBE: tuple[Row, ...] = (
    *_rows("tmov", "mat", "left"),
    *_rows("tmov", "mat", "right"),
    *_rows("tmatmul", "left right", "acc"),
    *_rows("tmatmul.acc", "acc left right", "acc"),
)
"""Operations of cube cores."""

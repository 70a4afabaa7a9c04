"""Windows, other types and other shapes of tile values, which have no layout and no location."""

from __future__ import annotations

import pytest

from pto_dialect import check
from pto_dialect.diagnostics.diagnostic import Severity

VALUE = "!pto.tile<16x64xf32>"
BUFFER = "!pto.tile_buf<vec, 16x64xf32>"


def program(statement: str) -> str:
    """A function with a tile value, a tile buffer and two indices."""
    numbers = "".join(f"  %c{n} = arith.constant {n} : index\n" for n in (0, 1, 8, 9))
    return f"func.func @f(%t: {VALUE}, %b: {BUFFER}) {{\n{numbers}  {statement}\n  return\n}}\n"


def errors(text: str) -> list[str]:
    """Rules of all errors, in order."""
    return [one.rule for one in check(text, target="a5").diagnostics if one.severity is Severity.ERROR]


@pytest.mark.parametrize(
    ("statement", "rule"),
    [
        (f"%r = pto.subview %t[%c0, %c0] sizes [8, 64] : {VALUE} -> !pto.tile<9x64xf32>", "subview-form"),
        (f"%r = pto.subview %t[%c0, %c0] sizes [8, 64] : {VALUE} -> !pto.tile<8x64xi32>", "subview-form"),
        (f"%r = pto.subview %t[%c0, %c0] sizes [8] : {VALUE} -> !pto.tile<8x64xf32>", "subview-form"),
        (f"%r = pto.subview %t[%c0, %c0] sizes [0, 64] : {VALUE}", "subview-form"),
        (f"%r = pto.subview %t[%c0, %c0] sizes [8, 64] valid [%c9, %c1] : {VALUE}", "subview-form"),
        (f"%r = pto.subview %t[%c9, %c0] sizes [8, 64] : {VALUE}", "subview-bounds"),
        (f"%r = pto.subview %t[%c8, %c1] sizes [8, 64] : {VALUE}", "subview-bounds"),
        (f"%r = pto.subview %t[%c0, %c0] sizes [8, 64] : {VALUE} -> !pto.tile_buf<vec, 8x64xf32>", "subview-form"),
        (f"%r = pto.subview %b[%c0, %c0] sizes [8, 64] : {BUFFER} -> !pto.tile<8x64xf32>", "subview-form"),
        (f"%r = pto.bitcast %t : {VALUE} -> !pto.tile<32x32xi32>", "bitcast-same"),
        (f"%r = pto.bitcast %t : {VALUE} -> {VALUE}", "bitcast-same"),
        (f"%r = pto.bitcast %t : {VALUE} -> !pto.tile<16x64xi64>", "bitcast-same"),
        (f"%r = pto.bitcast %t : {VALUE} -> !pto.tile_buf<vec, 16x64xi32>", "bitcast-same"),
        (f"%r = pto.bitcast %b : {BUFFER} -> !pto.tile<16x64xi32>", "bitcast-same"),
        (f"%r = pto.treshape %t : {VALUE} -> !pto.tile<16x32xf32>", "reshape-bytes"),
        (f"%r = pto.treshape %t : {VALUE} -> !pto.tile_buf<vec, 32x32xf32>", "reshape-bytes"),
        (f"%r = pto.treshape %b : {BUFFER} -> !pto.tile<32x32xf32>", "reshape-bytes"),
    ],
)
def test_what_does_not_fit_is_one_error(statement: str, rule: str) -> None:
    assert errors(program(statement)) == [rule]


@pytest.mark.parametrize(
    "statement",
    [
        f"%r = pto.subview %t[%c8, %c0] sizes [8, 64] : {VALUE} -> !pto.tile<8x64xf32>",
        f"%r = pto.subview %t[%c9, %c0] sizes [8, 64] valid [%c1, %c8] : {VALUE} -> !pto.tile<8x64xf32>",
        f"%r = pto.bitcast %t : {VALUE} -> !pto.tile<16x64xi32>",
        f"%r = pto.bitcast %t : {VALUE} -> !pto.tile<16x64xf16>",
        f"%r = pto.treshape %t : {VALUE} -> !pto.tile<32x32xf32>",
    ],
)
def test_what_fits_is_accepted(statement: str) -> None:
    assert errors(program(statement)) == []


def test_a_window_of_a_tile_value_is_one() -> None:
    """Without a stated result; what uses it says which type it has."""
    window = f"%r = pto.subview %t[%c0, %c0] sizes [8, 64] : {VALUE}\n  %s = pto.treshape %r : "
    assert errors(program(window + "!pto.tile<8x64xf32> -> !pto.tile<4x128xf32>")) == []
    assert errors(program(window + "!pto.tile<8x32xf32> -> !pto.tile<4x64xf32>")) != []

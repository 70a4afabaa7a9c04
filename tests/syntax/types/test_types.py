"""Type spellings: every accepted form, canonical text, and errors with their location."""

from __future__ import annotations

import pytest
from groups import in_groups
from hypothesis import given
from hypothesis import strategies as st

from pto_dialect.ir.core import types as t
from pto_dialect.syntax.errors.types import TypeSyntaxError
from pto_dialect.syntax.types.parser import parse_type

LONG = (
    "!pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=64, v_row=16, v_col=60, "
    "blayout=row_major, slayout=none_box, fractal=512, pad=1>"
)


@in_groups(
    ("text", "canonical"),
    [
        ("!pto.ptr<f16>", "!pto.ptr<f16, gm>"),
        ("!pto.ptr<f16, left>", "!pto.ptr<f16, l0a>"),
        ("!pto.ptr<f16, mat>", "!pto.ptr<f16, l1>"),
        ("!pto.ptr<!pto.hif8, l0b>", "!pto.ptr<!pto.hif8, l0b>"),
        ("!pto.ptr<vector<2xf16>, gm>", "!pto.ptr<vector<2xf16>, gm>"),
        # Words and strings are different spaces.
        ("memref<4xf32, true>", "memref<4xf32, true>"),
        ('memref<4xf32, "true">', 'memref<4xf32, "true">'),
        ('memref<4xf32, "false">', 'memref<4xf32, "false">'),
        (LONG, "!pto.tile_buf<vec, 16x64xf32, valid=16x60, pad=1>"),
        ("!pto.tile_buf<vec, 16x64xf32, pad=zero, valid=16x60>", "!pto.tile_buf<vec, 16x64xf32, valid=16x60, pad=1>"),
        ("!pto.tile_buf<vec, 16x64xf32, valid=?x?>", "!pto.tile_buf<vec, 16x64xf32, valid=?x?>"),
        ("!pto.tile_buf<vec, 16x64xf32, valid=16x64>", "!pto.tile_buf<vec, 16x64xf32>"),
        ("!pto.tile_buf<vec, 1x32x!pto.f8E8M0>", "!pto.tile_buf<vec, 1x32x!pto.f8E8M0>"),
        ("!pto.tensor_view<?x16xf32>", "!pto.tensor_view<?x16xf32>"),
        ("!pto.partition_tensor_view<1x1x1x16x64xf16>", "!pto.partition_tensor_view<1x1x1x16x64xf16>"),
        ("!pto.tile<16x32xf16>", "!pto.tile<16x32xf16>"),
        ("!pto.tile<f16, 16, 32>", "!pto.tile<16x32xf16>"),
        ("!pto.vreg<64xf32>", "!pto.vreg<64xf32>"),
        ("!pto.mask<b16>", "!pto.mask<b16>"),
        ("!pto.multi_tile_buf<vec, 8x32xf32, count=2>", "!pto.multi_tile_buf<!pto.tile_buf<vec, 8x32xf32>, count=2>"),
        ("!pto.eventid_array<4>", "!pto.eventid_array<4>"),
        ("!pto.local_array<4x2xi32>", "!pto.local_array<4x2xi32>"),
        ("!pto.struct<i32, !pto.struct<f32>>", "!pto.struct<i32, !pto.struct<f32>>"),
        ("!pto.align", "!pto.align"),
        ("memref<4xf32,  7 : i32>", "memref<4xf32, 7 : i32>"),
        ("memref<4xf32, 7 : i64>", "memref<4xf32, 7>"),
        ("memref<4xf32, 1 : i1>", "memref<4xf32, true>"),
        ("memref<4xf32, true>", "memref<4xf32, true>"),
        ("memref<*xf32, false>", "memref<*xf32, false>"),
        ('memref<4xf32, {a = {b = {c = "}"}, d}, e = {f = {g = {}}}}>',) * 2,
        ("tensor<4xf32, {a = {b = 1}}>", "tensor<4xf32, {a = {b = 1}}>"),
        (
            "memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>, 1>",
            "memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>, 1>",
        ),
        ("memref<* x f32, 1>", "memref<*xf32, 1>"),
        ("tensor<*xf32>", "tensor<*xf32>"),
        ("complex<f32>", "complex<f32>"),
        ("tuple<>", "tuple<>"),
        ("tuple<i32, (i32) -> (f32)>", "tuple<i32, (i32) -> f32>"),
        ("() -> ((i32) -> i32)", "() -> ((i32) -> i32)"),
        ("ui8", "ui8"),
        ("f8E4M3FN", "f8E4M3FN"),
    ],
)
def test_canonical_text(text, canonical):
    parsed = parse_type(text)
    assert t.type_text(parsed) == canonical
    assert parse_type(canonical) is parsed


def test_same_spelling_gives_the_same_object():
    assert parse_type("!pto.ptr<f32, ub>") is parse_type("!pto.ptr<f32, vec>")


def test_left_block_layout_is_not_significant():
    row = parse_type("!pto.tile_buf<left, 16x16xf16, slayout=row_major>")
    col = parse_type("!pto.tile_buf<left, 16x16xf16, blayout=col_major, slayout=row_major>")
    assert row is col


@in_groups(
    ("text", "rule", "part"),
    [
        ("!pto.tile_buf<vex, 16x64xf32>", "tile-loc-keyword", "vex"),
        ("!pto.tile_buf<vec, 16x64xf32, fractal=16>", "tile-fractal", "16"),
        ("!pto.tile_buf<vec, 16x64xf32, valid=17x64>", "tile-valid-le-shape", "16x64xf32"),
        ("!pto.tile_buf<vec, 16xf32>", "tile-rank2", "16xf32"),
        ("!pto.tile_buf<vec, 0x64xf32>", "tile-rank2", "0x64xf32"),
        ("!pto.tile<0x64xf32>", "tile-rank2", "0x64xf32"),
        ("!pto.tile<8x?xf32>", "tile-rank2", "8x?xf32"),
        ("!pto.tile<f32, 8, 0>", "tile-rank2", "f32"),
        ("!pto.tile_buf<vec, 16x64xf32, blayot=row_major>", "tile-key", "blayot=row_major"),
        ("!pto.tile_buf<vec, 16x64xf32, pad=1, pad=2>", "tile-key", "pad=2"),
        ("!pto.tile_buf<loc=vec, rows=16, dtype=f32, cols=64>", "tile-key-order", "dtype=f32"),
        ("!pto.ptr<f16, l0d>", "ptr-space", "l0d"),
        ("!pto.tensor_view<*xf32>", "type-syntax", "!pto.tensor_view"),
        ("vector<*xf32>", "type-syntax", "vector"),
        ("memref<*xf32, 1, 2>", "type-syntax", "2"),
        ("tensor<*xf32, 1>", "type-syntax", "1"),
        ("tensor<4xf32, 1, 2>", "type-syntax", "2"),
        ("vector<4xf32, 1>", "type-syntax", "1"),
        ("memref<4xf32, strided<[1]>, 1, 2>", "type-syntax", "2"),
        ("memref<4xf32, 1 : f32>", "type-syntax", "1 : f32"),
        ("tensor<4xf32, 1 : f32>", "type-syntax", "1 : f32"),
        ("complex<f32, f32>", "type-syntax", "complex"),
        ("complex<4xf32>", "type-syntax", "complex"),
        ("memref<4xf32, #alias>", "name-undefined", "#alias"),
        ("memref<4xf32, truth>", "type-syntax", "truth"),
        ("memref<4xf32, {a = {b = 1}>", "type-syntax", "{"),
        ("complex<!pto.hif8>", "type-syntax", "complex"),
        ("tuple<4xf32>", "type-syntax", "tuple"),
        ("!pto.vreg<63xf32>", "vreg-256", "63xf32"),
        ("!pto.tile_bug<vec, 16x64xf32>", "type-unknown", "!pto.tile_bug"),
        ("!arith.constant<64xi16>", "type-unknown", "!arith.constant"),
        ("!scf.x", "type-unknown", "!scf.x"),
        ("!pto.ptr<f16, ub", "type-syntax", "b"),
    ],
)
def test_wrong_types_name_rule_and_location(text, rule, part):
    with pytest.raises(TypeSyntaxError) as caught:
        parse_type(text)
    assert caught.value.rule == rule
    assert text[caught.value.start : caught.value.end] == part


dims = st.integers(1, 4096)
elements = st.sampled_from(["f16", "bf16", "f32", "i8", "ui8", "si16", "i32", "f8E5M2", "!pto.hif8"])


@given(
    st.sampled_from(["vec", "mat", "right", "acc", "bias", "scaling"]),
    dims,
    dims,
    elements,
    st.data(),
    st.sampled_from(["row_major", "col_major"]),
    st.sampled_from(["none_box", "row_major", "col_major"]),
    st.sampled_from([32, 512, 1024]),
    st.integers(0, 3),
    st.integers(0, 2),
)
def test_long_and_short_tile_forms_agree(loc, rows, cols, element, data, blayout, slayout, fractal, pad, compact):
    valid = [data.draw(st.one_of(st.just(-1), st.integers(0, full))) for full in (rows, cols)]
    long = (
        f"!pto.tile_buf<loc={loc}, dtype={element}, rows={rows}, cols={cols}, v_row={valid[0]}, v_col={valid[1]}, "
        f"blayout={blayout}, slayout={slayout}, fractal={fractal}, pad={pad}, compact={compact}>"
    )
    parsed = parse_type(long)
    assert isinstance(parsed, t.TileBufType)
    assert (parsed.loc, parsed.rows, parsed.cols) == (loc, rows, cols)
    assert [parsed.valid_rows, parsed.valid_cols] == valid
    assert (parsed.blayout, parsed.slayout, parsed.fractal, parsed.pad, parsed.compact) == (
        blayout,
        slayout,
        fractal,
        pad,
        compact,
    )
    assert parse_type(t.type_text(parsed)) is parsed


@pytest.mark.parametrize(
    ("spaced", "tight"),
    [
        ("!pto.partition_tensor_view<8 x 128 x f32>", "!pto.partition_tensor_view<8x128xf32>"),
        ("memref<? x4 xf32>", "memref<?x4xf32>"),
        ("!pto.tile_buf<vec, 16 x 16xf32, valid = ? x 4>", "!pto.tile_buf<vec, 16x16xf32, valid=?x4>"),
    ],
)
def test_dimensions_may_be_spaced(spaced: str, tight: str) -> None:
    assert parse_type(spaced) is parse_type(tight)


OUTER = ["memref<16x4x{}>", "!pto.ptr<{}, ub>", "!pto.tile_buf<vec, 16x16x{}>", "!pto.tensor_view<?x?x{}>",
         "vector<4x{}>", "({}) -> f32", "(i64) -> {}"]  # fmt: skip
"""Types with a type inside."""


@pytest.mark.parametrize("inner", ["!other.type", "!other.type<3, f32>", "!other.type<!more.types>"])
@in_groups("outer", OUTER)
def test_types_of_other_dialects_inside_of_a_type_keep_their_own_text(outer: str, inner: str) -> None:
    text = outer.format(inner)
    assert t.type_text(parse_type(text)) == text


@pytest.mark.parametrize(
    ("layout", "reason"),
    [
        ("num_groups = 64, slots = 0", ""),
        ("num_groups = 64, slots = 1", ""),
        ("num_groups = 64, slots = -1", "groups, slots and strides of a layout are positive, found"),
        ("num_groups = 0, slots = 1", "groups, slots and strides of a layout are positive, found"),
        ("num_groups = 4, slots = 1", "a layout of 4 groups has 4 lanes, found 64"),
    ],
)
def test_numbers_of_layouts(layout: str, reason: str) -> None:
    text = f"!pto.vmi.vreg<64xf32, #pto.vmi.layout<{layout}>>"
    if reason:
        with pytest.raises(TypeSyntaxError, match=reason):
            parse_type(text)
    else:
        assert t.type_text(parse_type(text))

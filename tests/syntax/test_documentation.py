"""Schematic text: placeholders and notations of documentation, which programs do not have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Operation

import pto_dialect
from pto_dialect.api import ParseError
from pto_dialect.ir.index import OPS
from pto_dialect.syntax.documentation import OTHER_FORMS, UNSUPPORTED, normalise

TILE = "!pto.tile<...>"
BUFFER = "!pto.tile_buf<...>"


def statements(text: str) -> list[Operation]:
    module = pto_dialect.parse(text, schematic=True)
    return [op for op in module.walk() if op.name.startswith("pto.") or isinstance(op, UnregisteredOp)]


def names(text: str) -> list[str]:
    found = statements(text)
    return [op.op_name.data if isinstance(op, UnregisteredOp) else op.name for op in found]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (f"%d = pto.tadds %s, %x : ({TILE}, dtype) -> {TILE}", "pto.tadds"),
        (f"pto.tadds ins(%s, %x : {BUFFER}, dtype) outs(%d : {BUFFER})", "pto.tadds"),
        (f"%d = pto.texpands %x : dtype -> {TILE}", "pto.texpands"),
        ("%r = pto.vadd %a, %b, %m : !pto.vreg<NxT>, !pto.vreg<NxT>, !pto.mask<G> -> !pto.vreg<NxT>", "pto.vadd"),
        ("pto.mte_l1_l0a %s, %d, %m, %k : !pto.ptr<T, l1>, !pto.ptr<T, l0a>, i64, i64", "pto.mte_l1_l0a"),
        (f"%d = pto.tload %m : !pto.partition_tensor_view<MxNxdtype> -> {TILE}", "pto.tload"),
        ('%m = pto.pset_b16 "PATTERN" : !pto.mask<b16>', "pto.pset_b16"),
        ('pto.mem_bar "BARRIER_TYPE"', "pto.mem_bar"),
        (f"%d = pto.tcmp %a, %b {{cmpMode = #pto<cmp xx>}} : ({TILE}, {TILE}) -> {TILE}", "pto.tcmp"),
        (f"%d = tcmp %a, %b {{cmpMode = #pto.cmp<EQ>}} : {TILE} -> {TILE}", "pto.tcmp"),
        (f"%d = tcvt %s {{rmode = #pto.round_mode<CAST_RINT>}} : {TILE} -> {TILE}", "pto.tcvt"),
        ("%d = pto.tabs %a : !pto.tile<f32, 16, 16> -> !pto.tile<f32, 16, 16>", "pto.tabs"),
        ("pto.tadd ins(%a, %b : !pto.tile_buf<f32, 16, 16>, !pto.tile_buf<f32, 16, 16>) "
         "outs(%d : !pto.tile_buf<f32, 16, 16>)", "pto.tadd"),
        ("%d = pto.tstore %s, %m : ... -> ...".replace("%d = pto.tstore", "pto.tstore"), "pto.tstore"),
    ],
)  # fmt: skip
def test_placeholders(text: str, name: str) -> None:
    assert names(text) == [name]


@pytest.mark.parametrize(
    ("text", "name", "operands", "results"),
    [
        ("vabs %result, %input, %mask", "pto.vabs", 2, 1),
        ("vdintlv %low, %high, %lhs, %rhs", "pto.vdintlv", 2, 2),
        ("vscatter %value, %dest, %offsets, %active", "pto.vscatter", 4, 0),
        ("pto.vadd ins(%a, %b, %m : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32>) "
         "outs(%r : !pto.vreg<64xf32>)", "pto.vadd", 3, 1),
        ('pto.pge_b16 "PAT_VL8" outs(%mask : !pto.mask<b16>)', "pto.pge_b16", 0, 1),
        ("%m = pto.pld %p, %o, \"NORM\" : !pto.ptr<i64, ub>, i32 -> !pto.mask<G>", "pto.plds", 2, 1),
        ("tadd %d, %a, %b : !pto.tile<16x16xf32>", "pto.tadd", 2, 1),
    ],
)  # fmt: skip
def test_notations(text: str, name: str, operands: int, results: int) -> None:
    (op,) = statements(text)
    assert (op.name, len(op.operands), len(op.results)) == (name, operands, results)


@pytest.mark.parametrize(
    ("text", "name", "operands", "results"),
    [
        (f"%d = taddreluconv %a, %b : {TILE}", "manual.taddreluconv", 2, 1),
        ("%r = pto.vrec %s, %m : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>", "manual.vrec", 2, 1),
        (f"pto.tfusedmuladd ins(%a, %b : {BUFFER}, {BUFFER}) outs(%d : {BUFFER})", "manual.tfusedmuladd", 2, 1),
        (f"%d = pto.trandom %key, %counter : ({TILE}, {TILE}) -> {TILE}", "manual.trandom", 2, 1),
        ("pto.set_cross_core %core, %event : i64, i64", "manual.sync.set", 2, 0),
        ("tput %dst, %src : (!pto.memref<...>, !pto.memref<...>)", "manual.comm.tput", 2, 0),
    ],
)
def test_forms_that_the_dialect_does_not_have(text: str, name: str, operands: int, results: int) -> None:
    (op,) = statements(text)
    assert isinstance(op, UnregisteredOp)
    assert (op.op_name.data, len(op.operands), len(op.results)) == (name, operands, results)


def test_their_other_form_is_an_operation_of_the_dialect() -> None:
    text = "%a, %n = pto.plt_b32 %c : i32 -> !pto.mask<b32>, i32"
    assert names(text) == ["pto.plt_b32"]


def test_tables_name_operations_rightly() -> None:
    assert set(OTHER_FORMS) <= set(OPS)
    assert not {f"pto.{name}" for name in UNSUPPORTED} & set(OPS)


def test_several_ways_of_writing_one_statement() -> None:
    text = f"""\
# Level 1
%d = pto.tadd %a, %b : ({TILE}, {TILE}) -> {TILE}
# destination-passing
%d = pto.tsub %a, %b : ({TILE}, {TILE}) -> {TILE}
"""
    assert names(text) == ["pto.tadd", "pto.tsub"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("%d = pto.tadd %a : (!pto.tile<...>) -> !pto.tile<...>", "takes 2 operands"),
        ("%r = pto.vabs %a, %m : !pto.vreg<128xf32>, !pto.mask<b32> -> !pto.vreg<128xf32>", "256 bytes"),
        ('%m = pto.pset_b16 "PAT_VL12" : !pto.mask<b16>', "unknown pattern"),
        ("%d = pto.tfoo %a : !pto.tile<...> -> !pto.tile<...>", "unknown operation"),
    ],
)
def test_wrong_statements_stay_wrong(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        pto_dialect.parse(text, schematic=True)


@pytest.mark.parametrize("text", ["%r = pto.tadds %s, %x : (!pto.tile<2x2xf32>, dtype) -> !pto.tile<2x2xf32>",
                                  "vabs %r, %s, %m", "%r = pto.vrec %s"])  # fmt: skip
def test_programs_do_not_have_any_of_it(text: str) -> None:
    with pytest.raises(ParseError):
        pto_dialect.parse(text)


def test_errors_keep_their_line() -> None:
    first = f"pto.tadd ins(%a, %b\n  : {BUFFER}, {BUFFER})\n  outs(%d : {BUFFER})"
    text = f"// page\n\n{first}\nvabs %r, %s, %m\npto.tfoo %a\n"
    with pytest.raises(ParseError) as error:
        pto_dialect.parse(text, "page", schematic=True)
    (diagnostic,) = [each for each in error.value.diagnostics if each.severity.label == "error"]
    assert diagnostic.span is not None
    assert diagnostic.span.line == 7


FRAGMENTS = st.sampled_from(
    [
        "vabs %r, %s",
        "pto.tadd ins(%a : T)",
        "outs(%b : dtype)",
        "# note",
        "",
        "  : !pto.vreg<NxT>",
        "tload %a[%i",
        "}",
        '"x',
    ]
)


@given(st.lists(FRAGMENTS, max_size=12))
def test_rewriting_keeps_lines_and_never_fails(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert normalise(text).count("\n") == text.count("\n")

"""Schematic text: placeholders and notations of documentation, which programs do not have."""

from __future__ import annotations

import pytest
from groups import in_groups
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Operation

import pto_dialect
from pto_dialect.api import ParseError
from pto_dialect.driver.options import Options
from pto_dialect.driver.pipeline import process
from pto_dialect.ir.core.base import signature
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.registry import op_class
from pto_dialect.syntax.documentation.forms import FORMS
from pto_dialect.syntax.documentation.rewriting import normalise
from pto_dialect.syntax.documentation.statement import Statement, take_apart
from pto_dialect.syntax.documentation.tables import OTHER_ATTRIBUTES, OTHER_FORMS, OTHER_NAMES, UNSUPPORTED

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
        ("trandom %d, %key, %counter : !pto.tile<...>", "manual.trandom", 2, 1),
        ("vexpdif %r, %a, %b", "manual.vexpdif", 2, 1),
        ("vrec %r, %a, %m", "manual.vrec", 2, 1),
        ("vsst %v, %p[%o], \"STRIDE\"", "manual.vsst", 3, 0),
        ("%r = pto.vpack %a, %b, %part : !pto.vreg<64xi32>, !pto.vreg<64xi32>, index -> !pto.vreg<128xi16>",
         "manual.vpack", 3, 1),
        ("tput %dst, %src : (!pto.memref<...>, !pto.memref<...>)", "manual.comm.tput", 2, 0),
    ],
)  # fmt: skip
def test_forms_that_the_dialect_does_not_have(text: str, name: str, operands: int, results: int) -> None:
    (op,) = statements(text)
    assert isinstance(op, UnregisteredOp)
    assert (op.op_name.data, len(op.operands), len(op.results)) == (name, operands, results)


def test_their_other_form_is_an_operation_of_the_dialect() -> None:
    text = "%a, %n = pto.plt_b32 %c : i32 -> !pto.mask<b32>, i32"
    assert names(text) == ["pto.plt_b32"]


def test_tables_name_operations_rightly() -> None:
    assert set(OTHER_FORMS) <= set(OPS)
    assert set(FORMS) <= set(OPS) | OTHER_NAMES
    assert not {f"pto.{name}" for name in UNSUPPORTED | OTHER_NAMES} & set(OPS)
    for name, attributes in OTHER_ATTRIBUTES.items():
        assert set(attributes.values()) <= set(signature(op_class(name)).attributes)


V, M = "!pto.vreg<64xf32>", "!pto.mask<b32>"
P = "!pto.ptr<i64, ub>"


@in_groups(("text", "expected"), [
        ("%r = pto.vbroadcast %x : i32 -> !pto.vreg<64xi32>", ["pto.vbr"]),
        ("vperm %r, %a, %i", ["pto.vselr"]),
        (f"%r = pto.vtrc %a, \"ROUND_R\" : {V} -> {V}", ["pto.pset_b32", "pto.vtrc"]),
        ("%r = pto.vcvt %a {round_mode = \"ROUND_R\"} : !pto.vreg<128xbf16> -> !pto.vreg<64xf32>",
         ["pto.pset_b16", "pto.vcvt"]),
        (f"%r = pto.vexpdif %a, %b : {V}, {V} -> {V}", ["pto.pset_b32", "pto.vexpdif"]),
        ("vadd %r, %a, %b : !pto.vreg<f32, 64>", ["pto.pset_b32", "pto.vadd"]),
        (f"pto.vsts %v, %p[%o] : {V}, !pto.ptr<f32, ub>", ["pto.pset_b32", "pto.vsts"]),
        ("pand %r, %a, %b : !pto.mask<b16>, !pto.mask<b16>, !pto.mask<b16>", ["pto.pset_b16", "pto.pand"]),
        ("plt_b32 %m, %n : !pto.mask<b32>, i32 -> !pto.mask<b32>, i32", ["pto.plt_b32"]),
        (f"%m = pto.plds %p : {P} -> {M}", ["pto.plds"]),
        (f"pto.psts %m, %p : {M}, {P}", ["pto.psts"]),
        (f"pto.psti %m, %p, 4, \"NORM\" : {M}, {P}, i32", ["pto.psti"]),
        (f"pto.pst ins(%m, %p, %o, \"NORM\" : {M}, {P}, i32)", ["pto.psts"]),
        ("vsta %a, %p[%o]", ["pto.vstas"]),
        ("vstus %a1, %p1, %a, %o, %v, %p, \"MODE\"", ["pto.vstus"]),
        ("pto.get_buf %ids[%i], \"PIPE_V\", %c0 : i64, i64", ["pto.get_buf_dyn"]),
        ("pto.rls_buf \"PIPE_V\", %id, %mode : i64, i64", ["pto.rls_buf_dyn"]),
        ("pto.get_buf \"PIPE_V\", 0, 0", ["pto.get_buf"]),
        ("tnotify %s, %v {op = #pto.notify_op<AtomicAdd>} : (!pto.memref<i32>, i32)", ["pto.comm.tnotify"]),
        ("%r = ttest %s, %v {cmp = #pto.cmp<GE>} : (!pto.memref<i32>, i32) -> i1", ["pto.comm.ttest"]),
        ("tsync.op #pto.op<TADD>", ["pto.barrier_sync"]),
        ("pto.tassign ins(%t, %a : !pto.tile_buf<...>, dtype)", ["pto.tassign"]),
        (f"pto.treshape ins(%a : {BUFFER}) outs(%d : {BUFFER})", ["pto.treshape"]),
        (f"pto.tgetval ins(%a, %i : {BUFFER}, index) outs(%v : f32)", ["pto.tgetval"]),
        (f"%d = pto.ttri {{isUpperOrLower = 0}} : i32 -> {TILE}", ["pto.ttri"]),
        ("%d = pto.subset %s[%i, %j] sizes [32, 32] : !pto.tile_buf<vec, 64x64xf16>", ["pto.subview"]),
        ("%d = pto.subview %s, %i, %j : (!pto.tile<64x64xf16>, index, index) -> !pto.tile<8x8xf16>", ["pto.subview"]),
        (f"%d = pto.tmov.s2d %s : {TILE} -> {TILE}", ["pto.tmov"]),
    ])  # fmt: skip
def test_other_forms_of_operations(text: str, expected: list[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize("word", ["TSTORE", "ADDPTR", "NOTHING"])
def test_operations_without_a_class_of_barriers(word: str) -> None:
    assert names(f"tsync.op #pto.op<{word}>") == ["manual.tsync.op"]


def test_a_mask_that_is_left_out_is_full() -> None:
    mask, op = statements(f'%r = pto.vtrc %a, "ROUND_R" : {V} -> {V}')
    assert str(mask.attributes["pattern"]) == '"PAT_ALL"'
    assert str(mask.results[0].type) == M
    assert op.operands[1] is mask.results[0]


def test_a_name_that_is_left_out_has_a_result() -> None:
    (op,) = statements("plt_b32 %m, %n : !pto.mask<b32>, i32 -> !pto.mask<b32>, i32")
    assert [str(result.type) for result in op.results] == [M, "i32"]


def test_an_offset_that_is_left_out_is_zero() -> None:
    (op,) = statements(f"%m = pto.plds %p : {P} -> {M}")
    constant = op.operands[1].owner
    assert isinstance(constant, Operation)
    assert str(constant.properties["value"]) == "0 : index"
    assert str(op.attributes["dist"]) == '"NORM"'


def test_a_signal_has_the_attributes_of_the_dialect() -> None:
    (op,) = statements("tnotify %s, %v {op = #pto.notify_op<AtomicAdd>} : (!pto.memref<i32>, i32)")
    assert str(op.attributes["notifyOp"]) == "#pto<notify_op atomic_add>"
    (op,) = statements("twait %s, %v {cmp = #pto.cmp<GE>} : (!pto.memref<i32>, i32)")
    assert str(op.attributes["cmp"]) == "#pto<wait_cmp ge>"


def test_the_tile_at_an_address_takes_the_name_over() -> None:
    assign, use = statements(
        "pto.tassign %t, %a : !pto.tile<16x16xf32>, i64\n"
        "%d = pto.tabs %t : !pto.tile<16x16xf32> -> !pto.tile<16x16xf32>"
    )
    assert use.operands[0] is assign.results[0]
    assert assign.operands[0] is not assign.results[0]


def test_one_name_for_several_results() -> None:
    first, second = statements(
        "%m = pto.pintlv_b16 %a, %b : !pto.mask<b16>, !pto.mask<b16> -> !pto.mask<b16>, !pto.mask<b16>\n"
        "%n = pto.pbitcast %m#1 : !pto.mask<b16> -> !pto.mask<b32>"
    )
    assert second.operands[0] is first.results[1]


@pytest.mark.parametrize(
    ("text", "name", "operands"),
    [
        ("pto.copy_ubuf_to_ubuf %s, %d, ...", "pto.copy_ubuf_to_ubuf", 7),
        ("pto.copy_ubuf_to_ubuf %s, %d, %a, %b, %c, %e, %f : !pto.ptr<T, ub>, !pto.ptr<T, ub>, i64 x5",
         "pto.copy_ubuf_to_ubuf", 7),
        (f"pto.tfmod ins(%a, %b : {BUFFER}) outs(%d : {BUFFER})", "pto.tfmod", 3),
        (f"pto.tgemv.mx ins(%a, %s, %b, %t : ({BUFFER}, {BUFFER}, {BUFFER}, {BUFFER})) outs(%d : {BUFFER})",
         "pto.tgemv.mx", 5),
        (f"pto.tinsert ins(%a[%i, %j] : {BUFFER}) outs(%d : {BUFFER})", "pto.tinsert", 4),
        (f"pto.taxpy ins(...) outs(%d : {BUFFER})", "pto.taxpy", 3),
        ("%r = pto.vsunpack %a, %part : !pto.vreg<NxT>, index -> !pto.vreg<MxT>", "pto.vsunpack", 2),
    ],
)  # fmt: skip
def test_parts_that_pages_leave_out(text: str, name: str, operands: int) -> None:
    (op,) = statements(text)
    assert (op.name, len(op.operands)) == (name, operands)


def test_values_that_assembly_does_not_define_are_arguments() -> None:
    text = "%c = tadd %a, %b : !pto.tile<16x16xf32>\n"
    function = next(iter(pto_dialect.parse(text, schematic=True).body.ops))
    block = function.regions[0].block
    assert [argument.name_hint for argument in block.args] == ["a", "b"]
    assert check_schematic(text) == []


def test_keywords_that_stand_for_attributes_are_accepted() -> None:
    text = '%m = pto.pset_b16 "PATTERN" : !pto.mask<b16>\npto.set_flag["SRC_PIPE", "DST_PIPE", "EVENT_ID"]\n'
    assert check_schematic(text) == []


def check_schematic(text: str) -> list[str]:
    found = process(text, "page", Options(schematic=True, printing=False)).diagnostics
    return [diagnostic.rule for diagnostic in found]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("vrec %r, %a, %m", "the dialect has no vrec; it is kept and not checked"),
        (
            f"%d = pto.trandom %key, %counter : ({TILE}, {TILE}) -> {TILE}",
            "this form of pto.trandom is kept and not checked: the manual gives key and counter as tiles, "
            "the dialect as six numbers",
        ),
        (
            "tput %dst, %src : (!pto.memref<...>, !pto.memref<...>)",
            "this form of pto.comm.tput is kept and not checked: the manual leaves out the buffers, "
            "or the part of the queue, that the dialect names",
        ),
    ],
)
def test_what_was_not_understood_is_reported(text: str, message: str) -> None:
    found = process(text, "page", Options(schematic=True, printing=False)).diagnostics
    assert [each.message for each in found if each.rule == "documentation-form"] == [message]
    assert [each.rule for each in found].count("dialect-unregistered") == 1


def test_what_was_understood_is_reported() -> None:
    text = f'// page\n%r = pto.vabs %a, %m : {V}, {M} -> {V}\n  %s = pto.vtrc %r, "ROUND_R" : {V} -> {V}\n'
    found = process(text, "page", Options(schematic=True, printing=False)).diagnostics
    (diagnostic,) = found
    assert (diagnostic.rule, diagnostic.severity.label) == ("documentation-form", "warning")
    assert "all lanes take part" in diagnostic.message
    assert diagnostic.span is not None
    assert diagnostic.span.source.line_col(diagnostic.span.start) == (3, 3)


@pytest.mark.parametrize(
    "text",
    [
        "vperm %r, %a, %i",
        "tassign %t, %a : !pto.tile<...>, dtype",
        'pto.get_buf %id, "PIPE_*", %mode : i64, i64',
        '%m = pto.pset_b16 "PATTERN" : !pto.mask<b16>',
        f"%d = pto.trandom %key, %counter : ({TILE}, {TILE}) -> {TILE}",
        "tfmods %d, %a, 3",
        '%r = pto.vtrc %a, "ROUND_MODE" : !pto.vreg<NxT> -> !pto.vreg<NxT>',
    ],
)
def test_all_that_is_read_is_printed_and_read_back(text: str) -> None:
    printed = pto_dialect.print_module(pto_dialect.parse(text, schematic=True))
    assert pto_dialect.print_module(pto_dialect.parse(printed, schematic=True)) == printed


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        (' %a, "W" {k = [1, 2]} : !pto.vreg<64xf32>, i32 -> (A, B)',
         Statement("op", (), ("%a", '"W"'), "{k = [1, 2]}", ("!pto.vreg<64xf32>", "i32"), ("A", "B"))),
        (" ins(%a, %b {k} : (A, B)) outs(%r : C)",
         Statement("op", ("%r",), ("%a", "%b"), "{k}", ("A", "B"), ("C",), outs=True, in_parentheses=True)),
        (" %v, %p[%i, %j], %m", Statement("op", (), ("%v", "%p[%i, %j]", "%m"))),
        (" : A", Statement("op", (), (), "", ("A",))),
        (' "P" outs(%m : A)', Statement("op", ("%m",), ('"P"',), "", (), ("A",), outs=True)),
    ],
)  # fmt: skip
def test_statements_taken_apart(rest: str, expected: Statement) -> None:
    assert take_apart("op", "", rest, prefixed=True) == expected


def test_several_forms_of_one_statement() -> None:
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
        'vtrc %r, %s, "ROUND_R"',
        "pto.get_buf %b[%i], ...",
        "plds %p :",
        "tassign %t, %a",
        "pto.subset %s, %i ->",
        "ttri {",
        "}",
        '"x',
    ]
)


@given(st.lists(FRAGMENTS, max_size=12))
def test_rewriting_keeps_lines_and_never_fails(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert normalise(text).count("\n") == text.count("\n")

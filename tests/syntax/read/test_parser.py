"""Structure of programs: scopes, regions, blocks, recovery, surfaces."""

from __future__ import annotations

import pytest
from parse_helpers import parsed, rules

from pto_dialect.api import check, parse, print_module
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.syntax.read.parser import parse_program

HEAD = "func.func @f(%p: !pto.ptr<f32>, %i: index) {\n"


def in_function(body: str) -> str:
    return HEAD + body + "\nreturn\n}\n"


def test_implicit_module_around_functions():
    module, found = parsed(in_function(""))
    assert found == []
    assert [op.name for op in module.body.ops] == ["func.func"]


def test_written_module_is_the_result():
    module, found = parsed('module @m attributes {pto.target_arch = "a5"} { }')
    assert found == []
    assert module.sym_name.data == "m"


def test_nested_modules_keep_their_attributes():
    module, found = parsed('module { module attributes {pto.backend = "vpto"} { } module { } }')
    assert found == []
    assert len(list(module.body.ops)) == 2


def test_result_packs():
    text = in_function(
        '%r:2 = "other.op"() : () -> (i32, i32)\n%s = arith.addi %r#0, %r#1 : i32\n%u = arith.addi %r, %s : i32'
    )
    module, found = parsed(text)
    assert [entry[0] for entry in found] == ["dialect-unregistered"]
    function = next(iter(module.body.ops))
    pair, add, _, _ = function.body.block.ops
    assert list(add.operands) == list(pair.results)


def test_undefined_name_is_reported_once_at_its_first_use():
    module, found = parsed(in_function("%a = arith.addi %x, %x : i32\n%b = arith.addi %a, %x : i32"))
    assert [(rule, line, col) for rule, line, col, _ in found] == [("name-undefined", 2, 17)]
    assert module is not None


def test_use_before_definition_in_one_block():
    assert rules(in_function("%a = arith.addi %b, %b : i32\n%b = arith.constant 1 : i32")) == ["name-undefined"]


def test_use_before_definition_between_blocks_is_left_to_dominance():
    text = (
        "func.func @f() {\ncf.br ^b\n^a:\n%x = arith.addi %c, %c : i32\nreturn\n"
        "^b:\n%c = arith.constant 1 : i32\ncf.br ^a\n}"
    )
    assert rules(text) == []


def test_redefinition():
    assert rules(in_function("%a = arith.constant 1 : i32\n%a = arith.constant 2 : i32")) == ["name-redefined"]


def test_sibling_regions_may_reuse_names():
    loop = "scf.for %k = %i to %i step %i {\n%v = arith.constant 1 : i32\n}\n"
    assert rules(in_function(loop + loop)) == []


def test_inner_names_are_not_visible_outside():
    text = in_function("scf.for %k = %i to %i step %i {\n%v = arith.constant 1 : i32\n}\n%w = arith.addi %v, %v : i32")
    assert rules(text) == ["name-undefined"]


def test_functions_do_not_share_names():
    text = "func.func @f(%a: i32) { return }\nfunc.func @g() { %b = arith.addi %a, %a : i32\n return }"
    assert rules(text) == ["name-undefined"]


def test_undefined_block():
    assert rules("func.func @f() { cf.br ^nowhere }") == ["name-undefined"]


def test_type_of_a_use_must_match():
    _, found = parsed(in_function("%c = arith.constant 1 : i64\n%d = arith.addi %c, %c : i32"))
    assert found[0][:3] == ("operand-type", 3, 26)
    assert "i64" in found[0][3] and "i32" in found[0][3]


def test_type_aliases_nest():
    text = "!e = f16\n!p = !pto.ptr<!e, ub>\nfunc.func @f(%a: !p, %b: !pto.ptr<f16, ub>) { return }"
    module, found = parsed(text)
    assert found == []
    first, second = next(iter(module.body.ops)).body.block.args
    assert first.type is second.type


def test_undefined_type_alias():
    assert rules("func.func @f(%a: !missing) { return }") == ["name-undefined"]


def test_numbers():
    text = in_function(
        "%a = arith.constant 0x7F800000 : f32\n%b = arith.constant -1 : i8\n%c = arith.constant 1.5e-3 : f32\n"
        "%d = arith.constant true\n%e = arith.constant dense<[1, 2]> : vector<2xi32>"
    )
    module, found = parsed(text)
    assert found == []
    function = next(iter(module.body.ops))
    values = [op.properties["value"] for op in function.body.block.ops if op.name == "arith.constant"]
    assert values[0].value.data == float("inf")
    assert values[1].value.data == -1
    assert values[2].value.data == pytest.approx(1.5e-3)


@pytest.mark.parametrize(
    ("literal", "rule"),
    [
        ("300 : i8", "literal-range"),
        ("1 : f32", "literal-type"),
        ("1.5 : i32", "literal-type"),
        ("0x1FFFFFFFF : f32", "literal-range"),
    ],
)
def test_wrong_numbers(literal, rule):
    assert rules(in_function(f"%a = arith.constant {literal}")) == [rule]


@pytest.mark.parametrize(
    ("type_", "rule"), [("i8", "literal-range"), ("f32", "literal-type"), ("vector<2xi32>", "literal-type")]
)
def test_wrong_cases_of_a_switch(type_, rule):
    text = f"func.func @f(%x: {type_}) {{\ncf.switch %x : {type_}, [ default: ^a, 300: ^a ]\n^a:\nreturn\n}}"
    assert rules(text) == [rule]


def test_independent_errors_are_all_reported():
    text = in_function(
        "%a = arith.addi %i, : index\npto.nosuch %a\n%b = arith.constant 1 : i8\n"
        "pto.set_flag[<PIPE_X>, <PIPE_V>, <EVENT_ID0>]"
    )
    assert rules(text) == ["parse-syntax", "op-unknown", "sync-pipe-token"]


def test_broken_definition_does_not_cascade():
    text = in_function(
        "%t = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf3>\npto.tadd ins(%t, %t : i32, i32) outs(%t : i32)"
    )
    assert rules(text) == ["type-syntax"]


def test_unknown_operation_has_a_suggestion():
    module, found = parsed(in_function("pto.tmatmull ins(%p : !pto.ptr<f32>) outs(%p : !pto.ptr<f32>)"))
    assert found[0][0] == "op-unknown"
    assert module is not None


def test_unclosed_region_and_stray_brace():
    assert rules("module {\nfunc.func @f() {\nreturn\n}\n") == ["parse-unbalanced"]
    assert rules("module { }\n}\n") == ["parse-unbalanced"]


def test_unterminated_string():
    assert "parse-string" in rules('module attributes {a = "x} {\n}\n')


def test_other_dialects_keep_their_generic_form_with_one_warning():
    text = in_function('"foo.a"() : () -> ()\n"foo.b"() {k = 1 : i32} : () -> ()\n"bar.c"() : () -> ()')
    assert rules(text) == ["dialect-unregistered", "dialect-unregistered"]


def test_schematic_snippets():
    text = "%c = pto.tmatmul %a, %b : (!pto.tile<...>, !pto.tile<...>) -> !pto.tile<...>\n"
    assert "type-schematic" in rules(text)
    assert rules(text, schematic=True) == []


def test_assembly_becomes_a_function_with_arguments_and_results():
    text = """.arg %a : !pto.tile<16x32xf16> ;
.arg %b : !pto.tile<32x16xf16> ;
%c = tmatmul %a, %b ;
"""
    module, found = parsed(text)
    assert found == []
    function = next(iter(module.body.ops))
    assert function.sym_name.data == "main"
    assert [str(x) for x in function.function_type.outputs.data] == ["!pto.tile<16x16xf32>"]


def test_assembly_and_level_1_give_the_same_operation():
    assembly, found = parsed(
        ".arg %a : !pto.tile<16x16xf32>\n"
        "%d = tadd %a, %a : (!pto.tile<16x16xf32>, !pto.tile<16x16xf32>) -> !pto.tile<16x16xf32>\n"
    )
    level1, other = parsed(
        "func.func @main(%a: !pto.tile<16x16xf32>) -> !pto.tile<16x16xf32> {\n"
        "%d = pto.tadd %a, %a : (!pto.tile<16x16xf32>, !pto.tile<16x16xf32>) -> !pto.tile<16x16xf32>\n"
        "return %d : !pto.tile<16x16xf32>\n}"
    )
    assert found == other == []
    assert assembly.is_structurally_equivalent(level1)


def test_destination_first_assembly():
    module, found = parsed(
        ".arg %a : !pto.tile<16x16xf32>\ntadd %d, %a, %a : !pto.tile<16x16xf32>\n"
        "%e = tadd %d, %a : !pto.tile<16x16xf32>\n"
    )
    assert found == []
    first, second, _ = next(iter(module.body.ops)).body.block.ops
    assert second.operands[0] is first.results[0]


def test_assembly_memory_operands():
    text = """.arg %x : !pto.memref<32x32xf32> ;
.arg %y : !pto.memref<32x32xf32> ;
%a = tload %x[0, 16] : (!pto.memref<32x32xf32>, index, index) -> !pto.tile<16x16xf32> ;
tstore %a, %y[16, 0] : (!pto.tile<16x16xf32>, !pto.memref<32x32xf32>) -> () ;
"""
    module, found = parsed(text)
    assert found == []
    names = [op.name for op in next(iter(module.body.ops)).body.block.ops]
    assert names.count("pto.partition_view") == 2


def test_assembly_store_without_types_has_the_shape_of_its_tile():
    module, found = parsed(".arg %a : !pto.tile<8x16xf32>\n.arg %y : !pto.memref<32x32xf32>\ntstore %a, %y[16, 0]\n")
    assert found == []
    view = next(op for op in module.walk() if op.name == "pto.partition_view")
    assert str(view.results[0].type) == "!pto.partition_tensor_view<8x16xf32>"


def test_operations_with_regions_hold_them_as_xdsl_does() -> None:
    loop = "scf.for %i = %n to %n step %n {\n    }"
    text = f"func.func @f(%c: i1, %n: index) {{\n  scf.if %c {{\n    {loop}\n  }}\n  return\n}}\n"
    module = parse_program(SourceFile("test.pto", text), DiagnosticEngine())
    assert module is not None
    for op in module.walk():
        assert isinstance(op.regions, tuple) and all(region.parent is op for region in op.regions)
        copied = op.clone()
        assert [len(region.blocks) for region in copied.regions] == [len(region.blocks) for region in op.regions]
    assert [(op.name, len(op.regions)) for op in module.walk() if op.regions] == [
        ("builtin.module", 1),
        ("func.func", 1),
        ("scf.if", 2),
        ("scf.for", 1),
    ]


def test_operations_of_unknown_dialects_share_a_class_by_name():
    module, _ = parsed(in_function('"test.op"() : () -> ()\n"test.op"() : () -> ()\n"test.other"() : () -> ()'))
    again, _ = parsed(in_function('"test.op"() : () -> ()'))
    classes = [type(op) for m in (module, again) for op in m.walk() if op.name == "builtin.unregistered"]
    assert len(classes) == 4
    assert classes[0] is classes[1] is classes[3] is not classes[2]


def test_the_upper_bound_of_a_loop_may_begin_a_line():
    loop = "scf.for %j = %i\n  to %i step %i {\n}"
    _, found = parsed(in_function(f"{loop}\n%v = pto.make_tensor_view %p,\n  shape = [%i], strides = [%i]"))
    assert "op-unknown" not in {entry[0] for entry in found}
    assert parsed(in_function(loop))[1] == []


def test_white_space_inside_of_attributes_that_are_kept_as_text():
    epilogue = "#pto.acc_push_epilogue<layout = nz2nd, quant = f32_f16>"
    spread = epilogue.replace("<", "<\n ").replace(">", "\n>").replace(", ", ",\n")
    kept = [parsed(in_function(f'"test.op"() {{x = {text}}} : () -> ()'))[0] for text in (epilogue, spread)]
    assert str(kept[0]) == str(kept[1]) and epilogue in str(kept[0])


def test_names_of_a_snippet_that_nobody_defines_all_get_their_types():
    tile = "!pto.tile_buf<vec, 8x64xf32>"
    snippet = f"pto.tadd ins(%x, %y : {tile}, {tile}) outs(%z : {tile})"
    assert snippet in print_module(parse(snippet, schematic=True))


def test_a_statement_that_is_silently_wrong_is_no_model_for_others():
    head = "func.func @f(%g: !pto.ptr<f32, gm>, %n: i64) {\n  %p = pto.castptr %n : i64 -> !pto.ptr<f32, gm>\n"
    load = "  %a = pto.addptr %p, %i : !pto.ptr<f32, l1> -> !pto.ptr<f32, l1>\n"
    again = load.replace("%a", "%b")
    index = "  %i = arith.constant 0 : index\n"
    both = f"{head}{index}{load}{again}  return\n}}\n"
    for _ in range(2):
        assert [found.rule for found in check(both).diagnostics] == ["operand-type"]
    alone = f"{head}{index}{again}  return\n}}\n"
    assert [found.rule for found in check(alone).diagnostics] == ["operand-type"]

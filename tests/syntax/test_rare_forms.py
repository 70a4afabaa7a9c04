"""Forms that programs seldom have: aliases of locations, typed strings, words after operands, types of documents."""

from __future__ import annotations

import pytest
from parse_helpers import parsed, rules

import pto_dialect
from pto_dialect.syntax.compare import same_module

HEAD = "func.func @f(%x: i32, %g: !pto.ptr<f32, gm>, %i: index) {\n"


def test_an_alias_of_a_location_is_read() -> None:
    text = '#loc1 = loc("first.py":3:4)\nfunc.func @f() {\n  return loc(#loc1)\n} loc(#loc1)\n'
    module, found = parsed(text)
    assert module is not None and not found


def test_a_value_is_no_attribute() -> None:
    found = parsed(HEAD + "  %r = arith.addi %x, %x {note = %x} : i32\n  return\n}")[1]
    assert [(rule, line, message) for rule, line, _, message in found] == [
        ("parse-syntax", 2, "an attribute cannot contain a value")
    ]


def test_a_string_may_have_a_type() -> None:
    text = HEAD + '  %r = arith.addi %x, %x {note = "a word" : i32} : i32\n  return\n}'
    module, found = parsed(text)
    assert module is not None and not found
    assert '"a word"' in pto_dialect.print_module(module)


@pytest.mark.parametrize("type_", ["!pto.group<a, b>", "!pto.fmatrix_config<a>"])
def test_types_of_documents_keep_their_parameters(type_: str) -> None:
    module, found = parsed(f"func.func @f(%x: {type_}) {{\n  return\n}}")
    assert module is not None, found
    assert type_.split("<")[0] in pto_dialect.print_module(module)


@pytest.mark.parametrize(("clause", "help"), [("l2cash(nmfv)", "l2cache"), ("unsignd", "unsigned"), ("wrong", "")])
def test_keywords_after_operands_are_suggested(clause: str, help: str) -> None:
    text = HEAD + f"  %r = pto.atomic_add %g, %x {clause} : !pto.ptr<f32, gm>, i32 -> i32\n  return\n}}"
    diagnostics = pto_dialect.check(text).diagnostics
    (found,) = [one for one in diagnostics if one.rule == "parse-syntax"]
    assert clause.partition("(")[0] in found.message
    assert (help in (found.help or "")) == bool(help) or not help


@pytest.mark.parametrize("inside", ["mode = nmfv", "nmfv, nmfv", "%x", "mode = %x"])
def test_a_keyword_in_brackets_is_one_keyword(inside: str) -> None:
    text = HEAD + f"  %r = pto.ldg %g[%i] l2cache({inside}) : !pto.ptr<f32, gm> -> f32\n  return\n}}"
    assert [(rule, line, message) for rule, line, _, message in parsed(text)[1]] == [
        ("parse-syntax", 2, "l2cache(..) takes one keyword")
    ]


def test_an_operation_without_a_counterpart_is_named() -> None:
    one = pto_dialect.parse(HEAD + "  %r = arith.addi %x, %x : i32\n  return\n}")
    two = pto_dialect.parse(HEAD + "  return\n}")
    assert same_module(one, pto_dialect.parse(HEAD + "  %r = arith.addi %x, %x : i32\n  return\n}")) is None
    assert "arith.addi" in (same_module(one, two) or "") and same_module(two, one)


def test_a_statement_that_ends_too_early() -> None:
    assert "parse-syntax" in rules(HEAD + "  %r = arith.addi\n  %s = arith.addi %x, %x : i32\n  return\n}")
    found = parsed(HEAD + "  %r = arith.addi %x,\n  %s = arith.addi %x, %x : i32\n  return\n}")[1]
    assert [entry[1] for entry in found] == [2]


def test_a_function_without_a_counterpart_is_named() -> None:
    first, second = "func.func @a() {\n  return\n}\n", "func.func @b() {\n  return\n}\n"
    one, two = pto_dialect.parse(first + second), pto_dialect.parse(first)
    assert same_module(one, two) == same_module(two, one) == "func.func has no counterpart"


def test_symbols_of_a_layout_are_in_brackets() -> None:
    kind = "memref<4x4xf32, strided<[?, 1]>>"
    module, found = parsed(f"func.func @f(%s: index) {{\n  %m = memref.alloc()[%s] : {kind}\n  return\n}}")
    assert module is not None and not found
    assert f"memref.alloc()[%s] : {kind}" in pto_dialect.print_module(module)


@pytest.mark.parametrize("value", ["3 : i32", "unit", '"word"', "[1, 2]", "#pto.pipe<PIPE_V>"])
def test_attributes_that_nothing_reads_are_reported_whatever_they_are(value: str) -> None:
    tile = "!pto.tile_buf<vec, 16x16xf32>"
    text = f"""func.func @f(%x: f32) {{
  %a = pto.alloc_tile : {tile}
  pto.texpands ins(%x : f32) outs(%a : {tile}) {{never_heard_of = {value}}}
  return
}}"""
    found = pto_dialect.check(text).diagnostics
    assert [one.rule for one in found] == ["attr-unknown"], found


@pytest.mark.parametrize(
    "statement",
    [
        "%e = llvm.getelementptr %p[1] : (!llvm.ptr) -> !llvm.ptr, !fn",
        "%e = llvm.alloca %n x !fn : (i32) -> !llvm.ptr",
    ],
)
def test_elements_of_pointers_are_no_functions(statement: str) -> None:
    head = "!fn = (i32) -> i32\nfunc.func @f(%p: !llvm.ptr, %n: i32) {\n"
    text = head + f"  {statement}\n  return\n}}"
    assert [(rule, line) for rule, line, _, _ in parsed(text)[1]] == [("operand-kind", 3)]


@pytest.mark.parametrize("statement", ["%a, %p[%i]", "%a, %b, %p[%i]"])
def test_names_that_nothing_defines_are_the_only_finding_of_a_store(statement: str) -> None:
    # What an operand is depends on its type, which an undefined name does not have.
    types = ", ".join(["!pto.vmi.vreg<64xf32>"] * statement.split("%p")[0].count("%") + ["!pto.ptr<f32, ub>"])
    found = parsed(f"func.func @f() {{\n  pto.vmi.vstore {statement} : {types}\n  return\n}}\n")[1]
    assert {rule for rule, *_ in found} == {"name-undefined"}

"""Details of reading that printing relies on: comments inside lists, types of integers, segment sizes that lie."""

import pytest
from parse_helpers import parsed
from xdsl.dialects.builtin import IntegerAttr, IntegerType, ModuleOp
from xdsl.ir import Operation

from pto_dialect.syntax.compare import same_module
from pto_dialect.syntax.print.printer import print_module

TILE = "!pto.tile_buf<vec, 16x16xf32>"


def read(text: str) -> ModuleOp:
    module, found = parsed(text)
    assert module is not None and found == [], (found, text)
    return module


def first(module: ModuleOp, name: str) -> Operation:
    return next(op for op in module.walk() if op.name == name)


def test_comments_between_the_entries_of_a_list_may_hold_anything() -> None:
    text = f"""func.func @f(%a: {TILE}, %b: {TILE}, %n: index, %x: i32) {{
  pto.tadd ins(%a, // first, (with < a comma
               %b : {TILE}, // second, %c : <f32>
               {TILE}) outs(%a : {TILE})
  %r, // one, two = three
  %s = scf.for %i = %n to %n step %n iter_args(%p = %x, // %q = %x,
      %t = %x) -> (i32, // i64,
      i32) {{
    scf.yield %p, // %t,
      %t : i32, i32
  }}
  return
}}
"""
    plain = "\n".join(line.partition("//")[0] for line in text.splitlines())
    assert same_module(read(text), read(plain)) is None


@pytest.mark.parametrize(
    ("statement", "name", "attribute", "width"),
    [
        ("pto.sync.set <PIPE_V>, 3", "pto.sync.set", "event_id", 32),
        ('pto.get_buf "PIPE_V", 3, 1', "pto.get_buf", "mode", 32),
        ("pto.tfree_from_aic {id = 3, split = 1}", "pto.tfree_from_aic", "id", 32),
        ("pto.tfree_from_aic {id = 3, split = 1}", "pto.tfree_from_aic", "split", 8),
        ('"pto.tfree_from_aic"() {split = 1 : i8} : () -> ()', "pto.tfree_from_aic", "split", 8),
        ('"pto.tfree_from_aic"() {split = 1} : () -> ()', "pto.tfree_from_aic", "split", 8),
    ],
)
def test_integers_without_a_type_have_the_declared_one(statement: str, name: str, attribute: str, width: int) -> None:
    op = first(read(f"func.func @f() {{\n{statement}\nreturn\n}}"), name)
    value = op.attributes[attribute]
    assert isinstance(value, IntegerAttr)
    assert value.type == IntegerType(width)


def test_an_integer_too_large_for_the_declared_type_stays_what_it_was() -> None:
    module = read("func.func @f() {\npto.tfree_from_aic {split = 1000}\nreturn\n}")
    assert first(module, "pto.tfree_from_aic").attributes["split"] == IntegerAttr(1000, 64)
    printed = print_module(module)
    assert '"pto.tfree_from_aic"() {split = 1000 : i64}' in printed
    assert same_module(read(printed), module) is None


def test_keywords_in_generic_form_are_enumerators() -> None:
    spelled = read('func.func @f() {\n"pto.barrier"() {pipe = #pto.pipe<PIPE_V>} : () -> ()\nreturn\n}')
    word = read('func.func @f() {\n"pto.barrier"() {pipe = "PIPE_V"} : () -> ()\nreturn\n}')
    assert same_module(spelled, word) is None


def test_regions_without_blocks_in_generic_form() -> None:
    generic = read("""
"func.func"() <{function_type = () -> (), sym_name = "g", sym_visibility = "private"}> ({}) : () -> ()
func.func @f(%c: i1) {
  "scf.if"(%c) ({
    "scf.yield"() : () -> ()
  }, {
  }) : (i1) -> ()
  "pto.section.vector"() ({
  }) : () -> ()
  return
}
""")
    custom = read("""
func.func private @g()
func.func @f(%c: i1) {
  scf.if %c { }
  pto.section.vector { }
  return
}
""")
    assert same_module(generic, custom) is None


def test_segment_sizes_that_do_not_match_the_operands_are_kept_in_generic_form() -> None:
    text = """module {
  func.func @f(%a: i64) {
    %0 = "pto.alloc_tile"(%a) {operandSegmentSizes = array<i32: 1, 1, 0>} : (i64) -> !pto.tile_buf<vec, 16x16xf32>
    return
  }
}
"""
    assert print_module(read(text)) == text


@pytest.mark.parametrize("text", ["memref<4xf32, strided<[? 1]>>", "memref<4xf32, strided<[x]>>"])
def test_malformed_strides_are_reported(text: str) -> None:
    _, found = parsed(f"func.func private @f({text})")
    assert [entry[0] for entry in found] == ["type-syntax"]


@pytest.mark.parametrize("name", ["pto.foo", "pto.tad", "foo.bar", "foo"])
@pytest.mark.parametrize("before", ["module { ", "module {\n", "module { module { ", "module { func.func @f() { "])
def test_an_unknown_operation_after_a_brace_is_reported_as_one(before: str, name: str) -> None:
    _, found = parsed(f"{before}{name} {'}' * before.count('{')}")
    line, column = before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1
    rule, *place, message = found[0]
    assert (rule, place) == ("op-unknown", [line, column]) and repr(name) in message


def test_properties_in_a_dictionary_of_memory_operations() -> None:
    custom = read("""
func.func @f(%m: memref<4xf32>, %i: index, %p: !llvm.ptr) {
  %0 = memref.load %m[%i] {nontemporal = true, note} : memref<4xf32>
  %1 = llvm.load %p {alignment = 8 : i64} : !llvm.ptr -> f32
  return
}
""")
    generic = read(print_module(custom, generic=True))
    assert same_module(generic, custom) is None
    assert first(custom, "memref.load").properties["nontemporal"] == IntegerAttr(-1, 1)
    assert "{nontemporal = true, note}" in print_module(custom)
    assert "llvm.load %p {alignment = 8 : i64}" in print_module(custom)

"""Structural comparison: what makes two programs different, and what does not."""

import re

import pytest
from parse_helpers import parsed
from xdsl.dialects.builtin import ModuleOp

from pto_dialect.syntax.compare import same_module

PROGRAM = """
func.func @f(%a: i32, %b: i32, %c: i1, %t: !pto.tile_buf<vec, 16x16xf32>) attributes {pto.kernel} {
  %0 = arith.addi %a, %b : i32
  %1 = arith.constant 1.0 : f32
  scf.if %c {
    %2 = arith.addi %0, %a : i32
  }
  pto.texp ins(%t : !pto.tile_buf<vec, 16x16xf32>) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
  cf.cond_br %c, ^bb1(%a : i32), ^bb2
^bb1(%x: i32):
  return
^bb2:
  return
}
"""


def read(text: str) -> ModuleOp:
    module, _ = parsed(text)
    assert module is not None
    return module


@pytest.mark.parametrize(
    ("pattern", "replacement"),
    [
        (r"%0\b", "%sum"),
        (r"%c\b", "%condition"),
        (r"\^bb", "^block"),
        (r"  scf.if", "// a comment\n  scf.if"),
        (r"16x16xf32>\)\n", "16x16xf32>) {precisionType = #pto<exp_precision default>}\n"),
        (r"1\.0 : f32", "0x3F800000 : f32"),
    ],
)
def test_names_locations_and_defaults_do_not_matter(pattern: str, replacement: str) -> None:
    changed = re.sub(pattern, replacement, PROGRAM)
    assert changed != PROGRAM
    assert same_module(read(PROGRAM), read(changed)) is None
    assert same_module(read(changed), read(PROGRAM)) is None


@pytest.mark.parametrize(
    ("old", "new", "difference"),
    [
        ("arith.addi %0, %a", "arith.subi %0, %a", "arith.addi is arith.subi"),
        ("arith.addi %0, %a", "arith.addi %a, %0", "arith.addi: operand 0 is another value"),
        (
            "arith.addi %a, %b : i32\n",
            "arith.addi %a, %b overflow<nsw> : i32\n",
            "overflowFlags is #arith.overflow<none>",
        ),
        ("1.0 : f32", "1.0 : f16", "value is 1.000000e+00 : f32 and 1.000000e+00 : f16"),
        ("1.0 : f32", "1.5 : f32", "value is 1.000000e+00 : f32 and 1.500000e+00 : f32"),
        ("{pto.kernel}", "{pto.entry}", "pto.entry = unit on one side only"),
        ("%b: i32", "%b: i64", "function_type is"),
        ("    %2 = arith.addi %0, %a : i32\n", "", "arith.addi is scf.yield"),
        ("  return\n^bb2", "  %9 = arith.constant 1 : i32\n  return\n^bb2", "func.return is arith.constant"),
        ("^bb1(%a : i32), ^bb2", "^bb2, ^bb2", "cf.cond_br: 2 operands and 1"),
        ("^bb2\n^bb1(%x: i32)", "^bb3\n^bb1(%x: i32)", "func.func: 3 blocks and 4"),
        ("^bb2:\n  return\n", "^bb2:\n  cf.br ^bb2\n", "func.return is cf.br"),
        ("  scf.if %c {", "  scf.if %c {\n} else {", "scf.if: 0 blocks and 1"),
        ("texp", "tlog", "pto.texp is pto.tlog"),
        (
            "16x16xf32>)\n",
            "16x16xf32>) {precisionType = #pto<exp_precision high_precision>}\n",
            "precisionType",
        ),
    ],
)
def test_the_first_difference_is_named(old: str, new: str, difference: str) -> None:
    changed = PROGRAM.replace(old, new)
    if "^bb3\n" in changed:
        changed = changed.replace("^bb2:\n  return", "^bb2:\n  return\n^bb3:\n  return")
    found = same_module(read(PROGRAM), read(changed))
    assert found is not None
    assert difference in found


def test_successors_are_compared() -> None:
    text = "func.func @f(%c: i1) {{\n  cf.cond_br %c, ^bb{}, ^bb{}\n^bb1:\n  return\n^bb2:\n  return\n}}\n"
    assert same_module(read(text.format(1, 2)), read(text.format(1, 2))) is None
    assert same_module(read(text.format(1, 2)), read(text.format(2, 1))) == "cf.cond_br: successor 0 is another block"


def test_wiring_of_values_used_before_their_definition() -> None:
    text = """func.func @f(%c: i1) {{
  cf.br ^bb2
^bb1:
  %2 = arith.addi %{}, %{} : i32
  return
^bb2:
  %0 = arith.constant 1 : i32
  %1 = arith.constant 1 : i32
  cf.br ^bb1
}}
"""
    assert same_module(read(text.format(0, 1)), read(text.format(0, 1))) is None
    assert same_module(read(text.format(0, 1)), read(text.format(1, 0))) is not None


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("0.0 : f32", "-0.0 : f32", False),
        ("0x7FC00000 : f32", "0x7FC00000 : f32", True),
        ("0x7FC00000 : f32", "0xFFC00000 : f32", False),
        ("dense<0.0> : vector<2xf32>", "dense<-0.0> : vector<2xf32>", False),
        ("[0.0, {a = 0x7FC00000 : f32}]", "[0.0, {a = 0x7FC00000 : f32}]", True),
        ("[0.0, {a = 0x7FC00000 : f32}]", "[0.0, {a = 0x7FC00001 : f32}]", False),
        ("1 : i32", "1 : i64", False),
        ("[1, 2]", "[1]", False),
        ("f32", "f16", False),
    ],
)
def test_numbers_are_compared_bit_by_bit(left: str, right: str, same: bool) -> None:
    first, second = (read(f'"test.op"() {{a = {value}}} : () -> ()') for value in (left, right))
    assert (same_module(first, second) is None) == same


def test_foreign_operations_are_distinguished_by_their_names() -> None:
    assert same_module(read('"a.b"() : () -> ()'), read('"a.c"() : () -> ()')) == "a.b is a.c"
    assert same_module(read('"a.b"() : () -> ()'), read('"a.b"() : () -> ()')) is None

"""Rules of the core dialects. ``table`` states the constraints of each operation. Source:
docs/reference/core-dialects.md, "Operations"."""

from __future__ import annotations

from ..engine.rule import ERROR, STRUCTURE, rule

_ARITH = 'docs/reference/core-dialects.md, "Numbers"'
_CONTROL = 'docs/reference/core-dialects.md, "Control flow"'
_MEMREF = 'docs/reference/core-dialects.md, "Memrefs"'
_AFFINE = 'docs/reference/core-dialects.md, "Affine maps"'

OPERAND = rule(
    "core-operand",
    ERROR,
    STRUCTURE,
    "operands and results of arith, math, scf, cf and memref operations have the kind of type that each computes with; "
    "arithmetic has signless integers",
    source=_ARITH,
    bad="func.func @f(%a: f32) {\n  %v = arith.addi %a, %a : f32\n  return\n}",
    good="func.func @f(%a: f32) {\n  %v = arith.addf %a, %a : f32\n  return\n}",
)
SAME_TYPE = rule(
    "core-same-type",
    ERROR,
    STRUCTURE,
    "operands and results of arithmetic that must agree have one type",
    source=_ARITH,
    bad='%v = "arith.addi"(%a, %b) : (i32, i64) -> i32',
    good='%v = "arith.addi"(%a, %b) : (i32, i32) -> i32',
)
CAST = rule(
    "core-cast",
    ERROR,
    STRUCTURE,
    "casts widen or narrow as their name says; index_cast has index on one side; bitcast keeps the number of bits",
    source=_ARITH,
    bad="%v = arith.extsi %a : i64 to i32",
    good="%v = arith.trunci %a : i64 to i32",
)
CONSTANT = rule(
    "core-constant",
    ERROR,
    STRUCTURE,
    "arith.constant has a number of its result's type, a signless integer, index or floating-point type",
    source=_ARITH,
    bad='%v = "arith.constant"() <{value = 1 : i32}> : () -> i64',
    good='%v = "arith.constant"() <{value = 1 : i64}> : () -> i64',
)
YIELD = rule(
    "region-yield",
    ERROR,
    STRUCTURE,
    "a region ends with as many values, of the same types, as its operation has results or hands to its next region",
    source=_CONTROL,
    bad="""\
func.func @f(%c: i1, %a: i32) {
  %v = scf.if %c -> (i32) {
    scf.yield %a, %a : i32, i32
  } else {
    scf.yield %a : i32
  }
  return
}""",
    good="""\
func.func @f(%c: i1, %a: i32) {
  %v = scf.if %c -> (i32) {
    scf.yield %a : i32
  } else {
    scf.yield %a : i32
  }
  return
}""",
)
REGION = rule(
    "region-form",
    ERROR,
    STRUCTURE,
    "regions of scf operations have the blocks and arguments that their operation hands to them",
    source=_CONTROL,
    bad='"scf.if"(%c) ({ "scf.yield"() : () -> () }) : (i1) -> ()',
    good='"scf.if"(%c) ({ "scf.yield"() : () -> () }, {}) : (i1) -> ()',
)
PARENT = rule(
    "op-parent",
    ERROR,
    STRUCTURE,
    "return, scf.yield, scf.condition and scf.reduce are in the regions of the operations that they end",
    source=_CONTROL,
    bad="func.func @f(%c: i1) {\n  scf.if %c {\n    return\n  }\n  return\n}",
    good="func.func @f(%c: i1) {\n  scf.if %c {\n    scf.yield\n  }\n  return\n}",
)
BRANCH = rule(
    "branch-arguments",
    ERROR,
    STRUCTURE,
    "a branch hands as many values, of the same types, to a block as it has arguments",
    source=_CONTROL,
    bad="""\
func.func @f(%a: i32) {
  cf.br ^end
^end(%x: i32):
  return
}""",
    good="""\
func.func @f(%a: i32) {
  cf.br ^end(%a : i32)
^end(%x: i32):
  return
}""",
)
ENTRY = rule(
    "entry-block",
    ERROR,
    STRUCTURE,
    "no branch leads to the first block of a region",
    source=_CONTROL,
    bad="""\
"func.func"() <{sym_name = "f", function_type = () -> ()}> ({
^start:
  "cf.br"()[^start] : () -> ()
}) : () -> ()""",
    good="""\
"func.func"() <{sym_name = "f", function_type = () -> ()}> ({
^start:
  "cf.br"()[^again] : () -> ()
^again:
  "cf.br"()[^again] : () -> ()
}) : () -> ()""",
)
SWITCH = rule(
    "switch-cases",
    ERROR,
    STRUCTURE,
    "the cases of scf.index_switch and cf.switch are different numbers, one for each region or block",
    source=_CONTROL,
    bad="""\
scf.index_switch %i
case 1 {
}
case 1 {
}
default {
}""",
    good="""\
scf.index_switch %i
case 1 {
}
case 2 {
}
default {
}""",
)
LOOP = rule(
    "loop-bounds",
    ERROR,
    STRUCTURE,
    "bounds, steps and counters of a loop have one type; scf.parallel has as many of each, and positive steps",
    source=_CONTROL,
    bad="""\
"scf.for"(%i, %j, %k) ({
^body(%n: index):
  "scf.yield"() : () -> ()
}) : (index, index, i32) -> ()""",
    good="""\
"scf.for"(%i, %j, %k) ({
^body(%n: index):
  "scf.yield"() : () -> ()
}) : (index, index, index) -> ()""",
)
FUNCTION = rule(
    "function-form",
    ERROR,
    STRUCTURE,
    "the first block of a function has the arguments of its type; one without a body is private",
    source=_CONTROL,
    bad="func.func @f(i32)",
    good="func.func private @f(i32)",
)
SIZES = rule(
    "memref-sizes",
    ERROR,
    STRUCTURE,
    "an allocation has one size for each ? of its type",
    source=_MEMREF,
    bad="func.func @f(%n: index) {\n  %m = memref.alloc(%n) : memref<4xf32>\n  return\n}",
    good="func.func @f(%n: index) {\n  %m = memref.alloc(%n) : memref<?xf32>\n  return\n}",
)
INDICES = rule(
    "memref-indices",
    ERROR,
    STRUCTURE,
    "memref.load, memref.store and other accesses have one index for each dimension and a value of the element type",
    source=_MEMREF,
    bad='%v = "memref.load"(%m, %i) : (memref<4x4xf32>, index) -> f32',
    good='%v = "memref.load"(%m, %i, %j) : (memref<4x4xf32>, index, index) -> f32',
)
MEMREF_CAST = rule(
    "memref-cast",
    ERROR,
    STRUCTURE,
    "casts of memrefs keep what they do not change: element type, rank, known sizes and strides, memory space",
    source=_MEMREF,
    bad="%v = memref.cast %m : memref<4xf32> to memref<8xf32>",
    good="%v = memref.cast %m : memref<4xf32> to memref<?xf32>",
)
VIEW = rule(
    "memref-view",
    ERROR,
    STRUCTURE,
    "the result of memref.subview, memref.reinterpret_cast, memref.transpose and memref.reshape has the sizes, offset "
    "and strides that are stated",
    source=_MEMREF,
    bad="%v = memref.subview %m[0] [4] [1] : memref<16xf32> to memref<8xf32, strided<[1]>>",
    good="%v = memref.subview %m[0] [4] [1] : memref<16xf32> to memref<4xf32, strided<[1]>>",
)
AFFINE_MAP = rule(
    "affine-map",
    ERROR,
    STRUCTURE,
    "a map has an operand for each of its dimensions and symbols, and as many results as its operation uses",
    source=_AFFINE,
    bad='%v = "affine.apply"(%i) <{map = affine_map<(d0, d1) -> (d0 + d1)>}> : (index) -> index',
    good='%v = "affine.apply"(%i, %j) <{map = affine_map<(d0, d1) -> (d0 + d1)>}> : (index, index) -> index',
)
_LOADED = """\
func.func @f(%i: index, %m: memref<?xf32>) {{
  scf.for %n = %i to %i step %i {{
    %v = "affine.load"(%m, %{}) <{{map = affine_map<(d0) -> (d0)>}}> : (memref<?xf32>, index) -> f32
  }}
  return
}}"""
AFFINE_IDENTIFIER = rule(
    "affine-identifier",
    ERROR,
    STRUCTURE,
    "dimensions of affine operations are symbols and counters of affine loops; symbols do not change in a function",
    source=_AFFINE,
    bad=_LOADED.format("n"),
    good=_LOADED.format("i"),
)

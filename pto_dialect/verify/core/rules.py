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
    _ARITH,
)
SAME_TYPE = rule(
    "core-same-type", ERROR, STRUCTURE, "operands and results of arithmetic that must agree have one type", _ARITH
)
CAST = rule(
    "core-cast",
    ERROR,
    STRUCTURE,
    "casts widen or narrow as their name says; index_cast has index on one side; bitcast keeps the number of bits",
    _ARITH,
)
CONSTANT = rule(
    "core-constant",
    ERROR,
    STRUCTURE,
    "arith.constant has a number of its result's type, a signless integer, index or floating-point type",
    _ARITH,
)
YIELD = rule(
    "region-yield",
    ERROR,
    STRUCTURE,
    "a region ends with as many values, of the same types, as its operation has results or hands to its next region",
    _CONTROL,
)
REGION = rule(
    "region-form",
    ERROR,
    STRUCTURE,
    "regions of scf operations have the blocks and arguments that their operation hands to them",
    _CONTROL,
)
PARENT = rule(
    "op-parent",
    ERROR,
    STRUCTURE,
    "return, scf.yield, scf.condition and scf.reduce are in the regions of the operations that they end",
    _CONTROL,
)
BRANCH = rule(
    "branch-arguments",
    ERROR,
    STRUCTURE,
    "a branch hands as many values, of the same types, to a block as it has arguments",
    _CONTROL,
)
ENTRY = rule("entry-block", ERROR, STRUCTURE, "no branch leads to the first block of a region", _CONTROL)
SWITCH = rule(
    "switch-cases",
    ERROR,
    STRUCTURE,
    "the cases of scf.index_switch and cf.switch are different numbers, one for each region or block",
    _CONTROL,
)
LOOP = rule(
    "loop-bounds",
    ERROR,
    STRUCTURE,
    "bounds, steps and counters of a loop have one type; scf.parallel has as many of each, and positive steps",
    _CONTROL,
)
FUNCTION = rule(
    "function-form",
    ERROR,
    STRUCTURE,
    "the first block of a function has the arguments of its type; one without a body is private",
    _CONTROL,
)
SIZES = rule("memref-sizes", ERROR, STRUCTURE, "an allocation has one size for each ? of its type", _MEMREF)
INDICES = rule(
    "memref-indices",
    ERROR,
    STRUCTURE,
    "memref.load, memref.store and other accesses have one index for each dimension and a value of the element type",
    _MEMREF,
)
MEMREF_CAST = rule(
    "memref-cast",
    ERROR,
    STRUCTURE,
    "casts of memrefs keep what they do not change: element type, rank, known sizes and strides, memory space",
    _MEMREF,
)
VIEW = rule(
    "memref-view",
    ERROR,
    STRUCTURE,
    "the result of memref.subview, memref.reinterpret_cast, memref.transpose and memref.reshape has the sizes, offset "
    "and strides that are stated",
    _MEMREF,
)
AFFINE_MAP = rule(
    "affine-map",
    ERROR,
    STRUCTURE,
    "a map has an operand for each of its dimensions and symbols, and as many results as its operation uses",
    _AFFINE,
)
AFFINE_IDENTIFIER = rule(
    "affine-identifier",
    ERROR,
    STRUCTURE,
    "dimensions of affine operations are symbols and counters of affine loops; symbols do not change in a function",
    _AFFINE,
)

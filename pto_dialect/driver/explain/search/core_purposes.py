"""Purposes of the usual operations of the core dialects, in the terms that users search for."""

from __future__ import annotations

from typing import Final

from .phrases import rows

CORE_PURPOSES: Final = rows("""
scf.for: for loop; counted loop; loop-carried value with iter_args; nested loops; loop over tiles
scf.while: while loop; loop until a condition
scf.if: if else; branch on a condition; conditional
scf.yield: value of a region; end of a loop body
scf.parallel: parallel loop
scf.index_switch: switch over cases
func.func: define a function; kernel function
func.call: call a function; function call
func.return: return from a function
arith.constant: constant; literal number
arith.addi: add two integers; integer addition
arith.subi: subtract integers
arith.muli: multiply integers
arith.divsi: integer division; signed division
arith.divui: unsigned integer division
arith.ceildivsi: round up division; ceil div; cdiv
arith.floordivsi: division that rounds down; floor div
arith.remsi: integer remainder; integer modulo
arith.cmpi: compare integers; less than of two numbers
arith.cmpf: compare floats
arith.select: choose one of two scalars; ternary; select with condition; a if c else b
arith.minsi: smaller of two integers
arith.maxsi: larger of two integers
arith.index_cast: convert between index and integer; index to i32; cast an index
arith.addf: add two scalar floats
arith.mulf: multiply two scalar floats
arith.extf: widen a scalar float
arith.truncf: narrow a scalar float
memref.load: load from a memref
memref.store: store to a memref
memref.subview: part of a memref
cf.br: jump to a block; goto
cf.cond_br: conditional jump
affine.for: affine loop
""")

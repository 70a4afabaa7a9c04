"""What the custom forms cannot say stays in the generic form."""

from __future__ import annotations

import pytest
from groups import in_groups
from parse_helpers import parsed
from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Operation

from pto_dialect.syntax.compare import same_module
from pto_dialect.syntax.print.core import implied_yield
from pto_dialect.syntax.print.printer import print_module

HEAD = ("func.func @f(%a: i32, %b: i64, %x: f32, %y: f64, %i: index, %c: i1, %p: !llvm.ptr, "
        "%m: memref<4xf32>) {\n")  # fmt: skip
CUSTOM = [
    "%r = math.fpowi %x, %a : f32, i32",
    "%r, %o = arith.addui_extended %a, %a : i32, i1",
    "%r, %o = arith.mului_extended %a, %a : i32",
    "%r = llvm.load %p : !llvm.ptr -> f32",
    "llvm.store %x, %p : f32, !llvm.ptr",
    "scf.parallel (%k) = (%i) to (%i) step (%i) {\nscf.reduce\n}",
]
GENERIC = [
    '%r = "math.fpowi"(%x, %a) : (f32, i32) -> f64',
    '%r = "math.fpowi"(%y, %a) : (f64, i32) -> f32',
    '%r, %o = "arith.addui_extended"(%a, %b) : (i32, i64) -> (i32, i1)',
    '%r, %o = "arith.addui_extended"(%b, %a) : (i64, i32) -> (i32, i1)',
    '%r, %o = "arith.addui_extended"(%a, %a) : (i32, i32) -> (i64, i1)',
    '%r, %o = "arith.mului_extended"(%a, %b) : (i32, i64) -> (i32, i32)',
    '%r, %o = "arith.mului_extended"(%b, %a) : (i64, i32) -> (i32, i32)',
    '%r, %o = "arith.mului_extended"(%a, %a) : (i32, i32) -> (i32, i64)',
    '%r = "llvm.load"(%p) <{other = 1 : i32}> : (!llvm.ptr) -> f32',
    '"llvm.store"(%x, %p) <{other = 1 : i32}> : (f32, !llvm.ptr) -> ()',
    '"scf.parallel"() <{operandSegmentSizes = array<i32: 0, 0, 0, 0>}> ({\n"scf.reduce"() : () -> ()\n}) : () -> ()',
    '"scf.parallel"(%i, %i) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>}> ({\n^bb0(%k: index):\n'
    '"scf.reduce"() : () -> ()\n}) : (index, index) -> ()',
    '"scf.parallel"(%i, %i, %i, %x) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>}> ({\n^bb0(%k: index):\n'
    '"scf.reduce"() : () -> ()\n}) : (index, index, index, f32) -> ()',
    '"builtin.module"() <{other = 1 : i32}> ({\n}) : () -> ()',
    '"builtin.module"() <{sym_name = "inner", sym_visibility = "private"}> ({\n}) : () -> ()',
    '%r = "math.fpowi"(%x) : (f32) -> f32',
    '%r = "math.fpowi"(%x, %a, %a) : (f32, i32, i32) -> f32',
    '%r, %o = "math.fpowi"(%x, %a) : (f32, i32) -> (f32, f32)',
    '%r = "arith.addui_extended"(%a, %a) : (i32, i32) -> i32',
    '%r, %o = "arith.mului_extended"(%a, %a, %a) : (i32, i32, i32) -> (i32, i32)',
    '%r = "arith.select"(%c, %a) : (i1, i32) -> i32',
    '%r = "arith.select"(%c, %a, %b) : (i1, i32, i64) -> i32',
    '%r = "arith.select"(%c, %b, %a) : (i1, i64, i32) -> i32',
    '%r = "arith.select"(%c, %a, %a, %a) : (i1, i32, i32, i32) -> i32',
    '%r = "arith.select"(%c, %a, %a) <{other}> : (i1, i32, i32) -> i32',
    '%r = "arith.cmpi"(%a, %a) <{predicate = 2 : i32}> : (i32, i32) -> i1',
    '%r = "arith.cmpi"(%a, %a) <{predicate = 10 : i64}> : (i32, i32) -> i1',
    '%r = "arith.cmpi"(%a, %a) <{predicate = -1 : i64}> : (i32, i32) -> i1',
    '%r = "arith.cmpi"(%a, %b) <{predicate = 2 : i64}> : (i32, i64) -> i1',
    '%r = "arith.cmpf"(%x, %x) <{predicate = 16 : i64, fastmath = #arith.fastmath<none>}> : (f32, f32) -> i1',
    '%r = "arith.addi"(%a, %b) <{overflowFlags = #arith.overflow<none>}> : (i32, i64) -> i32',
    '%r = "arith.addi"(%b, %a) <{overflowFlags = #arith.overflow<none>}> : (i64, i32) -> i32',
    '%r = "arith.addi"(%a, %a) <{overflowFlags = #arith.overflow<none>, other}> : (i32, i32) -> i32',
    '%r = "arith.index_cast"() : () -> i32',
    '"arith.index_cast"(%a) : (i32) -> ()',
    '%r = "arith.index_cast"(%a) <{other}> : (i32) -> index',
    '%r = "scf.for"(%i, %i, %i, %a) ({\n^bb0(%k: index, %z: i64):\n"scf.yield"(%z) : (i64) -> ()\n}) : (index, '
    "index, index, i32) -> i32",
    '%r = "scf.for"(%i, %i, %i, %a) ({\n^bb0(%k: index, %z: i32):\n"scf.yield"(%z) : (i32) -> ()\n}) : (index, '
    "index, index, i32) -> i64",
    '"scf.for"(%i, %i, %i, %a) ({\n^bb0(%k: index, %z: i32):\n"scf.yield"(%z) : (i32) -> ()\n}) : (index, index, '
    "index, i32) -> ()",
    '"scf.for"(%i, %i, %a) ({\n^bb0(%k: index):\n"scf.yield"() : () -> ()\n}) : (index, index, i32) -> ()',
    '"scf.for"(%i, %a, %i) ({\n^bb0(%k: index):\n"scf.yield"() : () -> ()\n}) : (index, i32, index) -> ()',
    '"scf.for"(%i, %i, %i) ({\n^bb0(%k: i32):\n"scf.yield"() : () -> ()\n}) : (index, index, index) -> ()',
    '"scf.for"(%i, %i, %i) <{other}> ({\n^bb0(%k: index):\n"scf.yield"() : () -> ()\n}) : (index, index, index) -> ()',
    '"scf.reduce"() <{other}> : () -> ()',
    '"scf.reduce"(%x) : (f32) -> ()',
    '"scf.reduce"(%x) ({\n}) : (f32) -> ()',
    '"scf.reduce"(%x) ({\n^bb0(%k: f32, %z: f32):\n"scf.reduce.return"(%k) : (f32) -> ()\n}, {\n^bb0(%k: f32, '
    '%z: f32):\n"scf.reduce.return"(%k) : (f32) -> ()\n}) : (f32) -> ()',
    '"scf.if"(%c) ({\n}, {\n}) : (i1) -> ()',
    '%r = "scf.if"(%c) ({\n"scf.yield"(%a) : (i32) -> ()\n}, {\n}) : (i1) -> i32',
    '"scf.if"(%c) <{other}> ({\n"scf.yield"() : () -> ()\n}, {\n}) : (i1) -> ()',
    '"scf.if"(%c) ({\n}, {\n"scf.yield"() : () -> ()\n}) : (i1) -> ()',
    '"cf.assert"(%c) : (i1) -> ()',
    '"cf.assert"(%c) <{msg = 1 : i32}> : (i1) -> ()',
    '"cf.assert"(%c) <{msg = "m", other}> : (i1) -> ()',
    '%r = "memref.alloc"() <{operandSegmentSizes = array<i32: 0>}> : () -> memref<4xf32>',
    '%r = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<4xf32>',
    '%r = "memref.alloc"(%i) <{operandSegmentSizes = array<i32: 0, 0>}> : (index) -> memref<4xf32>',
    '%r = "memref.alloc"(%a) <{operandSegmentSizes = array<i32: 1, 0>}> : (i32) -> memref<?xf32>',
    '%r = "memref.subview"(%m) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_offsets = array<i64: 0>, '
    "static_sizes = array<i64: 2>, static_strides = array<i64: 1>}> : (memref<4xf32>) -> memref<2xf32, "
    "strided<[1]>>",
    '%r = "memref.subview"(%m) <{operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>, static_offsets = array<i64: '
    "0>, static_sizes = array<i64: 2>, static_strides = array<i64: 1>}> : (memref<4xf32>) -> memref<2xf32, "
    "strided<[1]>>",
    '%r = "memref.subview"(%m, %m) <{operandSegmentSizes = array<i32: 2, 0, 0, 0>, static_offsets = array<i64: '
    "0>, static_sizes = array<i64: 2>, static_strides = array<i64: 1>}> : (memref<4xf32>, memref<4xf32>) -> "
    "memref<2xf32, strided<[1]>>",
    '%r = "memref.subview"(%m, %i) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: '
    "0>, static_sizes = array<i64: 2>, static_strides = array<i64: 1>}> : (memref<4xf32>, index) -> "
    "memref<2xf32, strided<[1]>>",
    '%r = "memref.subview"(%m, %a) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, static_offsets = array<i64: '
    "-9223372036854775808>, static_sizes = array<i64: 2>, static_strides = array<i64: 1>}> : (memref<4xf32>, "
    "i32) -> memref<2xf32, strided<[1], offset: ?>>",
    '"func.func"() <{sym_name = "g", function_type = (i32) -> (), arg_attrs = []}> ({\n}) : () -> ()',
    '"func.func"() <{sym_name = "g", function_type = (i32) -> (), arg_attrs = [{}]}> ({\n}) : () -> ()',
    '"func.func"() <{sym_name = "g", function_type = (i32) -> (), arg_attrs = [{pto.a}, {}]}> ({\n}) : () -> ()',
    '"func.func"() <{sym_name = "g", function_type = (i32) -> (), other}> ({\n}) : () -> ()',
    '"func.func"() <{sym_name = "g", function_type = (i32) -> (), sym_visibility = "hidden"}> ({\n}) : () -> ()',
    '"func.func"() <{sym_name = "g", function_type = () -> i32, res_attrs = [{}]}> ({\n}) : () -> ()',
    '"func.func"() <{sym_name = "g", function_type = (i32) -> ()}> ({\n^bb0(%z: i64):\n"func.return"() : () -> '
    "()\n}) : () -> ()",
]


def printed(statement: str) -> str:
    module, found = parsed(f"{HEAD}{statement}\nreturn\n}}\n")
    assert module is not None, found
    text = print_module(module)
    again, _ = parsed(text)
    assert again is not None and same_module(module, again) is None and print_module(again) == text
    return text


def name_of(statement: str) -> str:
    """The operation that a statement begins with."""
    words = statement.replace('"', " ").replace("(", " ").split()
    return next(word for word in words if "." in word)


@pytest.mark.parametrize("statement", CUSTOM)
def test_custom_form(statement: str) -> None:
    assert f'"{name_of(statement)}"' not in printed(statement)


@in_groups("statement", GENERIC)
def test_generic_form(statement: str) -> None:
    assert f'"{name_of(statement)}"(' in printed(statement)


ENDS = {
    '"scf.yield"() : () -> ()': True,
    '"scf.yield"(%a) : (i32) -> ()': False,
    '"scf.yield"() {note} : () -> ()': False,
    '"scf.yield"() <{note}> : () -> ()': False,
    '"scf.condition"(%c) : (i1) -> ()': False,
    '"scf.reduce"() : () -> ()': False,
    "": False,
}


@pytest.mark.parametrize("end", ENDS)
def test_a_terminator_that_goes_without_saying(end: str) -> None:
    """Only a plain scf.yield, and only where the operation has no results."""
    for results in (False, True):
        given = " -> i32" if results else " -> ()"
        name = "%r = " if results else ""
        text = f'{HEAD}{name}"any.op"() ({{\n^bb0:\n{end}\n}}) : (){given}\nreturn\n}}\n'
        module, found = parsed(text)
        assert module is not None, found
        (op,) = (op for op in module.walk() if isinstance(op, UnregisteredOp) and op.regions)
        region = op.regions[0]
        wanted: Operation | None = region.block.last_op if ENDS[end] and not results else None
        assert implied_yield(op, region) is wanted

"""Modules, functions and core statements: printed as mlir-opt prints them, read back as the same program."""

import pytest
from parse_helpers import parsed
from xdsl.dialects.builtin import ModuleOp

from pto_dialect.syntax.compare import same_module
from pto_dialect.syntax.print.printer import print_module

PROGRAMS = [
    "module {\n}\n",
    'module @outer attributes {a, pto.target_arch = "a5"} {\n  module @"an inner" {\n  }\n}\n',
    """module {
  func.func private @declared(i32, !pto.ptr<f32, gm> {pto.noalias}) -> (i32, f32 {pto.x = 1 : i64})
  func.func nested @"odd name"()
  func.func @f(%x: i32 {pto.arg}, %y: i32) -> i32 attributes {pto.kernel, z = "s"} {
    return %x : i32
  }
  func.func @two(%x: i32) -> (i32, i32) {
    return {note} %x, %x : i32, i32
  }
}
""",
    """module {
  func.func @arithmetic(%a: i32, %b: i32, %i: index, %f: f32, %g: f32, %c: i1, %v: vector<2xf16>) {
    %0 = arith.constant 1 : index
    %1 = arith.constant -1 : i32
    %2 = arith.constant true
    %3 = arith.constant {note} 2.500000e+00 : f32
    %4 = arith.constant 0x7F800000 : f32
    %5 = arith.constant dense<[1, 2]> : vector<2xi32>
    %6 = arith.addi %a, %b : i32
    %7 = arith.addi %a, %b overflow<nsw, nuw> : i32
    %8 = arith.addf %f, %g fastmath<nnan> {note = 1 : i32} : f32
    %9 = arith.addf %f, %g fastmath<fast> : f32
    %10 = arith.cmpi slt, %a, %b : i32
    %11 = arith.cmpf oeq, %f, %g fastmath<ninf> : f32
    %12 = arith.select %c, %a, %b : i32
    %all = arith.constant dense<true> : vector<2xi1>
    %13 = arith.select %all, %v, %v : vector<2xi1>, vector<2xf16>
    %14 = arith.index_cast %i : index to i32
    %15 = arith.negf %f : f32
    %16 = math.fma %f, %g, %f : f32
    %17 = math.absi %a : i32
    %18, %19 = builtin.unrealized_conversion_cast %a, %f : i32, f32 to i64, f64
    return
  }
}
""",
    """module {
  func.func @control(%lb: index, %n: index, %c: i1, %x: i32, %k: i64) -> i32 {
    scf.for %i = %lb to %n step %n {
    }
    %s, %t = scf.for unsigned %i = %k to %k step %k iter_args(%p = %x, %q = %c) -> (i32, i1) : i64 {
      scf.yield %p, %q : i32, i1
    } {note}
    scf.if %c {
      func.call @g() : () -> ()
    } else {
    } {note}
    %u = scf.if %c -> (i32) {
      scf.yield %x : i32
    } else {
      scf.yield %s : i32
    }
    %w = scf.while (%p = %x) : (i32) -> i32 {
      scf.condition(%c) %p : i32
    } do {
    ^bb0(%p: i32):
      scf.yield %p : i32
    } attributes {note}
    scf.while : () -> () {
      scf.condition(%c)
    } do {
      scf.yield
    }
    %r = scf.execute_region -> i32 {
      scf.yield %x : i32
    }
    %z = scf.index_switch %n {note} -> i32
    case 2 {
      scf.yield %x : i32
    }
    case -1 {
      scf.yield %u : i32
    }
    default {
      scf.yield %w : i32
    }
    scf.index_switch %n
    default {
    }
    %d = call @h(%x, %c) {note} : (i32, i1) -> i32
    return %d : i32
  }
  func.func private @g()
  func.func private @h(i32, i1) -> i32
}
""",
    """module {
  func.func @blocks(%c: i1, %x: i32) -> i32 {
    cf.cond_br %c, ^bb1(%x : i32), ^bb2
  ^bb1(%y: i32):
    cf.switch %x : i32, [
      default: ^bb2,
      4: ^bb3(%x, %y : i32, i32),
      -1: ^bb2
    ] {note}
  ^bb2:
    cf.br ^bb3(%x, %x : i32, i32)
  ^bb3(%p: i32, %q: i32):
    return %p : i32
  }
}
""",
    """module {
  func.func @memory(%m: memref<4x?xf32, 1>, %i: index, %n: index, %z: memref<f32>) {
    %0 = memref.alloc(%n) {alignment = 64 : i64} : memref<4x?xf32>
    %1 = memref.alloca() : memref<4xf32, 3>
    memref.dealloc %0 : memref<4x?xf32>
    %2 = memref.load %m[%i, %n] : memref<4x?xf32, 1>
    memref.store %2, %z[] : memref<f32>
    %3 = memref.subview %m[0, %i] [4, %n] [1, 1] : memref<4x?xf32, 1> to memref<4x?xf32, 1>
    %4 = memref.reinterpret_cast %z to offset: [0], sizes: [2], strides: [1] : memref<f32> to memref<2xf32>
    %5 = memref.dim %m, %i : memref<4x?xf32, 1>
    %6 = memref.memory_space_cast %z : memref<f32> to memref<f32, 1>
    return
  }
}
""",
    """module {
  func.func @low(%n: i32, %a: i64, %v: vector<2xf16>, %s: !llvm.struct<(ptr<1>, i64)>) {
    %0 = llvm.alloca %n x f32 {alignment = 4 : i64} : (i32) -> !llvm.ptr
    %1 = llvm.load %0 : !llvm.ptr -> f32
    %2 = llvm.load volatile %0 {alignment = 4 : i64} : !llvm.ptr -> f32
    llvm.store volatile %1, %0 : f32, !llvm.ptr
    %3 = llvm.getelementptr inbounds %0[%a, 0, 1] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %4 = llvm.extractelement %v[%n : i32] : vector<2xf16>
    %5 = llvm.mlir.undef : vector<2xf16>
    %6 = llvm.mlir.zero : vector<2xf16>
    %7 = llvm.insertelement %4, %6[%n : i32] : vector<2xf16>
    %8 = llvm.extractvalue %s[1] : !llvm.struct<(ptr<1>, i64)>
    %9 = llvm.inttoptr %a : i64 to !llvm.ptr<6>
    return
  }
}
""",
    """module {
  func.func @foreign(%x: i32) {
    %a, %b = "other.op"(%x) <{p = 1 : i64}> ({
    ^bb0(%y: i32):
      "other.end"(%y)[^bb1] : (i32) -> ()
    ^bb1:
      "other.end"() : () -> ()
    }, {
    }) {note} : (i32) -> (i32, f32)
    return
  }
}
""",
]


def read(text: str) -> ModuleOp:
    module, found = parsed(text)
    assert module is not None and [entry for entry in found if entry[0] != "dialect-unregistered"] == [], text
    return module


@pytest.mark.parametrize("text", PROGRAMS)
def test_custom_form(text: str) -> None:
    module = read(text)
    assert print_module(module) == text


@pytest.mark.parametrize("text", PROGRAMS)
def test_generic_form(text: str) -> None:
    module = read(text)
    generic = print_module(module, generic=True)
    again = read(generic)
    assert same_module(again, module) is None
    assert print_module(again, generic=True) == generic
    assert print_module(again) == text


def test_generic_text() -> None:
    module = read("""
func.func @f(%n: index) attributes {pto.kernel} {
  scf.for %i = %n to %n step %n { }
  pto.section.vector { pto.mem_bar "VV_ALL" }
  return
}
func.func private @g()
""")
    assert (
        print_module(module, generic=True)
        == """"builtin.module"() ({
  "func.func"() <{function_type = (index) -> (), sym_name = "f"}> ({
  ^bb0(%n: index):
    "scf.for"(%n, %n, %n) ({
    ^bb0(%i: index):
      "scf.yield"() : () -> ()
    }) : (index, index, index) -> ()
    "pto.section.vector"() ({
      "pto.mem_bar"() {kind = #pto.membar<VV_ALL>} : () -> ()
    }) : () -> ()
    "func.return"() : () -> ()
  }) {pto.kernel} : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "g", sym_visibility = "private"}> ({
  }) : () -> ()
}) : () -> ()
"""
    )


@pytest.mark.parametrize(
    "statement",
    [
        # The custom form always has flags, says one type, and has no location for these attributes.
        '%0 = "arith.constant"() <{other = 1 : i64, value = 1 : i32}> : () -> i32',
        '%0 = "arith.extf"(%f) <{other}> : (f32) -> f64',
        '"scf.condition"(%c) {note} : (i1) -> ()',
        '"cf.br"()[^bb1] {note} : () -> ()\n  ^bb1:',
        '%0 = "builtin.unrealized_conversion_cast"() : () -> i32',
    ],
)
def test_what_custom_core_forms_cannot_say_stays_generic(statement: str) -> None:
    text = f"module {{\n  func.func @f(%f: f32, %c: i1) {{\n    {statement}\n    return\n  }}\n}}\n"
    assert print_module(read(text)) == text


def test_a_function_header_gives_each_type_its_own_attributes() -> None:
    module = read("func.func private @f(i32, f32 {pto.a}) -> (i32, f32 {pto.b})")
    assert "@f(i32, f32 {pto.a}) -> (i32, f32 {pto.b})" in print_module(module)


def test_flags_of_generic_arithmetic_are_those_of_the_custom_form() -> None:
    custom = read("func.func @f(%a: i32, %f: f32) {\n%0 = arith.addi %a, %a : i32\n"
                  "%1 = arith.mulf %f, %f fastmath<nnan, ninf> : f32\nreturn\n}")  # fmt: skip
    generic = read('func.func @f(%a: i32, %f: f32) {\n%0 = "arith.addi"(%a, %a) : (i32, i32) -> i32\n'
                   '%1 = "arith.mulf"(%f, %f) <{fastmath = #arith.fastmath<ninf,nnan>}> : (f32, f32) -> f32\n'
                   "return\n}")  # fmt: skip
    assert same_module(custom, generic) is None


FURTHER = """module {
  func.func @further(%n: index, %x: f32, %c: i1, %a: i32, %k: i8, %m: memref<4xf32>, %d: memref<?xf32>) {
    %0, %1 = arith.addui_extended %a, %a : i32, i1
    %2, %3 = arith.mulsi_extended %a, %a {note} : i32
    %4, %5 = arith.mului_extended %a, %a : i32
    %6 = math.fpowi %x, %k : f32, i8
    %7 = math.fpowi %x, %k fastmath<fast> : f32, i8
    %8 = math.acosh %x : f32
    %always = arith.cmpf true, %x, %x : f32
    %never = arith.cmpf false, %x, %x fastmath<nnan> : f32
    cf.assert %c, "not \\22x\\22"
    memref.copy %m, %d : memref<4xf32> to memref<?xf32>
    %9 = memref.rank %m : memref<4xf32>
    %10, %11 = scf.parallel (%i, %j) = (%n, %n) to (%n, %n) step (%n, %n) init (%x, %a) -> (f32, i32) {
      scf.reduce(%x, %a : f32, i32) {
      ^bb0(%p: f32, %q: f32):
        %12 = arith.addf %p, %q : f32
        scf.reduce.return %12 : f32
      }, {
      ^bb0(%p: i32, %q: i32):
        scf.reduce.return %p : i32
      }
    }
    %12 = scf.parallel (%i) = (%n) to (%n) step (%n) init (%x) -> f32 {
      scf.reduce(%x : f32) {
      ^bb0(%p: f32, %q: f32):
        scf.reduce.return %q : f32
      }
    }
    scf.parallel (%i) = (%n) to (%n) step (%n) {
      scf.reduce
    } {note}
    return
  }
}
"""


def test_further_operations_print_as_they_are_written() -> None:
    module, found = parsed(FURTHER)
    assert found == []
    assert print_module(module) == FURTHER
    generic = print_module(module, generic=True)
    again, found = parsed(generic)
    assert found == []
    assert same_module(module, again) is None
    assert print_module(again) == FURTHER


def test_parallel_loop_may_leave_out_its_end() -> None:
    text = "func.func @f(%n: index) {\n  scf.parallel (%i) = (%n) to (%n) step (%n) {\n  }\n  return\n}\n"
    module, found = parsed(text)
    assert found == []
    assert "scf.reduce\n" in print_module(module)


@pytest.mark.parametrize(
    ("line", "rule", "words"),
    [
        ("%r, %s = arith.addui_extended %a, %a : i32", "parse-type-count", "takes 2 types"),
        ("%r, %s = arith.mulsi_extended %a, %a : i32, i32", "parse-type-count", "takes 1 type, "),
        ("scf.parallel (%i, %j) = (%n) to (%n) step (%n) {\n}", "parse-operand-count", "2 counters but 1"),
        ("%r = scf.parallel (%i) = (%n) to (%n) step (%n) start (%a) -> i32 {\n}", "parse-syntax", "'start'"),
        ("func.call %g() : () -> ()", "parse-syntax", "a value is called with func.call_indirect"),
        ("func.call_indirect @f() : () -> ()", "parse-syntax", "a function is called by its name with func.call"),
        ("%r#0 = arith.addi %a, %a : i32", "parse-syntax", "'#' is for their uses"),
        ("%a:2 = arith.mulsi_extended %a, %a : i32", "name-redefined", "%a is already defined"),
        ("%r = arith.constant -1 : ui8", "literal-range", "-1 does not fit into ui8"),
        ("%r = arith.constant 128 : si8", "literal-range", "128 does not fit into si8"),
        ("%r = arith.constant dense<1> : vector<2xf32>", "literal-type", "f32 literals have a decimal point"),
        ('%r = "arith.minu"(%a, %a) : (i32, i32) -> i32', "op-unknown", "'arith.minu'"),
    ],
)
def test_wrong_statements(line: str, rule: str, words: str) -> None:
    text = f"func.func @f(%a: i32, %n: index, %g: () -> ()) {{\n{line}\nreturn\n}}\n"
    found = parsed(text)[1]
    assert [entry[0] for entry in found] == [rule], found
    assert words in found[0][3]

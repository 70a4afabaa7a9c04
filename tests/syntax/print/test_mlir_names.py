"""Names of values as MLIR's printer gives them: those of a region before those inside, constants by value, groups."""

from parse_helpers import parsed

from pto_dialect.syntax.print.mlir_names import MlirNames
from pto_dialect.syntax.print.printer import print_module

NAMELESS = """module {
  func.func @f(%0: index, %1: i32) {
    %2 = arith.constant 1 : index
    %3 = arith.constant 1 : index
    %4 = arith.constant -1 : i32
    %5 = arith.constant true
    %6 = arith.constant 1.500000e+00 : f32
    %7, %8 = scf.for %9 = %2 to %0 step %3 iter_args(%10 = %4, %11 = %1) -> (i32, i32) {
      %12 = arith.constant 1 : index
      %13 = arith.addi %10, %11 : i32
      scf.yield %13, %10 : i32, i32
    }
    %14 = arith.addi %7, %8 : i32
    %15, %16 = pto.plt_b32 %14 : i32 -> !pto.mask<b32>, i32
    return
  }
  func.func public @g(%0: index) {
    return
  }
}
"""

NAMED = """module {
  func.func @f(%arg0: index, %arg1: i32) {
    %c1 = arith.constant 1 : index
    %c1_0 = arith.constant 1 : index
    %c-1_i32 = arith.constant -1 : i32
    %true = arith.constant true
    %cst = arith.constant 1.500000e+00 : f32
    %0:2 = scf.for %arg2 = %c1 to %arg0 step %c1_0 iter_args(%arg3 = %c-1_i32, %arg4 = %arg1) -> (i32, i32) {
      %c1_1 = arith.constant 1 : index
      %2 = arith.addi %arg3, %arg4 : i32
      scf.yield %2, %arg3 : i32, i32
    }
    %1 = arith.addi %0#0, %0#1 : i32
    %mask, %scalar_out = pto.plt_b32 %1 : i32 -> !pto.mask<b32>, i32
    return
  }
  func.func public @g(%arg0: index) {
    return
  }
}
"""


def test_values_have_the_names_of_mlirs_printer() -> None:
    module, found = parsed(NAMELESS)
    assert module is not None and found == []
    assert print_module(module, names=MlirNames()) == NAMED


def test_text_with_these_names_is_the_same_program() -> None:
    module, found = parsed(NAMED)
    again, _ = parsed(NAMELESS)
    assert module is not None and again is not None and found == []
    assert module.is_structurally_equivalent(again)


def test_written_names_stay() -> None:
    module, _ = parsed(NAMELESS.replace("%14", "%sum"))
    assert module is not None
    assert "%sum = arith.addi %0#0, %0#1 : i32" in print_module(module, names=MlirNames())

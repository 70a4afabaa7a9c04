"""Values of function type: wherever a type may stand, that of a function may stand as well."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from parse_helpers import parsed
from xdsl.dialects.builtin import FunctionType, ModuleOp, i32
from xdsl.ir import Operation

from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.syntax.compare import same_module
from pto_dialect.syntax.print.printer import print_module
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.verify.verifier import verify_module

MLIR_OPT = shutil.which("mlir-opt-19") or shutil.which("mlir-opt")

UNARY = FunctionType.from_lists([i32], [i32])

PROGRAM = """!fn = (i32) -> i32
!make = () -> !fn
func.func private @g(i32) -> i32
func.func private @two() -> ((i32) -> i32 {pto.x}, i32)
func.func private @take(() -> (), tuple<(i32) -> i32, i32>, (i32) -> i32, f32) -> (() -> ())
func.func @k(%f: (i32) -> i32 {pto.a}, %x: i32, %c: i1, %m: !make, %t: ((i32) -> i32, f32) -> (i32, i32))
    -> (i32, (i32) -> i32) {
  %0 = constant @g : !fn
  %s = arith.select %c, %f, %0 : (i32)  // a comment, with a comma
      -> i32
  %r:2 = call @two() : () -> ((i32) -> i32, i32)
  %i = scf.if %c -> ((i32) -> i32) {
    scf.yield %f : (i32) -> i32
  } else {
    scf.yield %0 : (i32) -> i32
  }
  %u = builtin.unrealized_conversion_cast %f : (i32) -> i32 to i64
  %v = builtin.unrealized_conversion_cast %u : i64 to (i32) -> i32
  cf.br ^bb1(%i, %x : (i32) -> i32, i32)
^bb1(%b: (i32) -> i32, %y: i32):
  cf.br ^bb2(%x, %f, %y, %f, %x : i32, (i32) -> i32, i32, (i32) -> (i32), i32)
^bb2(%b2: i32, %b3: (i32) -> i32, %b4: i32, %b5: (i32) -> (i32), %b6: i32):
  %w = call_indirect %b(%y) {a = [i32, (i32) -> i32, f32], constant} : (i32) -> i32
  return %w, %b : i32, (i32) -> i32
}
"""


def read(text: str) -> ModuleOp:
    module, found = parsed(text)
    assert module is not None and found == [], (found, text)
    return module


def named(module: ModuleOp, name: str) -> list[Operation]:
    return [op for op in module.walk() if op.name == name]


def test_types_of_functions_are_read_at_every_position() -> None:
    module = read(PROGRAM)
    take, kernel = named(module, "func.func")[2:]
    taken = take.properties["function_type"]
    assert isinstance(taken, FunctionType)
    assert [str(type_) for type_ in taken.inputs] == ["() -> ()", "tuple<(i32) -> i32, i32>", "(i32) -> i32", "f32"]
    assert list(taken.outputs) == [FunctionType.from_lists([], [])]
    first, _, _, make, pair = kernel.regions[0].blocks[0].args
    assert first.type == UNARY
    assert make.type == FunctionType.from_lists([], [UNARY])
    assert isinstance(pair.type, FunctionType) and len(pair.type.outputs) == 2
    (branch, second), (indirect,) = named(module, "cf.br"), named(module, "func.call_indirect")
    assert [value.type for value in branch.operands] == [UNARY, i32]
    assert [value.type for value in second.operands] == [i32, UNARY, i32, UNARY, i32]
    assert [value.type for value in indirect.operands] == [UNARY, i32]
    assert "constant" in indirect.attributes


@pytest.mark.parametrize("generic", [False, True])
def test_what_is_printed_means_the_same(generic: bool) -> None:
    module = read(PROGRAM)
    text = print_module(module, generic=generic)
    again = read(text)
    assert same_module(module, again) is None
    assert print_module(again, generic=generic) == text


@pytest.mark.skipif(MLIR_OPT is None, reason="needs mlir-opt")
def test_mlir_reads_it_and_prints_what_is_read_back() -> None:
    module = read(PROGRAM)
    assert MLIR_OPT is not None
    printed = subprocess.run(
        [MLIR_OPT, "-"], input=print_module(module, generic=True), capture_output=True, text=True, check=True
    ).stdout
    assert same_module(module, read(printed)) is None


def findings(text: str) -> list[tuple[str, str]]:
    engine = DiagnosticEngine()
    module = parse_program(SourceFile("t.pto", text), engine)
    assert module is not None
    verify_module(module, engine)
    return [(found.rule, found.message) for found in engine.diagnostics]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("%0 = func.constant @nobody : (i32) -> i32", "function @nobody does not exist"),
        ("%0 = func.constant @g : (i64) -> i32", "@g has type (i32) -> i32, but (i64) -> i32 is stated here"),
        (
            '%0 = "func.call_indirect"(%f) : ((i32) -> i32) -> i32',
            "a (i32) -> i32 is called as a () -> i32",
        ),
    ],
)
def test_functions_that_do_not_fit(statement: str, message: str) -> None:
    text = "func.func private @g(i32) -> i32\nfunc.func @k(%f: (i32) -> i32) {\n" + statement + "\nreturn\n}\n"
    assert findings(text) == [("callee", message)]


def test_a_value_is_called_with_its_own_types() -> None:
    text = "func.func @k(%f: (i32) -> i32, %x: i64) {\n%0 = func.call_indirect %f(%x) : (i64) -> i32\nreturn\n}\n"
    assert findings(text) == [("callee", "a (i32) -> i32 is called as a (i64) -> i32")]

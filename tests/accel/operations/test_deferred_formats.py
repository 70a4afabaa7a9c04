"""Classes whose formats are deferred read and print what they always did."""

import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from xdsl.context import Context
from xdsl.dialects import test as tests
from xdsl.dialects.builtin import Builtin, i32
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def
from xdsl.irdl.declarative_assembly_format import FormatProgram
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError

from pto_dialect.accel.operations.deferred_formats import DeferredFormat, deferred_formats

CHECKOUT = Path(__file__).parents[3]

PROGRAM = """
func.func @f(%a: i32, %b: i32, %c: i1, %v: f32) -> i32 {
  %0 = arith.addi %a, %b overflow<nsw> : i32
  %1 = arith.select %c, %0, %a : i32
  %2 = arith.addf %v, %v fastmath<fast> : f32
  %3 = arith.cmpi slt, %1, %b : i32
  %4 = arith.extsi %a : i32 to i64
  func.return %1 : i32
}
"""

READ = f"""
from xdsl.context import Context
from xdsl.dialects import arith, builtin, func
from xdsl.parser import Parser
from xdsl.printer import Printer
context = Context()
for dialect in (builtin.Builtin, func.Func, arith.Arith):
    context.load_dialect(dialect)
module = Parser(context, {PROGRAM!r}).parse_module()
module.verify()
Printer().print_op(module)
print()
for wrong in ("arith.addi %a : i32", "arith.addi %a, %a", "arith.addi"):
    text = "func.func @f(%a: i32) {{\\n  %0 = " + wrong + "\\n  func.return\\n}}"
    try:
        Parser(context, text).parse_module()
    except Exception as error:
        print(type(error).__name__, error)
"""

DEFERRED = """
from xdsl.irdl.declarative_assembly_format import FormatProgram
make = FormatProgram.from_str
from pto_dialect.ir.core_dialects.core_ops import core_class
from pto_dialect.accel.operations.deferred_formats import DeferredFormat
assert core_class("arith.addi").name == "arith.addi"
assert FormatProgram.from_str is make
programs = [
    cell.cell_contents
    for cls in map(core_class, ("arith.select", "arith.negf"))
    for cell in cls.print.__closure__
]
assert programs and all(type(program) is DeferredFormat for program in programs)
assert not any(program._program for program in programs)
"""


def printed(code: str) -> str:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=CHECKOUT).stdout


def test_xdsl_reads_and_prints_the_same() -> None:
    deferred = printed(DEFERRED + READ)
    assert "arith.addi %a, %b" in deferred and "ParseError" in deferred
    assert deferred == printed(READ)


def test_checking_makes_no_program() -> None:
    check = """
from pto_dialect.accel.operations import deferred_formats
deferred_formats.DeferredFormat._ready = None
from pto_dialect import check, parse, print_module
text = '''func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  return %0 : i32
}
'''
check(text)
print(print_module(parse(text)))
"""
    assert "    %0 = arith.addi %a, %a : i32\n" in printed(check)


def test_a_format_is_read_when_it_is_needed() -> None:
    """The same class with and without: one program each, made once, for the first operation."""
    made: list[str] = []

    class Program:
        """In place of xDSL's."""

        def __init__(self, text: str, op_def: Any) -> None:
            made.append(f"{text} of {op_def}")

        def parse(self, parser: Any, op_type: Any) -> tuple[Any, ...]:
            return "read", parser, op_type

        def print(self, printer: Any, op: Any) -> None:
            printer.append(op)

    deferred, written = DeferredFormat(Program, "$a", "an op"), []
    assert not made
    assert deferred.parse("parser", int) == ("read", "parser", int)
    deferred.print(written, "op")
    assert (made, written) == (["$a of an op"], ["op"])


def test_classes_made_inside_have_deferred_formats() -> None:
    before = FormatProgram.from_str
    with deferred_formats():

        @irdl_op_definition
        class TwiceOp(IRDLOperation):
            name = "test.twice"
            value = operand_def(i32)
            result = result_def(i32)
            assembly_format = "$value attr-dict"

    assert FormatProgram.from_str is before
    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(Dialect("test", [TwiceOp, tests.TestOp]))
    text = """
builtin.module {
  %0 = "test.op"() : () -> i32
  %1 = test.twice %0
  %2 = test.twice %1 {name = "x"}
}
"""
    module = Parser(context, text).parse_module()
    assert [op.name for op in module.body.block.ops][1:] == ["test.twice", "test.twice"]
    stream = StringIO()
    Printer(stream).print_op(module)
    assert stream.getvalue().strip() == text.strip()
    with pytest.raises(ParseError):
        Parser(context, "%0 = test.twice").parse_module()

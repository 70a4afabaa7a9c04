"""Bits of the control register are set and cleared by computed numbers."""

import numpy as np

from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.syntax.read.parser import parse_program

PROGRAM = """module attributes {pto.target_arch = "a5"} {
  func.func @k(%b: !pto.ptr<i64, gm>, %n: i64) attributes {pto.kernel} {
    %i0 = arith.constant 0 : index
    %i1 = arith.constant 1 : index
    %c2 = arith.constant 2 : i64
    %v = arith.constant 5 : i64
    %set = pto.sbitset1 %v, %n : i64, i64 -> i64
    %clear = pto.sbitset0 %set, %c2 : i64, i64 -> i64
    pto.store_scalar %set, %b[%i0] : !pto.ptr<i64, gm>, i64
    pto.store_scalar %clear, %b[%i1] : !pto.ptr<i64, gm>, i64
    return
  }
}
"""


def test_bits_are_set_and_cleared():
    module = parse_program(SourceFile("k.pto", PROGRAM), DiagnosticEngine())
    assert module is not None
    kernel = Kernel(module, None, None, RunOptions())
    for number in (0, 3, 48, 62):
        values = [np.zeros(2, np.int64), number]
        kernel.run(values)
        assert values[0].tolist() == [5 | 1 << number, (5 | 1 << number) & ~4]

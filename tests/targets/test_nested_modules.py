"""A module inside another: what checks and runs take as its target."""

import pytest

from pto_dialect.analysis.target import profile_of
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.verify.verifier import verify_module

TILE = "!pto.tile_buf<vec, 16x64xbf16>"
MICRO = 'pto.vecscope { %m = pto.pset_b32 "PAT_ALL" : !pto.mask<b32> }'
CASES = [
    # outer, inner, body, option, target
    ("", "", "", None, "a2a3"),
    ('pto.target_arch = "a5"', "", "", None, "a5"),
    ('pto.target_arch = "a5"', 'pto.target_arch = "a3"', "", None, "a2a3"),
    ('pto.target_arch = "a3"', 'pto.target_arch = "a5"', "", None, "a5"),
    ('pto.target_arch = "a3"', "", MICRO, None, "a2a3"),
    ("", "", MICRO, None, "a5"),
    ('"pto.device-spec" = "Ascend950"', "", "", None, "a5"),
    # The nearer module says it, in whichever attribute.
    ('pto.target_arch = "a3"', '"pto.device-spec" = "Ascend950"', "", None, "a5"),
    ('pto.target_arch = "a3"', "", "", "a5", "a5"),
]


@pytest.mark.parametrize(("outer", "inner", "body", "option", "expected"), CASES)
def test_one_target_for_checks_and_runs(outer: str, inner: str, body: str, option: str | None, expected: str):
    text = f"""module attributes {{{outer}}} {{
  module attributes {{{inner}}} {{
    func.func @f() {{
      %c0 = arith.constant 0 : i64
      {body}
      %t = pto.alloc_tile : {TILE}
      pto.tadd ins(%t, %t : {TILE}, {TILE}) outs(%t : {TILE})
      return
    }}
  }}
}}"""
    engine = DiagnosticEngine()
    module = parse_program(SourceFile("n.pto", text), engine)
    assert module is not None
    (inside,) = [op for op in module.walk() if op.name == "func.func"]
    assert profile_of(inside, option).name == expected
    assert Kernel(module, "f", option, RunOptions()).profile.name == expected
    verify_module(module, engine, target=option)
    # The vector unit of a2a3 has no sums of bf16.
    assert ("tile-dtype" in [d.rule for d in engine.diagnostics]) == (expected == "a2a3")

"""Operations in generic form with too few or too many operands, results, attributes and regions: whatever is wrong is
reported, and nothing raises."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core_dialects.core_ops import CORE_SHAPES
from pto_dialect.passes.registry import VERIFY_PASSES
from pto_dialect.passes.run import run_passes
from pto_dialect.syntax.print.printer import print_module
from pto_dialect.syntax.read.parser import parse_program

TILE = "!pto.tile_buf<vec, 16x16xf32>"
VALUES = f"%n: i64, %i: index, %t: {TILE}, %p: !pto.ptr<f32, ub>, %m: memref<16xf32>"
USES, TYPES = "%n, %i, %t, %p, %m", f"i64, index, {TILE}, !pto.ptr<f32, ub>, memref<16xf32>"

FORMS: dict[str, Callable[[str], str]] = {
    "nothing": lambda name: f'"{name}"() : () -> ()',
    "a number": lambda name: f'"{name}"(%n) : (i64) -> ()',
    "a result": lambda name: f'%r = "{name}"() : () -> i64',
    "two results": lambda name: f'%r:2 = "{name}"(%t) : ({TILE}) -> ({TILE}, i1)',
    "many operands": lambda name: f'%r = "{name}"({USES}) : ({TYPES}) -> {TILE}',
    "tiles": lambda name: f'"{name}"(%t, %t, %t) : ({TILE}, {TILE}, {TILE}) -> ()',
    "a pointer": lambda name: f'%r = "{name}"(%p, %i) : (!pto.ptr<f32, ub>, index) -> !pto.ptr<f32, ub>',
    "attributes": lambda name: (
        f'"{name}"(%n) {{id = "x", name = 1, value = [], operandSegmentSizes = array<i32: 1, 0>, mode = {{}}}} '
        ": (i64) -> ()"
    ),
    "segments": lambda name: f'"{name}"() {{operandSegmentSizes = array<i32: 9, -1>}} : () -> ()',
    "a region": lambda name: f'"{name}"() ({{\n}}) : () -> ()',
    "regions": lambda name: f'"{name}"(%n) ({{\n^bb0(%x: i64):\n"{name}"(%x) : (i64) -> ()\n}}, {{\n}}) : (i64) -> ()',
}


@pytest.mark.parametrize("form", FORMS)
def test_nothing_raises(form: str) -> None:
    functions = "".join(
        f"func.func @f{number}({VALUES}) {{\n{FORMS[form](name)}\nreturn\n}}\n"
        for number, name in enumerate((*OPS, *CORE_SHAPES))
    )
    text = f'module attributes {{pto.target_arch = "a5"}} {{\n{functions}}}\n'
    options = DiagnosticOptions(pedantic=True, max_errors=0)
    engine = DiagnosticEngine(options)
    module = parse_program(SourceFile("t.pto", text), engine)
    assert module is not None
    run_passes(module, VERIFY_PASSES, engine, None)
    assert engine.has_errors
    # The later ones alone, too.
    run_passes(module, VERIFY_PASSES[1:], DiagnosticEngine(options), None)
    assert print_module(module)
    assert print_module(module, generic=True)


def test_operands_beyond_those_declared_are_reported() -> None:
    text = f'func.func @f({VALUES}) {{\n%r = "pto.castptr"(%n, %i) : (i64, index) -> !pto.ptr<f32, ub>\nreturn\n}}\n'
    engine = DiagnosticEngine()
    module = parse_program(SourceFile("t.pto", text), engine)
    assert module is not None
    run_passes(module, VERIFY_PASSES, engine, None)
    assert [diagnostic.rule for diagnostic in engine.diagnostics] == ["operand-count"]


def test_a_loop_of_two_blocks_that_carries_a_stream_is_reported() -> None:
    text = """func.func @f(%u: !pto.ptr<f32, ub>) {
  %c0 = arith.constant 0 : index
  pto.vecscope {
    %a = pto.init_align : !pto.align
    %r = scf.for %i = %c0 to %c0 step %c0 iter_args(%s = %a) -> (!pto.align) {
      cf.br ^next
    ^next:
      scf.yield %s : !pto.align
    }
  }
  return
}
"""
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    module = parse_program(SourceFile("test.pto", text), engine)
    assert module is not None and not engine.has_errors
    run_passes(module, VERIFY_PASSES, engine, None)
    assert [found.rule for found in engine.diagnostics] == ["region-form"]


def test_a_product_without_result_and_destination_is_reported() -> None:
    acc, left, right = (
        "!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>",
        "!pto.tile_buf<left, 16x16xf16, blayout=col_major, slayout=row_major>",
        "!pto.tile_buf<right, 16x16xf16, slayout=col_major>",
    )
    text = f"""func.func @f(%c: {acc}, %l: {left}, %r: {right}) {{
  "pto.tmatmul.acc"(%c, %l, %r) : ({acc}, {left}, {right}) -> ()
  return
}}
"""
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    module = parse_program(SourceFile("test.pto", text), engine)
    assert module is not None and not engine.has_errors
    run_passes(module, VERIFY_PASSES, engine, None)
    assert [found.rule for found in engine.diagnostics] == ["op-missing-outs"]

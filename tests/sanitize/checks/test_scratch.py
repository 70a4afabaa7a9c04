"""Scratch tiles, and sources that an operation overwrites: written, with undefined contents afterwards, where the
target touches them; the run, its sanitizers, check-memory, check-sync and insert-sync agree."""

from __future__ import annotations

import numpy as np
import pytest
from sanitize_programs import diagnostics

from pto_dialect import compile as compile_program
from pto_dialect import parse
from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.passes.registry import make_pass

ROWS, COLS = 16, 128
T, C = f"!pto.tile_buf<vec, {ROWS}x{COLS}xf32>", f"!pto.tile_buf<vec, {ROWS}x1xf32, blayout=col_major>"
P = f"!pto.partition_tensor_view<{ROWS}x{COLS}xf32>"
BYTES = ROWS * COLS * 4
BARRIER = "pto.barrier #pto.pipe<PIPE_ALL>"

USERS = {
    "trowsum": (f"ins(%x, %t : {T}, {T}) outs(%c : {C})", {"a2a3"}),
    "trowmax": (f"ins(%x, %t : {T}, {T}) outs(%c : {C})", {"a2a3"}),
    "trowprod": (f"ins(%x, %t : {T}, {T}) outs(%c : {C})", {"a2a3"}),
    "tcolsum": (f"ins(%x, %t {{isBinary = true}} : {T}, {T}) outs(%r : ROW)", {"a2a3", "a5"}),
    "tcolargmax": (f"ins(%x, %t : {T}, {T}) outs(%i : INDEX)", {"a2a3"}),
    "trem": (f"ins(%x, %x, %t : {T}, {T}, {T}) outs(%y : {T})", {"a2a3"}),
    "tpow": (f"ins(%x, %x, %t : {T}, {T}, {T}) outs(%y : {T})", {"a2a3"}),
    "trowexpandmul": (f"ins(%x, %c, %t : {T}, {C}, {T}) outs(%y : {T})", {"a2a3"}),
}
"""Operations with a scratch tile %t, and the targets that touch it."""


def text(op: str, scratch_at: int, target: str, after: str = "", stored: str = "keep") -> str:
    statement = USERS[op][0].replace("ROW", f"!pto.tile_buf<vec, 1x{COLS}xf32>")
    statement = statement.replace("INDEX", f"!pto.tile_buf<vec, 1x{COLS}xi32>")
    return f"""module attributes {{pto.target_arch = "{target}"}} {{
    func.func @k(%in: !pto.ptr<f32>, %out: !pto.ptr<f32>) attributes {{pto.entry}} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %m = arith.constant {ROWS} : index
      %n = arith.constant {COLS} : index
      %a0 = arith.constant 0 : i64
      %a1 = arith.constant {BYTES} : i64
      %at = arith.constant {scratch_at} : i64
      %a2 = arith.constant {2 * BYTES} : i64
      %a3 = arith.constant {3 * BYTES} : i64
      %v = pto.make_tensor_view %in, shape = [%m, %n], strides = [%n, %c1] : !pto.tensor_view<?x?xf32>
      %w = pto.make_tensor_view %out, shape = [%m, %n], strides = [%n, %c1] : !pto.tensor_view<?x?xf32>
      %p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%m, %n] : !pto.tensor_view<?x?xf32> -> {P}
      %q = pto.partition_view %w, offsets = [%c0, %c0], sizes = [%m, %n] : !pto.tensor_view<?x?xf32> -> {P}
      %x = pto.alloc_tile addr = %a0 : {T}
      %keep = pto.alloc_tile addr = %a1 : {T}
      %t = pto.alloc_tile addr = %at : {T}
      %y = pto.alloc_tile addr = %a2 : {T}
      %c = pto.alloc_tile addr = %a3 : {C}
      %r = pto.alloc_tile addr = %a3 : !pto.tile_buf<vec, 1x{COLS}xf32>
      %i = pto.alloc_tile addr = %a3 : !pto.tile_buf<vec, 1x{COLS}xi32>
      pto.tload ins(%p : {P}) outs(%x : {T})
      pto.tload ins(%p : {P}) outs(%keep : {T})
      {BARRIER}
      {f"pto.trowmax ins(%x, %y : {T}, {T}) outs(%c : {C})" if op.startswith("trowexpand") else ""}
      {BARRIER}
      pto.{op} {statement}
      {after}
      {BARRIER}
      pto.tstore ins(%{stored} : {T}) outs(%q : {P})
      return
    }}
    }}"""


def errors(program: str) -> set[str]:
    values = [np.arange(1, ROWS * COLS + 1, dtype=np.float32).reshape(ROWS, COLS) for _ in "ab"]
    return {one.rule for one in diagnostics(program, values) if one.severity is Severity.ERROR}


def checked(program: str, name: str) -> set[str]:
    engine = DiagnosticEngine()
    make_pass(name, None).run(parse(program), engine)
    return {one.rule for one in engine.diagnostics if one.severity is Severity.ERROR}


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@pytest.mark.parametrize("op", USERS)
@pytest.mark.parametrize("place", [BYTES, BYTES + 1024, 4 * BYTES])
def test_scratch_over_a_tile_that_is_read_later(op: str, target: str, place: int) -> None:
    overwritten = target in USERS[op][1] and place < 2 * BYTES
    program = text(op, place, target)
    assert bool(errors(program) & {"mem-overlap", "mem-uninit"}) == overwritten
    assert ("overlap-tiles" in checked(program, "check-memory")) == overwritten


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@pytest.mark.parametrize("op", USERS)
def test_scratch_that_is_read_afterwards(op: str, target: str) -> None:
    program = text(op, BYTES, target, stored="t").replace(f"outs(%keep : {T})", f"outs(%t : {T})")
    assert ("mem-uninit" in errors(program)) == (target in USERS[op][1])


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@pytest.mark.parametrize("op", USERS)
def test_scratch_that_a_transfer_fills_at_the_same_time(op: str, target: str) -> None:
    """A load into the scratch needs the end of the operation, where the target touches it."""
    after = f"pto.tload ins(%p : {P}) outs(%t : {T})"
    program = text(op, 4 * BYTES, target, after=after, stored="t")
    touched = target in USERS[op][1]
    assert ("race-waw" in errors(program)) == touched
    assert ("sync-static-hazard" in checked(program, "check-sync")) == touched


@pytest.mark.parametrize("op", USERS)
def test_the_result_does_not_depend_on_what_was_in_the_scratch(op: str) -> None:
    values = np.linspace(1, 2, ROWS * COLS, dtype=np.float32).reshape(ROWS, COLS)
    stored = "y" if "%y" in USERS[op][0] else "keep"
    out = np.zeros_like(values)
    compile_program(parse(text(op, 4 * BYTES, "a2a3", stored=stored)))(values, out)
    if stored == "y":
        wanted = {"trem": np.zeros_like(values), "tpow": values**values}.get(op, values * values.max(1, keepdims=True))
        np.testing.assert_allclose(out, wanted, rtol=1e-5)
    else:
        np.testing.assert_array_equal(out, values)


SEQUENCE = """module attributes {pto.target_arch = "TARGET"} {
func.func @k(%out: !pto.ptr<i32>) attributes {pto.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %a0 = arith.constant 0 : i64
  %a1 = arith.constant 4096 : i64
  %s = arith.constant 7 : i32
  %w = pto.make_tensor_view %out, shape = [%c1, %n], strides = [%n, %c1] : !pto.tensor_view<?x?xi32>
  %q = pto.partition_view %w, offsets = [%c0, %c0], sizes = [%c1, %n]
    : !pto.tensor_view<?x?xi32> -> !pto.partition_tensor_view<1x64xi32>
  %d = pto.alloc_tile addr = %a0 : !pto.tile_buf<vec, 1x64xi32>
  %t = pto.alloc_tile addr = %a1 : !pto.tile_buf<vec, 1x192xf32>
  STATEMENT
  ORDER
  pto.tstore ins(%d : !pto.tile_buf<vec, 1x64xi32>) outs(%q : !pto.partition_tensor_view<1x64xi32>)
  return
}
}"""
PLAIN = "pto.tci ins(%s : i32) outs(%d : !pto.tile_buf<vec, 1x64xi32>)"
WITH_SCRATCH = "pto.tci ins(%s, %t : i32, !pto.tile_buf<vec, 1x192xf32>) outs(%d : !pto.tile_buf<vec, 1x64xi32>)"


def order(source: str) -> str:
    return "\n".join(f"pto.{kind}_flag[<{source}>, <PIPE_MTE3>, <EVENT_ID0>]" for kind in ("set", "wait"))


def sequence(statement: str, target: str, ordered: str) -> str:
    return SEQUENCE.replace("TARGET", target).replace("STATEMENT", statement).replace("ORDER", ordered)


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@pytest.mark.parametrize(("statement", "pipe"), [(PLAIN, "PIPE_S"), (WITH_SCRATCH, "PIPE_V")], ids=["plain", "scratch"])
def test_a_sequence_runs_where_its_form_does(statement: str, pipe: str, target: str) -> None:
    for source in ("PIPE_S", "PIPE_V"):
        program = sequence(statement, target, order(source))
        out = np.zeros((1, 64), np.int32)
        rules = {one.rule for one in diagnostics(program, [out]) if one.severity is Severity.ERROR}
        assert ("race-raw" in rules) == (source != pipe)
        assert out.reshape(-1).tolist() == list(range(7, 71))
        assert ("sync-static-hazard" in checked(program, "check-sync")) == (source != pipe)
    engine = DiagnosticEngine()
    module = parse(sequence(statement, target, ""))
    make_pass("insert-sync", None).run(module, engine)
    assert f"{pipe}>, <PIPE_MTE3" in str(module) or f"{pipe}, PIPE_MTE3" in _flags(module)


def _flags(module: object) -> str:
    from pto_dialect.syntax.print.printer import print_module

    lines = print_module(module).splitlines()  # pyright: ignore[reportArgumentType]
    text = "\n".join(line for line in lines if "set_flag" in line)
    return text.replace("<", "").replace(">", "").replace('"', "").replace("#pto.pipe", "")


QUANT = """module attributes {pto.target_arch = "TARGET"} {
func.func @k(%in: !pto.ptr<f32>, %scale: !pto.ptr<f32>, %out: !pto.ptr<f32>) attributes {pto.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 16 : index
  %n = arith.constant 32 : index
  %v = pto.make_tensor_view %in, shape = [%m, %n], strides = [%n, %c1] : !pto.tensor_view<?x?xf32>
  %u = pto.make_tensor_view %scale, shape = [%m, %c1], strides = [%c1, %c1] : !pto.tensor_view<?x?xf32>
  %w = pto.make_tensor_view %out, shape = [%m, %n], strides = [%n, %c1] : !pto.tensor_view<?x?xf32>
  %p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%m, %n] : !pto.tensor_view<?x?xf32> -> VIEW
  %f = pto.partition_view %u, offsets = [%c0, %c0], sizes = [%m, %c1] : !pto.tensor_view<?x?xf32> -> COLUMN
  %q = pto.partition_view %w, offsets = [%c0, %c0], sizes = [%m, %n] : !pto.tensor_view<?x?xf32> -> VIEW
  %x = pto.alloc_tile : TILE
  %s = pto.alloc_tile : !pto.tile_buf<vec, 16x1xf32, blayout=col_major>
  %t = pto.alloc_tile : TILE
  %d = pto.alloc_tile : !pto.tile_buf<vec, 16x32xi8>
  pto.tload ins(%p : VIEW) outs(%x : TILE)
  pto.tload ins(%f : COLUMN) outs(%s : !pto.tile_buf<vec, 16x1xf32, blayout=col_major>)
  pto.tquant ins(%x, %s : TILE, !pto.tile_buf<vec, 16x1xf32, blayout=col_major>)
    outs(%d, %t : !pto.tile_buf<vec, 16x32xi8>, TILE) {quant_type = #pto<quant_type INT8_SYM>}
  pto.tstore ins(%STORED : TILE) outs(%q : VIEW)
  return
}
}"""


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_a_source_that_quantisation_scales_in_place(target: str) -> None:
    program = QUANT.replace("COLUMN", "!pto.partition_tensor_view<16x1xf32>").replace("STORED", "x")
    program = program.replace("VIEW", "!pto.partition_tensor_view<16x32xf32>")
    program = program.replace("TILE", "!pto.tile_buf<vec, 16x32xf32>").replace("TARGET", target)
    values = [np.ones((16, 32), np.float32), np.ones((16, 1), np.float32), np.zeros((16, 32), np.float32)]
    rules = {one.rule for one in diagnostics(program, values) if one.severity is Severity.ERROR}
    assert ("mem-uninit" in rules) == (target == "a2a3")

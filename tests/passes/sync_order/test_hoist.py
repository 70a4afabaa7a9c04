"""Flags of the pipeline of an inner loop, out of the loops around it.

Source: docs/reference/synchronisation.md, "Multi-buffers", "Judging a program".
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from cube_programs import CONTENT, SCHEDULES, copies, passed, run
from xdsl.dialects.builtin import ModuleOp

from pto_dialect import parse, print_module
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.passes.registry import make_pass
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions

pytest.importorskip("islpy")

PART = "!pto.partition_tensor_view<16x64xf32>"
TILE = "!pto.tile_buf<vec, 16x64xf32>"
LOAD = f"pto.tload ins(%p : {PART}) outs(%x : {TILE})"
TWICE = f"pto.tadd ins(%x, %x : {TILE}, {TILE}) outs(%y : {TILE})"
LOAD_Z = f"pto.tload ins(%p0 : {PART}) outs(%z : {TILE})"
STORE = f"pto.tstore ins(%y : {TILE}) outs(%q : {PART})"
TWO_LOADS = (LOAD_Z, LOAD, TWICE, STORE)
"""MTE2 has other work first, so the flag for %x is waited for in the next iteration."""


def nest(body: tuple[str, ...] = (LOAD, TWICE, STORE), before: str = "", after: str = "", trips: int = 3) -> str:
    """Rows of %a in blocks of 16, doubled: 4 outer iterations of ``trips`` inner ones; statements around the inner
    loop."""
    view = "!pto.tensor_view<?x?xf32>"
    lines = "\n".join(f"        {line}" for line in body)
    return f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @f(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>) attributes {{pto.entry}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %trips = arith.constant {trips} : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %rows = arith.constant {64 * trips} : index
    %av = pto.make_tensor_view %a, shape = [%rows, %c64], strides = [%c64, %c1] : {view}
    %bv = pto.make_tensor_view %b, shape = [%rows, %c64], strides = [%c64, %c1] : {view}
    %p0 = pto.partition_view %av, offsets = [%c0, %c0], sizes = [%c16, %c64] : {view} -> {PART}
    %x = pto.alloc_tile : {TILE}
    %y = pto.alloc_tile : {TILE}
    %z = pto.alloc_tile : {TILE}
    scf.for %i = %c0 to %c4 step %c1 {{
      {before}
      scf.for %j = %c0 to %trips step %c1 {{
        %first = arith.muli %i, %trips : index
        %block = arith.addi %first, %j : index
        %at = arith.muli %block, %c16 : index
        %p = pto.partition_view %av, offsets = [%at, %c0], sizes = [%c16, %c64] : {view} -> {PART}
        %q = pto.partition_view %bv, offsets = [%at, %c0], sizes = [%c16, %c64] : {view} -> {PART}
{lines}
      }}
      {after}
    }}
    return
  }}
}}
"""


def remarked(before: ModuleOp) -> tuple[ModuleOp, list[str]]:
    """The program after hoist-sync, and what that says."""
    module = parse(print_module(before), "program.pto")
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0, pedantic=True))
    make_pass("hoist-sync", None).run(module, engine)
    return module, [f"{one.rule}: {one.message}" for one in engine.diagnostics]


def hoisted(text: str, *passes: str) -> tuple[str, list[str]]:
    """The program with flags and after hoist-sync, and what that says; both forms compute the same under all schedules,
    and nothing is found about the order."""
    before = passed(text, *passes, "assign-memory", "insert-sync")[0]
    after, said = remarked(before)
    arrays = {"a": np.arange(64 * 3 * 64, dtype=np.float32).reshape(-1, 64), "b": np.zeros((192, 64), np.float32)}
    wanted = run(before, arrays)["b"]
    for schedule in SCHEDULES:
        assert np.array_equal(run(after, arrays, schedule)["b"], wanted), schedule
    instrumented = InstrumentedKernel(after, None, None, RunOptions(), SanitizeOptions(sync="strict"))
    instrumented.run(copies(arrays), 1)
    assert not [one.rule for one in instrumented.observer.findings.all if one.rule not in CONTENT]
    return print_module(after), said


def flags(text: str) -> list[str]:
    """The flags with constant numbers and the loops of a program, indented as in the text."""
    named = re.compile(r"^    ( *)(?:(scf\.for)|pto\.(\w+_flag)\[<PIPE_(\w+)>, <PIPE_(\w+)>, <EVENT_ID(\d)>)")
    found = [named.match(line) for line in text.splitlines()]
    return [one[1] + " ".join(part for part in one.groups()[1:] if part) for one in found if one]


def test_flags_stand_outside_of_both_loops():
    """Slots of an inner loop are handed on from one iteration of the outer loop to the next."""
    text, said = hoisted(nest(), "double-buffer")
    assert flags(text) == [
        "set_flag V MTE2 0",
        "set_flag V MTE2 1",
        "set_flag MTE3 V 0",
        "set_flag MTE3 V 1",
        "scf.for",
        "  scf.for",
        "wait_flag MTE3 V 0",
        "wait_flag MTE3 V 1",
        "wait_flag V MTE2 0",
        "wait_flag V MTE2 1",
    ]
    assert said == [
        "sync-hoisted: flags EVENT_ID0, EVENT_ID1 from PIPE_V to PIPE_MTE2 moved out of the loop (line 19)",
        "sync-hoisted: flags EVENT_ID0, EVENT_ID1 from PIPE_MTE3 to PIPE_V moved out of the loop (line 19)",
    ]


def test_what_follows_the_inner_loop_may_need_its_end():
    """The vector unit overwrites what MTE3 stores, so the flags between both stay; those of the loads move."""
    text, said = hoisted(nest(TWO_LOADS, after=f"pto.tmul ins(%z, %z : {TILE}, {TILE}) outs(%y : {TILE})"))
    assert said == ["sync-hoisted: flag EVENT_ID0 from PIPE_V to PIPE_MTE2 moved out of the loop (line 19)"]
    assert "      pto.wait_flag[<PIPE_MTE3>, <PIPE_V>" in text


def test_three_loops():
    """Flags move out of one loop after the other."""
    text = nest()
    head, body = text.split("    scf.for %i", 1)
    body, end = body.rsplit("    return", 1)
    three = f"{head}    scf.for %k = %c0 to %c1 step %c1 {{\n    scf.for %i{body}    }}\n    return{end}"
    text, said = hoisted(three, "double-buffer")
    assert len(said) == 4
    assert flags(text)[4:6] == ["scf.for", "  scf.for"]


def test_an_order_that_is_not_proved():
    """A flag whose number only a run knows may be any of them: nothing moves."""
    before = passed(nest(TWO_LOADS), "assign-memory", "insert-sync")[0]
    text = print_module(before).replace("@f(", "@f(%n: index, ")
    wait = "pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]"
    assert text.count(wait) == 1
    text = text.replace(wait, "pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %n]")
    module, (said,) = remarked(parse(text))
    assert said.startswith("sync-in-place: hoist-sync leaves the flags of this function where they are: its order")
    assert print_module(module) == text

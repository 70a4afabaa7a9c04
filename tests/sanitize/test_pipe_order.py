"""Who orders the pipes: barriers that only close a part of a program leave it to the compiler, barriers between pieces
of work do not.

Source: docs/reference/execution.md, "Who orders the pipes".
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from parse_helpers import parsed

from pto_dialect.analysis.pipe_order import has_manual_synchronization
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.passes.registry import make_pass
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions
from tools.pto_run import main as pto_run

LOAD, ADD, STORE = "LOAD", "ADD", "STORE"
ALL, VECTOR = "pto.barrier #pto.pipe<PIPE_ALL>", "pto.barrier #pto.pipe<PIPE_V>"
LINES = {
    LOAD: "pto.tload ins(%vp : !p) outs(%a : !t)",
    ADD: "pto.tadd ins(%a, %a : !t, !t) outs(%b : !t)",
    STORE: "pto.tstore ins(%b : !t) outs(%wp : !p)",
}
HEAD = """!t = !pto.tile_buf<vec, 16x16xf32>
!p = !pto.partition_tensor_view<16x16xf32>
module attributes {pto.target_arch = "a5"} {
  func.func @k(%p: !pto.ptr<f32>, %q: !pto.ptr<f32>) attributes {pto.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c16 = arith.constant 16 : index
    %one = arith.constant 1 : i32
    %x = arith.constant 0 : i64
    %y = arith.constant 4096 : i64
    %v = pto.make_tensor_view %p, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    %w = pto.make_tensor_view %q, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    %vp = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> -> !p
    %wp = pto.partition_view %w, offsets = [%c0, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> -> !p
    %a = pto.alloc_tile addr = %x : !t
    %b = pto.alloc_tile addr = %y : !t
"""
LOOP = ("scf.for %i = %c0 to %c2 step %c1 {", "}")


def program(*lines: str) -> str:
    return HEAD + "".join(f"    {LINES.get(line, line)}\n" for line in lines) + "    return\n  }\n}\n"


def instrumented(text: str) -> InstrumentedKernel:
    module, found = parsed(text)
    assert not found, found
    kernel = InstrumentedKernel(module, None, None, RunOptions(), SanitizeOptions())
    kernel.run([np.ones((16, 16), np.float32), np.zeros((16, 16), np.float32)], 1)
    return kernel


LEFT = {
    "no barrier": (LOAD, ADD, STORE),
    "at the end": (LOAD, ADD, STORE, ALL),
    "before the last store": (LOAD, ADD, ALL, STORE),
    "before the last store and at the end": (LOAD, ADD, ALL, STORE, ALL),
    "at the end of a loop": (LOOP[0], LOAD, ADD, STORE, ALL, LOOP[1]),
    "two of them at the end": (LOAD, ADD, STORE, ALL, ALL),
}
BY_HAND = {
    "between load and sum": ((LOAD, ALL, ADD, STORE), ["race-raw"]),
    "between load and sum, and at the end": ((LOAD, ALL, ADD, STORE, ALL), ["race-raw"]),
    "all of them": ((LOAD, ALL, ADD, ALL, STORE), []),
    "all of them, and at the end": ((LOAD, ALL, ADD, ALL, STORE, ALL), []),
    "a second part without": ((LOAD, ADD, STORE, ALL, LOAD, ADD, STORE), ["race-raw", "race-raw"]),
    "of one pipe": ((LOAD, ADD, VECTOR, STORE), ["race-raw", "race-raw"]),
    "a copy": (("pto.tload ins(%vp : !p) outs(%b : !t)", ALL, STORE), []),
    "flags": (
        (
            LOAD,
            'pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]',
            'pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]',
            ADD,
            STORE,
            ALL,
        ),
        ["race-raw"],
    ),
}


@pytest.mark.parametrize("name", LEFT)
def test_a_barrier_that_closes_a_part_leaves_the_pipes_to_the_compiler(name: str) -> None:
    text = program(*LEFT[name])
    kernel = instrumented(text)
    assert kernel.compiler_orders
    assert [finding.rule for finding in kernel.observer.findings.all] == []
    module, _ = parsed(text)
    engine = DiagnosticEngine()
    make_pass("check-sync", None).run(module, engine)
    assert not engine.diagnostics


@pytest.mark.parametrize("name", BY_HAND)
def test_barriers_between_pieces_of_work_are_judged(name: str) -> None:
    lines, rules = BY_HAND[name]
    kernel = instrumented(program(*lines))
    assert not kernel.compiler_orders
    assert {finding.rule for finding in kernel.observer.findings.all} == set(rules)


def test_barriers_beside_communication_leave_the_pipes_to_the_compiler() -> None:
    notify = "pto.comm.tnotify(%s, %one : !pto.partition_tensor_view<1x1xi32>, i32) {notifyOp = #pto<notify_op set>}"
    text = program(LOAD, ADD, STORE, ALL, notify, LOAD, ADD, STORE).replace(
        "%q: !pto.ptr<f32>)", "%q: !pto.ptr<f32>, %s: !pto.partition_tensor_view<1x1xi32>)"
    )
    module, found = parsed(text)
    assert not found, found
    assert not has_manual_synchronization(list(module.walk()))
    far, _ = parsed(text.replace(f"    {ALL}\n    {notify}", f"    {ALL}\n    {LINES[ADD]}\n    {notify}"))
    assert has_manual_synchronization(list(far.walk()))


CLOSING = "its barriers on all pipes only close parts of it (line 21)"
BETWEEN = "with barriers between pieces of work (lines 19, 21)"


@pytest.mark.parametrize(
    ("lines", "said", "ordered_by"),
    [
        (LEFT["at the end"], f"order of the pipes: the program leaves it to the compiler; {CLOSING}", "compiler"),
        (BY_HAND["all of them"][0], f"assumed: the program orders its pipes by hand, {BETWEEN}", "program"),
    ],
)
def test_a_run_states_what_was_assumed(
    lines: tuple[str, ...], said: str, ordered_by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.pto").write_text(program(*lines))
    arguments = ["k.pto", "--arg", "p=ones:f32:16x16", "--arg", "q=zeros:f32:16x16", "--sanitize"]
    found = CliRunner().invoke(pto_run, [*arguments, "--report", "found.json"])
    assert found.exit_code == 0, found.output
    assert said in found.output
    assert json.loads(Path("found.json").read_text())["pipes_ordered_by"] == ordered_by
    found = CliRunner().invoke(pto_run, [*arguments, "--report", "found.sarif"])
    properties = json.loads(Path("found.sarif").read_text())["runs"][0]["properties"]
    assert properties == {"referenceRelease": "0.64", "pipesOrderedBy": ordered_by}

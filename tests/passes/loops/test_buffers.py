"""Several slots for tiles of a loop. Source: docs/reference/synchronisation.md, "Multi-buffers"."""

import numpy as np
import pytest
from cube_programs import passed

from pto_dialect import print_module
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.driver.prove.pipeline import prove_passes
from pto_dialect.runtime.queues.schedule import Schedule
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

TILE = "!pto.tile_buf<vec, 16x64xf32>"
PART = "!pto.partition_tensor_view<16x64xf32>"
PROGRAM = f"""
module attributes {{pto.target_arch = "a5"}} {{
func.func @f(%a: !pto.ptr<f32>, %low: index, %high: index, %step: index) attributes {{pto.entry}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c4096 = arith.constant 4096 : index
  %v = pto.make_tensor_view %a, shape = [%c4096, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
  %x = pto.alloc_tile : {TILE}
  %y = pto.alloc_tile : {TILE}
  scf.for %i = %low to %high step %step {{
    %at = arith.muli %i, %c16 : index
    %p = pto.partition_view %v, offsets = [%at, %c0], sizes = [%c16, %c64] : !pto.tensor_view<?x?xf32> -> {PART}
    BEFORE
    pto.tload ins(%p : {PART}) outs(%x : {TILE})
    pto.tmul ins(%x, %x : {TILE}, {TILE}) outs(%y : {TILE})
    pto.tstore ins(%y : {TILE}) outs(%p : {PART})
  }}
  AFTER
  return
}}
}}
"""


def program(before: str = "", after: str = "") -> str:
    """A loop with two tiles, and something in front of the load, or behind the loop."""
    return PROGRAM.replace("BEFORE", before).replace("AFTER", after)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize(("low", "high", "step"), [(0, 0, 1), (0, 1, 1), (0, 5, 1), (1, 8, 2)])
def test_each_iteration_has_its_slot(count, low, high, step):
    module, said = passed(program(), f"double-buffer{{count={count}}}", "assign-memory", "insert-sync")
    assert not said
    assert print_module(module).count(f"count={count}> -> {TILE}") == 2
    a = np.random.default_rng(3).uniform(-2, 2, (256, 64)).astype(np.float32)
    expected = a.copy()
    for turn in range(low, high, step):
        expected[16 * turn : 16 * turn + 16] **= 2
    for schedule in ("text", "oldest", "newest", "random:1"):
        found = a.copy()
        options = RunOptions(schedule=Schedule.parse(schedule, strict=True))
        Kernel(module, None, None, options).run([found, low, high, step], 1)
        assert np.array_equal(found, expected), schedule


def test_flags_have_a_number_for_each_slot():
    module, _ = passed(program(), "double-buffer", "assign-memory", "insert-sync")
    assert "pto.wait_flag_dyn" in print_module(module)


@pytest.mark.parametrize(
    ("before", "after", "left"),
    [
        (f"pto.tadd ins(%x, %x : {TILE}, {TILE}) outs(%x : {TILE})", "", 1),
        ("", f"pto.tadd ins(%y, %y : {TILE}, {TILE}) outs(%y : {TILE})", 1),
        (f"pto.tabs ins(%y : {TILE}) outs(%x : {TILE})", "", 1),
        ("%w = pto.subview %x[%c0, %c0] sizes [8, 64] : "
         f"{TILE} -> !pto.tile_buf<vec, 8x64xf32>", "", 1),
    ],
    ids=["read before it is written", "used behind the loop", "carried to the next iteration", "seen in parts"],
)  # fmt: skip
def test_tiles_that_stay_one(before, after, left):
    module, _ = passed(program(before, after), "double-buffer")
    assert print_module(module).count("pto.alloc_tile") == left


def test_addresses_stay():
    text = program().replace(
        f"%x = pto.alloc_tile : {TILE}", f"%z = arith.constant 0 : i64\n  %x = pto.alloc_tile addr = %z : {TILE}"
    )
    module, _ = passed(text, "double-buffer")
    assert print_module(module).count("pto.alloc_tile addr") == 1


def test_the_proof_holds():
    module, _ = passed(program())
    engine = DiagnosticEngine(DiagnosticOptions(pedantic=True))
    calls = ["unroll{factor=3}", "double-buffer", "assign-memory", "insert-sync"]
    assert prove_passes(module, calls, engine, None, seconds=30)
    assert [one.rule for one in engine.diagnostics] == ["prove-done"]


@pytest.mark.parametrize("low", [0, 1, 16])
@pytest.mark.parametrize("step", [1, 16])
def test_the_number_of_an_iteration_is_computed_from_what_is_not_trivial(low, step):
    text = program().replace("%low to %high step %step", f"%c{low} to %high step %c{step}")
    module, said = passed(text, "double-buffer")
    assert not said
    printed = print_module(module)
    assert printed.count("arith.subi") == (low != 0)
    assert printed.count("arith.divui") == (step != 1)
    assert printed.count("arith.remui") == 1

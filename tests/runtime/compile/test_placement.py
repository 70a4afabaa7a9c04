"""Tiles share memory when their lives do not overlap, from first to last use. Source: docs/reference/execution.md,
"Pointers, tiles and views".
"""

from __future__ import annotations

import numpy as np
import pytest

import pto_dialect
from pto_dialect.diagnostics.refused import VerifyError
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

COLS = 32768
TILE = f"!pto.tile_buf<vec, 1x{COLS}xf32>"
PART = f"!pto.partition_tensor_view<1x{COLS}xf32>"
COUNT = 5
"""Tiles of 128 KiB; the unified buffer has 192 KiB on a2a3."""


def program(both: bool) -> str:
    """All tiles are allocated at the start and used one after the other, or (``both``) two at once."""
    names = range(COUNT)
    lines = [f"%t{i} = pto.alloc_tile : {TILE}" for i in names]
    for i in names:
        lines += [
            f"pto.tload ins(%x{i} : {PART}) outs(%t{i} : {TILE})",
            f"pto.tadds ins(%t{i}, %v : {TILE}, f32) outs(%t{i} : {TILE})",
            f"pto.tstore ins(%t{i} : {TILE}) outs(%x{i} : {PART})",
        ]
    if both:
        lines.append(f"pto.tstore ins(%t0 : {TILE}) outs(%x1 : {PART})")
    arguments = ", ".join([*(f"%x{i}: {PART}" for i in names), "%v: f32"])
    return f"func.func @f({arguments}) {{\n  " + "\n  ".join(lines) + "\n  return\n}\n"


def test_tiles_that_are_allocated_together_and_used_one_after_the_other() -> None:
    arrays = [np.full((1, COLS), i, np.float32) for i in range(COUNT)]
    pto_dialect.compile(pto_dialect.parse(program(both=False)), target="a2a3")(*arrays, 0.5)
    for i, array in enumerate(arrays):
        assert (array == i + 0.5).all()


def test_a_tile_that_is_used_again_keeps_its_memory() -> None:
    """The verifier says so; where it does not run, placement does."""
    module = pto_dialect.parse(program(both=True))
    with pytest.raises(VerifyError) as refused:
        pto_dialect.compile(module, target="a2a3")
    assert [one.rule for one in refused.value.diagnostics] == ["capacity-live"]
    with pytest.raises(ProgramError) as error:
        Kernel(module, None, "a2a3", RunOptions())
    assert error.value.rule == "capacity-dynamic"


@pytest.mark.parametrize("step", [1, 2])
def test_values_that_one_iteration_leaves_to_the_next(step: int) -> None:
    """A tile that is allocated outside of a loop lives as long as the loop."""
    small, part = "!pto.tile_buf<vec, 1x8xf32>", "!pto.partition_tensor_view<1x8xf32>"
    text = f"""func.func @f(%x: {part}, %v: f32, %w: f32, %n: index, %s: index) {{
      %c0 = arith.constant 0 : index
      %sum = pto.alloc_tile : {small}
      %other = pto.alloc_tile : {small}
      %big = pto.alloc_tile : !pto.tile_buf<vec, 1x49000xf32>
      pto.texpands ins(%w : f32) outs(%sum : {small})
      scf.for %i = %c0 to %n step %s {{
        pto.texpands ins(%v : f32) outs(%other : {small})
        pto.texpands ins(%v : f32) outs(%big : !pto.tile_buf<vec, 1x49000xf32>)
        pto.tadd ins(%sum, %other : {small}, {small}) outs(%sum : {small})
      }}
      pto.tstore ins(%sum : {small}) outs(%x : {part})
      return
    }}"""
    x = np.zeros((1, 8), np.float32)
    pto_dialect.compile(pto_dialect.parse(text), target="a2a3")(x, 2.0, 1.0, 6, step)
    assert (x == 1 + 2 * 6 / step).all()


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_what_a_loop_reads_lives_until_the_loop_ends(depth: int) -> None:
    """Its next round reads it again, whatever this round does after the last use."""
    loops = "".join(f"scf.for %i{n} = %c0 to %c2 step %c1 {{\n" for n in range(depth))
    text = f"""func.func @f(%x0: {PART}, %x1: {PART}, %x2: {PART}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %t0 = pto.alloc_tile : {TILE}
  %t1 = pto.alloc_tile : {TILE}
  pto.tload ins(%x0 : {PART}) outs(%t0 : {TILE})
  {loops}
  pto.tstore ins(%t0 : {TILE}) outs(%x1 : {PART})
  pto.tload ins(%x2 : {PART}) outs(%t1 : {TILE})
  pto.tstore ins(%t1 : {TILE}) outs(%x2 : {PART})
  {"}" * depth}
  return
}}
"""
    arrays = [np.full((1, COLS), i + 1, np.float32) for i in range(3)]
    module = pto_dialect.parse(text)
    if depth:
        with pytest.raises(ProgramError) as caught:
            pto_dialect.compile(module, target="a2a3")(*arrays)
        assert caught.value.rule == "capacity-dynamic"
    else:
        pto_dialect.compile(module, target="a2a3")(*arrays)
        assert [array[0, 0] for array in arrays] == [1, 1, 3]

"""Segments that come again have the times of a complete run, also where something in them changes.

Source: docs/reference/cycles.md, "Steady states".
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pto_dialect import parse
from pto_dialect.analysis.cycles.static import ModuleCycles, table_for
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.instrument.cycle_times import CycleTimeline, exact
from pto_dialect.sanitize.options import SanitizeOptions
from pto_dialect.sanitize.timed import CycleKernel
from pto_dialect.sanitize.times.kernel import TimesKernel
from pto_dialect.sanitize.times.model import times_kernel
from pto_dialect.sanitize.times.observer import TimesObserver

TILE = "!pto.tile_buf<vec, 64x128xf32>"
VIEW, PART = "!pto.tensor_view<?x?xf32>", "!pto.partition_tensor_view<64x128xf32>"
V_TO_LOAD, LOAD_TO_V = "<PIPE_V>, <PIPE_MTE2>", "<PIPE_MTE2>, <PIPE_V>"
EXP = f"pto.texp ins(%x : {TILE}) outs(%x : {TILE})"


def program(body: str) -> str:
    constants = "".join(f"    %c{n} = arith.constant {n} : index\n" for n in (0, 1, 2, 5, 7, 8, 24, 40, 64, 128, 4096))
    return f"""module attributes {{pto.target_arch = "a2a3"}} {{
  func.func @k(%a: !pto.ptr<f32, gm>, %t: !pto.ptr<i32, gm>) attributes {{pto.entry}} {{
{constants}    %at = arith.constant 0 : i64
    %there = arith.constant 32768 : i64
    %v = pto.make_tensor_view %a, shape = [%c4096, %c128], strides = [%c128, %c1] : {VIEW}
    %x = pto.alloc_tile addr = %at : {TILE}
    %y = pto.alloc_tile addr = %there : {TILE}
{body}
    return
  }}
}}
"""


def rows(name: str, index: str) -> str:
    return f"""%r{name} = arith.muli {index}, %c64 : index
      %p{name} = pto.partition_view %v, offsets = [%r{name}, %c0], sizes = [%c64, %c128] : {VIEW} -> {PART}"""


def move(name: str, index: str, tile: str = "x", stores: bool = False) -> str:
    ends = (f"%{tile} : {TILE}", f"%p{name} : {PART}")
    source, target = ends if stores else ends[::-1]
    return f"{rows(name, index)}\n      pto.{'tstore' if stores else 'tload'} ins({source}) outs({target})"


FLAGGED = f"""      pto.wait_flag[{V_TO_LOAD}, <EVENT_ID0>]
      {move("in", "%i")}
      pto.set_flag[{LOAD_TO_V}, <EVENT_ID0>]
      pto.wait_flag[{LOAD_TO_V}, <EVENT_ID0>]
      {EXP}
      pto.set_flag[{V_TO_LOAD}, <EVENT_ID0>]"""
START = f"    pto.set_flag[{V_TO_LOAD}, <EVENT_ID0>]\n"
END = f"\n    pto.wait_flag[{V_TO_LOAD}, <EVENT_ID0>]"
STEADY = f"{START}    scf.for %i = %c0 to %c40 step %c1 {{\n{FLAGGED}\n    }}{END}"
TAIL = f"""{START}    scf.for %i = %c0 to %c40 step %c1 {{
{FLAGGED}
      %last = arith.cmpi eq, %i, %c24 : index
      scf.if %last {{
        {EXP}
        {EXP}
      }}
    }}{END}"""
WARM = f"""{START}    scf.for %j = %c0 to %c5 step %c1 {{
      scf.for %i = %c0 to %c24 step %c1 {{
{FLAGGED}
      }}
    }}{END}"""
OVERLAP = f"""{START}    scf.for %j = %c0 to %c40 step %c1 {{
      %i = arith.remui %j, %c24 : index
{FLAGGED}
    }}{END}"""
BOUNDS = f"""{START}    scf.for %j = %c0 to %c8 step %c1 {{
      %count = pto.load_scalar %t[%j] : !pto.ptr<i32, gm> -> i32
      %end = arith.index_cast %count : i32 to index
      scf.for %i = %c0 to %end step %c1 {{
{FLAGGED}
      }}
    }}{END}"""
ROTATION = f"""    pto.set_flag[{V_TO_LOAD}, <EVENT_ID0>]
    pto.set_flag[{V_TO_LOAD}, <EVENT_ID1>]
    scf.for %i = %c0 to %c40 step %c1 {{
      %event = arith.remui %i, %c2 : index
      pto.wait_flag_dyn[{V_TO_LOAD}, %event]
      {move("in", "%i")}
      pto.set_flag_dyn[{LOAD_TO_V}, %event]
      pto.wait_flag_dyn[{LOAD_TO_V}, %event]
      {EXP}
      pto.set_flag_dyn[{V_TO_LOAD}, %event]
    }}
    pto.wait_flag[{V_TO_LOAD}, <EVENT_ID0>]
    pto.wait_flag[{V_TO_LOAD}, <EVENT_ID1>]"""
ORDERED = f"""    scf.for %i = %c0 to %c40 step %c1 {{
      {move("in", "%i")}
      {EXP}
      {move("out", "%i", stores=True)}
    }}"""
CONFLICT = f"""    scf.for %i = %c0 to %c40 step %c1 {{
      {move("in", "%i", "y")}
      {EXP}
      {move("out", "%c24", stores=True)}
    }}"""
CARRIED = f"""    %end = scf.for %i = %c0 to %c40 step %c1 iter_args(%at_row = %c0) -> index {{
      {move("in", "%at_row", "y")}
      {EXP}
      {move("out", "%i", stores=True)}
      %more = arith.addi %at_row, %c7 : index
      %next = arith.remui %more, %c24 : index
      scf.yield %next : index
    }}"""
PROGRAMS = {
    "steady": STEADY, "tail": TAIL, "warm": WARM, "overlap": OVERLAP, "bounds": BOUNDS, "rotation": ROTATION,
    "ordered": ORDERED, "conflict": CONFLICT, "carried": CARRIED,
}  # fmt: skip
COUNTS = np.array([9, 9, 3, 12, 0, 9, 12, 9], np.int32)


def complete(text: str, blocks: int) -> ModuleCycles:
    timeline = CycleTimeline(table_for("a2a3", None), "a2a3", {}, cached=False, steps=False)
    kernel = CycleKernel(parse(text), None, None, RunOptions(), SanitizeOptions(frozenset()), timeline)
    kernel.run([np.ones(4096 * 128, np.float32), COUNTS], blocks)
    return kernel.cycles("")


def quick(text: str, blocks: int) -> TimesKernel:
    kernel = times_kernel(parse(text))
    kernel.run([np.ones(4096 * 128, np.float32), COUNTS], blocks)
    return kernel


def figures(found: ModuleCycles) -> tuple[Any, ...]:
    return found.total, found.pipes, found.lines, found.waits, found.ranges


@pytest.mark.parametrize("blocks", [1, 24])
@pytest.mark.parametrize("name", PROGRAMS)
def test_figures_are_those_of_a_complete_run(name: str, blocks: int) -> None:
    text = program(PROGRAMS[name])
    kernel = quick(text, blocks)
    assert kernel.reason == ""
    assert figures(kernel.cycles("")) == figures(complete(text, blocks))


@pytest.mark.parametrize(("name", "least"), [("steady", 30), ("tail", 30), ("rotation", 30), ("ordered", 25)])
def test_most_iterations_of_a_steady_loop_are_not_executed(name: str, least: int) -> None:
    observer = quick(program(PROGRAMS[name]), 1).observer
    assert isinstance(observer, TimesObserver)
    assert observer.repeated >= least


def test_a_conflict_delays_the_iteration_that_has_it() -> None:
    """The load of row 24 waits for the store of the iteration before; without that store nothing waits."""
    waits = [one for one in quick(program(CONFLICT), 1).cycles("").waits if one.pipe == "PIPE_MTE2"]
    assert [one.kind for one in waits] == ["reads"] or [one.kind for one in waits] == ["rewrites", "reads"]


def test_warm_bytes_take_less_time() -> None:
    """With 24 blocks that share the memory, what is cold takes longer than the transfer alone."""
    cold, warm = (quick(program(PROGRAMS[name]), 24).cycles("") for name in ("steady", "warm"))
    loads = [next(line for line in one.lines if line.operation == "pto.tload") for one in (cold, warm)]
    assert loads[0].estimate.cycles > loads[1].estimate.cycles


def test_times_have_no_rounding_errors() -> None:
    parts = [exact(one / 7) for one in range(1, 200)]
    assert sum(parts) == sum(reversed(parts))
    base = float(1 << 30)
    assert all(base + one - base == one for one in parts)

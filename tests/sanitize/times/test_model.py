"""Times without contents are those of complete runs. Source: docs/reference/cycles.md, "Times without contents"."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pto_dialect import accel, parse
from pto_dialect.analysis.cycles.static import ModuleCycles, table_for
from pto_dialect.runtime.errors import BindingError, ProgramError
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.instrument.cycle_times import CycleTimeline
from pto_dialect.sanitize.options import SanitizeOptions
from pto_dialect.sanitize.timed import CycleKernel
from pto_dialect.sanitize.times.model import modelled_cycles, times_kernel

TILE = "!pto.tile_buf<vec, 8x64xf32>"
VIEW, PART = "!pto.tensor_view<?x?xf32>", "!pto.partition_tensor_view<8x64xf32>"


def program(body: str, arguments: str = "%n: index", arch: str = "a2a3") -> str:
    return f"""module attributes {{pto.target_arch = "{arch}"}} {{
  func.func @k(%a: !pto.ptr<f32, gm>, {arguments}) attributes {{pto.entry}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %rows = arith.constant 4096 : index
    %at = arith.constant 0 : i64
    %v = pto.make_tensor_view %a, shape = [%rows, %c64], strides = [%c64, %c1] : {VIEW}
    %x = pto.alloc_tile addr = %at : {TILE}
{body}
    return
  }}
}}
"""


LOOP = f"""    scf.for %i = %c0 to %n step %c1 {{
      %r = arith.muli %i, %c8 : index
      %p = pto.partition_view %v, offsets = [%r, %c0], sizes = [%c8, %c64] : {VIEW} -> {PART}
      pto.tload ins(%p : {PART}) outs(%x : {TILE})
      pto.texp ins(%x : {TILE}) outs(%x : {TILE})
      pto.tstore ins(%x : {TILE}) outs(%p : {PART})
    }}"""


def complete(text: str, values: list[Any], blocks: int = 1) -> ModuleCycles:
    arch = "a2a3" if '"a2a3"' in text else "a5"
    timeline = CycleTimeline(table_for(arch, None), arch, {}, cached=False, steps=False)
    kernel = CycleKernel(parse(text), None, None, RunOptions(), SanitizeOptions(frozenset()), timeline)
    kernel.run(values, blocks)
    return kernel.cycles("")


def figures(found: ModuleCycles) -> tuple[Any, ...]:
    return found.total, found.pipes, found.lines, found.waits, found.ranges


@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize("count", [0, 1, 5])
def test_figures_are_those_of_a_complete_run(count: int, blocks: int) -> None:
    text = program(LOOP)
    found = modelled_cycles(parse(text), {"a": (4096, 64), "n": count}, blocks=blocks)
    assert figures(found) == figures(complete(text, [np.ones(4096 * 64, np.float32), count], blocks))
    assert found.contents_reason == ""
    assert [line.count for line in found.lines] == [count * blocks] * (3 if count else 0)


def test_arguments_are_not_changed() -> None:
    array = np.ones(4096 * 64, np.float32)
    kernel = times_kernel(parse(program(LOOP)))
    kernel.run([array, 5])
    assert (array == 1).all()


def test_numbers_that_the_scalar_unit_reads_decide_what_runs() -> None:
    bound = """    %s = pto.load_scalar %t[%c0] : !pto.ptr<i32, gm> -> i32
    %n = arith.index_cast %s : i32 to index
"""
    module = parse(program(bound + LOOP, "%t: !pto.ptr<i32, gm>"))
    counts = []
    for number in (2, 7):
        found = modelled_cycles(module, {"a": (4096, 64), "t": np.array([number], np.int32)})
        assert found.contents_reason == ""
        counts.append([line.count for line in found.lines])
    assert counts == [[2] * 3, [7] * 3]


def test_contents_that_the_program_computes_are_computed_where_they_decide() -> None:
    text = program(
        f"""    %p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c8, %c64] : {VIEW} -> {PART}
    pto.tload ins(%p : {PART}) outs(%x : {TILE})
    pto.texp ins(%x : {TILE}) outs(%x : {TILE})
    %s = pto.tgetval ins(%x, %c0 : {TILE}, index) outs : f32
    %one = arith.constant 2.0 : f32
    %more = arith.cmpf ogt, %s, %one : f32
    scf.if %more {{
      pto.texp ins(%x : {TILE}) outs(%x : {TILE})
    }}"""
    )
    array = np.ones(4096 * 64, np.float32)
    found = modelled_cycles(parse(text), {"a": array, "n": 1})
    assert found.contents_reason == "scf.if (line 17) depends on the contents of memory"
    # exp(1) is greater than 2, exp(0) is not.
    assert [line.count for line in found.lines if line.operation == "pto.texp"] == [1, 1]
    assert (array == 1).all()
    zeros = modelled_cycles(parse(text), {"a": (4096, 64), "n": 1})
    assert [line.count for line in zeros.lines if line.operation == "pto.texp"] == [1]


def test_an_access_outside_of_a_buffer_is_an_error() -> None:
    with pytest.raises(ProgramError) as raised:
        modelled_cycles(parse(program(LOOP)), {"a": (40, 64), "n": 6})
    assert raised.value.rule == "mem-oob"


def test_wrong_arguments_are_refused() -> None:
    module = parse(program(LOOP))
    with pytest.raises(BindingError, match="no value for argument n"):
        modelled_cycles(module, {"a": (4096, 64)})
    with pytest.raises(BindingError, match="unknown arguments: b"):
        modelled_cycles(module, {"a": (4096, 64), "n": 1, "b": 2})
    with pytest.raises(BindingError, match="n is a number"):
        modelled_cycles(module, {"a": (4096, 64), "n": (3,)})


def test_without_accelerations_everything_is_computed() -> None:
    module = parse(program(LOOP))
    quick = modelled_cycles(module, {"a": (4096, 64), "n": 5})
    kernel = times_kernel(module)
    before = accel.switch(False)
    try:
        array = np.ones(4096 * 64, np.float32)
        kernel.run([array, 5])
    finally:
        accel.switch(before)
    assert figures(kernel.cycles("")) == figures(quick)

"""Each kind of run has code of its flavour."""

from __future__ import annotations

import pto_dialect
from pto_dialect.runtime.compile.flavours import FLAVOURS, PLAIN, PROFILED, WATCHED
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.runtime.run.profiling import ProfileLog
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions
from tools.pto_run import main

TEXT = """
module attributes {pto.target_arch = "a5"} {
  func.func @k(%s: !pto.ptr<f32, gm>) attributes {pto.aicore} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %c1 = arith.constant 1 : index
    %v = pto.make_tensor_view %s, shape = [%c64], strides = [%c1] : !pto.tensor_view<?xf32>
    scf.for %i = %c0 to %c2 step %c1 {
      %p = pto.partition_view %v, offsets = [%i], sizes = [%c2]
        : !pto.tensor_view<?xf32> -> !pto.partition_tensor_view<2xf32>
      %t = pto.alloc_tile : !pto.tile_buf<vec, 1x16xf32, valid=1x2>
      pto.tload ins(%p : !pto.partition_tensor_view<2xf32>) outs(%t : !pto.tile_buf<vec, 1x16xf32, valid=1x2>)
    }
    return
  }
}
"""  # fmt: skip


def kernels() -> dict[str, Kernel]:
    module = pto_dialect.parse(TEXT)
    return {
        "plain": Kernel(module, None, None, RunOptions()),
        "profiled": Kernel(module, None, None, RunOptions(), ProfileLog()),
        "watched": InstrumentedKernel(module, None, None, RunOptions(), SanitizeOptions()),
    }


def test_a_kernel_has_its_flavour() -> None:
    assert {name: kernel.flavour for name, kernel in kernels().items()} == {one.name: one for one in FLAVOURS}
    assert [one.name for one in (PLAIN, PROFILED, WATCHED)] == ["plain", "profiled", "watched"]


def test_what_a_flavour_changes() -> None:
    made = kernels()
    assert {name: kernel.compiled.queued for name, kernel in made.items()} == {one.name: one.queued for one in FLAVOURS}
    # What parts of a view have in common is a variable of its own.
    shared = {name: "_parts" in kernel.source for name, kernel in made.items()}
    assert shared == {one.name: one.shares_parts for one in FLAVOURS}
    assert "perf_counter" in made["profiled"].source and "perf_counter" not in made["plain"].source


def test_the_options_of_flavours_are_there() -> None:
    known = {option for parameter in main.params for option in parameter.opts}
    assert {option for flavour in FLAVOURS for option in flavour.options} <= known

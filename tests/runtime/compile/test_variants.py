"""Each kind of run has a code generation variant."""

from __future__ import annotations

import pto_dialect
from pto_dialect.runtime.compile.variants import INSTRUMENTED, PLAIN, PROFILED, VARIANTS
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
        "instrumented": InstrumentedKernel(module, None, None, RunOptions(), SanitizeOptions()),
    }


def test_each_kind_of_run_has_its_variant() -> None:
    assert {name: kernel.variant for name, kernel in kernels().items()} == {one.name: one for one in VARIANTS}
    assert [one.name for one in (PLAIN, PROFILED, INSTRUMENTED)] == ["plain", "profiled", "instrumented"]


def test_generated_code_has_the_differences_of_its_variant() -> None:
    made = kernels()
    assert {name: kernel.compiled.queued for name, kernel in made.items()} == {one.name: one.queued for one in VARIANTS}
    # What parts of a view have in common is a variable of its own.
    shared = {name: "_parts" in kernel.source for name, kernel in made.items()}
    assert shared == {one.name: one.shares_parts for one in VARIANTS}
    assert "perf_counter" in made["profiled"].source and "perf_counter" not in made["plain"].source


def test_options_of_variants_exist() -> None:
    known = {option for parameter in main.params for option in parameter.opts}
    assert {option for variant in VARIANTS for option in variant.options} <= known

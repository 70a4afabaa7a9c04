"""xDSL's own passes on programs of PTO: what they leave computes the same, and what nothing uses goes."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination
from xdsl.transforms.dead_code_elimination import DeadCodeElimination

import pto_dialect
from examples import run_all
from examples.case import Case
from examples.check import FOLDER, copied, entry_of, module_of, outputs
from pto_dialect.plugin.universe import PTO_UNIVERSE
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

CASES = [(example, case) for example in run_all.EXAMPLES for case in run_all.load(example)[0]]
TILE = "!pto.tile_buf<vec, 16x16xf32>"


def simplified(module: pto_dialect.Module) -> pto_dialect.Module:
    """``module`` after the passes, in place."""
    context = Context()
    for name, factory in (get_all_dialects() | PTO_UNIVERSE.all_dialects).items():
        context.register_dialect(name, factory)
    for each in (DeadCodeElimination(), CommonSubexpressionElimination(), CanonicalizePass()):
        each.apply(context, module)
    return module


def names(text: str) -> list[str]:
    """Operations of PTO that the passes leave, in their order."""
    module = simplified(pto_dialect.parse(text))
    return [op.name for op in module.walk() if op.name.startswith("pto.")]


@pytest.mark.parametrize(("example", "case"), CASES, ids=lambda value: value if isinstance(value, str) else value.entry)
def test_results_of_examples_stay(example: str, case: Case) -> None:
    path, target = FOLDER / example / case.program, case.targets[-1]
    results = []
    for module in (module_of(path, target), simplified(module_of(path, target))):
        kernel = Kernel(module, entry_of(case), target, RunOptions(fill="poison"))
        arguments = copied(case.data)
        results.append(outputs(case, arguments, kernel.run(list(arguments.values()), case.blocks)))
    for name, plain in results[0].items():
        assert np.asarray(plain).tobytes() == np.asarray(results[1][name]).tobytes(), name


def test_what_nothing_uses_goes() -> None:
    text = f"""
        func.func @f(%p: !pto.ptr<f32, ub>, %i: index) {{
          %unused = pto.alloc_tile : {TILE}
          %q = pto.addptr %p, %i : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>
          %x = pto.vlds %q[%i] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
          pto.barrier #pto.pipe<PIPE_ALL>
          return
        }}"""
    assert names(text) == ["pto.barrier"]


def test_what_is_computed_twice_is_computed_once() -> None:
    text = f"""
        func.func @f(%t: {TILE}, %p: !pto.ptr<f32, ub>, %i: index, %m: !pto.mask<b32>) {{
          %q = pto.addptr %p, %i : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>
          %r = pto.addptr %p, %i : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>
          %x = pto.vlds %q[%i] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
          %y = pto.vlds %r[%i] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
          %z = pto.vadd %x, %y, %m : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
          pto.vsts %z, %p[%i], %m : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
          return
        }}"""
    assert names(text) == ["pto.addptr", "pto.vlds", "pto.vadd", "pto.vsts"]


def test_loads_on_both_sides_of_a_store_stay() -> None:
    load = "pto.vlds %p[%i] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>"
    store = "%p[%i], %m : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>"
    text = f"""
        func.func @f(%p: !pto.ptr<f32, ub>, %i: index, %m: !pto.mask<b32>, %v: !pto.vreg<64xf32>) {{
          %x = {load}
          pto.vsts %v, {store}
          %y = {load}
          pto.vsts %x, {store}
          pto.vsts %y, {store}
          return
        }}"""
    assert names(text) == ["pto.vlds", "pto.vsts", "pto.vlds", "pto.vsts", "pto.vsts"]


def test_two_tiles_and_two_readings_of_the_clock_stay_two() -> None:
    text = f"""
        func.func @f(%m: memref<2xi32>, %i: index) {{
          %a = pto.alloc_tile : {TILE}
          %b = pto.alloc_tile : {TILE}
          pto.tadd ins(%a, %a : {TILE}, {TILE}) outs(%b : {TILE})
          %s = pto.get_clock32 : i32
          %e = pto.get_clock32 : i32
          %d = arith.subi %e, %s : i32
          memref.store %d, %m[%i] : memref<2xi32>
          return
        }}"""
    assert names(text) == ["pto.alloc_tile", "pto.alloc_tile", "pto.tadd", "pto.get_clock32", "pto.get_clock32"]

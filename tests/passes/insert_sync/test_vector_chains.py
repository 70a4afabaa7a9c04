"""Chains of vector operations on a2a3: insert-sync, the sanitizer and the proof of check-sync have one rule for what
needs a barrier. What one of them demands and insert-sync leaves out is an error of this test, and so is a barrier that
nobody demands.

Source: docs/reference/synchronisation.md, "Order inside one pipe".
"""

from __future__ import annotations

import pytest
from groups import in_groups
from lowering_programs import disorder, lowered
from vector_chain_programs import ChainProgram, chain_arguments
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pto_dialect import parse, print_module
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.passes.registry import make_pass

STREAMED_IN_PLACE = (162, 166, 205, 251, 265, 371, 377, 395, 399, 430)
"""Chains in which an operation overwrites what the one before it read, and its result was streamed."""
CLEAN = [*range(120), *STREAMED_IN_PLACE]
NEEDLESS = {32: [2, 3]}
"""Barriers that nobody demands: in a loop that runs once, handles that it would swap are the ones that it was given,
which the proof knows and insert-sync does not."""


def barriers(module: ModuleOp) -> list[Operation]:
    return [op for op in module.walk() if op.name == "pto.barrier" and "PIPE_V>" in str(op.attributes["pipe"])]


def is_proven(module: ModuleOp) -> bool:
    engine = DiagnosticEngine()
    make_pass("check-sync{judge=true}", None).run(module, engine)
    return not engine.diagnostics


@in_groups("seed", CLEAN)
def test_nobody_demands_another_barrier(seed: int) -> None:
    module, diagnostics = lowered(ChainProgram(seed).text)
    assert not diagnostics
    assert disorder(module, chain_arguments(seed)) == []
    assert is_proven(module)


@pytest.mark.parametrize("seed", [*range(20), 32, *STREAMED_IN_PLACE[:4]])
def test_each_barrier_is_demanded(seed: int) -> None:
    module, _ = lowered(ChainProgram(seed).text)
    text, needless = print_module(module), list[int]()
    for number in range(len(barriers(module))):
        other = parse(text)
        barrier = barriers(other)[number]
        barrier.detach()
        barrier.erase()
        if not disorder(other, chain_arguments(seed)) and is_proven(other):
            needless.append(number)
    assert needless == NEEDLESS.get(seed, []), text


IN_PLACE = """module attributes {{pto.target_arch = "a2a3"}} {{
  func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {{pto.entry}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %low = arith.constant 0 : i64
    %high = arith.constant 16384 : i64
    %gx = pto.make_tensor_view %x, shape = [%c64, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
    %wx = pto.partition_view %gx, offsets = [%c0, %c0], sizes = [%c64, %c64]
      : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<64x64xf32>
    %gy = pto.make_tensor_view %y, shape = [%c64, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
    %wy = pto.partition_view %gy, offsets = [%c0, %c0], sizes = [%c64, %c64]
      : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<64x64xf32>
    %a = pto.alloc_tile addr = %low : !t
    %b = pto.alloc_tile addr = %high : !t
    %y0 = pto.alloc_tile addr = %low : !t
    pto.tload ins(%wx : !pto.partition_tensor_view<64x64xf32>) outs(%a : !t)
    pto.tload ins(%wx : !pto.partition_tensor_view<64x64xf32>) outs(%b : !t)
    %r:2 = scf.for %i = %c0 to %c1 step %c1 iter_args(%now = %a, %next = %b) -> (!t, !t) {{
      pto.tadd ins({source}, {source} : !t, !t) outs(%y0 : !t)
      pto.tabs ins(%y0 : !t) outs(%y0 : !t)
      scf.yield %next, %now : !t, !t
    }}
    pto.tstore ins(%y0 : !t) outs(%wy : !pto.partition_tensor_view<64x64xf32>)
    return
  }}
}}
"""
TILE = "!t = !pto.tile_buf<vec, 64x64xf32>\n"


@pytest.mark.parametrize(("source", "needed"), [("%a", 0), ("%now", 1), ("%b", 0)])
def test_a_result_over_a_carried_tile_is_not_streamed(source: str, needed: int) -> None:
    """With %a the text shows that the result lies exactly over its source; a handle that a loop carries may lie
    anywhere, so the operation after it waits for the reads."""
    module, diagnostics = lowered(TILE + IN_PLACE.format(source=source))
    assert not diagnostics
    between = [op for op in barriers(module) if op.next_op is not None and op.next_op.name == "pto.tabs"]
    assert len(between) == needed
    assert disorder(module, chain_arguments(0)) == []
    for barrier in between:
        barrier.detach()
        barrier.erase()
    assert disorder(module, chain_arguments(0)) == ["race-same-pipe"] * needed

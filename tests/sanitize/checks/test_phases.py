"""Phases of tile operations hand an accumulator over as unit flags do, in runs and in proofs."""

import numpy as np
import pytest
from sanitize_programs import diagnostics

import pto_dialect
from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.prove.decide import Answer
from pto_dialect.prove.functions import verdicts

TILE = "!pto.tile_buf<{0}, 32x32x{1}, blayout={2}, slayout={3}, fractal={4}>"
LEFT = TILE.format("left", "f16", "col_major", "row_major", 512)
RIGHT = TILE.format("right", "f16", "row_major", "col_major", 512)
ACC = TILE.format("acc", "f32", "col_major", "row_major", 1024)
KERNEL = """
module attributes {{pto.target_arch = "a2a3"}} {{
  func.func @k(%p: !pto.ptr<f32, gm>) attributes {{pto.entry, pto.kernel_kind = #pto.kernel_kind<cube>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %address = arith.constant 0 : i64
    %left = pto.alloc_tile addr = %address : {left}
    %right = pto.alloc_tile addr = %address : {right}
    %acc = pto.alloc_tile addr = %address : {acc}
    %view = pto.make_tensor_view %p, shape = [%c32, %c32], strides = [%c32, %c1] : !pto.tensor_view<32x32xf32>
    %out = pto.partition_view %view, offsets = [%c0, %c0], sizes = [%c32, %c32]
      : !pto.tensor_view<32x32xf32> -> !pto.partition_tensor_view<32x32xf32>
    scf.for %i = %c0 to %c2 step %c1 {{
      {products}
      pto.tstore ins(%acc : {acc}) outs(%out : !pto.partition_tensor_view<32x32xf32>) {stored}
      pto.barrier <PIPE_FIX>
    }}
    return
  }}
}}
"""
PRODUCT = "pto.tmatmul ins(%left, %right : {left}, {right}) outs(%acc : {acc}) {phase}"


def kernel(products: list[str], stored: str) -> str:
    types = {"left": LEFT, "right": RIGHT, "acc": ACC}
    phases = [f"{{accPhase = #pto<acc_phase {one}>}}" if one else "" for one in products]
    lines = "\n      ".join(PRODUCT.format(phase=phase, **types) for phase in phases)
    return KERNEL.format(products=lines, stored=f"{{stPhase = #pto<st_phase {stored}>}}" if stored else "", **types)


@pytest.mark.parametrize(
    ("products", "stored", "rules"),
    [
        (["final"], "final", set()),
        (["partial", "final"], "final", set()),
        (["final"], "", {"l0c-handover", "sync-unit-flag"}),
        ([""], "final", {"l0c-handover", "race-war", "sync-unit-flag"}),
        ([""], "", {"l0c-handover", "race-war"}),
        (["partial"], "final", {"l0c-handover", "race-war", "sync-unit-flag"}),
    ],
)
def test_findings_of_a_run(products: list[str], stored: str, rules: set[str]) -> None:
    found = diagnostics(kernel(products, stored), [np.zeros(1024, np.float32)])
    assert {one.rule for one in found if one.severity is Severity.ERROR and one.rule != "mem-uninit"} == rules


@pytest.mark.parametrize(
    ("products", "stored", "answer"),
    [(["final"], "final", Answer.PROVEN), (["final"], "", Answer.REFUTED), ([""], "final", Answer.REFUTED)],
)
def test_verdict_of_a_proof(products: list[str], stored: str, answer: Answer) -> None:
    (found,) = verdicts(pto_dialect.parse(kernel(products, stored)))
    assert found.answer is answer

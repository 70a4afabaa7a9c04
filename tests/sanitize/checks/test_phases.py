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


HALF = "!pto.partition_tensor_view<32x16xf32>"
WINDOWS = """
      %first = pto.subview %acc[%c0, %c0] sizes [32, 16] : {acc} -> {half_acc}
      %second = pto.subview %acc[%c0, %c16] sizes [32, 16] : {acc} -> {half_acc}
      %left_half = pto.partition_view %view, offsets = [%c0, %c0], sizes = [%c32, %c16]
        : !pto.tensor_view<32x32xf32> -> {half}
      %right_half = pto.partition_view %view, offsets = [%c0, %c16], sizes = [%c32, %c16]
        : !pto.tensor_view<32x32xf32> -> {half}
      pto.tstore ins(%first : {half_acc}) outs(%left_half : {half}) {{stPhase = #pto<st_phase final>}}
      pto.tstore ins(%{last} : {half_acc}) outs(%right_half : {half}) {{stPhase = #pto<st_phase final>}}
"""


@pytest.mark.parametrize(("last", "finds"), [("second", False), ("first", True)])
def test_each_window_of_an_accumulator_has_its_flags(last: str, finds: bool) -> None:
    """Two stores of the same window leave the flags of the other one set."""
    half_acc = ACC.replace("32x32xf32", "32x16xf32")
    windows = WINDOWS.format(acc=ACC, half_acc=half_acc, half=HALF, last=last)
    whole = f"pto.tstore ins(%acc : {ACC}) outs(%out : !pto.partition_tensor_view<32x32xf32>) "
    text = kernel(["final"], "final").replace(whole + "{stPhase = #pto<st_phase final>}", windows)
    text = text.replace("%c32 = arith", "%c16 = arith.constant 16 : index\n    %c32 = arith")
    found = diagnostics(text, [np.zeros(1024, np.float32)])
    assert any(one.rule == "sync-unit-flag" for one in found) is finds


@pytest.mark.parametrize(
    ("products", "stored", "answer"),
    [
        (["final"], "final", Answer.PROVEN),
        (["partial", "final"], "final", Answer.PROVEN),
        (["final"], "", Answer.REFUTED),
        ([""], "final", Answer.REFUTED),
        (["partial"], "final", None),
        (["final"], "partial", None),
        (["partial"], "partial", None),
        (["final", "final"], "final", None),
        (["final", "partial"], "final", None),
    ],
)
def test_verdict_of_a_proof(products: list[str], stored: str, answer: Answer | None) -> None:
    """Nothing is proven or refuted where flags do not alternate: such a run stops, or is out of order."""
    assert answer_of(kernel(products, stored)) is answer


OTHER = kernel(["final"], "final")
OTHERS = {
    "the store comes first": OTHER.replace("{accPhase = #pto<acc_phase final>}", "", 1).replace(
        "pto.barrier <PIPE_FIX>",
        PRODUCT.format(phase="{accPhase = #pto<acc_phase final>}", left=LEFT, right=RIGHT, acc=ACC),
    ),
    "another accumulator at the same address": OTHER.replace(
        "%acc = pto", f"%other = pto.alloc_tile addr = %address : {ACC}\n    %acc = pto"
    ).replace("outs(%acc :", "outs(%other :"),
    "a product of fewer rows": OTHER.replace(LEFT, LEFT.replace("32x32xf16", "32x32xf16, valid=16x32")),
    "a branch with the product": OTHER.replace(
        "pto.tmatmul", "%b = arith.cmpi eq, %i, %c0 : index\n scf.if %b {\n pto.tmatmul"
    ).replace("acc_phase final>}", "acc_phase final>}\n }"),
}


@pytest.mark.parametrize("what", OTHERS)
def test_flags_that_do_not_alternate_prove_nothing(what: str) -> None:
    assert OTHERS[what] != OTHER
    assert answer_of(OTHERS[what]) is not Answer.PROVEN


def answer_of(text: str) -> Answer | None:
    """The answer about the order; nothing where it is undecided."""
    (found,) = verdicts(pto_dialect.parse(text))
    return None if found.answer is Answer.UNDECIDED else found.answer

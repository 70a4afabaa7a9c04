"""Pipes of operations that depend on where their tiles lie."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import UnitAttr

from pto_dialect import parse
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.facts.operation_form import pipe_of
from pto_dialect.syntax.print.printer import print_module

VIEW, VEC = "!pto.partition_tensor_view<64x16xf16>", "!pto.tile_buf<vec, 16x16xf16>"
MAT = "!pto.tile_buf<mat, 16x16xf16, blayout=col_major, slayout=row_major>"
ROWS = "{coalesce = #pto<coalesce row>}"
TEXT = (
    """func.func @f(%m: VIEW, %i: !pto.partition_tensor_view<1x16xi32>, %j: !pto.tile_buf<vec, 1x16xi32>,
                       %a: MAT, %v: VEC) {
  STATEMENT
  return
}
""".replace("VIEW", VIEW)
    .replace("MAT", MAT)
    .replace("VEC", VEC)
)


def only(statement: str) -> PtoOp:
    (op,) = (op for op in parse(TEXT.replace("STATEMENT", statement)).walk() if isinstance(op, PtoOp))
    return op


@pytest.mark.parametrize(
    ("statement", "a5"),
    [
        (f"pto.mgather ins(%m, %i : {VIEW}, !pto.partition_tensor_view<1x16xi32>) outs(%a : {MAT}) {ROWS}", "MTE2"),
        (f"%d = pto.mgather %m, %i {ROWS} : ({VIEW}, !pto.partition_tensor_view<1x16xi32>) -> {MAT}", "MTE2"),
        (f"pto.mgather ins(%m, %j : {VIEW}, !pto.tile_buf<vec, 1x16xi32>) outs(%v : {VEC}) {ROWS}", "V"),
    ],
)
def test_gathers_into_mat_are_transfers(statement: str, a5: str) -> None:
    op = only(statement)
    assert [pipe.name for pipe in (pipe_of(op, "a5"), pipe_of(op, "a2a3")) if pipe] == [a5, "MTE2"]


def test_a_statement_with_a_property_is_printed_in_generic_form() -> None:
    op = only(f"pto.tadd ins(%v, %v : {VEC}, {VEC}) outs(%v : {VEC})")
    module = op.parent_op()
    while module is not None and module.parent_op() is not None:
        module = module.parent_op()
    op.properties["more"] = UnitAttr()
    assert module is not None
    printed = print_module(module)
    assert '"pto.tadd"(' in printed
    assert "more" in printed

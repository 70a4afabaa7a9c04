"""Transfers from and to other memories than those of their names: accepted with a warning, and not executed."""

from __future__ import annotations

import pytest

import pto_dialect
from pto_dialect.runtime.errors import ProgramError

PROGRAM = """
module attributes {{pto.target_arch = "a5"}} {{
  func.func @k() attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %c64 = arith.constant 64 : i64
    %no = arith.constant false
    %s = pto.castptr %c0 : i64 -> {s}
    %d = pto.castptr %c64 : i64 -> {d}
    {statement}
    return
  }}
}}
"""
I64 = ", i64, i64, i64, i64"
STATEMENTS = {
    "mte_gm_ub": "%s, %d, %c0, %c64 nburst(%c1, %c64, %c64) : {s}, {d}, i64" + I64,
    "mte_gm_l1": "%s, %d, %c64 nburst(%c1, %c64, %c64) : {s}, {d}" + I64,
    "mte_l1_ub": "%s, %d, %c1 nburst(%c1, %c0, %c0) : {s}, {d}" + I64,
    "mte_ub_l1": "%s, %d, %c1 nburst(%c1, %c0, %c0) : {s}, {d}" + I64,
    "copy_gm_to_ubuf": "%s, %d, %c0, %c1, %c64, %c0, %c0, %no, %c0, %c64, %c64 : {s}, {d}, i64"
    + I64
    + ", i1, i64, i64, i64",
    "copy_ubuf_to_gm": "%s, %d, %c0, %c1, %c64, %c0, %c64, %c64 : {s}, {d}, i64, i64" + I64,
    "copy_cbuf_to_ubuf": "%s, %d, %c0, %c1, %c1, %c0, %c0 : {s}, {d}, i64" + I64,
    "copy_ubuf_to_cbuf": "%s, %d, %c0, %c1, %c1, %c0, %c0 : {s}, {d}, i64" + I64,
}


@pytest.mark.parametrize(
    ("operation", "memories", "reason"),
    [
        ("mte_gm_ub", ("gm", "l1"), "its destination in l1 cannot be executed: it copies from gm to ub"),
        ("mte_gm_ub", ("l0c", "ub"), "its source in l0c cannot be executed: it copies from gm to ub"),
        ("mte_gm_l1", ("l1", "l1"), "its source in l1 cannot be executed: it copies from gm to l1"),
        ("mte_l1_ub", ("l0a", "ub"), "its source in l0a cannot be executed: it copies from l1 to ub"),
        ("mte_ub_l1", ("ub", "l0b"), "its destination in l0b cannot be executed: it copies from ub to l1"),
        ("copy_gm_to_ubuf", ("gm", "bt"), "its destination in bt cannot be executed: it copies from gm to ub"),
        ("copy_ubuf_to_gm", ("ub", "l1"), "its destination in l1 cannot be executed: it copies from ub to gm"),
        ("copy_cbuf_to_ubuf", ("l0c", "ub"), "its source in l0c cannot be executed: it copies from l1 to ub"),
        ("copy_ubuf_to_cbuf", ("ub", "fb"), "its destination in fb cannot be executed: it copies from ub to l1"),
    ],
)
def test_another_memory_is_not_executed(operation: str, memories: tuple[str, str], reason: str) -> None:
    s, d = (f"!pto.ptr<f32, {memory}>" for memory in memories)
    statement = f"pto.{operation} {STATEMENTS[operation].format(s=s, d=d)}"
    module = pto_dialect.parse(PROGRAM.format(s=s, d=d, statement=statement))
    with pytest.raises(ProgramError) as caught:
        pto_dialect.run(module, {})
    assert f"error: pto.{operation} with {reason} [unmodelled]" in str(caught.value)
    assert caught.value.span is not None and caught.value.span.line == 10

"""Which vector cores of a block run a program, and what they say of themselves."""

import numpy as np
import pytest

from pto_dialect import api

STORE = """
    %id = pto.get_subblock_idx
    %count = pto.get_subblock_num
    %block = pto.get_block_idx
    %first = arith.muli %block, %count : i64
    %core = arith.addi %first, %id : i64
    %at = arith.index_cast %core : i64 to index
    %next = arith.addi %core, %c1 : i64
    pto.store_scalar %next, %x[%at] : !pto.ptr<i64, gm>, i64
"""

PROGRAM = """
func.func @k(%x: !pto.ptr<i64, gm>) ATTRIBUTES {
  %c1 = arith.constant 1 : i64
  BODY
  return
}
"""


@pytest.mark.parametrize(
    ("attributes", "body", "stored"),
    [
        ("", STORE, [1, 2, 3, 0, 0, 0]),
        ("", f"pto.section.vector {{{STORE}}}", [1, 2, 3, 4, 5, 6]),
        ("attributes {pto.kernel_kind = #pto.kernel_kind<vector>}", STORE, [1, 2, 3, 4, 5, 6]),
    ],
)
def test_code_for_vector_cores_runs_on_both(attributes: str, body: str, stored: list[int]) -> None:
    x = np.zeros(6, np.int64)
    api.run(api.parse(PROGRAM.replace("ATTRIBUTES", attributes).replace("BODY", body)), {"x": x}, blocks=3)
    assert x.tolist() == stored


def test_a_section_uses_what_each_core_computed_before_it() -> None:
    x = np.zeros(4, np.int64)
    before, _, store = STORE.partition("    pto.store_scalar")
    body = f"{before} pto.section.vector {{ pto.store_scalar {store} }}"
    api.run(api.parse(PROGRAM.replace("ATTRIBUTES", "").replace("BODY", body)), {"x": x}, blocks=2)
    assert x.tolist() == [1, 2, 3, 4]

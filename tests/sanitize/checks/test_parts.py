"""Parts of views that leave their view. Source: docs/reference/instrumentation.md, "Findings"."""

from __future__ import annotations

import numpy as np
import pytest
from groups import in_groups
from sanitize_programs import instrumented

ROWS, COLS = 8, 16


def program(offsets: str, sizes: str, strides: str = "%c16, %c1", shape: str = "%c8, %c16") -> str:
    view, part = "!pto.tensor_view<?x?xf32>", "!pto.partition_tensor_view<?x?xf32>"
    return f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @k(%a: !pto.ptr<f32>, %n: index, %m: index) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c99 = arith.constant 99 : index
    %v = pto.make_tensor_view %a, shape = [{shape}], strides = [{strides}] : {view}
    %w = pto.partition_view %v, offsets = [{offsets}], sizes = [{sizes}] : {view} -> {part}
    return
  }}
}}
"""


def found(text: str, n: int, m: int, checks: tuple[str, ...] = ("bounds",)) -> list[str]:
    kernel = instrumented(text, checks=checks, verify=False)
    kernel.run([np.zeros(4 * ROWS * COLS, np.float32), n, m])
    return [one.message for one in kernel.observer.findings.all if one.rule == "mem-oob"]


@pytest.mark.parametrize("offset", [-1, 0, 3, 7, 8])
@in_groups("size", [0, 1, 5, 8, 9])
def test_rows_of_a_part(offset: int, size: int) -> None:
    """A part without elements leaves nothing."""
    messages = found(program("%n, %c0", "%m, %c16"), offset, size)
    inside = size == 0 or 0 <= offset <= ROWS - size
    expected = f"elements [{offset}, {offset + size}) of dimension 0 are outside %v, which has 8 there"
    assert messages == ([] if inside else [expected])


def test_columns_of_a_part() -> None:
    (message,) = found(program("%c0, %n", "%c8, %m"), 9, 8)
    assert message == "elements [9, 17) of dimension 1 are outside %v, which has 16 there"
    assert found(program("%c0, %n", "%c8, %m"), 8, 8) == []
    assert found(program("%c0, %n", "%c8, %m"), 9, 8, ("race",)) == []


def test_rows_that_are_all_one_row_have_no_end() -> None:
    """With a stride of 0 every row is the same."""
    assert found(program("%n, %c0", "%m, %c16", strides="%c0, %c1"), 5, 8) == []
    assert len(found(program("%n, %c0", "%m, %c16"), 5, 8)) == 1


def test_a_part_without_elements_in_one_dimension_is_nowhere() -> None:
    assert found(program("%n, %c0", "%c8, %m"), 5, 0) == []
    assert found(program("%c99, %n", "%m, %c8"), 0, 0) == []


def test_a_view_without_a_name() -> None:
    (message,) = found(program("%n, %c0", "%m, %c16").replace("%v", "%0"), 5, 8)
    assert message == "elements [5, 13) of dimension 0 are outside the view, which has 8 there"

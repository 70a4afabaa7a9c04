"""Parts of global-memory views that a loop makes: the same elements, and the same faults, as parts on their own."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from parse_helpers import parsed

from pto_dialect.runtime import api
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.memory.gm_parts import GmParts
from pto_dialect.runtime.memory.spaces import Arena
from pto_dialect.runtime.memory.values import GmTensor
from pto_dialect.runtime.numerics.formats import format_of

F32 = format_of("f32")


@given(
    sizes=st.lists(st.integers(1, 3), min_size=1, max_size=5),
    wider=st.lists(st.integers(0, 2), min_size=5, max_size=5),
    place=st.lists(st.integers(0, 3), min_size=5, max_size=5),
    layout=st.sampled_from(["nd", "dn", "nz"]),
)
def test_elements_are_those_of_the_part(sizes: list[int], wider: list[int], place: list[int], layout: str) -> None:
    shape = [size + more for size, more in zip(sizes, wider, strict=False)]
    strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    content = np.arange(prod(shape), dtype=np.float32)
    view = GmTensor(Arena.from_array(content).pointer(0, np.float32), shape, strides, F32, layout)
    offsets = place[: len(shape)]
    distance = sum(offset * stride for offset, stride in zip(offsets, strides, strict=True))
    found, expected = GmParts(view, sizes).elements(distance), view.part(offsets, sizes).elements()
    if expected is None:
        assert found is None
        return
    assert found is not None
    np.testing.assert_array_equal(found, expected)
    assert GmParts(view, sizes).part(distance).pointer == view.part(offsets, sizes).pointer


def copying(rows: int, tile: str = "8x16xi32", tile_attributes: str = "") -> str:
    """Copies ``rows`` x 16 numbers, eight rows at a time, from %x to %y."""
    buffer, view = f"!pto.tile_buf<vec, {tile}{tile_attributes}>", "!pto.partition_tensor_view<8x16xi32>"
    tensor = "!pto.tensor_view<?x16xi32>"
    return f"""module attributes {{pto.target_arch = "a5"}} {{
func.func @copy(%x: !pto.ptr<i32>, %y: !pto.ptr<i32>) attributes {{pto.kernel}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %rows = arith.constant {rows} : index
  %xv = pto.make_tensor_view %x, shape = [%rows, %c16], strides = [%c16, %c1] : {tensor}
  %yv = pto.make_tensor_view %y, shape = [%rows, %c16], strides = [%c16, %c1] : {tensor}
  %t = pto.alloc_tile : {buffer}
  scf.for %i = %c0 to %rows step %c8 {{
    %xp = pto.partition_view %xv, offsets = [%i, %c0], sizes = [%c8, %c16] : {tensor} -> {view}
    %yp = pto.partition_view %yv, offsets = [%i, %c0], sizes = [%c8, %c16] : {tensor} -> {view}
    pto.tload ins(%xp : {view}) outs(%t : {buffer})
    pto.tstore ins(%t : {buffer}) outs(%yp : {view})
  }}
  return
}}
}}
"""


@pytest.mark.parametrize(
    "attributes", ["", ", blayout=col_major, slayout=row_major, fractal=512"], ids=["rows", "boxes"]
)
def test_a_loop_moves_every_part(attributes: str) -> None:
    tile = "8x16xi32" if not attributes else "16x16xi32, valid=8x16"
    kernel = api.compile(parsed(copying(24, tile, attributes))[0])
    assert "_parts" in kernel.source
    x, y = np.arange(24 * 16, dtype=np.int32), np.zeros(24 * 16, np.int32)
    kernel(x, y)
    np.testing.assert_array_equal(y, x)


def test_a_part_that_leaves_the_buffer_is_a_fault_of_its_access() -> None:
    kernel = api.compile(parsed(copying(24))[0])
    x, y = np.arange(24 * 16, dtype=np.int32), np.zeros(24 * 16 - 1, np.int32)
    with pytest.raises(ProgramError, match=r"bytes \[1024, 1536\) are outside gm 'y', which has 1532 bytes") as caught:
        kernel(x, y)
    assert caught.value.rule == "mem-oob"
    assert caught.value.span is not None
    np.testing.assert_array_equal(y[:256], x[:256])

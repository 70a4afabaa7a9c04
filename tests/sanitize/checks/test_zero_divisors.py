"""Tiles of integers divided by zero are warned of, once for each statement; floats are not."""

from __future__ import annotations

import numpy as np
import pytest
from sanitize_programs import diagnostics

from pto_dialect.diagnostics.diagnostic import Severity


def program(op: str, element: str) -> str:
    tile, view = f"!pto.tile_buf<vec, 4x16x{element}>", f"!pto.tensor_view<4x16x{element}>"
    part = view.replace("tensor_view", "partition_tensor_view")
    loads = "\n".join(
        f"""%{n}v = pto.make_tensor_view %{n}, shape = [%c4, %c16], strides = [%c16, %c1] : {view}
        %{n}p = pto.partition_view %{n}v, offsets = [%c0, %c0], sizes = [%c4, %c16] : {view} -> {part}
        %{n}t = pto.alloc_tile : {tile}
        pto.tload ins(%{n}p : {part}) outs(%{n}t : {tile})"""
        for n in "ab"
    )
    return f"""module attributes {{pto.target_arch = "a5"}} {{
    func.func @k(%a: !pto.ptr<{element}>, %b: !pto.ptr<{element}>) attributes {{pto.kernel}} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c16 = arith.constant 16 : index
      {loads}
      scf.for %i = %c0 to %c4 step %c1 {{
        pto.{op} ins(%at, %bt : {tile}, {tile}) outs(%at : {tile})
      }}
      pto.tstore ins(%at : {tile}) outs(%ap : {part})
      return
    }}
    }}"""


@pytest.mark.parametrize(
    ("op", "element", "zero", "warned"),
    [
        ("tdiv", "i32", True, True),
        ("tdiv", "i16", True, True),
        ("tdiv", "i32", False, False),
        ("tdiv", "f32", True, False),
        ("tmul", "i32", True, False),
    ],
)
def test_zeros(op: str, element: str, zero: bool, warned: bool) -> None:
    dtype = {"i16": np.int16, "i32": np.int32, "f32": np.float32}[element]
    a, b = np.full((4, 16), 6, dtype), np.full((4, 16), 1, dtype)
    if zero:
        b[2, 7] = 0
    found = diagnostics(program(op, element), [a, b])
    assert bool(found) == warned
    if warned:
        (one,) = found
        assert (one.rule, one.severity) == ("zero-divisor", Severity.WARNING)
        assert one.message == "pto.tdiv divides by 0 at (2, 7), which gives 0"
        assert one.span is not None
        assert a[2, 7] == 0

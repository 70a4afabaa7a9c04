"""Scales whose bytes lie in blocks, walked over by a loop: parts keep their locations in the whole view.

Source: docs/reference/layouts.md, "MX scales".
"""

from __future__ import annotations

import numpy as np
import pytest
from function_programs import run

from pto_dialect.runtime.compile.variants import PLAIN


@pytest.mark.parametrize("stated", [True, False])
def test_parts_of_scales_in_a_loop(stated: bool) -> None:
    rows, groups = 64, 4
    tile = "!pto.tile_buf<mat, 16x4x!pto.f8E8M0, slayout=row_major, fractal=32>"
    whole, part = "!pto.tensor_view<64x4x!pto.f8E8M0>", "!pto.partition_tensor_view<16x4x!pto.f8E8M0>"
    layout = " {layout = #pto.layout<mx_a_zz>}" if stated else ""
    loads = "\n".join(
        f"""%is{n} = arith.cmpi eq, %i, %c{16 * n} : index
        scf.if %is{n} {{
          pto.tload ins(%p : {part}) outs(%t{n} : {tile})
        }}"""
        for n in range(4)
    )
    body = f"""%v = pto.make_tensor_view %s, shape = [%c64, %c4], strides = [%c4, %c1]{layout} : {whole}
    scf.for %i = %c0 to %c64 step %c16 {{
      %p = pto.partition_view %v, offsets = [%i, %c0], sizes = [%c16, %c4] : {whole} -> {part}
      {loads}
    }}"""
    scales = np.random.default_rng(3).integers(0, 255, rows * groups).astype(np.uint8)
    tiles = [np.zeros((16, 4), np.uint8) for _ in range(4)]
    given = {"s": ("!pto.ptr<!pto.f8E8M0>", scales), **{f"t{n}": (tile, array) for n, array in enumerate(tiles)}}
    assert PLAIN.shares_parts
    run(body, given)
    for number, found in enumerate(tiles):
        rows_of = [
            [scales[number * 64 + group // 2 * 32 + row * 2 + group % 2] for group in range(groups)]
            for row in range(16)
        ]
        assert found.tolist() == rows_of

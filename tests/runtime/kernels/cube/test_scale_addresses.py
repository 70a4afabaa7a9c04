"""Scales of a product after a tile of other elements: only where it begins counts (docs/reference/layouts.md, "MX
scales").
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pto_dialect.ir.core import types as t
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.kernels.buffers.tile_maker import tile_maker
from pto_dialect.runtime.kernels.cube.matmul import _left_scales, _right_scales
from pto_dialect.runtime.memory.spaces import Arena
from pto_dialect.runtime.memory.values import Tile, ValueTile
from pto_dialect.runtime.numerics.formats import format_of
from pto_dialect.syntax.types.parser import parse_type
from pto_dialect.targets.choice import get_profile


def behind(address: int, content: np.ndarray) -> Tile:
    """A tile of words at byte ``address`` of a memory of scales."""
    type_: Any = parse_type("!pto.tile_buf<scaling, 16x32xf32>")
    assert isinstance(type_, t.TileBufType)
    maker = tile_maker(type_, get_profile("a5"))
    return maker.at(Arena.from_array(content).pointer(address, np.float32))


@pytest.mark.parametrize("address", [0, 64, 512])
@pytest.mark.parametrize(("outer", "k"), [(1, 160), (5, 64), (16, 64), (40, 100)])
def test_scales_begin_where_the_tile_begins(address: int, outer: int, k: int) -> None:
    content = np.random.default_rng(outer).integers(0, 255, 4096).astype(np.uint8)
    groups = -(-k // 32)
    wide = -(-groups // 2)

    def byte(row: int, group: int) -> int:
        return content[address + (row // 16 * wide + group // 2) * 32 + row % 16 * 2 + group % 2]

    blocks = [[byte(row, group) for group in range(groups)] for row in range(outer)]
    plain = content[address : address + groups].tolist()
    tile = behind(address, content)
    assert _left_scales(tile, outer, k).tolist() == ([plain] if outer == 1 else blocks)
    assert _right_scales(tile, k, outer).T.tolist() == blocks


def test_values_have_no_place() -> None:
    for scales in (_left_scales, _right_scales):
        with pytest.raises(Fault, match="scales of type f16 cannot be used") as caught:
            scales(ValueTile(4, 4, format_of("f16")), 4, 4)
        assert caught.value.rule == "mx-scale-dtype"

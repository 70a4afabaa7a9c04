"""Scales of a product after a tile of other elements: they are at a sixteenth of the address of the operand, wherever
the tile is (docs/reference/layouts.md, "MX scales").
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


def operand_at(address: int) -> Tile:
    """An operand at byte ``address`` of L0A."""
    type_: Any = parse_type("!pto.tile_buf<left, 16x32xf8E4M3FN, blayout=col_major, slayout=row_major>")
    maker = tile_maker(type_, get_profile("a5"))
    return maker.at(Arena.from_array(np.zeros(address + 512, np.uint8)).pointer(address, np.uint8))


@pytest.mark.parametrize("address", [0, 64, 512])
@pytest.mark.parametrize(("outer", "k"), [(1, 160), (5, 64), (16, 64), (40, 100)])
def test_scales_are_at_a_sixteenth_of_the_address_of_the_operand(address: int, outer: int, k: int) -> None:
    content = np.random.default_rng(outer).integers(0, 255, 4096).astype(np.uint8)
    groups = -(-k // 32)
    wide = -(-groups // 2)

    def byte(row: int, group: int) -> int:
        return content[address + (row // 16 * wide + group // 2) * 32 + row % 16 * 2 + group % 2]

    blocks = [[byte(row, group) for group in range(groups)] for row in range(outer)]
    plain = content[address : address + groups].tolist()
    tile, operand = behind(256, content), operand_at(16 * address)
    assert _left_scales(tile, operand, outer, k).tolist() == ([plain] if outer == 1 else blocks)
    assert _right_scales(tile, operand, k, outer).T.tolist() == blocks


def test_operand_without_an_address_has_its_scales_where_the_tile_is() -> None:
    content = np.arange(4096).astype(np.uint8)
    value = ValueTile(1, 64, format_of("f16"))
    assert _left_scales(behind(96, content), value, 1, 64).tolist() == [[96, 97]]


def test_values_have_no_location() -> None:
    for scales in (_left_scales, _right_scales):
        with pytest.raises(Fault, match="scales of type f16 cannot be used") as caught:
            scales(ValueTile(4, 4, format_of("f16")), operand_at(0), 4, 4)
        assert caught.value.rule == "mx-scale-dtype"

"""Lanes that predicates, offsets and layouts name, at their limits. Source: docs/reference/vectors.md, "Loads and
stores", "Predicates", "Registers".
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pto_dialect.runtime.memory.spaces import Arena
from pto_dialect.runtime.vector.logical_memory import load_blocks
from pto_dialect.runtime.vector.memory import gather, scatter
from pto_dialect.runtime.vector.physical import lane_positions
from pto_dialect.runtime.vector.register import PREFIXES, lanes, spread


@pytest.mark.parametrize("step", [1, 2, 4])
@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_lanes_of_a_full_predicate(step: int, size: int) -> None:
    """A predicate has a bit for each byte; one for wider lanes has set only the first of them."""
    mask = PREFIXES[step][-1]
    bits = [index % step == 0 for index in range(256)]
    wanted = [bits[lane * size] if size < 4 else bits[lane * 4] for lane in range(256 // size)]
    found = np.broadcast_to(lanes(mask, size), (256 // size,))
    assert found.tolist() == wanted


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 100, 128])
def test_offsets_are_as_many_as_their_register_holds(count: int) -> None:
    """64 offsets of 32 bits for 128 lanes of 16: the others get nothing, and give nothing."""
    active = np.arange(128) < count
    active[:3] = False
    mask, offsets = spread(active, 2), np.random.default_rng(count).permutation(200)[:64].astype(np.uint32)
    data = np.arange(1000, 1256, dtype=np.uint16)
    arena = Arena.from_array(data.copy())
    found = gather(arena.pointer(0, np.uint16), offsets, mask, np.dtype(np.uint16))
    assert found.tolist() == [int(data[offsets[i]]) if i < 64 and active[i] else 0 for i in range(128)]
    scatter(np.arange(128, dtype=np.uint16), arena.pointer(0, np.uint16), offsets, mask)
    for lane in range(64):
        if active[lane]:
            data[offsets[lane]] = lane
    assert (arena.bytes.view(np.uint16) == data).all()


@pytest.mark.parametrize(("layout", "lane_count", "registers", "fits"), [
    ({"num_groups": 8}, 8, 1, True), ({"num_groups": 8}, 16, 2, True), ({"num_groups": 8}, 16, 1, False),
    ({"num_groups": 8, "slots": 4}, 8, 2, True), ({"num_groups": 8, "slots": 4}, 8, 1, False),
    ({"num_groups": 4, "lane_stride": 16}, 4, 1, True), ({"num_groups": 5, "lane_stride": 16}, 5, 1, False),
    ({"num_groups": 8, "lane_stride": 16}, 8, 1, False), ({"num_groups": 64}, 64, 1, True),
    ({"deinterleaved": 2}, 128, 2, True), ({"deinterleaved": 2}, 128, 1, False), ({}, 64, 1, True), ({}, 65, 1, False),
])  # fmt: skip
def test_locations_of_lanes(layout: dict[str, int], lane_count: int, registers: int, fits: bool) -> None:
    """A register has 64 positions of 32 bits; a group is in one register, its lanes ``lane_stride`` positions apart."""
    found = lane_positions(tuple(layout.items()), lane_count, 4, registers)
    assert (found is not None) == fits
    if found is None:
        return
    stride = layout.get("lane_stride", 1)
    for lane, place in enumerate(found.tolist()):
        if "num_groups" in layout:
            slots = layout.get("slots", layout["num_groups"])
            assert place == lane // slots * 64 + lane % slots * stride
        else:
            streams = layout.get("deinterleaved", 1)
            assert place == lane % streams * (registers // streams) * 64 + lane // streams


@pytest.mark.parametrize("stride", [1, 3])
@pytest.mark.parametrize("active", [range(0), range(5), range(8, 24), (0, 9, 31)])
def test_blocks_of_lanes(stride: int, active: Any) -> None:
    """4 blocks of 8 numbers; those without an active lane may lie outside of the memory."""
    memory = np.arange(8 * 3 * stride + 8, dtype=np.float32)[: 8 * (max([*active, 0]) // 8 * stride + 1)]
    mask = np.isin(np.arange(32), list(active))
    found = load_blocks(
        Arena.from_array(memory.copy()).pointer(0, np.float32), 0, np.dtype(np.float32), 32, stride, mask
    )
    wanted = [float(lane // 8 * stride * 8 + lane % 8) if mask[lane] else 0.0 for lane in range(32)]
    assert found.tolist() == wanted

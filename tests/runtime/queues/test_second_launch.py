"""Blocks whose pipes have queues are used again by the next launch, as if they were new."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from parse_helpers import parsed
from queue_programs import CubeToVector

from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.layout import tile_layout
from pto_dialect.runtime.memory.spaces import Arena
from pto_dialect.runtime.memory.values import Tile
from pto_dialect.runtime.numerics.formats import format_of
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions


def operands(kernel: Kernel, program: CubeToVector, seed: int) -> list[np.ndarray]:
    """The arguments of a kernel: factors, slots, and where products are stored."""
    rng = np.random.default_rng(seed)
    given = {
        "gm_a": rng.standard_normal((program.rows, 16)).astype(np.float32),
        "gm_b": rng.standard_normal((4096, program.cols)).astype(np.float32),
        "gm_slots": np.zeros(program.slots * program.slot_size // 4, np.float32),
        "gm_out": np.zeros((4096, 2 * program.cols), np.float32),
    }
    return [given[name] for name, _ in kernel.arguments]


def made(program: CubeToVector, **options: Any) -> Kernel:
    """A new kernel."""
    return Kernel(parsed(program.text())[0], "cube", None, RunOptions(**options))


@pytest.mark.parametrize("arch", ["a5", "a2a3"])
@pytest.mark.parametrize("blocks", [1, 3])
def test_later_launches_give_what_a_new_kernel_gives(blocks: int, arch: str) -> None:
    program = CubeToVector(arch=arch)
    kernel = made(program)
    kernel.run(operands(kernel, program, 0), blocks=blocks)
    used = set(map(id, kernel._idle))
    assert used
    for seed in (1, 2):
        mine, other = operands(kernel, program, seed), operands(kernel, program, seed)
        kernel.run(mine, blocks=blocks)
        made(program).run(other, blocks=blocks)
        assert set(map(id, kernel._idle)) == used and mine[-1].any()
        assert all(one.tobytes() == two.tobytes() for one, two in zip(mine, other, strict=True))


def test_blocks_that_failed_are_not_used_again() -> None:
    # Two pops of one entry: the second waits for ever.
    program = CubeToVector(count=1, pops=2)
    kernel = made(program)
    for _ in range(2):
        with pytest.raises(ProgramError):
            kernel.run(operands(kernel, program, 0))
        assert kernel._idle == []


def test_memory_of_other_content_is_made_again() -> None:
    program = CubeToVector()
    kernel = made(program, fill="poison")
    kernel.run(operands(kernel, program, 0))
    assert kernel._idle == []


def test_handles_of_one_tile_have_valid_regions_and_ends_of_their_own() -> None:
    memory = Arena("ub", 4096)
    layout = tile_layout(8, 16, 4)
    whole = Tile(memory.pointer(0, np.float32), layout, format_of("f32"), "vec", 8, 16, 8, 16)
    part = whole.with_valid(3, 5)
    part.array[...] = 1
    assert (part.rows, part.cols, part.valid_rows, part.valid_cols) == (8, 16, 3, 5)
    assert whole.array.shape == (8, 16) and whole.array.sum() == 15
    part.set_valid(2, 2)
    part.retire()
    assert (whole.valid_rows, whole.valid_cols, whole.array.sum()) == (8, 16, 15)
    with pytest.raises(Fault, match="valid region 9x16 exceeds tile 8x16"):
        whole.with_valid(9, 16)

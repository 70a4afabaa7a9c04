"""What is reported of signals and entries at the limits of a message, and how a signal without a mode is meant. Source:
docs/reference/execution.md, "Synchronisation", "Queues between cores".
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from parse_helpers import parsed
from run_time_tiles import refused, table

from pto_dialect.runtime.kernels.sync.comm import Test as Compare
from pto_dialect.runtime.kernels.sync.cross_core import default_mode
from pto_dialect.runtime.kernels.sync.pipe_transfer import Push


@pytest.mark.parametrize("count", [1, 7, 8, 9, 20])
def test_a_message_lists_eight_elements_of_a_signal(count: int) -> None:
    words = Compare("ge").missing(table(1, count, "i32"), 3)
    shown = ", ".join(map(str, range(min(count, 8)))) + (", …" if count > 8 else "")
    assert words == f"until the signal at byte 0 of gm 'a' is at least 3; it holds {shown}"


@pytest.mark.parametrize(("rows", "cols", "fits"), [(8, 16, True), (9, 16, False), (8, 17, False), (7, 3, True)])
@pytest.mark.parametrize("index", [0, 1])
def test_an_entry_fits_into_the_tile_of_its_consumer(rows: int, cols: int, fits: bool, index: int) -> None:
    """Without a split each vector core writes all of it."""
    written: list[Any] = []
    window = SimpleNamespace(write=lambda values: written.append(values))
    tile = SimpleNamespace(view=SimpleNamespace(window=lambda *place: written.append(place) or window))

    class Maker:
        type = SimpleNamespace(rows=8, cols=16)

        def __call__(self, core: Any, address: int, height: int, width: int) -> Any:
            assert (address, height, width) == (64, rows, cols)
            return tile

    push = Push.__new__(Push)
    push.split, push.direction, push.maker = 0, 2, Maker()  # pyright: ignore[reportAttributeAccessIssue]
    end: Any = SimpleNamespace(core=None, local_address=lambda direction, number: 64)
    values = np.ones((rows, cols), np.float32)
    if fits:
        push._to_cube(end, 0, values, index)
        assert written[0] == (0, 0, rows, cols) and written[1] is values
    else:
        message = f"an entry of {rows}x{cols} elements does not fit into a tile of 8x16"
        refused("pipe-slot", message, lambda: push._to_cube(end, 0, values, index))


@pytest.mark.parametrize(("arch", "option", "sent", "awaited", "mode"), [
    ("a5", "auto", [3], [3], "block"), ("a5", "auto", [15], [15], "block"), ("a5", "auto", [16], [16], "p2p"),
    ("a5", "auto", [3, 19], [3], "p2p"), ("a5", "auto", [3], [4], "p2p"), ("a5", "auto", [3], [3, 4], "block"),
    ("a5", "block", [3, 19], [3], "block"), ("a5", "p2p", [3], [3], "p2p"), ("a2a3", "p2p", [3], [3], "block"),
])  # fmt: skip
def test_how_a_signal_without_a_mode_is_meant(
    arch: str, option: str, sent: list[int], awaited: list[int], mode: str
) -> None:
    """For the whole block where the other section awaits all numbers that one sets, and none is that of a core."""
    sets = "\n".join(f"pto.sync.set <PIPE_S>, {number}" for number in sent)
    waits = "\n".join(f"pto.sync.wait <PIPE_S>, {number}" for number in awaited)
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
    func.func @k() attributes {{pto.kernel}} {{
    pto.section.cube {{
    {sets}
    }}
    pto.section.vector {{
    {waits}
    }}
    return
    }}
    }}"""
    module, _ = parsed(text)
    assert module is not None
    op = next(op for op in module.walk() if op.name == "pto.sync.set")
    g: Any = SimpleNamespace(options=SimpleNamespace(cross_core=option), profile=SimpleNamespace(arch=arch))
    assert default_mode(op, g) == mode

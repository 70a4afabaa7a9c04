"""Which part of an entry belongs to which vector core, and who takes part. Source: docs/reference/execution.md, "Queues
between cores".
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from groups import in_groups

from pto_dialect.analysis.queues import C2V, V2C
from pto_dialect.runtime.kernels.sync.pipe_transfer import halves, placed
from pto_dialect.runtime.queues.fifo import FifoEnd

WHOLE, ROWS, COLS, ODD_ROWS, ODD_COLS = range(5)


@pytest.mark.parametrize("shape", [(8, 6), (1, 1), (7, 5), (2, 9)])
@in_groups("split", [WHOLE, ROWS, COLS, ODD_ROWS, ODD_COLS])
def test_halves(shape: tuple[int, int], split: int) -> None:
    values = np.arange(shape[0] * shape[1]).reshape(shape)
    first, second = halves(values, split)
    if split == WHOLE:
        assert (first == values).all() and (second == values).all()
        return
    axis = 0 if split in (ROWS, ODD_ROWS) else 1
    larger = sum(1 for n in range(shape[axis]) if n % 2 == 0)
    assert first.shape[axis] == larger and second.shape[axis] == shape[axis] - larger
    assert (np.concatenate([first, second], axis) == values).all()


@pytest.mark.parametrize("shape", [(8, 6), (7, 5), (1, 3), (3, 1), (4, 9)])
def test_where_a_part_lies(shape: tuple[int, int]) -> None:
    """Each core knows its own part only: the other one has as many rows or columns, or one less or more."""
    splits = [WHOLE, ODD_ROWS if shape[0] % 2 else ROWS, ODD_COLS if shape[1] % 2 else COLS]
    for split in splits:
        check_parts(np.arange(shape[0] * shape[1]).reshape(shape), split)


def check_parts(whole: np.ndarray, split: int) -> None:
    shape = whole.shape
    for vector, part in enumerate(halves(whole, split)):
        rows, cols = part.shape
        row, col, height, width = placed(rows, cols, split, vector)
        if split == WHOLE:
            assert (row, col, height, width) == (0, 0, *shape)
            continue
        assert (height, width) == shape
        assert (whole[row : row + part.shape[0], col : col + part.shape[1]] == part).all()


FACTS: Any = SimpleNamespace(label="queue 3", key=("q", 3), mask=C2V | V2C, slots=4)


def end(cube: bool, index: int = 0, everyone: bool = False, cores: int = 2, mask: int = C2V | V2C) -> FifoEnd:
    core: Any = SimpleNamespace(
        cube=cube, vector=not cube, index=index, flags={}, block=SimpleNamespace(vector_cores=cores)
    )
    facts: Any = SimpleNamespace(**{**vars(FACTS), "mask": mask})
    return FifoEnd(core, facts, everyone, None, {})


def test_who_takes_part_in_whole_entries() -> None:
    """On a5 the first vector core alone, on a2a3 both; in entries that are split always both."""
    for direction, producing in ((C2V, False), (V2C, True)):
        assert end(False, 0).takes_part(direction, producing, WHOLE)
        assert not end(False, 1).takes_part(direction, producing, WHOLE)
        assert end(False, 1, everyone=True).takes_part(direction, producing, WHOLE)
        assert end(False, 1).takes_part(direction, producing, ROWS)
    for direction, producing in ((C2V, True), (V2C, False)):
        assert end(True).takes_part(direction, producing, WHOLE)


def counts(one: FifoEnd) -> dict[tuple[str, int, int], int]:
    """Signals that have come, by kind, direction and vector core."""
    flags: dict[Any, int] = one.core.flags
    return {(token.kind, token.direction, token.vector): count for token, count in flags.items()}


def test_slots_are_free_at_the_start() -> None:
    """The producer of each direction has all slots, for every consumer."""
    assert counts(end(True)) == {("slot", C2V, 0): 4, ("slot", C2V, 1): 4}
    assert counts(end(False, 1)) == {("slot", V2C, 1): 4}
    assert end(True, mask=V2C).core.flags == {} and end(False, mask=C2V).core.flags == {}
    assert len(end(True, mask=C2V).core.flags) == 2 and len(end(False, mask=V2C).core.flags) == 1


def test_names_of_what_is_waited_for() -> None:
    cube, vector = end(True), end(False, 1)
    assert cube._token("slot", C2V, 1).text == "a free slot of queue 3 from AIV1"
    assert cube._token("entry", V2C, 0).text == "an entry of queue 3 from AIV0"
    assert vector._token("entry", C2V, 1).text == "an entry of queue 3 from the AIC"
    assert vector._token("slot", V2C, 1).text == "a free slot of queue 3 from the AIC"


def test_slots_are_used_in_turn() -> None:
    one = end(True)
    assert [one.produced(C2V) for _ in range(3)] == [0, 1, 2]
    assert [one.consumed(V2C) for _ in range(3)] == [0, 1, 2]
    assert [one.produced(V2C), one.consumed(C2V)] == [0, 0]

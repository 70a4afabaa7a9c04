"""Ranges of bytes as text. Source: docs/reference/instrumentation.md, "Findings"."""

from __future__ import annotations

from typing import Any

import pytest

from pto_dialect.runtime.memory.spaces import Arena
from pto_dialect.sanitize.report.describe import bytes_text
from pto_dialect.sanitize.state.arena import InstrumentedArena


class Nobody:
    numbers = None

    def read(self, arena: InstrumentedArena, region: Any) -> None: ...

    def write(self, arena: InstrumentedArena, region: Any) -> None: ...

    def undefined(self, arena: InstrumentedArena, region: Any) -> None: ...


@pytest.mark.parametrize("space", ["ub", "gm"])
@pytest.mark.parametrize("count", range(1, 7))
def test_the_number_of_bytes_is_that_of_all_ranges(count: int, space: str) -> None:
    arena = InstrumentedArena(Arena(space, 4096, name="x"), Nobody())
    runs = [(100 * place + 7, 100 * place + 7 + 3 * (place + 1)) for place in range(count)]
    text = bytes_text(arena, runs)
    shown = [f"[{low}, {high})" for low, high in runs]
    listed = [part for part in shown if part in text]
    assert listed == shown[: len(listed)] and listed
    hidden = count - len(listed)
    assert (f" and {hidden} more ranges" in text) == (hidden > 0)
    total = sum(len(range(low, high)) for low, high in runs)
    assert (f" ({total} bytes)" in text) == (count > 1)
    assert text.endswith(" of gm 'x'" if space == "gm" else " of ub")

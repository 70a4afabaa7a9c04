"""Tests of groups run every item, and name all that fail."""

from __future__ import annotations

from pathlib import Path

import pytest
from groups import each

seen: list[int] = []


@each("number", range(6), lambda number: "odd" if number % 2 else "even")
def test_every_item_runs(number: int, tmp_path: Path) -> None:
    assert tmp_path.exists()
    seen.append(number)
    assert len(seen) % 3 or sum(seen) in (6, 9, 15)


def test_all_items_that_fail_are_named() -> None:
    def fails_for_large_numbers(number: int) -> None:
        assert number < 3

    test = each("number", range(6), lambda _: "all")(fails_for_large_numbers)
    with pytest.raises(ExceptionGroup, match="3 of 6 fail") as caught:
        test(group="all")
    assert [error.__notes__ for error in caught.value.exceptions] == [[f"number: {number}"] for number in (3, 4, 5)]

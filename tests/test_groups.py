"""Tests of groups run every item, and name all that fail."""

from __future__ import annotations

from pathlib import Path

import pytest
from groups import each, in_groups

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


def test_parts_of_items_are_parameters_and_groups_have_a_size() -> None:
    found: list[tuple[int, str]] = []

    def test(number: int, letter: str) -> None:
        found.append((number, letter))
        assert letter != "c"

    grouped = in_groups(("number", "letter"), enumerate("abcde"), size=2)(test)
    assert [mark.args for mark in grouped.pytestmark] == [("group", ["0", "1", "2"])]  # pyright: ignore
    grouped(group="0")
    with pytest.raises(ExceptionGroup, match="1 of 2 fail") as caught:
        grouped(group="1")
    assert caught.value.exceptions[0].__notes__ == ["number, letter: (2, 'c')"]
    assert found == [*enumerate("abcd")]

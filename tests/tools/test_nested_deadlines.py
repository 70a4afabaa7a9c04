"""A limit of time within another one: the shorter one ends its own block, and both hold."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

import pytest

from pto_dialect.deadline import TimedOut, deadline, is_over


def work(seconds: float) -> None:
    end = monotonic() + seconds
    while monotonic() < end:
        pass


def ended(block: Callable[[], None]) -> bool:
    try:
        block()
    except TimedOut:
        return True
    return False


def limited(seconds: float, block: Callable[[], None], processor: bool = False) -> Callable[[], None]:
    def inner() -> None:
        with deadline(seconds, processor):
            block()

    return inner


@pytest.mark.parametrize("processor", [False, True])
def test_inner_limit_ends_the_inner_block_alone(processor: bool) -> None:
    seen: list[object] = []

    def outer() -> None:
        seen.append(ended(limited(0.05, lambda: work(20), processor)))
        seen.append(is_over())

    assert not ended(limited(60, outer))
    assert seen == [True, False]


def test_outer_limit_holds_in_the_inner_block() -> None:
    begin = monotonic()
    assert ended(limited(0.05, limited(60, lambda: work(20))))
    assert monotonic() - begin < 20


def test_outer_limit_holds_after_the_inner_block() -> None:
    def outer() -> None:
        limited(60, lambda: None)()
        work(20)

    assert ended(limited(0.05, outer))


def test_outer_limit_is_distinguished_from_the_inner_one() -> None:
    seen: list[bool] = []

    def outer() -> None:
        try:
            limited(60, lambda: work(20))()
        except TimedOut:
            seen.append(is_over())
            raise

    assert ended(limited(0.05, outer))
    assert seen == [True]


def test_no_limit_is_left() -> None:
    assert not ended(limited(0.2, limited(0.1, lambda: None)))
    work(0.4)
    assert not is_over()

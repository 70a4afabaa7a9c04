"""Which signals are awaited, present, and still to be sent when nothing can continue."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pto_dialect.runtime.queues.run import LEVEL, SET, WAIT
from pto_dialect.sanitize.instrument.deadlock import _advice, _present, _root, _to_be_sent, blocked

FLAG, OTHER, THIRD = ("PIPE_MTE2", "PIPE_V", 3), ("PIPE_V", "PIPE_MTE3", 0), ("PIPE_MTE3", "PIPE_MTE2", 1)
SITES: Any = {number: SimpleNamespace(line_text=f"line {number}") for number in range(9)}
WATCH: Any = SimpleNamespace(sites=SITES)


def mark(order: int) -> Any:
    return SimpleNamespace(order=order, site=order)


def core(**fields: Any) -> Any:
    plain = {"flags": {}, "scalar_wait": (), "scalar_level": None, "queues": {}, "heads": [], "tokens": {}}
    given = {**plain, **fields}
    heads, tokens = given.pop("heads"), given.pop("tokens")
    return SimpleNamespace(
        **given, heads=lambda: heads, mark=lambda pipe: mark(8), signals=SimpleNamespace(tokens=tokens)
    )


def token(site: int) -> Any:
    return SimpleNamespace(site=site)


@pytest.mark.parametrize(
    ("count", "sites", "end"),
    [
        (1, [4], ", set at line 4"),
        (2, [4, 4], " (2 times), set at line 4"),
        (2, [4, 5], " (2 times), set at line 4, line 5"),
    ],
)
def test_signals_that_are_present(count: int, sites: list[int], end: str) -> None:
    (found,) = _present(core(flags={FLAG: count}, tokens={FLAG: [token(site) for site in sites]}), WATCH)
    assert found.endswith(f"{end}") and "PIPE_MTE2" in found and " to PIPE_V" in found


def test_signals_that_were_taken_or_come_from_nowhere() -> None:
    """A count without an operation is the state in which a core begins."""
    flags = {FLAG: 0, OTHER: 1, THIRD: 2}
    tokens = {FLAG: [token(1)], OTHER: []}
    assert _present(core(flags=flags, tokens=tokens), WATCH) == []


def test_pipes_that_wait_and_for_what() -> None:
    heads = [
        ("PIPE_V", WAIT, mark(1), (FLAG, OTHER)),
        ("PIPE_M", "run", mark(2), ()),
        ("PIPE_FIX", LEVEL, mark(3), (THIRD, 5)),
    ]
    found = blocked(core(heads=heads, flags={OTHER: 1}, scalar_wait=(FLAG, OTHER)))
    assert [(pipe, one.order, keys) for pipe, one, keys in found] == [
        ("PIPE_V", 1, (FLAG,)), ("PIPE_FIX", 3, (THIRD,)), ("PIPE_S", 8, (FLAG,)),
    ]  # fmt: skip


@pytest.mark.parametrize(("count", "waits"), [(0, True), (2, True), (3, False), (4, False)])
def test_the_scalar_unit_waits_for_a_level(count: int, waits: bool) -> None:
    found = blocked(core(scalar_level=(FLAG, 3), flags={FLAG: count}))
    assert [(pipe, keys) for pipe, _, keys in found] == ([("PIPE_S", (FLAG,))] if waits else [])


def test_nothing_waits() -> None:
    assert blocked(core()) == [] and _root([core()]) is None


def queues(*keys: Any) -> dict[str, Any]:
    return {"PIPE_MTE2": [(0, 0, SET, mark(0), tuple(("core", key) for key in keys)), (0, 0, WAIT, mark(0), (OTHER,))]}


def test_signals_that_are_still_to_be_sent() -> None:
    assert _to_be_sent(core(queues=queues(FLAG, THIRD))) == [FLAG, THIRD]


def advised(cores: list[Any]) -> tuple[str | None, int | None]:
    root = _root(cores)
    assert root is not None
    return _advice(*root)


def test_advice_is_about_the_wait_that_nobody_will_end() -> None:
    """Else about the first one in the program."""
    early, late = ("PIPE_V", WAIT, mark(1), (FLAG,)), ("PIPE_MTE3", WAIT, mark(5), (OTHER,))
    assert advised([core(heads=[late, early])])[1] == 1
    advice, site = advised([core(heads=[late, early], queues=queues(FLAG))])
    assert site == 5
    assert advice == ("pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>] after the work of PIPE_V that the wait is for")
    assert advised([core(heads=[late, early], queues=queues(FLAG, OTHER))])[1] == 1
    assert advised([core(heads=[("PIPE_V", WAIT, mark(0), (FLAG,))])])[1] is None

"""Parts of conditions that nothing decides are found, and answers stay as they are."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from undecided import FOUND, Noting, undecided

SOURCE = """
def both(a, b, c=1):
    return a and b and c

def either(a, b):
    return a or b

def kind(x):
    return isinstance(x, int) and x > 3

def once(things):
    return not things or things.pop() == 1

def order(a, b):
    return a < b

class Fixed:
    always = 1 and 2
"""


@pytest.fixture
def module() -> Iterator[dict[str, Any]]:
    kept, FOUND[:] = list(FOUND), []
    tree = ast.fix_missing_locations(Noting("f.py").visit(ast.parse(SOURCE)))
    names: dict[str, Any] = {"_asked": lambda number, *arguments: FOUND[number].ask(*arguments)}
    exec(compile(tree, "f.py", "exec"), names)
    yield names
    FOUND[:] = kept


def test_nothing_is_reported_without_a_request(module: dict[str, Any]) -> None:
    assert list(undecided()) == []


def test_answers_are_those_of_python(module: dict[str, Any]) -> None:
    for a in (0, 2, "", "x", None):
        for b in (0, 3, [], [1]):
            assert module["both"](a, b) == (a and b and 1)
            assert module["either"](a, b) == (a or b)
    assert [module["order"](*pair) for pair in ((1, 2), (2, 2), (3, 2))] == [True, False, False]
    assert module["order"](np.array([1, 2, 3]), 2).tolist() == [True, False, False]


def test_a_part_decides_where_the_answer_without_it_is_another(module: dict[str, Any]) -> None:
    both = module["both"]
    both(1, 1)
    assert list(undecided()) == [f"f.py:3: `{part}` decides nothing" for part in "abc"]
    both(0, 0)
    assert len(list(undecided())) == 3
    both(1, 0)
    both(0, 1)
    assert list(undecided()) == ["f.py:3: `c` decides nothing"]
    both(1, 1, 0)
    assert list(undecided()) == []


def test_a_part_decides_where_the_others_would_raise_without_it(module: dict[str, Any]) -> None:
    module["kind"](5)
    assert "f.py:9: `isinstance(x, int)` decides nothing" in list(undecided())
    module["kind"]("text")
    assert "f.py:9: `isinstance(x, int)` decides nothing" not in list(undecided())


def test_effects_happen_no_more_than_once(module: dict[str, Any]) -> None:
    things = [1, 2]
    assert not module["once"](things)
    assert things == [1]
    assert module["once"]([])


def test_sides_that_are_never_equal(module: dict[str, Any]) -> None:
    module["order"](1, 2)
    assert list(undecided()) == ["f.py:15: sides of `a < b` are never equal"]
    module["order"](2, 2)
    assert list(undecided()) == []

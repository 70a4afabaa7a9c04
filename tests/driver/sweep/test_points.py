"""The points of a sweep, and what a launch file says at each."""

from __future__ import annotations

import pytest

from pto_dialect.driver.launch.document import Document, LaunchError
from pto_dialect.driver.sweep.points import at_point, filled_program, point_text, points_of


def document(sweep: str, rest: str = "") -> Document:
    return Document("t.launch.toml", f"{rest}[sweep]\n{sweep}\n")


def test_the_last_name_runs_fastest() -> None:
    points = points_of(document('n = [16, 32]\nkind = ["zeros", "ones"]'))
    assert points == [
        {"n": 16, "kind": "zeros"}, {"n": 16, "kind": "ones"}, {"n": 32, "kind": "zeros"}, {"n": 32, "kind": "ones"},
    ]  # fmt: skip
    assert points_of(Document("t.launch.toml", "")) == [{}]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("{ from = 3, to = 5 }", [3, 4, 5]),
        ("{ from = 0, to = 7, step = 3 }", [0, 3, 6]),
        ("{ from = 16, to = 100, factor = 2 }", [16, 32, 64]),
        ("[1, true, 2.5, 'x']", [1, True, 2.5, "x"]),
    ],
)
def test_lists_and_ranges(text: str, values: list[object]) -> None:
    assert [point["n"] for point in points_of(document(f"n = {text}"))] == values


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n = 3", "expected a list of values"),
        ("n = []", "expected a list of values"),
        ("n = [[1]]", "expected numbers, strings, true or false"),
        ("n = [1, 1]", "a value stands twice"),
        ("n = { from = 1 }", "a range has from and to"),
        ("n = { from = 1, to = 0 }", "a range goes up"),
        ("n = { from = 0, to = 4, factor = 2 }", "a range goes up"),
        ("n = { from = 1, to = 4, step = 1, factor = 2 }", "a step or a factor, not both"),
        ("n = { from = 1, to = 4.5 }", "expected an integer"),
        ("n = { from = 1, to = 4, by = 2 }", "unknown key"),
        ("n = { from = 1, to = 100000000 }", "more than 1000000 values"),
        ("n = { from = 1, to = 2000 }\nm = { from = 1, to = 2000 }", "4000000 points, at most 1000000"),
        ("rank = [1]", "and is not rank"),
        ("'a b' = [1]", "consists of letters, digits and _"),
    ],
)
def test_wrong_tables_have_a_location(text: str, message: str) -> None:
    with pytest.raises(LaunchError, match=message) as caught:
        points_of(document(text))
    assert caught.value.diagnostic.span is not None


def test_braces_are_values_and_settings_are_keys() -> None:
    rest = 'program = "k_{n}.pto"\nblocks = 1\n[arguments]\nx = "zeros:f32:{n}x{n}"\ny = 3\n'
    whole = document('n = [16]\nblocks = [4]\ntarget = ["a5"]', rest)
    (point,) = points_of(whole)
    found = at_point(whole, point)
    assert found.content == {
        "program": "k_16.pto", "blocks": 4, "target": "a5", "arguments": {"x": "zeros:f32:16x16", "y": 3}
    }  # fmt: skip
    assert whole.content["blocks"] == 1
    # Places are those of the file.
    assert found.span(("arguments", "x")).line == 4


def test_programs_and_texts() -> None:
    assert filled_program("<${n}x${m}xf32> {n}", {"n": 4, "m": True}) == "<4xtruexf32> {n}"
    assert point_text({"n": 4, "on": False}) == "n=4, on=false"

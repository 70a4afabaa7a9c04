"""What a tuning varies, from launch files and from command lines. Source: docs/tune.md, "What varies"."""

from __future__ import annotations

import pytest

from pto_dialect.driver.launch.document import Document, LaunchError
from pto_dialect.driver.tune.space import SpaceError, candidates, document_of, program_at, with_passes


def launch(text: str) -> Document:
    return Document("kernel.launch.toml", text)


def test_all_combinations_come_in_order_and_fill_the_launch_file() -> None:
    document = launch(
        'program = "k_{order}.pto"\n[tune]\norder = ["ij", "ji"]\nrows = { from = 16, to = 64, factor = 2 }\n'
        'passes = "tile-loops{rows={rows}},assign-memory"\n[arguments]\na = "ones:f32:{rows}x4"\n'
    )
    found = candidates(document)
    assert [tuple(one.point.values()) for one in found] == [
        (order, rows) for order in ("ij", "ji") for rows in (16, 32, 64)
    ]
    last = found[-1]
    assert last.document.content == {"program": "k_ji.pto", "arguments": {"a": "ones:f32:64x4"}}
    assert last.passes == ("tile-loops{rows=64}", "assign-memory")


@pytest.mark.parametrize(
    ("passes", "expected"),
    [
        ("double-buffer{count=[1,2]}", [(), ("double-buffer{count=2}",)]),
        ("unroll{factor=[1,4]},assign-memory", [("assign-memory",), ("unroll{factor=4}", "assign-memory")]),
        ("tile-loops{rows=[1,off]}", [("tile-loops{rows=1}",), ()]),
        ("insert-sync", [("insert-sync",)]),
    ],
)
def test_lists_in_passes_vary(passes: str, expected: list[tuple[str, ...]]) -> None:
    found = candidates(document_of("k.pto", ["n=4"], [passes], {}))
    assert [one.passes for one in found] == expected
    assert {one.point["n"] for one in found} == {4}


def test_lists_of_one_option_get_names_of_their_own() -> None:
    pipelines = ["double-buffer{count=[2,3]}", "double-buffer{count=[1,4]}"]
    found = candidates(document_of("k.pto", [], pipelines, {"blocks": 2, "arguments": {"a": 'x"y=1'}}))
    assert list(found[0].point) == ["count", "count_2"] and len(found) == 4
    assert found[3].passes == ("double-buffer{count=3}", "double-buffer{count=4}")
    assert found[0].document.content == {"program": "k.pto", "blocks": 2, "arguments": {"a": 'x"y=1'}}


def test_passes_of_the_command_line_come_after_those_of_the_file() -> None:
    document = launch('[tune]\nrows = [16]\npasses = "tile-loops{rows={rows}}"\n')
    (one, two) = candidates(with_passes(document, ["double-buffer{count=[2,3]}"]))
    assert one.passes == ("tile-loops{rows=16}", "double-buffer{count=2}")
    assert two.point == {"rows": 16, "count": 3}


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('program = "k.pto"\n', 1, "there is nothing to vary, write a table [tune]"),
        ("[tune]\nn = 3\n", 2, "tune.n: expected a list of values"),
        ("[tune]\nn = { from = 8, to = 1 }\n", 2, "tune.n: a range goes up"),
        ("[tune]\nn = [1, 1]\n", 2, "tune.n: a value stands twice"),
        ('[tune]\nn = [1]\npasses = "tile-loop{rows={n}}"\n', 3, "unknown pass 'tile-loop', did you mean tile-loops?"),
        ('[tune]\nn = [3]\npasses = "tile-loops{rows={n}}"\n', 3, "rows of tile-loops is"),
        ("[tune]\nn = [1]\n[sweep]\nm = [2]\n", 3, "a launch file that is tuned has a table [tune] instead"),
    ],
)
def test_mistakes_have_their_locations(text: str, line: int, message: str) -> None:
    with pytest.raises(LaunchError) as caught:
        candidates(launch(text))
    found = caught.value.diagnostic
    assert message in found.message
    assert found.span is not None and found.span.line == line


def test_only_integers_go_into_programs() -> None:
    document = launch('[tune]\nn = [8]\nword = ["} pto.trap {"]\n')
    point = candidates(document)[0].point
    assert program_at("%n = ${n}", point, document) == "%n = 8"
    with pytest.raises(LaunchError, match=r"\$\{word\} in a program is an integer"):
        program_at("x ${word}", point, document)
    with pytest.raises(LaunchError, match=r"no value is given for \$\{other\}"):
        program_at("x ${other}", point, document)


@pytest.mark.parametrize("text", ["n", "n=1 m=2=3,n", "1n=2", "passes=1"])
def test_parameters_of_a_command_line_have_a_form(text: str) -> None:
    if text.startswith("n=1"):
        assert candidates(document_of("k.pto", [text], [], {}))
        return
    with pytest.raises(SpaceError, match="is not written as NAME=16,32,64"):
        document_of("k.pto", [text], [], {})

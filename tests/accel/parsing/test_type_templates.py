"""Types read from templates are what the grammar makes of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pto_dialect.accel.parsing import type_templates
from pto_dialect.syntax.errors.types import TypeSyntaxError
from pto_dialect.syntax.types import parser

LONG = (
    "!pto.tile_buf<loc=vec, dtype=f32, rows={}, cols={}, v_row={}, v_col={}, blayout=row_major, "
    "slayout=none_box, fractal={}, pad={}>"
)


@pytest.fixture(autouse=True)
def no_templates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test begins without templates."""
    monkeypatch.setattr(type_templates, "_templates", {})


@pytest.fixture
def by_grammar(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """What the grammar makes of a type, or the error that it reports."""

    def read(text: str) -> str:
        with monkeypatch.context() as patch:
            patch.setattr(parser, "read_type", lambda text: None)
            return outcome(text)

    return read


def outcome(text: str) -> str:
    try:
        found = parser._read(text)
    except TypeSyntaxError as error:
        return f"{error.rule} {error.start} {error.end} {error.message} {error.help}"
    return f"{type(found).__name__} {found} {vars(found)}"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (LONG.format(16, 64, 16, 64, 512, 0), LONG.format(32, 8, 31, 7, 1024, 1)),
        ("!pto.tile_buf<vec, 16x64xf32, valid=8x60>", "!pto.tile_buf<vec, 1x8xf32, valid=0x8>"),
        ("!pto.tensor_view<16x?x64xf32>", "!pto.tensor_view<1x?x99999999xf32>"),
        ("!pto.eventid_array<2>", "!pto.eventid_array<8>"),
    ],
)
def test_a_type_with_other_numbers_is_read_from_its_template(
    first: str, second: str, by_grammar: Callable[[str], str]
) -> None:
    expected = by_grammar(second)
    type_templates._templates.clear()
    parser._read(first)
    assert type_templates.read_type(second) is not None
    assert outcome(second) == expected


@pytest.mark.parametrize(
    "text",
    [
        *(LONG.format(16, 64, 17, 64, 512, 0), LONG.format(0, 64, 0, 64, 512, 0), LONG.format(16, 64, 16, 64, 513, 9)),
        *("!pto.tile_buf<vec, 16x64xf32, valid=8x-1>", "!pto.tile_buf<vec, 16x64xf32, valid=8x-0>"),
        *("!pto.tile_buf<vec, 16x64xf33, valid=8x60>", "!pto.tile_buf<vec, 16x64x1xf32, valid=8x60>"),
        *("!pto.tile_buf<vec, 16x9999999999999999999xf32, valid=8x60>", "!pto.tile_buf<vec, 16 x 64xf32, valid=8x60>"),
        *("!pto.tile_buf<vec, ?x64xf32, valid=8x60>", "!pto.tile_buf<vec, 16x64xf32, valid=8x60, pad=7>"),
    ],
)
def test_other_types_are_left_to_the_grammar(text: str, by_grammar: Callable[[str], str]) -> None:
    expected = by_grammar(text)
    type_templates._templates.clear()
    parser._read(LONG.format(16, 64, 16, 64, 512, 0))
    parser._read("!pto.tile_buf<vec, 16x64xf32, valid=8x60>")
    assert type_templates.read_type(text) is None
    assert outcome(text) == expected


def test_a_number_within_an_identifier_is_no_number_of_the_type(by_grammar: Callable[[str], str]) -> None:
    parser._read("!pto.struct<i32, i64>")
    assert outcome("!pto.struct<i32, i32>") == by_grammar("!pto.struct<i32, i32>")


def test_templates_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type_templates, "_MOST", 3)
    for space in ("gm", "ub", "l1", "l0a", "l0b", "l0c"):
        parser._read(f"!pto.ptr<f32, {space}>")
    assert 0 < len(type_templates._templates) <= 3

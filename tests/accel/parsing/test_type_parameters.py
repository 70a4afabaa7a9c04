"""Types put together from parameters that were read before are those that the grammar reads."""

from __future__ import annotations

import random

import pytest

from pto_dialect.accel.parsing.type_parameters import TypeParameters
from pto_dialect.syntax.errors.types import TypeSyntaxError
from pto_dialect.syntax.types import parser
from pto_dialect.syntax.types.parser import parse_type

NAMES = ("tile_buf", "ptr", "tensor_view", "tile", "vreg", "multi_tile_buf", "struct", "eventid_array", "nothing")
PARAMETERS = (
    "vec", "ub", "gm", "f32", "i8", "16x64xf32", "?x16xf16", "16x64xnothing", "8", "-1", "valid=16x60", "valid=?x?",
    "valid=8", "blayout=col_major", "slayout=row_major", "fractal=512", "fractal=7", "pad=1", "pad=zero", "count=2",
    "loc=vec", "dtype=f32", "rows=16", "cols=64", "v_row=16", "v_col=60", "slayout=none_box", "blayout=row_major", "",
    "...", "7 : i32", "other=2",
)  # fmt: skip
LONG = "loc=vec, dtype=f32, rows=16, cols=64, v_row=16, v_col=60, blayout=row_major, slayout=none_box, fractal=512"


def _said(text: str) -> object:
    try:
        return parse_type(text)
    except TypeSyntaxError as error:
        return error.rule, error.message, error.start, error.end, error.help


@pytest.fixture(autouse=True)
def _nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser, "_cache", {})
    monkeypatch.setattr(parser, "_parts", TypeParameters())


def _spellings() -> list[str]:
    rng = random.Random(5)
    texts: list[str] = []
    for _ in range(1500):
        name = rng.choice(NAMES)
        parameters = rng.choices(PARAMETERS, k=rng.randrange(1, 5))
        if name == "tile_buf" and rng.random() < 0.7:
            parameters[:1] = ["vec", "16x64xf32"]
        elif rng.random() < 0.2:
            parameters = LONG.split(", ")
            parameters[rng.randrange(len(parameters))] = rng.choice(PARAMETERS)
        texts.append(f"!pto.{name}<{rng.choice((', ', ',', ' ,  ')).join(parameters)}>")
    return texts


def test_parts_say_what_the_grammar_says(monkeypatch):
    texts = _spellings()
    with_parts = [_said(text) for text in texts]
    monkeypatch.setattr(parser, "_cache", {})
    monkeypatch.setattr(parser, "_from_parts", lambda text: None)
    for text, found in zip(texts, with_parts, strict=True):
        assert found == _said(text), text


def test_known_parameters_need_no_grammar(monkeypatch):
    parse_type("!pto.tile_buf<vec, 16x64xf32, pad=1>")
    parse_type("!pto.tile_buf<mat, 16x32xf32, valid=16x8>")
    wanted = "!pto.tile_buf<vec, 16x64xf32, valid=16x8>"
    monkeypatch.setattr(parser, "_read", lambda text: pytest.fail(f"{text} is read by the grammar"))
    assert str(parse_type("!pto.tile_buf< vec,16x64xf32 ,valid=16x8>")) == wanted


def test_parameters_do_not_grow_without_end(monkeypatch):
    monkeypatch.setattr("pto_dialect.accel.parsing.type_parameters._MOST", 8)
    for rows in range(1, 40):
        parse_type(f"!pto.tile_buf<vec, {rows}x64xf32>")
    assert len(parser._parts.known) <= 9
    parse_type(f"!pto.tile_buf<vec, 1x{' ' * 80}64xf32>")
    assert max(map(len, parser._parts.known)) < 60

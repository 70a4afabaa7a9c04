"""Headers of functions read from templates are what the grammar makes of them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from pto_dialect.accel.parsing import headers
from pto_dialect.accel.parsing.templates import TEMPLATES

ROOT = Path(__file__).parents[3]

FIRST = "func.func @first(%a: !pto.ptr<f32>, %n: i32) attributes {pto.entry} {\n  return\n}\n"


@pytest.fixture
def describe_program(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """What is made of a program, with and without templates."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    TEMPLATES.forget()
    return import_module("program_results").describe_program


@pytest.mark.parametrize(
    ("header", "is_known"),
    [
        ("func.func @second(%x: !pto.ptr<f16, ub>, %y: i32) attributes {pto.entry} {", True),
        ("func.func @second(%0: !pto.tile_buf<vec, 16x64xf32>, %1: i32) attributes {pto.entry} { ", True),
        ("func.func @second(%x: !pto.ptr<f16>, %x: i32) attributes {pto.entry} {", True),
        ("func.func @second(%x: !pto.ptr<>, %y: i32) attributes {pto.entry} {", False),
        ("func.func @second(%x: !pto.ptr<f16>, %y: i64) attributes {pto.entry} {", False),
        ("func.func @second(%x: !pto.ptr<f16>) attributes {pto.entry} {", False),
        ("func.func @second(%x: !pto.ptr<f16>, %y: i32) attributes {pto.entry} { // a comment", False),
        ("func.func @second(%x: !pto.ptr<f16>, %y: i32) -> i32 attributes {pto.entry} {", False),
        ("func.func private @second(%x: !pto.ptr<f16>, %y: i32) attributes {pto.entry} {", False),
        ("func.func @second::@third(%x: !pto.ptr<f16>, %y: i32) attributes {pto.entry} {", False),
        ('func.func @"second"(%x: !pto.ptr<f16>, %y: i32) attributes {pto.entry} {', False),
    ],
)
def test_a_header_is_read_as_by_the_grammar(
    header: str, is_known: bool, describe_program: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"{header}\n  return\n}}\n"
    expected = describe_program(FIRST + text, ["a5"], plans=False, printed=True)
    describe_program(FIRST, ["a5"], plans=True, printed=True)
    assert (headers.read_header(text, 0) is not None) == is_known
    assert describe_program(FIRST + text, ["a5"], plans=True, printed=True) == expected


def test_attributes_of_a_header_belong_to_one_function(describe_program: Callable[..., Any]) -> None:
    describe_program(FIRST, ["a5"], plans=True, printed=True)
    found = headers.read_header(FIRST, 0)
    assert found is not None
    found[0].attributes.clear()
    again = headers.read_header(FIRST, 0)
    assert again is not None and list(again[0].attributes) == ["pto.entry"]


def test_headers_that_mention_names_elsewhere_have_no_template(describe_program: Callable[..., Any]) -> None:
    text = 'func.func @f(%a: i32) attributes {x = @g, y = "%a"} {\n  return\n}\n'
    describe_program(text, ["a5"], plans=True, printed=True)
    assert not TEMPLATES.headers


def test_templates_are_bounded(describe_program: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pto_dialect.accel.parsing.templates._MOST_HEADERS", 3)
    for number in range(8):
        arguments = ", ".join(f"%a{place}: i32" for place in range(number))
        describe_program(f"func.func @f({arguments}) {{\n  return\n}}\n", ["a5"], plans=True, printed=True)
    assert 0 < len(TEMPLATES.headers) <= 3

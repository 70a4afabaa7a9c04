"""What counts as a location, and what is reported where text is none."""

from __future__ import annotations

import pytest
from groups import in_groups

from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.syntax.read.locations import is_location, location_end
from pto_dialect.syntax.read.parser import parse_program


def said(text: str) -> list[str]:
    """The errors of a program, with their lines."""
    engine = DiagnosticEngine()
    parse_program(SourceFile("p.pto", text), engine)
    return [f"{found.span.line if found.span else 0}: {found.message}" for found in engine.diagnostics]


@pytest.mark.parametrize(
    "inside",
    [
        '"name"',
        '"a \\"b\\" (c"',
        '"f.py":3:14',
        '"f.py" : 3 : 14 to 5:2',
        '"f.py":3:14 to :9',
        "unknown",
        "#loc1",
        "#di.file<a, b>",
        '"call"("f.py":1:2)',
        'callsite("a" at "f.py":1:2)',
        'callsite(callsite("a" at "b") at unknown)',
        'fused["a", "b":1:2]',
        'fused<"note">[unknown]',
        'fused<metadata = ["l", "r"]>[#loc, "x"("y")]',
        '"a" // why\n',
    ],
)
def test_locations_of_mlir_are_read(inside: str) -> None:
    assert is_location(f"loc({inside})")
    assert said(f"func.func @f() {{\n  return loc({inside})\n}} loc({inside})\n") == []


@in_groups(
    "inside",
    [
        "",
        "foo bar",
        '"a" "b"',
        '"f.py":3',
        '"f.py":a:b',
        "fused[]",
        'fused["a" "b"]',
        'callsite("a")',
        'callsite("a" at)',
        '"a"()',
        "unknown unknown",
        'fused["a",]',
        'fused[,"a"]',
        'fused("a")',
        'fused["a"',
        'fused["a")',
        'callsite["a" at "b"]',
        'callsite("a" at "b" at "c")',
        '"a"["b"]',
        '["a"]',
        "\x01",
    ],
)
def test_other_text_is_no_location(inside: str) -> None:
    assert not is_location(f"loc({inside})")
    assert said(f"func.func @f() {{\n  return loc({inside})\n}}\n")[:1] == ["2: this is no location"]


def test_time_grows_with_the_length_alone() -> None:
    """Each of 20,000 lists has the next one; one pass for each would take hours."""
    deep = "fused[" * 20_000 + '"a"' + ', "b"]' * 20_000
    assert is_location(f"loc({deep})")
    assert not is_location(f"loc({deep}])")


def test_an_open_string_ends_in_its_line() -> None:
    text = (
        "func.func @f(%a: i32) {\n"
        '  %0 = arith.addi %a, %a : i32 loc(a")\n'
        '  %1 = arith.addi %a, %a : i32 loc("b")\n'
        "  return\n"
        "}\n"
    )
    assert location_end(text, text.index("(a")) is None
    assert [line[:2] for line in said(text)] == ["2:"]


def test_every_wrong_location_is_reported_once() -> None:
    text = "func.func @f(%a: i32 loc(x)) {\n  return loc(y)\n} loc(z)\n#l = loc(w)\n"
    assert sorted(said(text)) == [f"{line}: this is no location" for line in (1, 2, 3, 4)]

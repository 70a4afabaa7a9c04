"""What text belongs to an operation. Source: docs/reference/language.md, "Tokens"."""

from __future__ import annotations

import pytest

from pto_dialect import parse
from pto_dialect.ir.core.location import find_name, span_of, span_of_value

LINE = "%n = arith.addi %a, %a : i32"


@pytest.mark.parametrize(
    "behind",
    [
        "\n",
        "   \n",
        "\n\n    \n",
        " // one\n",
        " // one\n    // two\n",
        " // one\n\n    // two\n  \n\n",
        "// a // b\n",
        "\n    // one // two\n    ",
    ],
)
def test_an_operation_ends_where_its_text_does(behind: str) -> None:
    text = f"func.func @f(%a: i32) {{\n    {LINE}{behind}    %m = arith.muli %n, %n : i32{behind}return\n}}\n"
    ops = {op.name: op for op in parse(text).walk()}
    for name, line in (("arith.addi", LINE), ("arith.muli", "%m = arith.muli %n, %n : i32"), ("func.return", "return")):
        span = span_of(ops[name])
        assert span is not None
        assert text[span.start : span.end] == line
    body = span_of(ops["func.func"])
    assert body is not None
    assert text[body.start : body.end] == text.strip()


def test_names_are_found_whole() -> None:
    text = "func.func @f(%a: i32) {\n  %n = arith.constant 1 : i32\n  %nn = arith.addi %n, %n : i32\n  return\n}\n"
    one, total = (op for op in parse(text).walk() if op.name.startswith("arith"))
    value, span = one.results[0], span_of(total)
    assert span is not None
    places = [found.start if (found := find_name(span, value, number)) else None for number in range(3)]
    assert places == [text.index("%n,"), text.index("%n :"), None]
    defined = span_of_value(value)
    assert defined is not None
    assert (defined.start, text[defined.start : defined.end]) == (text.index("%n ="), "%n")

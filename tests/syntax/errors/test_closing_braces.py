"""A `}` after an incomplete statement: it closes the region around, unless something follows on its line."""

import pytest

from pto_dialect.api import parse
from pto_dialect.diagnostics.refused import RefusedProgram

TYPE = "!pto.tile_buf<vec, 16x16xf32>"


def message_of(text: str) -> str:
    with pytest.raises(RefusedProgram) as refused:
        parse(text)
    return refused.value.diagnostics[0].message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("module { pto.tadd }", "pto.tadd needs ins(..) or operands"),
        ("module {\n  pto.tadd }\n", "pto.tadd needs ins(..) or operands"),
        ("module { func.func @f() { pto.tadd } }", "pto.tadd needs ins(..) or operands"),
        ("func.func @f() { pto.tadd } // nothing", "pto.tadd needs ins(..) or operands"),
        ("func.func @f() { %0 = arith.constant }", "arith.constant needs more than its name"),
    ],
)
def test_brace_closes_the_region(text: str, message: str) -> None:
    assert message_of(text) == message


def test_brace_inside_a_line_has_no_opening_one() -> None:
    text = f"func.func @f(%a: {TYPE}) {{\n  pto.tabs }} : {TYPE}\n  return\n}}"
    assert message_of(text) == "this '}' has no '{'"

"""Columns where rows are required: the error says how the same bytes become a row, and following it is right."""

from __future__ import annotations

import re

import pytest

from pto_dialect.api import check

COLUMN = "!pto.tile_buf<vec, {n}x1xf32, blayout=col_major>"


def program(n: int, operation: str) -> str:
    column = COLUMN.format(n=n)
    body = f"    pto.{operation} ins(%s : {column}) outs(%s : {column})"
    return f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @f() {{
    %s = pto.alloc_tile : {column}
{body}
    return
  }}
}}
"""


def followed(text: str, n: int, row: str) -> str:
    """``text`` with the column reshaped into the row that the help names, and used as that."""
    column = COLUMN.format(n=n)
    *head, body, ret, end, close = text.splitlines()
    row_type = f"!pto.tile_buf<vec, {row}xf32>"
    reshaped = f"    %r = pto.treshape %s : {column} -> {row_type}"
    return "\n".join((*head, reshaped, body.replace("%s", "%r").replace(column, row_type), ret, end, close, ""))


@pytest.mark.parametrize("operation", ("trsqrt", "texp", "tabs"))
@pytest.mark.parametrize("n", (8, 16, 64))
def test_a_column_becomes_a_row(operation: str, n: int) -> None:
    text = program(n, operation)
    found = [d for d in check(text).diagnostics if d.rule == "tile-row-major"]
    assert len(found) == 2
    for diagnostic in found:
        named = re.fullmatch(
            r"the same bytes are a row-major tile of (\d+x\d+): pto.treshape gives it", diagnostic.help or ""
        )
        assert named is not None and named[1] == f"1x{n}"
        assert check(followed(text, n, named[1])).diagnostics == ()


@pytest.mark.parametrize(("shape", "operation"), (("16x16", "tabs"), ("16x8", "texp")))
def test_other_tiles_have_other_bytes(shape: str, operation: str) -> None:
    text = program(16, operation).replace("16x1x", f"{shape}x")
    found = [d for d in check(text).diagnostics if d.rule == "tile-row-major"]
    assert len(found) == 2 and all(d.help is None for d in found)

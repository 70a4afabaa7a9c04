"""The layout of a tile over a memref is checked where it is written."""

from __future__ import annotations

import pytest

from pto_dialect.syntax.errors.types import TypeSyntaxError
from pto_dialect.syntax.types.attributes import parse_attribute


def refused(inside: str) -> tuple[str, str]:
    """The rule and the part of the text that is wrong."""
    text = f"#pto.tile_buf_config<{inside}>"
    with pytest.raises(TypeSyntaxError) as found:
        parse_attribute(text)
    return found.value.rule, text[found.value.start : found.value.end]


@pytest.mark.parametrize(
    "inside",
    [
        "blayout=row_major, slayout=none_box, s_fractal_size=512, pad=null",
        "blayout = 1 : i32, slayout = 2 : i32, s_fractal_size = 1024, pad = 0 : i32",
        "blayout=#pto.blayout<col_major>, slayout=#pto.slayout<row_major>, s_fractal_size=32, pad=#pto.pad_value<zero>",
        "s_fractal_size=512 : i32, compact=row_plus_one",
        "",
    ],
)
def test_configurations(inside: str) -> None:
    parse_attribute(f"#pto.tile_buf_config<{inside}>")


@pytest.mark.parametrize(
    ("inside", "rule", "place"),
    [
        ("s_fractal_size=520", "tile-fractal", "520"),
        ("blayout=row_major, s_fractal_size=-32 : i32", "tile-fractal", "-32"),
        ("blayout=2 : i32", "tile-layout-keyword", "2"),
        ("slayout=3", "tile-layout-keyword", "3"),
        ("slayout=#pto.slayout<nz>", "tile-layout-keyword", "nz"),
        ("fractal=512", "tile-key", "fractal"),
        ("blayout", "tile-key", "blayout"),
        ("pad=null blayout=0", "tile-key", "pad=null blayout=0"),
    ],
)
def test_what_is_no_configuration(inside: str, rule: str, place: str) -> None:
    assert refused(inside) == (rule, place)

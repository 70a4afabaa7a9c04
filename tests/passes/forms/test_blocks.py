"""Functions that go from block to block: those without tiles stay as they are, others have no form with values, as
docs/reference/language.md says under "Level 1 and Level 2"."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp

from pto_dialect import parse, print_module
from pto_dialect.passes.forms import RefusedError, to_level1, to_level2
from pto_dialect.passes.forms.assembly import to_assembly

FORMS = pytest.mark.parametrize("form", [to_level1, to_level2], ids=["level1", "level2"])
Form = Callable[[ModuleOp], ModuleOp]
BACKWARDS = """func.func @f(%n: i32) -> i32 {
  cf.br ^last
^middle(%m: i32):
  %y = arith.addi %x, %m : i32
  return %y : i32
^last:
  %x = arith.constant 3 : i32
  cf.br ^middle(%n : i32)
}
"""


@FORMS
def test_values_that_a_later_block_of_the_text_makes(form: Form) -> None:
    """Blocks are written in the order of the program, and stay in that of the text."""
    module = parse(BACKWARDS)
    assert print_module(form(parse(BACKWARDS))) == print_module(module)


@FORMS
def test_unreachable_blocks(form: Form) -> None:
    text = "func.func @f() {\n  return\n^alone:\n  %x = arith.constant 3 : i32\n  return\n}\n"
    with pytest.raises(RefusedError, match="it is in an unreachable block") as refused:
        form(parse(text))
    assert refused.value.op.name == "arith.constant"


@pytest.mark.parametrize(
    ("form", "lines", "argument"),
    [
        (to_level1, "%b = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>", ""),
        (to_level1, "", "%b: !pto.tile_buf<vec, 16x16xf32>"),
        (to_level2, "%b = pto.tci %n : (i32) -> !pto.tile<1x16xi32>", "%n: i32"),
        (to_level2, "", "%b: !pto.tile<16x16xf32>"),
    ],
)
def test_tiles_of_several_blocks(form: Form, lines: str, argument: str) -> None:
    text = f"func.func @f({argument}) {{\n  cf.br ^next\n^next:\n  {lines}\n  return\n}}\n"
    with pytest.raises(RefusedError, match="it goes from block to block"):
        form(parse(text))


@pytest.mark.parametrize(
    ("end", "reason"),
    [("cf.br ^next", "it goes from block to block"), ("return", "it is in an unreachable block")],
)
def test_assembly_has_no_blocks(end: str, reason: str) -> None:
    with pytest.raises(RefusedError, match=reason):
        to_assembly(parse(f"func.func @f() {{\n  {end}\n^next:\n  return\n}}\n"))

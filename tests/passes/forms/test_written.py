"""What functions keep of their buffers. Source: docs/reference/language.md, "Level 1 and Level 2"."""

import pytest
from xdsl.dialects.builtin import ArrayAttr, StringAttr

from pto_dialect import parse
from pto_dialect.passes.forms.written import ATTRIBUTE, BufferFacts, read, write

TILE = "!pto.tile_buf<vec, 16x16xf32>"


def function(text: str):
    """A function with the attribute ``text``, and its type of tiles."""
    module = parse(f"func.func @f(%x: {TILE}) attributes {{{ATTRIBUTE} = {text}}} {{\n  return\n}}\n")
    found = next(op for op in module.walk() if op.name == "func.func")
    return found, found.regions[0].blocks[0].args[0].type


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("[]", []),
        ('["x", "y"]', ["x", "y"]),
        ('[[], "x", [], ["y"]]', ["x", "y"]),
        (f'[7 : i64, "x", [7 : i64, "y"], [{TILE}], {{addr = 4 : i64}}]', ["x"]),
        ('[[["x"]], "y"]', ["y"]),
        ('"x"', []),
        ("7 : i64", []),
    ],
)
def test_entries_without_a_name_are_left_out(text: str, names: list[str]) -> None:
    assert read(function(text)[0]) == dict.fromkeys(names, BufferFacts())


def test_parts_of_an_entry_are_in_any_order_and_others_are_left_out() -> None:
    parts = (TILE, "7 : i64", "{addr = 4096 : i64}")
    for order in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
        op, type_ = function(f'[["x", {", ".join(parts[place] for place in order)}, "more", f32]]')
        assert read(op) == {"x": BufferFacts(type_, 7, 4096)}
    for text in ('{addr = "here"}', "{other = 1 : i64}", "{}"):
        assert read(function(f'[["x", {text}]]')[0]) == {"x": BufferFacts()}


@pytest.mark.parametrize("typed", [False, True])
@pytest.mark.parametrize("at", [None, 0, 7])
@pytest.mark.parametrize("address", [None, 0, 4096])
def test_what_is_written_is_read_again(typed: bool, at: int | None, address: int | None) -> None:
    op, tile = function("[]")
    kept = {"x": BufferFacts(tile if typed else None, at, address), "y": BufferFacts()}
    op.attributes[ATTRIBUTE] = write(kept)
    assert read(op) == kept
    alone = kept["x"] == BufferFacts()
    written = op.attributes[ATTRIBUTE]
    assert isinstance(written, ArrayAttr) and isinstance(written.data[0], StringAttr) == alone

"""Tiles at unknown addresses may share bytes. Source: docs/lower-vector.md, "Adjacent operations in one function"."""

import pytest
from cube_programs import passed

from pto_dialect import print_module

HALF, FULL = "!pto.tile_buf<vec, 4x64xf16>", "!pto.tile_buf<vec, 4x64xf32>"
SLOTS = "!pto.multi_tile_buf<vec, 4x64xf32, count=2>"

CONVERT = f"pto.tcvt ins(%a : {HALF}) outs(%b : {FULL})"
SUM = f"pto.tadd ins(%b, %c : {FULL}, {FULL}) outs(%d : {FULL})"
ALLOCATE = "%{name} = pto.alloc_tile addr = %{address} : {type}"


def tiles(**addresses: str) -> str:
    """Allocations: %a holds f16, the others f32."""
    return "\n    ".join(
        ALLOCATE.format(name=name, address=address, type=HALF if name == "a" else FULL)
        for name, address in addresses.items()
    )


def program(*lines: str) -> str:
    numbers = [f"%c{number} = arith.constant {number} : i64" for number in (0, 128, 512, 1024, 2048)]
    body = "".join(f"    {line}\n" for line in (*numbers, *lines))
    arguments = "%x: i64, %i: index, %j: index, %p: i1"
    return (
        f'module attributes {{pto.target_arch = "a5"}} {{\n  func.func @f({arguments}) {{\n{body}    return\n  }}\n}}\n'
    )


CHOSEN = f"%b = arith.select %p, %b0, %b1 : {FULL}"
MULTI = f"%m = pto.alloc_multi_tile addr = %c0 : {SLOTS}"
SLOT = "%{0} = pto.multi_tile_get %m[%{1}] : {2} -> {3}"
CARRIED = f"""%r = scf.for %k = %i to %j step %j iter_args(%b = %b0) -> ({FULL}) {{
      {CONVERT}
      scf.yield %b1 : {FULL}
    }}"""

REFUSED = {
    "an address that is an argument": (tiles(a="c0", b="x"), CONVERT),
    "a choice of which one overlaps": (tiles(a="c0", b0="c128", b1="c1024"), CHOSEN, CONVERT),
    "a loop that carries one that overlaps": (tiles(a="c0", b0="c1024", b1="c128"), CARRIED),
    "a slot beside its multi-buffer": (MULTI, tiles(a="c512"), SLOT.format("b", "i", SLOTS, FULL), CONVERT),
    "elements that are shifted": (tiles(b0="c0", b1="c128", c="c2048", d="c0"), CHOSEN, SUM),
    "elements at an address that is an argument": (tiles(b="c0", c="c1024", d="x"), SUM),
}
LOWERED = {
    "addresses apart": (tiles(a="c0", b="c512"), CONVERT),
    "a choice of others": (tiles(a="c0", b0="c512", b1="c2048"), CHOSEN, CONVERT),
    "a slot of a multi-buffer elsewhere": (MULTI, tiles(a="c2048"), SLOT.format("b", "i", SLOTS, FULL), CONVERT),
    "the same bytes or others": (tiles(b0="c0", b1="c1024", c="c2048", d="c0"), CHOSEN, SUM),
    "two slots of one multi-buffer": (
        MULTI, tiles(c="c2048"), SLOT.format("b", "i", SLOTS, FULL), SLOT.format("d", "j", SLOTS, FULL), SUM,
    ),
}  # fmt: skip


def called(*addresses: str) -> str:
    """A function of two tiles, and a caller."""
    lines = (*tiles(a=addresses[0], b=addresses[1]).splitlines(), f"func.call @g(%a, %b) : ({HALF}, {FULL}) -> ()")
    head = f"func.func @g(%a: {HALF}, %b: {FULL}) {{\n    {CONVERT}\n    return\n  }}\n  func.func @f"
    return program(*lines).replace("func.func @f", head)


def test_arguments_of_functions_are_followed_to_their_calls():
    assert passed(called("c0", "c512"), "lower-vector")[1] == []
    assert len(passed(called("c0", "c128"), "lower-vector")[1]) == 1
    assert len(passed(called("c0", "x"), "lower-vector")[1]) == 1


@pytest.mark.parametrize("lines", REFUSED.values(), ids=REFUSED)
def test_a_destination_that_may_lie_over_its_source_is_refused(lines):
    before = program(*lines)
    module, said = passed(before, "lower-vector")
    assert len(said) == 1
    assert "its destination may overlap" in said[0]
    assert print_module(module) == print_module(passed(before)[0])


@pytest.mark.parametrize("lines", LOWERED.values(), ids=LOWERED)
def test_a_destination_that_cannot_tear_its_source_is_lowered(lines):
    module, said = passed(program(*lines), "lower-vector")
    assert said == []
    assert "pto.vecscope" in print_module(module)

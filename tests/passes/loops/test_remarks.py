"""Tiles that keep one slot, and loops that a pass leaves alone: what is reported.

Source: docs/reference/synchronisation.md, "Multi-buffers".
"""

from __future__ import annotations

from itertools import pairwise

import pytest
from plain_products import Plain

from pto_dialect import parse, print_module
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.passes.registry import make_pass

TILE = "!pto.tile_buf<vec, 192x64xf32>"
"""48 KiB: four of them fill the unified buffer of a2a3."""
PART = "!pto.partition_tensor_view<192x64xf32>"

SHOWN = f"%w = pto.treshape %t0 : {TILE} -> !pto.tile_buf<vec, 96x128xf32>"


def program(tiles: int, after: str = "") -> str:
    """A loop that loads into the first tile, computes up to the last one, and stores that."""
    names = [f"%t{number}" for number in range(tiles)]
    made = "\n".join(f"{name} = pto.alloc_tile : {TILE}" for name in names)
    steps = "\n".join(
        f"pto.tadd ins({one}, {one} : {TILE}, {TILE}) outs({other} : {TILE})" for one, other in pairwise(names)
    )
    return f"""
    module attributes {{pto.target_arch = "a2a3"}} {{
    func.func @f(%p: {PART}, %q: {PART}, %n: index) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    {made}
    scf.for %i = %c0 to %n step %c1 {{
    pto.tload ins(%p : {PART}) outs(%t0 : {TILE})
    {steps}
    pto.tstore ins({names[-1]} : {TILE}) outs(%q : {PART})
    }}
    {after}
    return
    }}
    }}"""


def passed(text: str, *calls: str) -> tuple[str, list[str]]:
    """The text after passes, and what they report."""
    module = parse(text, "program.pto")
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0, pedantic=True))
    for call in calls:
        make_pass(call, None).run(module, engine)
    return print_module(module), [one.message for one in engine.diagnostics]


def test_both_tiles_have_slots_where_they_fit():
    text, said = passed(program(2), "double-buffer", "assign-memory")
    assert text.count("count=2") == 4
    assert not said


def test_fewer_slots_where_all_do_not_fit():
    text, said = passed(program(2), "double-buffer{count=3}", "assign-memory")
    reason = "3 slots of it do not fit beside those of tiles that gain more"
    assert said == [f"%t{number} gets 2 slots: {reason}" for number in (0, 1)]
    assert text.count("count=2> ->") == 2


def test_tile_in_use_for_most_of_an_iteration_has_slots_first():
    """The first operation alone reads what is loaded; all others compute in what is stored."""
    more = f"pto.tadd ins(%t1, %t1 : {TILE}, {TILE}) outs(%t1 : {TILE})\n    pto.tstore"
    text, said = passed(program(2).replace("pto.tstore", more).replace("192x64", "256x64"), "double-buffer")
    assert said == ["%t0 gets one slot: 2 slots of it do not fit beside those of tiles that gain more"]
    assert "%t1_slots = pto.alloc_multi_tile" in text


def test_slots_for_loads_come_first():
    text, said = passed(program(2).replace("192x64", "256x64"), "double-buffer", "assign-memory")
    assert said == ["%t1 gets one slot: 2 slots of it do not fit beside those of tiles that gain more"]
    assert "%t0_slots = pto.alloc_multi_tile" in text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (program(2, f"pto.tstore ins(%t1 : {TILE}) outs(%q : {PART})"),
         "%t1 gets one slot: it is used outside of its loop, or in several loops"),
        (program(2).replace(f"outs(%t0 : {TILE})", f"outs(%t0 : {TILE})\n{SHOWN}", 1),
         "%t0 gets one slot: another handle may show it"),
        (program(2).replace("pto.tload ins", f"pto.tstore ins(%t0 : {TILE}) outs(%q : {PART})\npto.tload ins"),
         "%t0 gets one slot: the first operation of an iteration that uses it does not write all of it"),
    ],
    ids=["used after the loop", "seen in parts", "read before it is written"],
)  # fmt: skip
def test_reasons(text: str, reason: str):
    assert passed(text, "double-buffer")[1] == [reason]


def test_tiles_of_products_are_not_split_by_rows():
    text = str(Plain(64, 64, 64, loops="ijp"))
    after, said = passed(text, "tile-loops")
    assert after == print_module(parse(text, "program.pto"))
    assert said == ["tile-loops leaves tiles of the cube core as they are; tile-cube chooses those of products"]


def test_loops_that_share_a_tile_get_one_each():
    text = program(2)
    loop = text[text.index("scf.for") : text.index("return")]
    after, said = passed(text.replace("return", loop.replace("%i", "%j") + "return"), "double-buffer")
    assert not said
    assert after.count("= pto.alloc_multi_tile") == 4
    assert "pto.alloc_tile" not in after


FEW = program(1).replace("%c0 to %n", "%c0 to %c1")
MANY = program(1).replace("%c0 to %n", "%c0 to %n100").replace("%c1 =", "%n100 = arith.constant 100 : index\n%c1 =")
OPEN = f"""
    func.func @f(%rows: index, %one: f32) {{
    %t = pto.alloc_tile valid_row = %rows : {TILE.replace("f32", "f32, valid=?x64")}
    pto.texpands ins(%one : f32) outs(%t : {TILE.replace("f32", "f32, valid=?x64")})
    return
    }}"""


@pytest.mark.parametrize(
    ("text", "call", "reason"),
    [
        (FEW, "unroll", "this loop is not unrolled: its trip count, 1, is less than 2"),
        (program(1), "unroll{factor=full}", "this loop is not unrolled: only a run knows its trip count"),
        (MANY, "unroll{factor=full}", "this loop is not unrolled: it has 100 iterations, and at most 64 are unrolled"),
        (OPEN, "unroll", "unroll changes nothing: there is no loop"),
        (OPEN, "tile-loops{rows=32}", "changes nothing: only a run knows how many of the 192 rows of %t are valid"),
        (OPEN.replace("192x64", "32x64"), "tile-loops{rows=32}", "a tile of a vector core with more than 32 rows"),
        (OPEN, "double-buffer", "changes nothing: no loop writes a tile without address that several pipes use"),
        (OPEN, "tile-cube", "changes nothing: there is no matrix product"),
        (OPEN, "delay-pops", "changes nothing: no loop pops after a push in a function without flags of its own"),
    ],
)
def test_a_pass_that_changes_nothing_says_why(text: str, call: str, reason: str):
    after, said = passed(text, call)
    assert after == print_module(parse(text, "program.pto"))
    assert len(said) == 1
    assert reason in said[0]

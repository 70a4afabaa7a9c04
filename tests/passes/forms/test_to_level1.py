"""What becomes of buffers: pairs of programs by hand, and what values cannot say."""

from __future__ import annotations

import re

import pytest

from pto_dialect import parse, print_module
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.render import render_text
from pto_dialect.passes.forms import RefusedError, to_level1, to_level2
from pto_dialect.passes.forms.level1 import ToLevel1Pass
from pto_dialect.passes.forms.written import ATTRIBUTE

T = "!pto.tile<16x16xf32>"
B = "!pto.tile_buf<vec, 16x16xf32>"
V = "!pto.partition_tensor_view<16x16xf32>"
HEAD = "%p: !V, %q: !V, %n: index, %x: f32, %c: i1"


def function(body: str, head: str = HEAD, results: str = "") -> str:
    """A function with two views, numbers and ``body``, in which !T, !B and !V are types."""
    types = f"!T = {T}\n!B = {B}\n!V = {V}\n"
    constants = "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
    end = "" if "return" in body else "  return\n"
    return f"{types}func.func @f({head}){results} {{\n{constants}{body}\n{end}}}\n"


def plain(text: str) -> str:
    """A printed program without what is kept of its buffers."""
    module = parse(text)
    for op in module.walk():
        op.attributes.pop(ATTRIBUTE, None)
    return print_module(module)


PAIRS = {
    "each write makes a value": (
        """
        %a = pto.alloc_tile : !B
        pto.tload ins(%p : !V) outs(%a : !B)
        pto.tadds ins(%a, %x : !B, f32) outs(%a : !B)
        pto.tstore ins(%a : !B) outs(%q : !V)
        """,
        """
        %a = pto.tload %p : (!V) -> !T
        %a.1 = pto.tadds %a, %x : (!T, f32) -> !T
        pto.tstore %a.1, %q : (!T, !V) -> ()
        """,
    ),
    "a loop carries what it writes and what is needed again": (
        """
        %a = pto.alloc_tile : !B
        %b = pto.alloc_tile : !B
        pto.tload ins(%p : !V) outs(%a : !B)
        scf.for %i = %c0 to %n step %c1 {
          pto.tabs ins(%a : !B) outs(%b : !B)
          pto.tadd ins(%a, %b : !B, !B) outs(%a : !B)
        }
        pto.tstore ins(%a : !B) outs(%q : !V)
        """,
        """
        %a = pto.tload %p : (!V) -> !T
        %a.3 = scf.for %i = %c0 to %n step %c1 iter_args(%a.1 = %a) -> (!T) {
          %b = pto.tabs %a.1 : (!T) -> !T
          %a.2 = pto.tadd %a.1, %b : (!T, !T) -> !T
          scf.yield %a.2 : !T
        }
        pto.tstore %a.3, %q : (!T, !V) -> ()
        """,
    ),
    "a branch gives on what it writes": (
        """
        %a = pto.alloc_tile : !B
        pto.tload ins(%p : !V) outs(%a : !B)
        scf.if %c {
          pto.tadds ins(%a, %x : !B, f32) outs(%a : !B)
        }
        pto.tstore ins(%a : !B) outs(%q : !V)
        """,
        """
        %a = pto.tload %p : (!V) -> !T
        %a.2 = scf.if %c -> (!T) {
          %a.1 = pto.tadds %a, %x : (!T, f32) -> !T
          scf.yield %a.1 : !T
        } else {
          scf.yield %a : !T
        }
        pto.tstore %a.2, %q : (!T, !V) -> ()
        """,
    ),
    "what the first iteration writes": (
        """
        %a = pto.alloc_tile : !B
        scf.for %i = %c0 to %n step %c1 {
          %first = arith.cmpi eq, %i, %c0 : index
          scf.if %first {
            pto.tload ins(%p : !V) outs(%a : !B)
          } else {
            pto.tadds ins(%a, %x : !B, f32) outs(%a : !B)
          }
        }
        pto.tstore ins(%a : !B) outs(%q : !V)
        """,
        """
        %a.0 = pto.alloc_tile : !T
        %a.4 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %a.0) -> (!T) {
          %first = arith.cmpi eq, %i, %c0 : index
          %a.3 = scf.if %first -> (!T) {
            %a.1 = pto.tload %p : (!V) -> !T
            scf.yield %a.1 : !T
          } else {
            %a.2 = pto.tadds %a, %x : (!T, f32) -> !T
            scf.yield %a.2 : !T
          }
          scf.yield %a.3 : !T
        }
        pto.tstore %a.4, %q : (!T, !V) -> ()
        """,
    ),
    "scratch, clauses and events": (
        """
        %a = pto.alloc_tile : !B
        %b = pto.alloc_tile : !B
        %t = pto.alloc_tile : !B
        pto.tload ins(%p : !V) outs(%a : !B)
        pto.record_event [#pto.sync_op_type<TLOAD>, #pto.sync_op_type<TVEC>, #pto.event<EVENT_ID0>]
        pto.wait_event [#pto.sync_op_type<TLOAD>, #pto.sync_op_type<TVEC>, #pto.event<EVENT_ID0>]
        pto.txor ins(%a, %a, %t : !B, !B, !B) outs(%b : !B)
        pto.tstore ins(%b : !B) outs(%q : !V) {atomicType = #pto<atomic_type atomic_add>}
        """,
        """
        %t.0 = pto.alloc_tile : !T
        %a = pto.tload %p : (!V) -> !T
        pto.record_event [#pto.sync_op_type<TLOAD>, #pto.sync_op_type<TVEC>, #pto.event<EVENT_ID0>]
        pto.wait_event [#pto.sync_op_type<TLOAD>, #pto.sync_op_type<TVEC>, #pto.event<EVENT_ID0>]
        %b = pto.txor %a, %a, %t.0 : (!T, !T, !T) -> !T
        pto.tstore ins(%b : !T) outs(%q : !V) {atomicType = #pto<atomic_type atomic_add>}
        """,
    ),
    "what is kept of a tile": (
        """
        %a = pto.alloc_tile : !B
        pto.tload ins(%p : !V) outs(%a : !B)
        pto.tsetval ins(%c1, %x : index, f32) outs(%a : !B)
        pto.tstore ins(%a : !B) outs(%q : !V)
        """,
        """
        %a = pto.tload %p : (!V) -> !T
        %a.1 = pto.tsetval %c1, %x, %a : (index, f32, !T) -> !T
        pto.tstore %a.1, %q : (!T, !V) -> ()
        """,
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name: str) -> None:
    buffers, values = (function(body) for body in PAIRS[name])
    found = print_module(to_level1(parse(buffers)))
    assert plain(found) == print_module(parse(values))
    assert print_module(to_level2(parse(found))) == print_module(parse(buffers))


def test_the_last_arguments_that_are_written_are_results() -> None:
    text = function("  pto.tadds ins(%a, %x : !B, f32) outs(%b : !B)", "%a: !B, %x: f32, %b: !B")
    values = "  %b = pto.tadds %a, %x : (!T, f32) -> !T\n  return %b : !T"
    found = to_level1(parse(text))
    assert print_module(found) == print_module(parse(function(values, "%a: !T, %x: f32", " -> !T")))
    assert print_module(to_level2(found)) == print_module(parse(text))


def test_a_valid_region_is_the_tile() -> None:
    """What lies around it is kept with the type of the buffer."""
    part = "!pto.tile_buf<vec, 16x16xf32, valid=3x5>"
    body = f"""
        %a = pto.alloc_tile : {part}
        pto.texpands ins(%x : f32) outs(%a : {part})
        pto.tprint ins(%a : {part})
    """
    found = print_module(to_level1(parse(function(body))))
    assert "%a = pto.texpands %x : (f32) -> !pto.tile<3x5xf32>" in found
    assert f'pto.buffers = [["a", {part}]]' in found
    assert print_module(to_level2(parse(found))) == print_module(parse(function(body)))


SHARED = """
    %at = arith.constant 64 : i64
    %a = pto.alloc_tile addr = %at : !B
    %b = pto.alloc_tile addr = %at : !B
    pto.tload ins(%p : !V) outs(%a : !B)
    pto.tadds ins(%a, %x : !B, f32) outs(%b : !B)
    pto.tstore ins(%b : !B) outs(%q : !V)
"""


def test_addresses_come_back_with_their_buffers() -> None:
    found = print_module(to_level1(parse(function(SHARED))))
    assert 'pto.buffers = [["a", {addr = 64 : i64}], ["b", 3, {addr = 64 : i64}]]' in found
    assert print_module(to_level2(parse(found))) == print_module(parse(function(SHARED)))


def test_a_number_that_was_removed_is_written_again() -> None:
    found = print_module(to_level1(parse(function(SHARED))))
    lines = [line for line in found.splitlines() if "%at = " not in line]
    text = print_module(to_level2(parse("\n".join(lines))))
    assert text.count("%c64_i64 = arith.constant 64 : i64") == 1
    assert text.count("alloc_tile addr = %c64_i64") == 2


def test_a_value_that_is_needed_longer_does_not_fit_its_address() -> None:
    found = print_module(to_level1(parse(function(SHARED))))
    longer = found.replace("    return", f"    pto.tprint %a : ({T}) -> ()\n    return")
    with pytest.raises(RefusedError, match="the addresses of %a and %b share bytes, and both are needed at one time"):
        to_level2(parse(longer))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("tstore ins(%b", "tstore ins(%a"), "it writes bytes that %b shares with %a, which is needed"),
        (
            ("tload ins(%p : !V) outs(%a", "tload ins(%p : !V) outs(%b"),
            "%a may be read before it is written",
        ),
        (("pto.tadds ins(%a, %x : !B, f32)", "pto.ttrans ins(%a : !B)"), "it writes bytes that %b shares with %a"),
    ],
)
def test_content_that_another_buffer_changes_is_refused(change: tuple[str, str], reason: str) -> None:
    with pytest.raises(RefusedError, match=reason):
        to_level1(parse(function(SHARED.replace(*change))))


def test_operations_keep_their_locations() -> None:
    module = parse(function(PAIRS["each write makes a value"][0]), "a.pto")
    before = [op.location for op in module.walk() if op.name.startswith("pto.t")]
    after = [op.location for op in to_level1(module).walk() if op.name.startswith("pto.t")]
    assert after == before


REFUSED = {
    "an address that only a run knows": (
        "  %at = arith.index_cast %n : index to i64\n  %a = pto.alloc_tile addr = %at : !B",
        "only a run knows the address of %a",
    ),
    "a valid region that only a run knows": (
        "  %a = pto.alloc_tile valid_row = %n : !pto.tile_buf<vec, 16x16xf32, valid=?x16>",
        "only a run knows the valid region of %a",
    ),
    "elements that are counted": (
        """  %a = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32, valid=8x8>
  pto.texpands ins(%x : f32) outs(%a : !pto.tile_buf<vec, 16x16xf32, valid=8x8>)
  %e = pto.tgetval ins(%a, %c1 : !pto.tile_buf<vec, 16x16xf32, valid=8x8>, index) outs : f32""",
        "the valid region of %a is 8x8 of 16x16, and pto.tgetval counts the elements of all of it",
    ),
    "elements outside of the valid region": (
        """  %a = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32, valid=8x8>
  pto.texpands ins(%x : f32) outs(%a : !pto.tile_buf<vec, 16x16xf32, valid=8x8>)
  %b = pto.alloc_tile : !B
  pto.tabs ins(%a : !pto.tile_buf<vec, 16x16xf32, valid=8x8>) outs(%b : !B)""",
        "the valid region of %a is 8x8 of 16x16, and pto.tabs reads more of it",
    ),
    "a conversion on the way out of acc": (
        """  %a = pto.alloc_tile : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
  %v = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf16>
  pto.tmov ins(%a : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>)
    outs(%v : !pto.tile_buf<vec, 16x16xf16>)""",
        "pto.tmov converts what leaves acc, and %a would be in no memory",
    ),
    "a scale for all channels on the way out of acc": (
        """  %a = pto.alloc_tile : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
  %v = pto.alloc_tile : !B
  %k = arith.constant 1 : i64
  pto.tmov ins(%a, %k : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>, i64)
    outs(%v : !B)""",
        "pto.tmov converts what leaves acc, and %a would be in no memory",
    ),
    "a table of scales on the way out of acc": (
        """  %a = pto.alloc_tile : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
  %v = pto.alloc_tile : !B
  %k = pto.alloc_tile : !pto.tile_buf<scaling, 1x16xi64>
  pto.tmov ins(%a, %k : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>,
    !pto.tile_buf<scaling, 1x16xi64>) outs(%v : !B)""",
        "pto.tmov converts what leaves acc, and %a would be in no memory",
    ),
    "a call beside addresses": (
        """  %z = arith.constant 0 : i64
  %a = pto.alloc_tile addr = %z : !B
  pto.tload ins(%p : !V) outs(%a : !B)
  func.call @f(%p, %q, %n, %x, %c, %s)
    : (!V, !V, index, f32, i1, !pto.partition_tensor_view<16x2x!pto.f8E8M0>) -> ()""",
        "it may reach the bytes of tiles with addresses, and values have none",
    ),
    "a pointer to a memory with addresses": (
        """  %z = arith.constant 0 : i64
  %a = pto.alloc_tile addr = %z : !B
  pto.tload ins(%p : !V) outs(%a : !B)
  %r = pto.castptr %z : i64 -> !pto.ptr<f32, ub>""",
        "it may reach the bytes of tiles with addresses, and values have none",
    ),
    "a tile without gaps": (
        "  %a = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32, compact=1>",
        "%a has padding, and a tile value has nothing around it",
    ),
    "the order of scales": (
        """  %a = pto.alloc_tile : !pto.tile_buf<mat, 16x2x!pto.f8E8M0, slayout=row_major, fractal=32>
  pto.tload ins(%s : !pto.partition_tensor_view<16x2x!pto.f8E8M0>)
    outs(%a : !pto.tile_buf<mat, 16x2x!pto.f8E8M0, slayout=row_major, fractal=32>)""",
        "it loads scales in the order of %a, and a value has no layout",
    ),
    "slots": (
        f"  %a = pto.alloc_multi_tile : !pto.multi_tile_buf<{B}, count=2>",
        "%a has several slots, and a value has none",
    ),
    "padding": (
        "  %a = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32, pad=1>",
        "%a has padding, and a tile value has nothing around it",
    ),
    "a handle": (
        "  %a = pto.alloc_tile : !B\n  %r = pto.tile_buf_addr %a : !B -> !pto.ptr<f32, ub>",
        "pto.tile_buf_addr works on the handle of a tile, and a value has none",
    ),
    "a loop that is not followed": (
        """  %a = pto.alloc_tile : !B
  scf.while : () -> () {
    scf.condition(%c)
  } do {
    pto.tadds ins(%a, %x : !B, f32) outs(%a : !B)
    scf.yield
  }
  pto.tstore ins(%a : !B) outs(%q : !V)""",
        "scf.while would have to give the tile on that it writes, and only scf.for and scf.if do",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_values_cannot_say(name: str) -> None:
    body, reason = REFUSED[name]
    module = parse(function(body, f"{HEAD}, %s: !pto.partition_tensor_view<16x2x!pto.f8E8M0>"), "a.pto")
    before = print_module(module)
    engine = DiagnosticEngine(DiagnosticOptions())
    ToLevel1Pass().run(module, engine)
    (found,) = engine.diagnostics
    assert (found.rule, found.message) == ("to-level1-unsupported", f"Level 1 cannot say this: {reason}")
    assert "^" in render_text(engine.diagnostics)
    assert print_module(module) == before


@pytest.mark.parametrize(
    ("statement", "kept"),
    [
        ("pto.tci ins(%k : i32) outs(%a : !I)", False),
        ("pto.tscatter ins(%b, %b : !I, !I) outs(%a : !I)", True),
        ("pto.tnot ins(%b : !I) outs(%a : !I)", True),
        ("pto.tload ins(%p : !pto.partition_tensor_view<16x16xi32>) outs(%a : !I)", True),
        ("pto.tload ins(%p : !pto.partition_tensor_view<8x16xi32>) outs(%a : !I)", False),
    ],
)
def test_what_may_keep_earlier_content_is_refused(statement: str, kept: bool) -> None:
    """A value that tci makes is the first row alone; the tile has the rows of the constant as well."""
    body = f"""
        %a = pto.alloc_tile : !I
        %b = pto.alloc_tile : !I
        pto.texpands ins(%k : i32) outs(%b : !I)
        pto.texpands ins(%k : i32) outs(%a : !I)
        {statement}
        pto.tprint ins(%a : !I)
    """
    view = re.search(r"!pto.partition\S+>", statement)
    more = f", %p: {view[0]}" if view else ""
    module = parse("!I = !pto.tile_buf<vec, 16x16xi32>\n" + function(body, f"%k: i32{more}"))
    if kept:
        to_level1(module)
    else:
        with pytest.raises(RefusedError, match="it may leave elements of %a as they were"):
            to_level1(module)


def test_an_argument_that_is_read_and_written_is_refused() -> None:
    text = function("  pto.tadds ins(%a, %x : !B, f32) outs(%a : !B)", "%x: f32, %a: !B")
    with pytest.raises(RefusedError, match="reads and writes a tile of the caller"):
        to_level1(parse(text))


def test_a_pointer_to_global_memory_reaches_no_tile() -> None:
    body = """
        %z = arith.constant 0 : i64
        %a = pto.alloc_tile addr = %z : !B
        %r = pto.addptr %g, %n : !pto.ptr<f32> -> !pto.ptr<f32>
        pto.tload ins(%p : !V) outs(%a : !B)
        pto.tstore ins(%a : !B) outs(%q : !V)
    """
    text = function(body, f"{HEAD}, %g: !pto.ptr<f32>")
    assert print_module(to_level2(to_level1(parse(text)))) == print_module(parse(text))


def test_a_branch_with_a_number_and_a_tile_has_no_mark() -> None:
    """Its second branch stays for the number."""
    body = """
        %a = pto.alloc_tile : !B
        pto.tload ins(%p : !V) outs(%a : !B)
        %k = scf.if %c -> (index) {
          pto.tadds ins(%a, %x : !B, f32) outs(%a : !B)
          scf.yield %c0 : index
        } else {
          scf.yield %c1 : index
        }
        pto.tstore ins(%a : !B) outs(%q : !V)
        pto.store_scalar %x, %g[%k] : !pto.ptr<f32>, f32
    """
    text = function(body, f"{HEAD}, %g: !pto.ptr<f32>")
    values = to_level1(parse(text))
    assert "pto.empty_else" not in print_module(values)
    assert print_module(to_level2(values)) == print_module(parse(text))


@pytest.mark.parametrize(("shape", "fills"), [("1x16", True), ("16x16", False)])
def test_a_sequence_fills_a_tile_of_one_row(shape: str, fills: bool) -> None:
    kind = f"!pto.tile_buf<vec, {shape}xi32>"
    body = f"""
        %a = pto.alloc_tile : {kind}
        pto.texpands ins(%k : i32) outs(%a : {kind})
        pto.tci ins(%k : i32) outs(%a : {kind})
        pto.tprint ins(%a : {kind})
    """
    module = parse(function(body, "%k: i32"))
    if fills:
        assert print_module(to_level2(to_level1(module))) == print_module(module)
    else:
        with pytest.raises(RefusedError, match="it may leave elements of %a as they were"):
            to_level1(module)

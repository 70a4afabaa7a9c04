"""What becomes of tile values: pairs of programs by hand, runs against NumPy, and what has no form with buffers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ArrayAttr

from pto_dialect import parse, print_module
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.render import render_text
from pto_dialect.passes.forms import RefusedError, to_level2
from pto_dialect.passes.forms.level2 import ToLevel2Pass
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

ROOT = Path(__file__).parents[3]
T = "!pto.tile<16x16xf32>"
B = "!pto.tile_buf<vec, 16x16xf32>"
V = "!pto.partition_tensor_view<16x16xf32>"
HEAD = "%p: !V, %q: !V, %n: index, %x: f32, %c: i1"


def function(body: str, head: str = HEAD) -> str:
    """A function with two views, numbers and ``body``, in which !T, !B and !V are types."""
    types = f"!T = {T}\n!B = {B}\n!V = {V}\n"
    constants = "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
    return f"{types}func.func @f({head}) {{\n{constants}{body}\n  return\n}}\n"


PAIRS = {
    "a load, a sum over its source, a store": (
        """
        %a = pto.tload %p : (!V) -> !T
        %b = pto.tadds %a, %x : (!T, f32) -> !T
        pto.tstore %b, %q : (!T, !V) -> ()
        """,
        """
        %a = pto.alloc_tile : !B
        pto.tload ins(%p : !V) outs(%a : !B)
        pto.tadds ins(%a, %x : !B, f32) outs(%a : !B)
        pto.tstore ins(%a : !B) outs(%q : !V)
        """,
    ),
    "a source that is needed later is not overwritten": (
        """
        %a = pto.tload %p : (!V) -> !T
        %b = pto.tadds %a, %x : (!T, f32) -> !T
        %d = pto.tadd %a, %b : (!T, !T) -> !T
        pto.tstore %d, %q : (!T, !V) -> ()
        """,
        """
        %a = pto.alloc_tile : !B
        pto.tload ins(%p : !V) outs(%a : !B)
        %b = pto.alloc_tile : !B
        pto.tadds ins(%a, %x : !B, f32) outs(%b : !B)
        pto.tadd ins(%a, %b : !B, !B) outs(%a : !B)
        pto.tstore ins(%a : !B) outs(%q : !V)
        """,
    ),
    "elements that move are not written over their source": (
        """
        %a = pto.tload %p : (!V) -> !T
        %b = pto.ttrans %a : (!T) -> !T
        pto.tstore %b, %q : (!T, !V) -> ()
        """,
        """
        %a = pto.alloc_tile : !B
        pto.tload ins(%p : !V) outs(%a : !B)
        %b = pto.alloc_tile : !B
        pto.ttrans ins(%a : !B) outs(%b : !B)
        pto.tstore ins(%b : !B) outs(%q : !V)
        """,
    ),
    "two tiles that a loop exchanges": (
        """
        %a = pto.tload %p : (!V) -> !T
        %b = pto.tload %q : (!V) -> !T
        %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a, %t = %b) -> (!T, !T) {
          scf.yield %t, %s : !T, !T
        }
        pto.tstore %r#0, %q : (!T, !V) -> ()
        pto.tstore %r#1, %p : (!T, !V) -> ()
        """,
        """
        %a = pto.alloc_tile : !B
        pto.tload ins(%p : !V) outs(%a : !B)
        %b = pto.alloc_tile : !B
        pto.tload ins(%q : !V) outs(%b : !B)
        scf.for %i = %c0 to %n step %c1 {
          %0 = pto.alloc_tile : !B
          pto.tmov ins(%b : !B) outs(%0 : !B)
          %1 = pto.alloc_tile : !B
          pto.tmov ins(%a : !B) outs(%1 : !B)
          pto.tmov ins(%0 : !B) outs(%a : !B)
          pto.tmov ins(%1 : !B) outs(%b : !B)
        }
        pto.tstore ins(%a : !B) outs(%q : !V)
        pto.tstore ins(%b : !B) outs(%p : !V)
        """,
    ),
    "a branch that changes nothing": (
        """
        %a = pto.tload %p : (!V) -> !T
        %r = scf.if %c -> (!T) {
          %b = pto.tadds %a, %x : (!T, f32) -> !T
          scf.yield %b : !T
        } else {
          scf.yield %a : !T
        }
        pto.tstore %r, %q : (!T, !V) -> ()
        """,
        """
        %a = pto.alloc_tile : !B
        pto.tload ins(%p : !V) outs(%a : !B)
        scf.if %c {
          pto.tadds ins(%a, %x : !B, f32) outs(%a : !B)
        }
        pto.tstore ins(%a : !B) outs(%q : !V)
        """,
    ),
    "what is kept of a tile": (
        """
        %a = pto.tload %p : (!V) -> !T
        %b = pto.tsetval %c1, %x, %a : (index, f32, !T) -> !T
        %d = pto.tadd %a, %b : (!T, !T) -> !T
        pto.tstore %d, %q : (!T, !V) -> ()
        """,
        """
        %a = pto.alloc_tile : !B
        pto.tload ins(%p : !V) outs(%a : !B)
        %b = pto.alloc_tile : !B
        pto.tmov ins(%a : !B) outs(%b : !B)
        pto.tsetval ins(%c1, %x : index, f32) outs(%b : !B)
        pto.tadd ins(%a, %b : !B, !B) outs(%a : !B)
        pto.tstore ins(%a : !B) outs(%q : !V)
        """,
    ),
}


def printed(text: str) -> str:
    return print_module(parse(text))


@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name: str) -> None:
    values, buffers = PAIRS[name]
    assert print_module(to_level2(parse(function(values)))) == printed(function(buffers))


def test_a_column_is_col_major_and_an_odd_tile_has_a_larger_buffer() -> None:
    body = """
        %a = pto.texpands %x : (f32) -> !pto.tile<16x1xf32>
        %b = pto.texpands %x : (f32) -> !pto.tile<3x5xf32>
        pto.tprint %a : (!pto.tile<16x1xf32>) -> ()
        pto.tprint %b : (!pto.tile<3x5xf32>) -> ()
    """
    text = print_module(to_level2(parse(function(body))))
    assert "%a = pto.alloc_tile : !pto.tile_buf<vec, 16x1xf32, blayout=col_major>" in text
    assert "%b = pto.alloc_tile : !pto.tile_buf<vec, 3x8xf32, valid=3x5>" in text


def test_products_and_what_feeds_them() -> None:
    body = """
        %a = pto.tload %p : (!pto.partition_tensor_view<16x16xf16>) -> !pto.tile<16x16xf16>
        %b = pto.tload %q : (!pto.partition_tensor_view<16x16xf16>) -> !pto.tile<16x16xf16>
        %l = pto.tmov %a : (!pto.tile<16x16xf16>) -> !pto.tile<16x16xf16>
        %r = pto.tmov %b : (!pto.tile<16x16xf16>) -> !pto.tile<16x16xf16>
        %s = pto.tmatmul %l, %r : (!pto.tile<16x16xf16>, !pto.tile<16x16xf16>) -> !pto.tile<16x16xf32>
        %t = pto.tmatmul.acc %s, %l, %r : (!T, !pto.tile<16x16xf16>, !pto.tile<16x16xf16>) -> !T
        %v = pto.tmov %t : (!T) -> !T
        %w = pto.tadds %v, %x : (!T, f32) -> !T
        pto.tprint %w : (!T) -> ()
    """
    text = print_module(to_level2(parse(function(body, HEAD.replace("!V", "!pto.partition_tensor_view<16x16xf16>")))))
    places = [line.split("tile_buf<")[1].split(",")[0] for line in text.splitlines() if "alloc_tile" in line]
    assert places == ["mat", "mat", "left", "right", "acc", "vec"]
    assert text.count("outs(%s") == 2


@pytest.mark.parametrize("name", ["tmatmul", "tmatmul_acc", "tgemv", "tgemv_acc", "tgemv_bias"])
def test_functions_of_tiles_compute_the_same(name: str) -> None:
    """Arguments become buffers of the caller, and what is returned the last one of them."""
    module = parse((ROOT / "examples" / "seed_snippets" / "level1.pto").read_text(encoding="utf-8"))
    kernel = Kernel(to_level2(module), name, None, RunOptions())
    rows = 1 if "gemv" in name else 16
    random = np.random.default_rng(1)
    given = {
        "a": random.integers(-4, 5, (rows, 16)).astype(np.float16),
        "b": random.integers(-4, 5, (16, 16)).astype(np.float16),
        "c_in": random.integers(-9, 9, (rows, 16)).astype(np.float32),
        "bias": random.integers(-9, 9, (rows, 16)).astype(np.float32),
    }
    names = [argument for argument, _ in kernel.arguments]
    values = [given[one].copy() if one in given else np.zeros((rows, 16), np.float32) for one in names]
    kernel.run(values, 1)
    expected = given["a"].astype(np.float64) @ given["b"].astype(np.float64)
    expected = expected + sum(given[one] for one in ("c_in", "bias") if one in names)
    assert names[-1] in ("c", "c_out")
    assert np.array_equal(values[-1].reshape(rows, 16), expected)


def test_an_argument_of_the_caller_is_never_written() -> None:
    values = "  %b = pto.tadds %a, %x : (!T, f32) -> !T\n  return %b : !T"
    text = function(values, "%a: !T, %x: f32").replace("\n  return\n", "\n").replace("x: f32)", "x: f32) -> !T")
    buffers = function("  pto.tadds ins(%a, %x : !B, f32) outs(%b : !B)", "%a: !B, %x: f32, %b: !B")
    assert print_module(to_level2(parse(text))) == printed(buffers)


BOTH = """
        %r, %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %e, %b = %e) -> (!T, !T) {
          %u = pto.tadds %a, %x : (!T, f32) -> !T
          %v = pto.tadds %b, %x : (!T, f32) -> !T
          scf.yield %u, %v : !T, !T
        }
        %w = pto.tadd %r, %s : (!T, !T) -> !T
        pto.tstore %w, %q : (!T, !V) -> ()
"""
"""Two values of a loop that begin as ``%e``."""

EMPTY = {
    "a tile without content is not copied": (
        """
        %e = pto.alloc_tile : !T
"""
        + BOTH,
        0,
    ),
    "a tile with content is copied": (
        """
        %e = pto.tload %p : (!V) -> !T
"""
        + BOTH,
        1,
    ),
}


@pytest.mark.parametrize("name", EMPTY)
def test_copies_of_what_two_tiles_begin_with(name: str) -> None:
    body, copies = EMPTY[name]
    assert print_module(to_level2(parse(function(body)))).count("pto.tmov") == copies


@pytest.mark.parametrize("first", [False, True])
def test_branches_that_only_give_something_on(first: bool) -> None:
    """The branch that changes the tile is the second one or the first one; the other one has a number of its own."""
    changes = "%b = pto.tadds %a, %x : (!T, f32) -> !T\n scf.yield %b, %c0 : !T, index"
    keeps = "scf.yield %a, %c1 : !T, index"
    one, other = (changes, keeps) if first else (keeps, changes)
    made = print_module(
        to_level2(
            parse(
                function(
                    f"""
        %a = pto.tload %p : (!V) -> !T
        %r, %k = scf.if %c -> (!T, index) {{
          {one}
        }} else {{
          {other}
        }}
        pto.tstore %r, %q : (!T, !V) -> ()
        pto.store_scalar %x, %g[%k] : !pto.ptr<f32>, f32
    """,
                    f"{HEAD}, %g: !pto.ptr<f32>",
                )
            )
        )
    )
    lines = [line.strip() for line in made.splitlines()]
    numbers = ["scf.yield %c0 : index", "scf.yield %c1 : index"]
    assert [line for line in lines if line.startswith("scf.yield")] == (numbers if first else numbers[::-1])
    assert made.count("pto.tmov") == 0


@pytest.mark.parametrize("first", [False, True])
def test_an_empty_first_branch_stays(first: bool) -> None:
    """A second branch without statements goes, a first one does not."""
    changes = "%b = pto.tadds %a, %x : (!T, f32) -> !T\n scf.yield %b : !T"
    one, other = (changes, "scf.yield %a : !T") if first else ("scf.yield %a : !T", changes)
    made = print_module(
        to_level2(
            parse(
                function(f"""
        %a = pto.tload %p : (!V) -> !T
        %r = scf.if %c -> (!T) {{
          {one}
        }} else {{
          {other}
        }}
        pto.tstore %r, %q : (!T, !V) -> ()
    """)
            )
        )
    )
    assert ("} else {" in made) is not first
    assert parse(made)


def test_a_location_after_the_first_use_does_not_count() -> None:
    """The author's number of an operation is that of the store."""
    text = function("%a = pto.tload %p : (!V) -> !T\n pto.tstore %a, %q : (!T, !V) -> ()")
    kept = text.replace(f"func.func @f({HEAD})", f'func.func @f({HEAD}) attributes {{pto.buffers = [["a", 3]]}}')
    assert kept != text
    assert print_module(to_level2(parse(kept))) == print_module(to_level2(parse(text)))


REFUSED = {
    "a region that gives a tile": (
        """
        %r = scf.execute_region -> !T {
          %a = pto.tload %p : (!V) -> !T
          scf.yield %a : !T
        }
        """,
        "scf.execute_region passes tiles on, which only scf.for and scf.if may",
        "%r = scf.execute_region",
    ),
    "two places": (
        """
        %a = pto.tload %p : (!V) -> !T
        %b = pto.tabs %a : (!T) -> !T
        %d = pto.tmatmul %b, %a : (!T, !T) -> !T
        """,
        "%b would be in left for pto.tmatmul and in vec for pto.tabs; move it with pto.tmov first",
        "%b = pto.tabs",
    ),
    "a sum that is needed twice": (
        """
        %a = pto.tmatmul %k, %l : (!T, !T) -> !T
        %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a) -> (!T) {
          %t = pto.tmatmul.acc %s, %k, %l : (!T, !T, !T) -> !T
          scf.yield %t : !T
        }
        %u = pto.tmatmul.acc %a, %k, %l : (!T, !T, !T) -> !T
        """,
        "%a is needed at two addresses of acc, and no operation copies it there",
        "%a = pto.tmatmul",
    ),
    "a loop that is not followed": (
        """
        %a = pto.tload %p : (!V) -> !T
        %r = scf.while (%s = %a) : (!T) -> !T {
          scf.condition(%c) %s : !T
        } do {
        ^bb0(%s: !T):
          scf.yield %s : !T
        }
        """,
        "scf.while passes tiles on, which only scf.for and scf.if may",
        "%r = scf.while",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_form_with_buffers(name: str) -> None:
    body, reason, _ = REFUSED[name]
    module = parse(function(body, f"{HEAD}, %k: !T, %l: !T"))
    before = print_module(module)
    engine = DiagnosticEngine(DiagnosticOptions())
    ToLevel2Pass().run(module, engine)
    (found,) = engine.diagnostics
    assert (found.rule, found.message) == ("to-level2-unsupported", f"Level 2 cannot say this: {reason}")
    assert "^" in render_text(engine.diagnostics)
    assert print_module(module) == before
    with pytest.raises(RefusedError):
        to_level2(module)


def test_a_new_argument_has_no_attributes_and_the_others_keep_theirs() -> None:
    text = f"""func.func @f(%x: {T} {{a = 1 : i32}}, %n: f32) -> {T} {{
  %b = pto.tadds %x, %n : ({T}, f32) -> {T}
  return %b : {T}
}}
"""
    module = to_level2(parse(text))
    (made,) = (op for op in module.walk() if op.name == "func.func")
    found = made.properties["arg_attrs"]
    assert isinstance(found, ArrayAttr)
    assert [sorted(one.data) for one in found.data] == [["a"], [], []]
    assert len(made.regions[0].blocks[0].args) == 3

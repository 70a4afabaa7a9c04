"""Several slots for tiles of a loop. Source: docs/reference/synchronisation.md, "Multi-buffers"."""

import numpy as np
import pytest
from cube_programs import passed

from pto_dialect import print_module
from pto_dialect.api import check
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.driver.prove.pipeline import prove_passes
from pto_dialect.runtime.queues.schedule import Schedule
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

TILE = "!pto.tile_buf<vec, 16x64xf32>"
PART = "!pto.partition_tensor_view<16x64xf32>"
FLAT = "!pto.tile_buf<vec, 8x64xf32>"
HALF = f"%w = pto.subview %x[%c0, %c0] sizes [8, 64] : {TILE} -> {FLAT}"
PROGRAM = f"""
module attributes {{pto.target_arch = "a5"}} {{
func.func @f(%a: !pto.ptr<f32>, %low: index, %high: index, %step: index) attributes {{pto.entry}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c4096 = arith.constant 4096 : index
  %v = pto.make_tensor_view %a, shape = [%c4096, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
  %x = pto.alloc_tile : {TILE}
  %y = pto.alloc_tile : {TILE}
  scf.for %i = %low to %high step %step {{
    %at = arith.muli %i, %c16 : index
    %p = pto.partition_view %v, offsets = [%at, %c0], sizes = [%c16, %c64] : !pto.tensor_view<?x?xf32> -> {PART}
    BEFORE
    pto.tload ins(%p : {PART}) outs(%x : {TILE})
    pto.tmul ins(%x, %x : {TILE}, {TILE}) outs(%y : {TILE})
    pto.tstore ins(%y : {TILE}) outs(%p : {PART})
  }}
  AFTER
  return
}}
}}
"""


def program(before: str = "", after: str = "") -> str:
    """A loop with two tiles, and something before the load, or after the loop."""
    return PROGRAM.replace("BEFORE", before).replace("AFTER", after)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize(("low", "high", "step"), [(0, 0, 1), (0, 1, 1), (0, 5, 1), (1, 8, 2)])
def test_each_iteration_has_its_slot(count, low, high, step):
    module, said = passed(program(), f"double-buffer{{count={count}}}", "assign-memory", "insert-sync")
    assert not said
    assert print_module(module).count(f"count={count}> -> {TILE}") == 2
    a = np.random.default_rng(3).uniform(-2, 2, (256, 64)).astype(np.float32)
    expected = a.copy()
    for turn in range(low, high, step):
        expected[16 * turn : 16 * turn + 16] **= 2
    for schedule in ("text", "oldest", "newest", "random:1"):
        found = a.copy()
        options = RunOptions(schedule=Schedule.parse(schedule, strict=True))
        Kernel(module, None, None, options).run([found, low, high, step], 1)
        assert np.array_equal(found, expected), schedule


@pytest.mark.parametrize("more", [(), ("unroll",), ("canonicalize", "cse")])
def test_a_counter_that_is_an_integer(more):
    """Slots are chosen by an index, whatever the type of the counter is; it may begin below 0."""
    text = program().replace(
        "scf.for %i = %low to %high step %step {",
        "".join(f"%{name}32 = arith.index_cast %{name} : index to i32\n" for name in ("low", "high", "step"))
        + "%first = arith.subi %low32, %high32 : i32\n%none = arith.subi %low32, %low32 : i32\n"
        + "scf.for %i32 = %first to %none step %step32 : i32 {\n"
        + "%up = arith.addi %i32, %high32 : i32\n%i = arith.index_cast %up : i32 to index",
    )
    module, said = passed(text, "double-buffer{count=3}", *more, "assign-memory", "insert-sync")
    assert not said
    assert not check(print_module(module)).diagnostics
    a = np.random.default_rng(3).uniform(-2, 2, (256, 64)).astype(np.float32)
    for low, high, step in ((0, 0, 1), (0, 5, 1), (1, 8, 2)):
        found, expected = a.copy(), a.copy()
        for turn in range(low, high, step):
            expected[16 * turn : 16 * turn + 16] **= 2
        options = RunOptions(schedule=Schedule.parse("newest", strict=True))
        Kernel(module, None, None, options).run([found, low, high, step], 1)
        assert np.array_equal(found, expected)


def test_a_loop_in_a_later_block():
    """A tile of the entry block has slots in a loop of a block that a branch leads to."""
    text = program(after="cf.br ^end\n^end:").replace("scf.for", "cf.br ^loop\n^loop:\nscf.for")
    module, said = passed(text, "double-buffer")
    assert not said
    assert print_module(module).count("pto.multi_tile_get") == 2
    found = np.random.default_rng(3).uniform(-2, 2, (256, 64)).astype(np.float32)
    expected = found.copy()
    expected[16:128] **= 2
    Kernel(module, None, None, RunOptions()).run([found, 1, 8, 1], 1)
    assert np.array_equal(found, expected)


def test_an_inner_loop_that_never_runs():
    outer = "scf.for %o = %c0 to %high step %c1 {\n  scf.for %i = %c0 to %c0 step %c1"
    text = program(after="}").replace("scf.for %i = %low to %high step %step", outer)
    module, said = passed(text, "double-buffer", "assign-memory", "insert-sync")
    assert not said
    a = np.full((256, 64), 2, np.float32)
    Kernel(module, None, None, RunOptions()).run([a, 0, 2, 1], 1)
    assert (a == 2).all()


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@pytest.mark.parametrize("outside", [False, True])
def test_parts_of_a_tile_become_parts_of_its_slot(outside, target):
    """Both halves get what the first operation makes of the upper one."""
    lower = HALF.replace("%w", "%z").replace("[%c0", "[%c8")
    text = program().replace("%c16 = ", "%c8 = arith.constant 8 : index\n  %c16 = ").replace('"a5"', f'"{target}"')
    lines = f"pto.tadd ins(%w, %w : {FLAT}, {FLAT}) outs(%z : {FLAT})\n    pto.tmul"
    text = text.replace("pto.tmul", lines)
    before = "scf.for" if outside else "pto.tload"
    text = text.replace(before, f"{HALF}\n  {lower}\n  {before}")
    module, said = passed(text, "double-buffer", "assign-memory", "insert-sync")
    assert not said
    assert print_module(module).count("pto.alloc_tile") == 0
    # One flag for each slot, and none for all of them.
    assert "pto.wait_flag_dyn" in print_module(module) and "pto.wait_flag[<PIPE_MTE2>" not in print_module(module)
    a = np.random.default_rng(3).uniform(-2, 2, (64, 64)).astype(np.float32)
    expected = a.copy()
    for part in expected.reshape(4, 16, 64):
        part[8:] = part[:8] + part[:8]
    expected **= 2
    for schedule in ("text", "oldest", "newest", "random:1"):
        found = a.copy()
        options = RunOptions(schedule=Schedule.parse(schedule, strict=True))
        Kernel(module, None, None, options).run([found, 0, 4, 1], 1)
        assert np.array_equal(found, expected), schedule


def test_flags_have_a_number_for_each_slot():
    module, _ = passed(program(), "double-buffer", "assign-memory", "insert-sync")
    assert "pto.wait_flag_dyn" in print_module(module)


@pytest.mark.parametrize(
    ("before", "after", "left"),
    [
        (f"pto.tadd ins(%x, %x : {TILE}, {TILE}) outs(%x : {TILE})", "", 1),
        ("", f"pto.tadd ins(%y, %y : {TILE}, {TILE}) outs(%y : {TILE})", 1),
        (f"pto.tabs ins(%y : {TILE}) outs(%x : {TILE})", "", 1),
        (f"%w = pto.treshape %x : {TILE} -> !pto.tile_buf<vec, 8x128xf32>", "", 1),
        (f"{HALF}\n    pto.tabs ins(%w : {FLAT}) outs(%w : {FLAT})", "", 1),
    ],
    ids=["read before it is written", "used behind the loop", "carried to the next iteration", "shown in another form",
         "written in part first"],
)  # fmt: skip
def test_tiles_that_stay_one(before, after, left):
    module, _ = passed(program(before, after), "double-buffer")
    assert print_module(module).count("pto.alloc_tile") == left


def test_addresses_stay():
    text = program().replace(
        f"%x = pto.alloc_tile : {TILE}", f"%z = arith.constant 0 : i64\n  %x = pto.alloc_tile addr = %z : {TILE}"
    )
    module, _ = passed(text, "double-buffer")
    assert print_module(module).count("pto.alloc_tile addr") == 1


def test_the_proof_holds():
    module, _ = passed(program())
    engine = DiagnosticEngine(DiagnosticOptions(pedantic=True))
    calls = ["unroll{factor=3}", "double-buffer", "assign-memory", "insert-sync"]
    assert prove_passes(module, calls, engine, None, seconds=30)
    assert {one.rule for one in engine.diagnostics} == {"prove-done", "insert-sync-shared-flag", "order-proven"}


@pytest.mark.parametrize("low", [0, 1, 16])
@pytest.mark.parametrize("step", [1, 16])
def test_the_number_of_an_iteration_is_computed_from_what_is_not_trivial(low, step):
    text = program().replace("%low to %high step %step", f"%c{low} to %high step %c{step}")
    module, said = passed(text, "double-buffer")
    assert not said
    printed = print_module(module)
    assert printed.count("arith.subi") == (low != 0)
    assert printed.count("arith.divui") == (step != 1)
    assert printed.count("arith.remui") == 1


def test_regions_that_do_not_use_a_tile_may_precede_its_load():
    module, _ = passed(program("%q = arith.cmpi eq, %i, %c0 : index\nscf.if %q {\n}"), "double-buffer")
    assert print_module(module).count("pto.alloc_tile") == 0


BITS = "!pto.tile_buf<vec, 16x32xui8>"
ALLOCATED = f"  %z = pto.alloc_tile : {TILE}\n  scf.for"


def of_type(words: str, sizes: str = "") -> str:
    """The program with %x of another type."""
    kind = TILE.replace("16x64xf32", f"16x64xf32, {words}")
    lines = program().splitlines()
    return "\n".join(
        line.replace(TILE, kind).replace("alloc_tile :", f"alloc_tile {sizes} :")
        if "%x = " in line or "outs(%x" in line
        else line.replace(f"ins(%x, %x : {TILE}, {TILE}", f"ins(%x, %x : {kind}, {kind}")
        for line in lines
    )  # fmt: skip


ONE = {
    "a tile without gaps": (of_type("compact=1"), 1),
    "a tile that nobody uses": (program().replace("  scf.for", ALLOCATED), 1),
    "a tile of one pipe": (
        program(f"pto.tabs ins(%y : {TILE}) outs(%z : {TILE})\npto.tabs ins(%z : {TILE}) outs(%z : {TILE})")
        .replace("  scf.for", ALLOCATED), 2,
    ),
    "a tile that is written in part": (
        program(
            f"pto.tcmps ins(%y, %half {{cmpMode = #pto<cmp gt>}} : {TILE}, f32) outs(%z : {BITS})\n"
            f"%first = pto.tgetval ins(%z, %c0 : {BITS}, index) outs : ui8"
        ).replace("  scf.for", f"  %half = arith.constant 0.5 : f32\n  %z = pto.alloc_tile : {BITS}\n  scf.for"), 2,
    ),
    "a tile that the next iteration reads": (
        program().replace("  scf.for %i = %low to %high step %step {", ALLOCATED.replace(
            "scf.for", f"pto.texpands ins(%half : f32) outs(%z : {TILE})\n  %last = scf.for"
        ) + f" %i = %low to %high step %step iter_args(%old = %z) -> ({TILE}) {{")
        .replace("pto.tmul ins(%x, %x", "pto.tmul ins(%x, %old")
        .replace("  }\n  \n", f"    scf.yield %x : {TILE}\n  }}\n  \n")
        .replace("  %x = ", "  %half = arith.constant 0.5 : f32\n  %x = "), 2,
    ),
    "a tile that another function gets": (
        program(f"func.call @g(%z) : ({TILE}) -> ()\npto.tabs ins(%y : {TILE}) outs(%z : {TILE})")
        .replace("  scf.for", ALLOCATED).replace("func.func @f", f"func.func private @g({TILE})\nfunc.func @f"), 2,
    ),
}  # fmt: skip
"""Programs and how many tiles have no slots: that one, and %y where an iteration reads it before it is written."""


@pytest.mark.parametrize("name", ONE)
def test_other_tiles_stay_one(name):
    text, left = ONE[name]
    module, said = passed(text, "double-buffer")
    assert not said
    assert print_module(module).count("pto.alloc_tile") == left


OPEN = TILE.replace("16x64xf32", "16x64xf32, valid=?x?")
OPEN_PART = PART.replace("16x64", "16x?")
OPEN_PROGRAM = f"""
module attributes {{pto.target_arch = "a5"}} {{
func.func @f(%a: !pto.ptr<f32>, %n: index, %w: index) attributes {{pto.entry}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %v = pto.make_tensor_view %a, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
  %x = pto.alloc_tile valid_row = %c16 valid_col = %w : {OPEN}
  scf.for %i = %c0 to %n step %c16 {{
    %p = pto.partition_view %v, offsets = [%i, %c0], sizes = [%c16, %w]
      : !pto.tensor_view<?x?xf32> -> {OPEN_PART}
    pto.tload ins(%p : {OPEN_PART}) outs(%x : {OPEN})
    SET
    pto.tmul ins(%x, %x : {OPEN}, {OPEN}) outs(%x : {OPEN})
    pto.tstore ins(%x : {OPEN}) outs(%p : {OPEN_PART})
  }}
  return
}}
}}
"""


@pytest.mark.parametrize("width", [1, 40, 64])
def test_sizes_of_a_run_are_those_of_each_slot(width):
    module, said = passed(OPEN_PROGRAM.replace("SET", ""), "double-buffer", "assign-memory", "insert-sync")
    assert not said
    assert "count=2" in print_module(module)
    a = np.random.default_rng(4).integers(-5, 6, (80, 64)).astype(np.float32)
    expected = a.copy()
    expected[:, :width] **= 2
    for schedule in ("oldest", "newest"):
        found = a.copy()
        options = RunOptions(schedule=Schedule.parse(schedule, strict=True))
        Kernel(module, None, None, options).run([found, 80, width], 1)
        assert np.array_equal(found, expected)


def test_a_tile_whose_sizes_are_set_again_keeps_one_slot():
    text = OPEN_PROGRAM.replace("SET", f"pto.set_validshape %x, %c16, %w : {OPEN}")
    module, _ = passed(text, "double-buffer")
    assert "count=2" not in print_module(module)

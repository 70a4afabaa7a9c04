"""Loops that become one, and loops that stay apart. Source: docs/reference/synchronisation.md, "Dependences"."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from pto_dialect import parse
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.passes.registry import make_pass
from pto_dialect.runtime.queues.schedule import Schedule
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

TILE = "!pto.tile_buf<vec, 16x32xf32>"
PART = "!pto.partition_tensor_view<16x32xf32>"
FIRST = (
    f"pto.tload ins(%p : {PART}) outs(%x : {TILE})\n"
    f"pto.tmul ins(%x, %x : {TILE}, {TILE}) outs(%x : {TILE})\n"
    f"pto.tstore ins(%x : {TILE}) outs(%q : {PART})"
)
SECOND = (
    f"pto.tload ins(%q : {PART}) outs(%y : {TILE})\n"
    f"pto.tadds ins(%y, %one : {TILE}, f32) outs(%y : {TILE})\n"
    f"pto.tstore ins(%y : {TILE}) outs(%q : {PART})"
)


def loop(body: str, row: str = "%i", head: str = "%c0 to %n step %c16") -> str:
    """A loop over blocks of rows of two arrays."""
    parts = "\n".join(
        f"{name} = pto.partition_view {view}, offsets = [{at}, %c0], sizes = [%c16, %c32]"
        f" : !pto.tensor_view<?x?xf32> -> {PART}"
        for name, view, at in (("%p", "%v", "%i"), ("%q", "%w", row))
    )
    return f"scf.for %i = {head} {{\n%next = arith.addi %i, %c16 : index\n{parts}\n{body}\n}}"


def program(*parts: str) -> str:
    """A kernel with two arrays and two tiles."""
    views = "\n".join(
        f"{view} = pto.make_tensor_view {array}, shape = [%n, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf32>"
        for view, array in (("%v", "%a"), ("%w", "%b"))
    )
    constants = "\n".join(f"%c{number} = arith.constant {number} : index" for number in (0, 1, 16, 32))
    text = "\n".join(parts)
    return (
        'module attributes {pto.target_arch = "a5"} {\n'
        "func.func @f(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %n: index) attributes {pto.entry} {\n"
        f"{constants}\n%one = arith.constant 1.0 : f32\n{views}\n"
        f"%x = pto.alloc_tile : {TILE}\n%y = pto.alloc_tile : {TILE}\n{text}\nreturn\n}}\n}}\n"
    )


def passed(text: str, *more: str) -> tuple[ModuleOp, list[str]]:
    """The module after the pass and ``more``, and what was reported."""
    module = parse(text, "program.pto")
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0, pedantic=True))
    for call in ("fuse-loops", *more):
        make_pass(call, None).run(module, engine)
    assert not engine.has_errors
    return module, [one.message for one in engine.diagnostics]


def count(module: ModuleOp, name: str) -> int:
    """The operations of a name."""
    return sum(op.name == name for op in module.walk())


def run(module: ModuleOp, a: np.ndarray, rows: int, schedule: str = "text") -> np.ndarray:
    """The second array after a run."""
    b = np.zeros_like(a)
    options = RunOptions(schedule=Schedule.parse(schedule, strict=schedule != "text"))
    Kernel(module, None, None, options).run([a.copy(), b, rows], 1)
    return b


A = np.random.default_rng(5).integers(-4, 5, (64, 32)).astype(np.float32)


@pytest.mark.parametrize("schedule", ["oldest", "newest"])
@pytest.mark.parametrize("rows", [0, 16, 64])
def test_a_value_between_two_loops_stays_on_the_chip(rows: int, schedule: str) -> None:
    module, said = passed(program(loop(FIRST), loop(SECOND)), "assign-memory", "insert-sync")
    assert not said
    assert (count(module, "scf.for"), count(module, "pto.tload"), count(module, "pto.tstore")) == (1, 1, 1)
    assert count(module, "pto.tmov") == 0
    expected = np.zeros_like(A)
    expected[:rows] = A[:rows] ** 2 + 1
    assert np.array_equal(run(module, A, rows, schedule), expected)


def test_a_tile_is_copied_where_both_are_needed() -> None:
    """The second loop loads the first tile again before it needs the value that both had."""
    fill = f"pto.tload ins(%q : {PART}) outs(%y : {TILE})"
    last = SECOND.replace(fill, f"{fill}\npto.tload ins(%p : {PART}) outs(%x : {TILE})")
    last += f"\npto.tadd ins(%x, %y : {TILE}, {TILE}) outs(%x : {TILE})\npto.tstore ins(%x : {TILE}) outs(%q : {PART})"
    module, said = passed(program(loop(FIRST), loop(last)))
    # The second load of the first array does not see what was stored to the other one.
    assert said == ["the fused loop is right only where %a and %b are different memory, as arguments are"]
    assert (count(module, "pto.tload"), count(module, "pto.tmov"), count(module, "pto.tstore")) == (2, 1, 1)
    assert np.array_equal(run(module, A, 64), A**2 + 1 + A)


def test_a_store_that_another_array_keeps_stays() -> None:
    second = SECOND.replace("outs(%q", "outs(%p")
    module, said = passed(program(loop(FIRST), loop(second)))
    assert not said
    assert (count(module, "pto.tload"), count(module, "pto.tstore")) == (1, 2)
    assert np.array_equal(run(module, A, 64), A**2)


def test_three_loops_become_one() -> None:
    module, said = passed(program(loop(FIRST), loop(SECOND), loop(SECOND)))
    assert not said
    assert (count(module, "scf.for"), count(module, "pto.tload"), count(module, "pto.tstore")) == (1, 1, 1)
    assert np.array_equal(run(module, A, 64), A**2 + 2)


TALL = "%c0 to %n step %c32"
FIXED = f"pto.tstore ins(%x : {TILE}) outs(%q : {PART})"
APART = {
    "a row ahead": ((loop(FIRST), loop(SECOND, "%next")), "bytes of %b"),
    "one row for all": ((loop(FIRST), loop(SECOND, "%c0")), "bytes of %b"),
    "other numbers": ((loop(FIRST), loop(SECOND, head=TALL)), "the same numbers"),
    "a tile carries": ((loop(FIRST), loop(FIXED)), "%x carries a value"),
    "scalar load": (
        (loop(FIRST), loop(f"%s = pto.tgetval ins(%y, %c0 : {TILE}, index) outs : f32\n{SECOND}")),
        "may do more",
    ),
    "no neighbours": ((loop(FIRST),), "changes nothing"),
}


@pytest.mark.parametrize("name", APART)
def test_loops_that_stay_apart_say_why(name: str) -> None:
    parts, why = APART[name]
    text = program(*parts)
    module, said = passed(text)
    assert len(said) == 1
    assert why in said[0]
    assert count(module, "scf.for") == len(parts)
    if name != "scalar load":
        assert np.array_equal(run(module, A, 32), run(parse(text, "program.pto"), A, 32))


def test_counters_of_other_types_are_other_numbers() -> None:
    constants = "\n".join(f"%c{number}_32 = arith.constant {number} : i32" for number in (0, 16, 32))
    second = loop(SECOND, head="%c0_32 to %c32_32 step %c16_32 : i32")
    second = second.replace("%i = ", "%i32 = ").replace("{\n", "{\n%i = arith.index_cast %i32 : i32 to index\n", 1)
    text = program(constants, loop(FIRST, head="%c0 to %c32 step %c16"), second)
    module, said = passed(text)
    assert len(said) == 1 and "the same numbers" in said[0]
    assert np.array_equal(run(module, A, 32), run(parse(text, "program.pto"), A, 32))


def test_rows_of_a_view_that_share_memory_are_no_rows_of_their_own() -> None:
    """Rows of 32 elements that begin 16 elements apart: rows 16 to 31 of the later iteration begin with the second half
    of row 15 of this one."""
    text = program(loop(FIRST), loop(SECOND)).replace(
        "[%n, %c32], strides = [%c32, %c1]", "[%n, %c32], strides = [%c16, %c1]"
    )
    module, said = passed(text)
    assert [one for one in said if "bytes of %b" in one]
    assert count(module, "scf.for") == 2
    assert np.array_equal(run(module, A, 48), run(parse(text, "program.pto"), A, 48))


def test_rows_whose_distance_a_run_decides_may_overlap() -> None:
    """A caller that passes 16 as the distance of rows of 32 elements makes them share memory."""
    text = program(loop(FIRST), loop(SECOND)).replace(
        "[%n, %c32], strides = [%c32, %c1]", "[%n, %c32], strides = [%n, %c1]"
    )
    module, said = passed(text)
    assert [one for one in said if "may overlap, because a run decides their distance" in one]
    assert count(module, "scf.for") == 2


def test_rows_of_a_contiguous_array_have_elements_of_their_own() -> None:
    """The number of columns is an argument, and the distance of the rows."""
    text = program(loop(FIRST), loop(SECOND)).replace(
        "[%n, %c32], strides = [%c32, %c1]", "[%c32, %n], strides = [%n, %c1]"
    )
    module, said = passed(text)
    assert not [one for one in said if "distance" in one]
    assert count(module, "scf.for") == 1


def test_functions_with_flags_stay() -> None:
    flags = "pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]\npto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]"
    module, said = passed(program(loop(FIRST), loop(SECOND), flags))
    assert count(module, "scf.for") == 2
    assert "its flags order" in said[0]


def test_rows_that_overlap_in_memory_are_loaded_again() -> None:
    wide = "%w = pto.make_tensor_view %b, shape = [%n, %c32], strides = [%c32"
    text = program(loop(FIRST), loop(SECOND)).replace(wide, wide[:-2] + "16")
    assert "%c16, %c1] : " in text
    module, _ = passed(text)
    assert count(module, "pto.tload") == 2

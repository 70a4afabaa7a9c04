"""Which operations leave nothing of what a tile held. Source: docs/reference/memory-planning.md, "Live ranges"."""

from __future__ import annotations

import cProfile
from collections.abc import Iterator

import numpy as np
import pytest
from cube_programs import passed, run
from xdsl.ir import Operation

from pto_dialect import parse, print_module
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.ir.core.operands import find
from pto_dialect.passes.accesses.filling import Filling
from pto_dialect.passes.registry import make_pass

TILE = "!pto.tile_buf<vec, 8x16xf32>"
OPEN = "!pto.tile_buf<vec, 8x16xf32, valid=?x16>"
VIEW = "!pto.tensor_view<?x?xf32>"


def program(*lines: str) -> str:
    """A function with three arrays, a number, and views of 64 rows of 16 elements."""
    numbers = "".join(f"  %c{n} = arith.constant {n} : index\n" for n in (0, 1, 2, 3, 4, 8, 16, 32, 64))
    views = "".join(
        f"  %v{name} = pto.make_tensor_view %{name}, shape = [%c64, %c16], strides = [%c16, %c1] : {VIEW}\n"
        for name in "abo"
    )
    head = "%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %o: !pto.ptr<f32>, %n: index"
    body = "".join(f"  {line}\n" for line in lines)
    return (
        'module attributes {pto.target_arch = "a5"} {\n'
        f"func.func @f({head}) attributes {{pto.entry}} {{\n{numbers}{views}{body}  return\n}}\n}}\n"
    )


def part(name: str, view: str, row: str, rows: int, cols: int = 16) -> str:
    """%name is ``rows`` rows of a view from %row on."""
    kind = f"!pto.partition_tensor_view<{rows}x{cols}xf32>"
    where = f"offsets = [%{row}, %c0], sizes = [%c{rows}, %c{cols}]"
    return f"%{name} = pto.partition_view %v{view}, {where} : {VIEW} -> {kind}"


def load(name: str, rows: int, tile: str, cols: int = 16, kind: str = TILE) -> str:
    """Loads %name."""
    return f"pto.tload ins(%{name} : !pto.partition_tensor_view<{rows}x{cols}xf32>) outs(%{tile} : {kind})"


def store(tile: str, name: str) -> str:
    """Stores a whole tile."""
    return f"pto.tstore ins(%{tile} : {TILE}) outs(%{name} : !pto.partition_tensor_view<8x16xf32>)"


def add(one: str, other: str, to: str) -> str:
    """A sum."""
    return f"pto.tadd ins(%{one}, %{other} : {TILE}, {TILE}) outs(%{to} : {TILE})"


KEPT = program(
    f"%x = pto.alloc_tile : {TILE}",
    f"%z = pto.alloc_tile : {TILE}",
    part("ap", "a", "c0", 8),
    load("ap", 8, "x"),
    "scf.for %i = %c0 to %c4 step %c1 {",
    "%at = arith.muli %i, %c8 : index",
    part("bp", "b", "at", 8),
    part("bh", "b", "at", 4),
    part("op", "o", "at", 8),
    "%below = arith.addi %at, %c32 : index",
    part("oq", "o", "below", 8),
    load("bh", 4, "x"),
    store("x", "op"),
    load("bp", 8, "z"),
    add("z", "z", "z"),
    store("z", "oq"),
    "}",
)
"""Each iteration loads the upper four rows of x, which keeps the lower ones from before the loop."""

CARRIED = program(
    f"%x = pto.alloc_tile : {TILE}",
    "scf.for %i = %c0 to %c4 step %c1 {",
    "%at = arith.muli %i, %c8 : index",
    part("ap", "a", "at", 8),
    part("bh", "b", "at", 4),
    part("op", "o", "at", 8),
    load("bh", 4, "x"),
    store("x", "op"),
    load("ap", 8, "x"),
    "}",
)
"""The lower four rows are those that the iteration before has loaded last."""


def results(text: str, *passes: str) -> Iterator[tuple[dict[str, np.ndarray], np.ndarray]]:
    """Both inputs, and what ``text`` makes of them after ``passes``, under several schedules."""
    module, _ = passed(text, *passes)
    rng = np.random.default_rng(1)
    given = {name: rng.standard_normal((64, 16)).astype(np.float32) for name in "ab"}
    for schedule in ("text", "newest", "random:1"):
        yield given, run(module, {**given, "o": np.zeros((64, 16), np.float32), "n": 0}, schedule)["o"]


@pytest.mark.parametrize("reuse", ["auto", "max", "safe", "none"])
@pytest.mark.parametrize("before", [(), ("unroll",), ("double-buffer",)])
def test_a_load_of_fewer_rows_keeps_the_others(before: tuple[str, ...], reuse: str) -> None:
    for given, found in results(KEPT, *before, f"assign-memory{{reuse={reuse}}}", "insert-sync"):
        for i in range(4):
            rows = given["b"][8 * i : 8 * i + 8]
            assert np.array_equal(found[8 * i : 8 * i + 4], rows[:4])
            assert np.array_equal(found[8 * i + 4 : 8 * i + 8], given["a"][4:8])
            assert np.array_equal(found[32 + 8 * i : 40 + 8 * i], 2 * rows)


def test_slots_do_not_separate_what_an_iteration_keeps() -> None:
    assert "alloc_multi_tile" not in print_module(passed(CARRIED, "double-buffer")[0])
    for given, found in results(CARRIED, "double-buffer", "assign-memory", "insert-sync"):
        for i in range(1, 4):
            assert np.array_equal(found[8 * i : 8 * i + 4], given["b"][8 * i : 8 * i + 4])
            assert np.array_equal(found[8 * i + 4 : 8 * i + 8], given["a"][8 * i - 4 : 8 * i])


def test_a_load_of_fewer_columns_is_not_split() -> None:
    """The columns that a load leaves come from the iteration before, for each row."""
    text = program(
        f"%x = pto.alloc_tile : {TILE}",
        f"%w = pto.alloc_tile : {TILE}",
        "scf.for %i = %c0 to %c2 step %c1 {",
        part("bp", "b", "c0", 8, 8),
        part("op", "o", "c0", 8),
        load("bp", 8, "x", 8),
        add("x", "x", "x"),
        store("x", "op"),
        "}",
    )
    _, said = passed(text, "tile-loops{rows=2}")
    assert [one for one in said if "x is not written as a whole first" in one]


def loads(text: str) -> Iterator[tuple[Operation, bool, bool]]:
    """Each load with the answers of both questions for its tile."""
    filling = Filling()
    for op in parse(text, "program.pto").walk():
        tile = find(op, "dst") if op.name == "pto.tload" else None
        if tile is not None:
            yield op, filling.fills(op, tile), filling.shows_all(tile)


@pytest.mark.parametrize(
    ("rows", "valid", "expected"),
    [("%n", "%n", True), ("%n", "%c8", False), ("%c8", "%c8", True), ("%c4", "%c8", False), ("%m", "%n", True)],
)
def test_sizes_of_a_run(rows: str, valid: str, expected: bool) -> None:
    """Sizes are compared as sums, whatever operations compute them."""
    kind = "!pto.partition_tensor_view<?x16xf32>"
    text = program(
        "%more = arith.addi %n, %c1 : index",
        "%m = arith.subi %more, %c1 : index",
        f"%x = pto.alloc_tile valid_row = {valid} : {OPEN}",
        f"%p = pto.partition_view %va, offsets = [%c0, %c0], sizes = [{rows}, %c16] : {VIEW} -> {kind}",
        f"pto.tload ins(%p : {kind}) outs(%x : {OPEN})",
    )
    assert [found[1:] for found in loads(text)] == [(expected, True)]


def test_another_handle_shows_more() -> None:
    """A valid region of four rows, and a part with the other four."""
    narrow, lower = "!pto.tile_buf<vec, 8x16xf32, valid=4x16>", "!pto.tile_buf<vec, 4x16xf32>"
    lines = (f"%x = pto.alloc_tile : {narrow}", part("p", "a", "c0", 4), load("p", 4, "x", kind=narrow))
    assert [found[1:] for found in loads(program(*lines))] == [(True, True)]
    more = f"%y = pto.subview %x[%c4, %c0] sizes [4, 16] : {narrow} -> {lower}"
    assert [found[1:] for found in loads(program(*lines, more))] == [(True, False)]


def test_sizes_that_are_set_later() -> None:
    kind = "!pto.partition_tensor_view<4x16xf32>"
    text = program(
        f"%x = pto.alloc_tile valid_row = %c4 : {OPEN}",
        part("p", "a", "c0", 4),
        f"pto.set_validshape %x, %n, %c16 : {OPEN}",
        f"pto.tload ins(%p : {kind}) outs(%x : {OPEN})",
    )
    assert [found[1:] for found in loads(text)] == [(False, False)]


def calls_for(kind: str, rows: int) -> int:
    """The calls of Python that planning 200 loads and stores of one tile in a loop takes."""
    view = f"!pto.partition_tensor_view<{rows}x16xf32>"
    stored = f"pto.tstore ins(%x : {kind}) outs(%p : {view})"
    lines = [load("p", rows, "x", kind=kind), stored] * 200
    loop = ("scf.for %i = %c0 to %c4 step %c1 {", *lines, "}")
    module = parse(program(f"%x = pto.alloc_tile : {kind}", part("p", "a", "c0", rows), *loop), "program.pto")
    with cProfile.Profile() as profile:
        make_pass("assign-memory", None).run(module, DiagnosticEngine())
    return sum(entry.callcount for entry in profile.getstats())


def test_the_uses_of_a_tile_are_looked_at_once() -> None:
    """A tile that is valid in part takes hardly more work than one that is valid everywhere, however often it is
    written."""
    assert calls_for("!pto.tile_buf<vec, 8x16xf32, valid=4x16>", 4) < 1.5 * calls_for(TILE, 8)

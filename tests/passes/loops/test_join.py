"""Transfers of neighbouring columns that become one. Source: docs/reference/layouts.md, "Views of global memory"."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pto_dialect import parse, print_module
from pto_dialect.api import check
from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.driver.prove.pipeline import prove_passes
from pto_dialect.passes.registry import make_pass
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

WIDE = 64
PART = "!pto.partition_tensor_view<16x16xf32>"
TILE = "!pto.tile_buf<vec, 16x16xf32>"


def part(name: str, source: str, row: int, column: int) -> str:
    """16 rows and columns of an array from a position on."""
    return (
        f"%{name} = pto.partition_view %{source}v, offsets = [%c{row}, %c{column}], sizes = [%c16, %c16] : "
        f"!pto.tensor_view<?x?xf32> -> {PART}"
    )


def load(name: str, column: int, row: int = 0, source: str = "a") -> str:
    """The load of a tile."""
    place = f"{name}{source}{row}_{column}"
    return f"{part(place, source, row, column)}\npto.tload ins(%{place} : {PART}) outs(%{name} : {TILE})"


def store(name: str, column: int, row: int = 0, source: str = "b") -> str:
    """The store of a tile."""
    place = f"s{name}{source}{row}_{column}"
    return f"{part(place, source, row, column)}\npto.tstore ins(%{name} : {TILE}) outs(%{place} : {PART})"


def add(one: str, other: str, to: str) -> str:
    """The sum of two tiles."""
    return f"pto.tadd ins(%{one}, %{other} : {TILE}, {TILE}) outs(%{to} : {TILE})"


def program(*lines: str, stride: int = WIDE, target: str = "a5") -> str:
    """A function with three tiles and two arrays."""
    constants = "\n".join(f"%c{number} = arith.constant {number} : index" for number in (0, 1, 8, 16, 32, 48, WIDE))
    views = "\n".join(
        f"%{name}v = pto.make_tensor_view %{name}, shape = [%c{WIDE}, %c{WIDE}], strides = [%c{stride}, %c1] : "
        "!pto.tensor_view<?x?xf32>"
        for name in "ab"
    )
    tiles = "\n".join(f"%{name} = pto.alloc_tile : {TILE}" for name in "xyz")
    body = "\n".join(lines)
    return f"""
    module attributes {{pto.target_arch = "{target}"}} {{
    func.func @f(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>) attributes {{pto.entry}} {{
    {constants}
    {views}
    {tiles}
    {body}
    return
    }}
    }}"""


def joined(text: str) -> tuple[str, list[str]]:
    """The text after the pass, and what it reports."""
    module = parse(text, "program.pto")
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0, pedantic=True))
    make_pass("join-transfers", None).run(module, engine)
    found = print_module(module)
    assert not [one for one in check(found).diagnostics if one.severity is Severity.ERROR]
    return found, [one.message for one in engine.diagnostics]


def run(text: str, *passes: str) -> np.ndarray[Any, np.dtype[np.float32]]:
    """What a program stores."""
    module, engine = parse(text), DiagnosticEngine()
    for call in (*passes, "assign-memory", "insert-sync"):
        make_pass(call, None).run(module, engine)
    a = np.random.default_rng(1).normal(size=(WIDE, WIDE)).astype(np.float32)
    b = np.zeros_like(a)
    Kernel(module, None, None, RunOptions()).run([a, b], 1)
    return b


@pytest.mark.parametrize(
    ("lines", "loads", "stores"),
    [
        ((load("x", 0), load("y", 16), add("x", "y", "x"), store("x", 32), store("y", 48)), 1, 1),
        ((load("y", 16), load("x", 0), add("x", "y", "x"), store("y", 48), store("x", 32)), 1, 1),
        ((load("x", 0), load("z", 32, 16), load("y", 16), add("x", "y", "z"), store("z", 0, 32)), 2, 1),
        ((load("x", 0), load("y", 16), load("z", 32), store("x", 16), store("y", 32), store("z", 48)), 1, 1),
    ],
    ids=["two", "from right to left", "a load between", "three"],
)
@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_neighbouring_columns_are_moved_at_once(lines: tuple[str, ...], loads: int, stores: int, target: str) -> None:
    text = program(*lines, target=target)
    found, said = joined(text)
    assert (found.count("pto.tload"), found.count("pto.tstore")) == (loads, stores)
    assert not said
    assert run(text).any()
    assert np.array_equal(run(text), run(text, "join-transfers"))


@pytest.mark.parametrize(
    "lines",
    [
        (load("x", 0), load("y", 32)),
        (load("x", 0), load("y", 16, 16)),
        (load("x", 0), load("y", 0)),
        (load("x", 0), load("y", 8)),
        (load("x", 0), load("y", 16, source="b")),
        (load("x", 0), add("x", "x", "z"), load("y", 16)),
        (load("y", 0), load("x", 32), store("x", 0), load("z", 48), store("y", 16)),
        (load("x", 0), load("y", 16), f"pto.ttrans ins(%x, %z : {TILE}, {TILE}) outs(%y : {TILE})"),
        (load("x", 0), load("y", 16), f"%w = pto.treshape %x : {TILE} -> !pto.tile_buf<vec, 8x32xf32>"),
        (load("x", 0), load("y", 16), store("x", 32)),
        (load("x", 0), store("y", 16, source="a")),
        (load("x", 0), *[load("y", 16, more).replace(f"%c{more}, %c16]", "%c0, %c16]") for more in (0, 8)]),
    ],
    ids=[
        "columns between",
        "other rows",
        "the same columns",
        "common columns",
        "other arrays",
        "used between",
        "a load between two stores",
        "used by columns",
        "shown in another form",
        "stored alone",
        "a load and a store",
        "one is loaded twice",
    ],
)
def test_other_transfers_stay(lines: tuple[str, ...]) -> None:
    text = program(*lines)
    found, said = joined(text)
    assert found == print_module(parse(text))
    (message,) = said
    assert message.startswith("join-transfers changes nothing: no two transfers")


@pytest.mark.parametrize(("stride", "count"), [(16, 2), (32, 1)])
def test_rows_that_share_elements_stay(stride: int, count: int) -> None:
    """Columns 16 to 31 of a row are columns 0 to 15 of the next one: the second store overwrites what the first has
    stored."""
    found, _ = joined(program(store("x", 0), store("y", 16), stride=stride))
    assert found.count("pto.tstore") == count


@pytest.mark.parametrize(("rows", "columns"), [(16, 8), (8, 16), (8, 32), (32, 8)])
def test_loads_of_other_sizes_than_their_tiles_stay(rows: int, columns: int) -> None:
    """One load of both would leave other elements of the tiles open than two."""
    loads = (load("x", 0), load("y", columns))
    sized = [
        one.replace("[%c16, %c16]", f"[%c{rows}, %c{columns}]").replace(
            PART, PART.replace("16x16", f"{rows}x{columns}")
        )
        for one in loads
    ]
    text = program(*sized, add("x", "y", "z"), store("z", 0))
    found, said = joined(text)
    assert found == print_module(parse(text))
    assert len(said) == 1


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_joined_loops_with_slots_are_in_order(target: str) -> None:
    body = (load("x", 0), load("y", 16), add("x", "y", "x"), add("x", "y", "y"), store("x", 32), store("y", 48))
    text = program("scf.for %i = %c0 to %c48 step %c16 {", *body, "}", target=target).replace("[%c0, ", "[%i, ")
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0, pedantic=True))
    passes = ["join-transfers", "double-buffer", "assign-memory", "insert-sync"]
    assert prove_passes(parse(text), passes, engine, None, seconds=30)
    assert {one.rule for one in engine.diagnostics} == {"prove-done", "order-proven"}

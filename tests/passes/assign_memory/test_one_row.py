"""Tiles whose layout touches more bytes than they have elements. Source: docs/reference/memory-planning.md, "Sizes"."""

from __future__ import annotations

import re

import numpy as np
import pytest
from lowering_programs import SCHEDULES, TILE, add, disorder, kernel, load, lowered, part, results, store

from pto_dialect import parse, print_module
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.verify.verifier import verify_module

_BOXED = "blayout=col_major, slayout=row_major"
X, W, L, R, C = (
    f"!pto.tile_buf<mat, 1x32xf16, {_BOXED}>",
    f"!pto.tile_buf<mat, 32x32xf16, {_BOXED}>",
    "!pto.tile_buf<left, 1x32xf16, slayout=row_major>",
    "!pto.tile_buf<right, 32x32xf16, slayout=col_major>",
    f"!pto.tile_buf<acc, 1x32xf32, {_BOXED}, fractal=1024>",
)
_VIEW = "!pto.tensor_view<?x?x{0}> -> !pto.partition_tensor_view<{1}x32x{0}>"


def _view(name: str, pointer: str, rows: str, element: str) -> str:
    shape = f"shape = [%c{rows}, %c32], strides = [%c32, %c1]"
    return f"%{name} = pto.make_tensor_view %{pointer}, {shape} : !pto.tensor_view<?x?x{element}>"


def _part(name: str, view: str, row: str, rows: str, element: str) -> str:
    where = f"offsets = [%c{row}, %c0], sizes = [%c{rows}, %c32]"
    return f"%{name} = pto.partition_view %{view}, {where} : {_VIEW.format(element, rows)}"


_F16, _F32, _SQUARE = (
    f"!pto.partition_tensor_view<{rows}x32x{element}>" for rows, element in ((1, "f16"), (1, "f32"), (32, "f16"))
)
LINES = (
    *(f"%c{number} = arith.constant {number} : index" for number in (0, 1, 2, 32)),
    *(_view("xs", "x", "2", "f16"), _view("ws", "w", "32", "f16"), _view("ys", "y", "2", "f32")),
    *(_part("x0", "xs", "0", "1", "f16"), _part("x1", "xs", "1", "1", "f16"), _part("w0", "ws", "0", "32", "f16")),
    *(_part("y0", "ys", "0", "1", "f32"), _part("y1", "ys", "1", "1", "f32")),
    *(f"%{name} = pto.alloc_tile : {kind}" for name, kind in zip("abklmruv", (X, X, W, L, L, R, C, C), strict=True)),
    f"pto.tload ins(%x0 : {_F16}) outs(%a : {X})",
    f"pto.tload ins(%x1 : {_F16}) outs(%b : {X})",
    f"pto.tload ins(%w0 : {_SQUARE}) outs(%k : {W})",
    f"pto.tmov ins(%a : {X}) outs(%l : {L})",
    f"pto.tmov ins(%b : {X}) outs(%m : {L})",
    f"pto.tmov ins(%k : {W}) outs(%r : {R})",
    f"pto.tgemv ins(%l, %r : {L}, {R}) outs(%u : {C})",
    f"pto.tgemv ins(%m, %r : {L}, {R}) outs(%v : {C})",
    f"pto.tgemv.acc ins(%u, %m, %r : {C}, {L}, {R}) outs(%u : {C})",
    f"pto.tstore ins(%u : {C}) outs(%y0 : {_F32})",
    f"pto.tgemv.acc ins(%v, %m, %r : {C}, {L}, {R}) outs(%v : {C})",
    f"pto.tstore ins(%v : {C}) outs(%y1 : {_F32})",
)
"""Two accumulators and two left tiles of one row, in use at once: y0 = (x0 + x1) w, y1 = 2 x1 w."""


def program(target: str) -> str:
    body = "\n".join(f"  {line}" for line in LINES)
    arguments = "%x: !pto.ptr<f16>, %w: !pto.ptr<f16>, %y: !pto.ptr<f32>"
    return (
        f'module attributes {{pto.target_arch = "{target}"}} {{\n'
        f"func.func @f({arguments}) attributes {{pto.entry}} {{\n{body}\n  return\n}}\n}}\n"
    )


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_products_of_one_row_share_nothing_that_is_needed(target: str) -> None:
    module, said = lowered(program(target), "assign-memory", "insert-sync")
    assert not said
    x = np.random.default_rng(3).integers(-4, 5, (2, 32)).astype(np.float16)
    w = np.random.default_rng(4).integers(-4, 5, (32, 32)).astype(np.float16)
    first, second = x.astype(np.float32) @ w.astype(np.float32)
    for schedule in ("text", *SCHEDULES):
        *_, stored = results(module, [x, w, np.zeros((2, 32), np.float32)], schedule)
        assert np.array_equal(np.frombuffer(stored, np.float32).reshape(2, 32), [first + second, 2 * second])
    assert not disorder(module, [x, w, np.zeros((2, 32), np.float32)])


@pytest.mark.parametrize(("target", "pitch"), [("a2a3", 1024), ("a5", 512)])
def test_blocks_of_16_rows_lie_apart(target: str, pitch: int) -> None:
    """An accumulator of 1 x 32 is two blocks of 1,024 bytes; a left tile two of 512 on a2a3, a list on a5."""
    module, _ = lowered(program(target), "assign-memory")
    found = re.findall(r"%(\w) = pto.alloc_tile addr = %c(\d+)_i64", print_module(module))
    places = {name: int(address) for name, address in found}
    assert abs(places["u"] - places["v"]) == 2048
    assert abs(places["l"] - places["m"]) == pitch


@pytest.mark.parametrize("size", [4096, 1024])
def test_scratch_that_nothing_touches_keeps_away_from_queues(size: int) -> None:
    """On a5 a row reduction leaves its scratch alone; the result has to verify."""
    row = "!pto.tile_buf<vec, 16x1xf32, blayout=col_major>"
    lines = (
        f'%r = pto.reserve_buffer {{name = "fifo", size = {size}, location = #pto.address_space<vec>, '
        "auto = true} -> i32",
        *(part("p", "a", "c0"), part("q", "b", "c0"), load("p", "x")),
        f"%s = pto.alloc_tile : {row}",
        f"pto.trowsum ins(%x, %y : {TILE}, {TILE}) outs(%s : {row})",
        f"pto.trowexpandmul ins(%x, %s : {TILE}, {row}) outs(%z : {TILE})",
        *(add("z", "z", "z"), store("z", "q")),
    )
    module, said = lowered(re.sub(r" addr = %at\d", "", kernel(*lines)), "assign-memory")
    assert not said
    printed = print_module(module)
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    verify_module(parse(printed), engine, target=None)
    assert not [one for one in engine.diagnostics if one.severity.name != "INFO"]
    (base,) = map(int, re.findall(r"base = (\d+)", printed))
    places = re.findall(r"%(\w) = pto.alloc_tile addr = %c(\d+)_i64", printed)
    assert len(places) == 4
    for name, address in places:
        end = int(address) + (64 if name == "s" else 1024)
        assert end <= base or base + size <= int(address), name

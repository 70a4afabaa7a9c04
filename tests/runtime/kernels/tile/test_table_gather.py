"""Gathers from and scatters to tables in global memory (docs/reference/tiles.md, "Irregular operations")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from function_programs import run_on_each
from tile_run_helpers import DTYPES
from tile_values import random_values, same

from pto_dialect import parse
from pto_dialect.api import check
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.queues.schedule import Schedule
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions


def program(statement: str, element: str, shapes: dict[str, Sequence[int]], layout: str) -> str:
    """A table view ``%m``, a data tile ``%d`` and an index tile ``%i``, all loaded and stored."""
    sizes = {name: "x".join(map(str, shape)) for name, shape in shapes.items()}
    types = {"m": element, "d": element, "i": "i32"}
    numbers = sorted({0, 1, *(n for shape in shapes.values() for n in shape)})
    lines = [f"%c{n} = arith.constant {n} : index" for n in numbers]
    for name, shape in shapes.items():
        view = f"{sizes[name]}x{types[name]}"
        lines += [
            f"%v{name} = pto.make_tensor_view %p{name}, shape = [%c{shape[0]}, %c{shape[1]}], "
            f"strides = [%c{shape[1]}, %c1] : !pto.tensor_view<{view}>",
            f"%{'m' if name == 'm' else 'g' + name} = pto.partition_view %v{name}, offsets = [%c0, %c0], "
            f"sizes = [%c{shape[0]}, %c{shape[1]}] : !pto.tensor_view<{view}> -> !pto.partition_tensor_view<{view}>",
        ]
    d, i = f"!pto.tile_buf<vec, {sizes['d']}x{element}>", f"!pto.tile_buf<vec, {sizes['i']}xi32{layout}>"
    lines += [f"%d = pto.alloc_tile : {d}", f"%i = pto.alloc_tile : {i}"]
    for name, type_ in (("d", d), ("i", i)):
        part = f"!pto.partition_tensor_view<{sizes[name]}x{types[name]}>"
        lines.append(f"pto.tload ins(%g{name} : {part}) outs(%{name} : {type_})")
    m = f"!pto.partition_tensor_view<{sizes['m']}x{element}>"
    lines.append(statement.replace("{m}", m).replace("{d}", d).replace("{i}", i))
    lines.append(f"pto.tstore ins(%d : {d}) outs(%gd : !pto.partition_tensor_view<{sizes['d']}x{element}>)")
    body = "\n    ".join(lines)
    arguments = f"%pm: !pto.ptr<{element}>, %pd: !pto.ptr<{element}>, %pi: !pto.ptr<i32>"
    return (
        'module attributes {pto.target_arch = "a5"} {\n'
        f"  func.func @k({arguments}) attributes {{pto.kernel}} {{\n    {body}\n    return\n  }}\n}}\n"
    )


def execute(
    statement: str, element: str, table: Any, data: Any, idx: Any, layout: str = ""
) -> tuple[np.ndarray, np.ndarray]:
    """Table and data tile after the statement."""
    arrays = [np.array(table, DTYPES[element]), np.array(data, DTYPES[element]), np.array(idx, np.int32)]
    shapes = dict(zip("mdi", (a.shape for a in arrays), strict=True))
    text = program(statement, element, shapes, layout)
    assert check(text).ok, str(check(text))
    run_on_each(text, [a.reshape(-1) for a in arrays])
    return arrays[0], arrays[1]


GATHER = "pto.mgather ins(%m, %i : {m}, {i}) outs(%d : {d}) "
SCATTER = "pto.mscatter ins(%d, %i : {d}, {i}) outs(%m : {m}) "


def resolve(index: int, size: int, mode: str) -> int | None:
    """Where an index leads; ``None`` where it is left out."""
    if mode == "clamp":
        # Indices are unsigned.
        return size - 1 if index < 0 else min(index, size - 1)
    if mode == "wrap":
        return index % 2**32 % size
    return index if 0 <= index < size else None


@pytest.mark.parametrize("mode", ["undefined", "clamp", "wrap", "zero"])
@pytest.mark.parametrize("element", ["i8", "i16", "i32", "f16", "bf16", "f32"])
@pytest.mark.parametrize("column", [False, True])
def test_gather_of_rows(element: str, mode: str, column: bool) -> None:
    rng = np.random.default_rng(50)
    table, data = random_values(element, (20, 32), rng), random_values(element, (8, 32), rng)
    low, high = (0, 20) if mode == "undefined" else (-30, 60)
    indices = rng.integers(low, high, 8)
    idx = indices.reshape(8, 1) if column else indices.reshape(1, 8)
    layout = ", blayout=col_major" if column else ""
    attributes = f"{{coalesce = #pto<coalesce row>, gatherOob = #pto<gather_oob {mode}>}}"
    _, found = execute(GATHER + attributes, element, table, data, idx, layout)
    wanted = np.zeros_like(data)
    for r in range(8):
        at = resolve(int(indices[r]), 20, mode)
        if at is not None:
            wanted[r] = table[at]
    same(found, wanted)


@pytest.mark.parametrize("mode", ["undefined", "clamp", "wrap", "zero"])
def test_gather_of_elements(mode: str) -> None:
    rng = np.random.default_rng(51)
    table, data = random_values("f32", (5, 40), rng), random_values("f32", (8, 16), rng)
    low, high = (0, 200) if mode == "undefined" else (-500, 700)
    idx = rng.integers(low, high, (8, 16))
    attributes = f"{{coalesce = #pto<coalesce elem>, gatherOob = #pto<gather_oob {mode}>}}"
    _, found = execute(GATHER + attributes, "f32", table, data, idx)
    wanted = np.zeros_like(data)
    for place in np.ndindex(8, 16):
        at = resolve(int(idx[place]), 200, mode)
        wanted[place] = 0 if at is None else table[divmod(at, 40)]
    same(found, wanted)


def test_an_index_outside_the_table_is_an_error() -> None:
    data = np.zeros((8, 16), np.float32)
    idx = np.full((8, 16), 200)
    for statement in (GATHER, SCATTER):
        with pytest.raises(ProgramError) as error:
            execute(statement + "{coalesce = #pto<coalesce elem>}", "f32", np.zeros((5, 40)), data, idx)
        assert error.value.rule == "mem-oob"


@pytest.mark.parametrize("atomic", ["none", "add", "max", "min"])
@pytest.mark.parametrize("mode", ["undefined", "skip", "clamp", "wrap"])
@pytest.mark.parametrize("element", ["i32", "f32"])
def test_scatter_of_rows(element: str, mode: str, atomic: str) -> None:
    """In row order: the last writer wins, additions accumulate."""
    rng = np.random.default_rng(52)
    table, data = random_values(element, (6, 32), rng), random_values(element, (8, 32), rng)
    low, high = (0, 6) if mode == "undefined" else (-9, 14)
    indices = rng.integers(low, high, 8)
    attributes = (
        f"{{coalesce = #pto<coalesce row>, scatterAtomicOp = #pto<scatter_atomic_op {atomic}>, "
        f"scatterOob = #pto<scatter_oob {mode}>}}"
    )
    found, _ = execute(SCATTER + attributes, element, table, data, indices.reshape(1, 8))
    wanted = table.copy()
    combine = {"none": lambda old, new: new, "add": np.add, "max": np.maximum, "min": np.minimum}[atomic]
    for r in range(8):
        at = resolve(int(indices[r]), 6, mode)
        if at is not None:
            wanted[at] = combine(wanted[at], data[r])
    same(found, wanted)


@pytest.mark.parametrize(("element", "atomic"), [("f16", "add"), ("i32", "none"), ("f32", "max"), ("bf16", "none")])
def test_scatter_of_elements(element: str, atomic: str) -> None:
    rng = np.random.default_rng(53)
    table, data = random_values(element, (3, 32), rng), random_values(element, (8, 16), rng)
    idx = rng.integers(0, 40, (8, 16))
    attributes = f"{{coalesce = #pto<coalesce elem>, scatterAtomicOp = #pto<scatter_atomic_op {atomic}>}}"
    found, _ = execute(SCATTER + attributes, element, table, data, idx)
    wanted = table.copy()
    for place in np.ndindex(8, 16):
        at = divmod(int(idx[place]), 32)
        old, new = np.float32(wanted[at]), np.float32(data[place])
        result = {"add": old + new, "max": max(old, new)}.get(atomic)
        wanted[at] = data[place] if result is None else np.float32(result).astype(wanted.dtype)
    same(found, wanted)


WITHOUT_FLAGS = """module attributes {pto.target_arch = "a2a3"} {
  func.func @f(%m: !pto.ptr<f32>, %d: !pto.ptr<f32>, %i: !pto.ptr<i32>) attributes {pto.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %vm = pto.make_tensor_view %m, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xf32>
    %vd = pto.make_tensor_view %d, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xf32>
    %vi = pto.make_tensor_view %i, shape = [%c1, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xi32>
    %gm = pto.partition_view %vm, offsets = [%c0, %c0], sizes = [%c8, %c8]
      : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<8x8xf32>
    %gd = pto.partition_view %vd, offsets = [%c0, %c0], sizes = [%c8, %c8]
      : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<8x8xf32>
    %gi = pto.partition_view %vi, offsets = [%c0, %c0], sizes = [%c1, %c8]
      : !pto.tensor_view<?x?xi32> -> !pto.partition_tensor_view<1x8xi32>
    %a = arith.constant 0 : i64
    %b = arith.constant 512 : i64
    %td = pto.alloc_tile addr = %a : !pto.tile_buf<vec, 8x8xf32>
    %ti = pto.alloc_tile addr = %b : !pto.tile_buf<vec, 1x8xi32>
    pto.tload ins(%gd : !pto.partition_tensor_view<8x8xf32>) outs(%td : !pto.tile_buf<vec, 8x8xf32>)
    pto.tload ins(%gi : !pto.partition_tensor_view<1x8xi32>) outs(%ti : !pto.tile_buf<vec, 1x8xi32>)
    pto.mscatter ins(%td, %ti : !pto.tile_buf<vec, 8x8xf32>, !pto.tile_buf<vec, 1x8xi32>)
      outs(%gm : !pto.partition_tensor_view<8x8xf32>) {coalesce = #pto<coalesce row>}
    return
  }
}
"""


@pytest.mark.parametrize("schedule", ["oldest", "newest"])
def test_scatter_waits_for_loads_of_its_tiles(schedule: str) -> None:
    """On a2a3 it has the flags that this needs."""
    data, rows = np.arange(64, dtype=np.float32).reshape(8, 8), np.arange(8, dtype=np.int32)[::-1].copy()
    table = np.zeros((8, 8), np.float32)
    options = RunOptions(fill="random", schedule=Schedule.parse(schedule, strict=True))
    Kernel(parse(WITHOUT_FLAGS, "scatter.pto"), None, None, options).run([table, data, rows], 1)
    same(table, data[::-1])

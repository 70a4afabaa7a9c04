"""Which instructions a replay knows: what each of them reads and writes, and what makes it leave a launch to its
instructions."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from groups import in_groups
from parse_helpers import parsed

from pto_dialect.accel.replay import keep
from pto_dialect.accel.replay.steps import Box, Foreign, Reader, Step, Style, assign
from pto_dialect.analysis.queues import C2V, V2C
from pto_dialect.runtime.kernels.cube.fixpipe_tile import AccumulatorOut
from pto_dialect.runtime.kernels.cube.matmul import TileMatmul
from pto_dialect.runtime.kernels.sync.pipe_transfer import Fetch, Push
from pto_dialect.runtime.kernels.tile.apply import Regions
from pto_dialect.runtime.kernels.tile.generate import Triangle
from pto_dialect.runtime.kernels.tile.memory import Load, Store, load_part, load_view, store_part, store_view
from pto_dialect.runtime.kernels.tile.move import Move
from pto_dialect.runtime.memory.gm_parts import GmParts
from pto_dialect.runtime.memory.layout import tile_layout
from pto_dialect.runtime.memory.spaces import Arena
from pto_dialect.runtime.memory.values import GmTensor, Tile, ValueTile
from pto_dialect.runtime.numerics.formats import format_of
from pto_dialect.runtime.queues.fifo import FifoEnd
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.targets.choice import get_profile

UB, GM = Arena("ub", 1 << 16), Arena("gm", 1 << 16)
BOXES = ("col_major", "row_major")


def tile(rows: int = 16, cols: int = 16, element: str = "f32", valid: Any = None, boxes: bool = False,
         pad: int = 0, at: int = 0, loc: str = "vec") -> Tile:  # fmt: skip
    """A tile at byte ``at``, in rows or in boxes."""
    fmt = format_of(element)
    layout = tile_layout(rows, cols, fmt.bytes, *(BOXES if boxes else ()))
    return Tile(UB.pointer(at, fmt.storage), layout, fmt, loc, rows, cols, *(valid or (rows, cols)), pad=pad)


def view(rows: int = 16, cols: int = 16, element: str = "f32", at: int = 0, uneven: bool = False) -> GmTensor:
    """A view of dense rows from byte ``at``, or one whose halves lie apart."""
    fmt = format_of(element)
    shape, strides = ((rows, cols), (cols, 1)) if not uneven else ((2, rows // 2, cols), (rows * cols, cols, 1))
    return GmTensor(GM.pointer(at, fmt.storage), shape, strides, fmt)


def parts(rows: int = 16, cols: int = 16, element: str = "f32") -> GmParts:
    return GmParts(view(2 * rows, cols, element), (rows, cols))


def array(rows: int = 16, cols: int = 16, dtype: Any = np.float32) -> Any:
    return np.zeros((rows, cols), dtype)


def value(rows: int = 16, cols: int = 16, element: str = "f32") -> ValueTile:
    return ValueTile(rows, cols, format_of(element))


def told(action: Callable[..., Any], *arguments: Any) -> list[Step]:
    return list(Reader().steps(action, arguments))


def place(memory: Any) -> tuple[int, tuple[int, ...], Any]:
    """Where an array lies, its shape and its type."""
    return memory.__array_interface__["data"][0], memory.shape, memory.dtype


def at(arena: Arena, offset: int) -> int:
    return arena.bytes.__array_interface__["data"][0] + offset


def is_foreign(action: Callable[..., Any], *arguments: Any) -> bool:
    try:
        told(action, *arguments)
    except Foreign:
        return True
    return False


# ------------------------------------------------------------ loads and stores

LOAD, STORE = Load(format_of("f32")), Store(None, "atomic_none")
FAR = (1 << 16) - 512
"""Where a view begins that leaves its buffer."""


@pytest.mark.parametrize(
    ("action", "arguments"),
    [(load_view, (view(at=64), array())), (load_part, (parts(), 16, array())), (LOAD, (view(at=64), tile())),
     (LOAD.load_part, (parts(), 16, tile())), (LOAD, (view(8, 4, at=64), tile(valid=(8, 4))))],
)  # fmt: skip
def test_a_load_is_a_copy(action: Any, arguments: Any) -> None:
    (step,) = told(action, *arguments)
    target = arguments[-1]
    shape = target.shape if isinstance(target, np.ndarray) else (target.valid_rows, target.valid_cols)
    wanted = place(target) if isinstance(target, np.ndarray) else (at(UB, 0), shape, np.float32)
    assert step.style is Style.SAME and step.function is None and place(step.target) == wanted
    assert [place(source) for source in step.inputs] == [(at(GM, 64), shape, np.float32)]


@in_groups(("action", "arguments"), [
        # Another shape, another type, no even rows, beside the buffer, pad, a value, blocks that are no array.
        *((load_view, (view(rows, cols), array())) for rows, cols in ((16, 8), (8, 16), (8, 32), (32, 8))),
        (load_view, (view(element="i32"), array())), (load_view, (view(uneven=True), array())),
        (load_view, (view(at=FAR), array())), (load_part, (parts(), 1 << 15, array())),
        (load_part, (parts(8, 32), 0, array())), (load_part, (parts(element="i32"), 0, array())),
        *((LOAD, (view(rows, cols), tile())) for rows, cols in ((16, 8), (8, 16), (8, 32), (32, 8))),
        (LOAD, (view(element="i32"), tile())), (LOAD, (view(uneven=True), tile())), (LOAD, (view(at=FAR), tile())),
        (LOAD, (view(), tile(pad=1))), (LOAD, (view(), value())), (LOAD, (view(), tile(valid=(16, 8)))),
        (LOAD.load_part, (parts(8, 32), 0, tile())),
    ])  # fmt: skip
def test_loads_that_change_something_are_not_known(action: Any, arguments: Any) -> None:
    assert is_foreign(action, *arguments)


@pytest.mark.parametrize(
    ("action", "arguments"),
    [(store_view, (array(), view(at=64))), (store_part, (array(), parts(), 16)), (STORE, (tile(), view(at=64))),
     (STORE, (tile(), view(at=64), None, None)), (STORE, (tile(valid=(8, 4)), view(8, 4, at=64)))],
)  # fmt: skip
def test_a_store_is_a_copy(action: Any, arguments: Any) -> None:
    (step,) = told(action, *arguments)
    source = arguments[0]
    shape = source.shape if isinstance(source, np.ndarray) else (source.valid_rows, source.valid_cols)
    wanted = place(source) if isinstance(source, np.ndarray) else (at(UB, 0), shape, np.float32)
    assert step.style is Style.SAME and step.function is None and place(step.target) == (at(GM, 64), shape, np.float32)
    assert [place(given) for given in step.inputs] == [wanted]


A5 = get_profile("a5")


def out(source: str = "f32", target: str = "f32", relu: str = "no_relu", quantised: bool = False) -> AccumulatorOut:
    return AccumulatorOut(source, target, relu, A5, quantised)


@in_groups(("action", "arguments"), [
        *((store_view, (array(), view(rows, cols))) for rows, cols in ((16, 8), (8, 16), (8, 32), (32, 8))),
        (store_view, (array(), view(element="i32"))), (store_view, (array(), view(uneven=True))),
        (store_view, (array(), view(at=FAR))), (store_part, (array(), parts(8, 32), 0)),
        (store_part, (array(), parts(element="i32"), 0)), (store_part, (array(), parts(), 1 << 15)),
        *((STORE, (tile(), view(rows, cols))) for rows, cols in ((16, 8), (8, 16), (8, 32), (32, 8))),
        (STORE, (tile(), view(element="i32"))), (STORE, (tile(), view(uneven=True))), (STORE, (tile(), view(at=FAR))),
        (STORE, (tile(), view(), 1)), (STORE, (tile(), view(), None, tile())), (STORE, (value(), view())),
        *((Store(None, f"atomic_{how}"), (tile(), view())) for how in ("add", "max", "min")),
        (Store(out(relu="normal_relu"), "atomic_none"), (tile(), view())),
        (Store(out("f32", "f16"), "atomic_none"), (tile(), view(element="f16"))),
        (Store(out("f32", "f16"), "atomic_none"), (tile(), view())),
    ])  # fmt: skip
def test_stores_that_change_something_are_not_known(action: Any, arguments: Any) -> None:
    assert is_foreign(action, *arguments)


def test_accumulators_that_stay_what_they_are() -> None:
    (step,) = told(Store(out(), "atomic_none"), tile(loc="acc"), view())
    assert step.style is Style.SAME and place(step.target) == (at(GM, 0), (16, 16), np.float32)
    assert is_foreign(Store(out("i32", "f16", quantised=True), "atomic_none"), tile(element="i32"), view())


STORED = """module attributes {{pto.target_arch = "a5"}} {{
func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {{pto.kernel}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 16 : index
  %r = arith.constant {rows} : index
  %c = arith.constant {cols} : index
  %xv = pto.make_tensor_view %x, shape = [%n, %n], strides = [%n, %c1] : !pto.tensor_view<16x16xf32>
  %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%n, %n] : !pto.tensor_view<16x16xf32>
    -> !pto.partition_tensor_view<16x16xf32>
  %yv = pto.make_tensor_view %y, shape = [%r, %c], strides = [%c, %c1] : !pto.tensor_view<{rows}x{cols}xf32>
  %yp = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%r, %c] : !pto.tensor_view<{rows}x{cols}xf32>
    -> !pto.partition_tensor_view<{rows}x{cols}xf32>
  %t = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  pto.tload ins(%xp : !pto.partition_tensor_view<16x16xf32>) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
  pto.tadd ins(%t, %t : !pto.tile_buf<vec, 16x16xf32>, !pto.tile_buf<vec, 16x16xf32>)
    outs(%t : !pto.tile_buf<vec, 16x16xf32>)
  pto.tstore ins(%t : !pto.tile_buf<vec, 16x16xf32>) outs(%yp : !pto.partition_tensor_view<{rows}x{cols}xf32>)
  return
}}
}}"""


@pytest.mark.parametrize(("rows", "cols"), [(16, 16), (32, 8), (8, 32), (1, 256), (256, 1)])
def test_a_store_to_other_rows_keeps_the_order(rows: int, cols: int) -> None:
    module, found = parsed(STORED.format(rows=rows, cols=cols))
    assert found == []
    kernel = Kernel(module, None, "a5", RunOptions())
    replays = keep.Replays(kernel, 0)
    wanted = [2.0 * number for number in range(256)]
    done = False
    for _ in range(3):
        x, y = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)
        done = replays.run([x, y], 1)
        if not done:
            kernel.run([x, y])
        assert y.tolist() == wanted
    assert done is ((rows, cols) == (16, 16))


# ------------------------------------------------------------ functions


def test_functions_of_elements_and_of_rows() -> None:
    a, b = array(), array()
    ways = [(np.add, (a, b, b), Style.EACH), (np.add, (a, 2.5, b), Style.EACH), (np.maximum, (3, a, b), Style.EACH)]
    for function, arguments, style in ways:
        (step,) = told(function, *arguments)
        assert step.style is style and step.function is function and step.target is b
        assert all(one is other for one, other in zip(step.inputs, arguments[:-1], strict=True))
    (step,) = told(np.add.reduce, a, 1, None, array(16, 1), True)
    assert step.style is Style.ROWS and step.function is np.add and step.inputs[0] is a


@pytest.mark.parametrize(
    ("action", "arguments"),
    [
        (np.sin, (array(), array())), (np.add, (array(), None, array())), (np.add, (array(), "2", array())),
        (np.add, (array(), array(), 2.5)), (np.add, (tile(), array(), array())), (np.add, (array(), array(), tile())),
        (lambda a, out: None, (array(), array())), ([].append, (array(), array())),
        # Elements are not compared with what has no hash.
        (SimpleNamespace(), (array(), array())), ({}.update, (array(), array())),
        (np.add.reduce, (array(), 0, None, array(1, 16), True)),
        (np.add.reduce, (array(), 1, None, array(16, 1), False)),
        (np.add.reduce, (array(), 1, np.float32, array(16, 1), True)),
        (np.add.reduce, (array(dtype=np.float16), 1, None, array(16, 1, np.float16), True)),
        (np.add.reduce, (array(dtype=np.int32), 1, None, array(16, 1, np.int32), True)),
        (np.add.accumulate, (array(), 1, None, array())),
    ],
)  # fmt: skip
def test_other_functions_are_not_known(action: Any, arguments: Any) -> None:
    assert is_foreign(action, *arguments)


@pytest.mark.parametrize(
    ("source", "same"),
    [(array(), True), (array(1, 16), False), (array(16, 1), False), (array(dtype=np.float64), False), (2.5, False)],
)
def test_a_copy_of_the_same_shape_and_type_is_the_same_content(source: Any, same: bool) -> None:
    target = array()
    (step,) = told(np.copyto, target, source)
    assert (step.style, step.function) == ((Style.SAME, None) if same else (Style.EACH, assign))
    assert step.inputs[0] is source and step.target is target


def test_an_entry_that_is_freed_is_no_step() -> None:
    assert told(tile().retire) == []


def test_formulas_of_regions_see_the_region_of_the_result() -> None:
    given, result = tile(valid=(4, 8)), tile(valid=(8, 4), at=4096)
    (step,) = told(Regions(np.add), given, 1.5, result)
    assert step.style is Style.EACH and step.function is np.add and step.inputs[1] == 1.5
    assert place(step.inputs[0]) == (at(UB, 0), (8, 4), np.float32)
    assert place(step.target) == (at(UB, 4096), (8, 4), np.float32)
    assert is_foreign(Regions(np.add), tile(boxes=True), 1.5, tile())
    assert is_foreign(Regions(np.add), tile(), 1.5, tile(boxes=True))
    assert is_foreign(Regions(np.add), tile(), 1.5, value())
    assert is_foreign(Regions(np.add), value(), 1.5, tile())


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("diagonal", [-3, 0, 2])
def test_a_triangle_is_a_constant(upper: bool, diagonal: int) -> None:
    (step,) = told(Triangle(upper), diagonal, tile(valid=(5, 7)))
    wanted = [[float(c >= r + diagonal if upper else c <= r + diagonal) for c in range(7)] for r in range(5)]
    assert step.style is Style.EACH and step.function is assign and step.inputs[0].values.tolist() == wanted
    assert place(step.target) == (at(UB, 0), (5, 7), np.float32)
    assert is_foreign(Triangle(upper), diagonal, tile(boxes=True)) and is_foreign(Triangle(upper), diagonal, value())


# ------------------------------------------------------------ moves and products

MOVE = Move(None, "move")


def box(at: int, row: int, col: int, rows: int, cols: int, of: Tile) -> Box:
    return Box(UB.bytes.__array_interface__["data"][0] + at, of.layout, row, col, rows, cols, of.fmt.storage)


def test_a_move_is_a_copy_of_the_valid_region_of_the_target() -> None:
    source, target = tile(32, 32, boxes=True, valid=(20, 24)), tile(32, 32, valid=(17, 9), at=8192)
    (step,) = told(MOVE, source, target)
    assert step.style is Style.SAME and step.inputs == [box(0, 0, 0, 17, 9, source)]
    assert place(step.target) == (at(UB, 8192), (17, 9), np.float32)
    (step,) = told(MOVE, target, source.with_valid(17, 9), 0, 0, None, None)
    assert step.target == box(0, 0, 0, 17, 9, source)


@pytest.mark.parametrize(
    ("action", "arguments"),
    [
        (Move(None, "extract"), (tile(), tile())), (Move(None, "insert"), (tile(), tile())),
        (Move(out(), "move"), (tile(loc="acc"), tile())), (MOVE, (tile(), tile(), 1)), (MOVE, (tile(), tile(), 0, 1)),
        (MOVE, (value(), tile())), (MOVE, (tile(), value())), (MOVE, (tile(element="i32"), tile())),
        (MOVE, (tile(valid=(15, 16)), tile())), (MOVE, (tile(valid=(16, 15)), tile())),
        (MOVE, (tile(), tile(valid=(0, 16)))), (MOVE, (tile(), tile(valid=(16, 0)))),
        (MOVE, (tile(16, 32, "!pto.f4E2M1x2"), tile(16, 32, "!pto.f4E2M1x2"))),
    ],
)  # fmt: skip
def test_moves_that_change_something_are_not_known(action: Any, arguments: Any) -> None:
    assert is_foreign(action, *arguments)


def product(exact: bool = False, init: bool = False, bias: bool = False, scaled: bool = False) -> TileMatmul:
    return TileMatmul("pto.tmatmul", exact, init, bias, scaled)


LEFT, RIGHT, SUMS = tile(16, 32, "f16", boxes=True), tile(32, 48, "bf16", boxes=True), tile(16, 48, boxes=True)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("start", [None, "sums", "bias"])
def test_a_product_widens_multiplies_and_adds(exact: bool, start: str | None) -> None:
    bias = tile(1, 48)
    init = [] if start is None else [bias if start == "bias" else SUMS]
    left, right, last, *rest = told(product(exact, start is not None, start == "bias"), LEFT, RIGHT, SUMS, *init)
    assert left.inputs == [box(0, 0, 0, 16, 32, LEFT)] and right.inputs == [box(0, 0, 0, 32, 48, RIGHT)]
    assert [(between.rows, between.cols) for between in (left.target, right.target)] == [(16, 32), (32, 48)]
    target = box(0, 0, 0, 16, 48, SUMS)
    added = rest[0] if rest else last
    assert last.style is Style.ONE and last.inputs[:2] == [left.target, right.target] and added.target == target
    if start is None:
        assert last.inputs[2:] == rest == []
        return
    assert len(rest) == (not exact)
    *sums, first = added.inputs
    assert sums == ([left.target, right.target] if exact else [last.target])
    if start == "bias":
        assert place(first) == (at(UB, 0), (1, 48), np.float32)
    else:
        assert first == target


@pytest.mark.parametrize(
    ("action", "arguments"),
    [
        (product(scaled=True), (LEFT, RIGHT, SUMS)), (product(), (LEFT, RIGHT, SUMS, None, tile())),
        (product(), (LEFT, RIGHT, SUMS, None, None, tile())), (product(), (value(16, 32, "f16"), RIGHT, SUMS)),
        (product(), (LEFT, value(32, 48, "bf16"), SUMS)), (product(), (LEFT, RIGHT, value(16, 48))),
        (product(init=True), (LEFT, RIGHT, SUMS, value(16, 48))),
        (product(), (LEFT, RIGHT, tile(16, 48, "f16"))), (product(), (LEFT, RIGHT, tile(16, 48, "i32"))),
        (product(), (tile(16, 32, "i8"), RIGHT, SUMS)), (product(), (LEFT, tile(32, 48, "f8E5M2"), SUMS)),
        (product(), (LEFT, tile(32, 48, "f16", (31, 48)), SUMS)),
        (product(), (LEFT, RIGHT, tile(16, 48, valid=(15, 48)))),
        (product(), (LEFT, RIGHT, tile(16, 48, valid=(16, 47)))), (product(), (LEFT.with_valid(0, 32), RIGHT, SUMS)),
        (product(), (LEFT, RIGHT.with_valid(32, 0), SUMS)),
        (product(), (LEFT.with_valid(16, 0), RIGHT.with_valid(0, 48), SUMS)),
    ],
)  # fmt: skip
def test_other_products_are_not_known(action: Any, arguments: Any) -> None:
    assert is_foreign(action, *arguments)


# ------------------------------------------------------------ queues


def end(cube: bool, index: int = 0, everyone: bool = False) -> FifoEnd:
    """An end of a queue of four slots of 1 KiB in global memory, in both directions."""
    core: Any = SimpleNamespace(
        cube=cube,
        vector=not cube,
        index=index,
        flags={},
        block=SimpleNamespace(vector_cores=2),
        pointer_of=lambda gm: gm,
    )
    facts: Any = SimpleNamespace(label="q", key=("q", 0), mask=C2V | V2C, slots=4, slot_size=1024)
    return FifoEnd(core, facts, everyone, GM.pointer(0, np.uint8), {})


def push(direction: int, split: int = 0, as_it_is: bool = True) -> Push:
    transfer: Any = SimpleNamespace(direction=direction, split=split, facts=SimpleNamespace(slot_size=1024))
    outgoing: Any = SimpleNamespace(as_it_is=as_it_is, target=format_of("f32"))
    return Push(transfer, outgoing, None)


SECOND = 4 * 1024
"""Where the slots of the second direction begin."""


@pytest.mark.parametrize(
    ("action", "queue", "slot", "first"),
    [
        # The cube core sends the whole whatever the split; a vector core its rows, or its half of the columns.
        (push(C2V), end(True), 1024, 0), (push(C2V, 1), end(True), 1024, 0),
        (push(V2C, 1), end(False, 0), SECOND + 1024, 0), (push(V2C, 1), end(False, 1), SECOND + 1024, 8 * 16),
        (push(V2C, 2), end(False, 1), SECOND + 1024, 16), (Fetch(C2V, 1), end(False, 1), 1024, 8 * 16),
        (Fetch(C2V, 2), end(False, 1), 1024, 16), (Fetch(C2V, 0), end(False, 1, True), 1024, 0),
        (Fetch(V2C, 1), end(True), SECOND + 1024, 0),
    ],
)  # fmt: skip
def test_entries_in_global_memory_are_copies(action: Any, queue: FifoEnd, slot: int, first: int) -> None:
    part = tile(8, 16)
    (step,) = told(action, queue, 5, part, None)
    memory, moved = (step.target, step.inputs[0]) if isinstance(action, Push) else (step.inputs[0], step.target)
    assert step.style is Style.SAME and place(moved) == (at(UB, 0), (8, 16), np.float32)
    assert place(memory) == (at(GM, slot + 4 * first), (8, 16), np.float32)
    assert memory.strides == (4 * 16 * (2 if first == 16 else 1), 4)


@pytest.mark.parametrize(
    ("action", "arguments"),
    [
        (push(V2C, 1), (end(False), 5, tile(8, 16), 0)), (push(V2C, 1), (end(False), 5, value(8, 16))),
        (push(V2C, 1, as_it_is=False), (end(False), 5, tile(8, 16))), (Fetch(C2V, 1), (end(False), 5, tile(8, 16), 0)),
        (Fetch(C2V, 1), (end(False), 5, tile(8, 16), 1)), (Fetch(C2V, 1), (end(False), 5, value(8, 16))),
    ],
)  # fmt: skip
def test_entries_that_are_changed_are_not_known(action: Any, arguments: Any) -> None:
    assert is_foreign(action, *arguments)


@pytest.mark.parametrize("action", [push(V2C), Fetch(C2V, 0)])
def test_a_core_without_a_part_does_nothing(action: Any) -> None:
    assert told(action, end(False, 1), 5, tile(8, 16)) == []
    assert len(told(action, end(False, 0), 5, tile(8, 16))) == 1

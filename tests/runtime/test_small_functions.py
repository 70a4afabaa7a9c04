"""Functions of the run time on values worked out by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from groups import in_groups
from xdsl.dialects.builtin import MemRefType, ModuleOp, StridedLayoutAttr, f16, f32, i8

from pto_dialect.accel.replay.batch import Area, Layout, Operand
from pto_dialect.analysis.queues import C2V, V2C
from pto_dialect.runtime.compile.placement import memref_bytes
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.kernels.refusals import _wrapped
from pto_dialect.runtime.kernels.tile.formulas import shift_left, shift_right
from pto_dialect.runtime.kernels.tile.generate import RandomWords
from pto_dialect.runtime.memory.packed_element import _unit
from pto_dialect.runtime.memory.spaces import Arena
from pto_dialect.runtime.memory.values import FREED
from pto_dialect.runtime.numerics.formats import format_of
from pto_dialect.runtime.numerics.matmul import matmul_int
from pto_dialect.runtime.queues.fifo import FifoEnd
from pto_dialect.runtime.queues.run import OrderedCore
from pto_dialect.runtime.run import rank_processes
from pto_dialect.runtime.simt import integers
from pto_dialect.runtime.simt.addresses import _checked
from pto_dialect.runtime.vector.compute import _with_carry

F32 = np.dtype(np.float32)


@pytest.mark.parametrize(
    ("shape", "strides", "element", "expected"),
    [
        ((4, 8), None, f32, 128), ((), None, f32, 4), ((3,), None, i8, 3), ((0, 8), None, f32, 0),
        ((4, 8), (16, 1), f16, 2 * (3 * 16 + 8)), ((4, 8), (1, 4), f16, 64), ((1, 1), (99, 99), f32, 4),
    ],
)  # fmt: skip
def test_bytes_of_a_memref(shape: Any, strides: Any, element: Any, expected: int) -> None:
    layout = StridedLayoutAttr(strides) if strides else None
    type_: Any = MemRefType(element, shape, layout) if layout else MemRefType(element, shape)
    assert memref_bytes(type_, ModuleOp([])) == expected


@pytest.mark.parametrize("shape", [(-1,), (4, -1)])
def test_bytes_of_a_memref_that_only_a_run_knows(shape: Any) -> None:
    with pytest.raises(ProgramError, match="known at run time only"):
        memref_bytes(cast(Any, MemRefType(f32, shape)), ModuleOp([]))


@pytest.mark.parametrize(
    ("count", "storage"), [(1, "u1"), (2, "u2"), (3, "V3"), (4, "u4"), (5, "V5"), (8, "u8"), (16, "V16")]
)
def test_numbers_of_a_vector_as_one_unit(count: int, storage: str) -> None:
    found = _unit(format_of("i8"), count, "name")
    assert (found.storage, found.elements, found.name) == (np.dtype(storage), count, "name")


@pytest.mark.parametrize("signs", ["ii", "iu", "ui", "uu"])
@in_groups("k", [1, 256, 259, 500, 513, 700, 1024, 1025, 1100])
def test_products_of_bytes_are_exact(signs: str, k: int) -> None:
    rng = np.random.default_rng(k)
    types = [np.dtype(np.int8 if sign == "i" else np.uint8) for sign in signs]
    a, b = (
        rng.integers(np.iinfo(type_).max - 3, np.iinfo(type_).max + 1, shape).astype(type_)
        for type_, shape in zip(types, ((2, k), (k, 3)), strict=True)
    )
    exact = a.astype(object) @ b.astype(object)
    assert (matmul_int(a, b) == exact.astype(np.int64)).all()


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64])
def test_shifts(dtype: type) -> None:
    """Counts are taken modulo 32, 64 for numbers of 64 bits; from the width on nothing is left, or, to the right, only
    signs."""
    limits = np.iinfo(dtype)
    modulus = 64 if limits.bits == 64 else 32
    values = [limits.min, -1 if limits.min else 1, 0, 1, 77, limits.max]
    counts = [0, 1, limits.bits - 1, limits.bits % 128, 15, 16, 31, 33, 63]
    a, b = (np.array(part, dtype) for part in zip(*((x, n) for x in values for n in counts), strict=True))
    out = np.empty_like(a)
    shift_left(a, b, out)
    wrapped = [int(x) << (int(n) % modulus) for x, n in zip(a, b, strict=True)]
    assert out.tolist() == [int(np.array(x % 2**limits.bits, f"u{limits.bits // 8}").astype(dtype)) for x in wrapped]
    shift_right(a, b, out)
    assert out.tolist() == [int(x) >> (int(n) % modulus) for x, n in zip(a, b, strict=True)]


@pytest.mark.parametrize("active", [[1, 1, 1, 1], [1, 0, 1, 0], [0, 0, 0, 0]])
@pytest.mark.parametrize("negate", [False, True])
@pytest.mark.parametrize("carry", [None, [1, 0, 0, 1]])
def test_carries_of_lanes(active: list[int], negate: bool, carry: list[int] | None) -> None:
    """Lanes that are not active have neither a sum nor a carry."""
    size = 4
    active, carry = active * 16, carry and carry * 16
    a = np.array([0xFFFFFFFF, 0xFFFFFFFF, 7, 5] * 16, np.uint32)
    b = np.array([1, 0xFFFFFFFF, 7, 6] * 16, np.uint32)
    mask = np.repeat(np.array(active, np.bool_), size)
    given = None if carry is None else np.repeat(np.array(carry, np.bool_), size)
    total, out = _with_carry(a, b, mask, given, negate)
    for lane in range(64):
        extra = int(negate) if carry is None else carry[lane]
        other = int(b[lane]) ^ 0xFFFFFFFF if negate else int(b[lane])
        exact = (int(a[lane]) + other + extra) * active[lane]
        assert int(total[lane]) == exact & 0xFFFFFFFF
        assert bool(out.reshape(64, size)[lane, 0]) == bool(exact >> 32)


def test_locations_of_work_items() -> None:
    arena = Arena("ub", 64)
    items: Any = SimpleNamespace(name=lambda number: f"work-item {number}")
    for inside in ([], [0], [60], [0, 60, 32]):
        starts = np.array(inside, np.int64)
        assert _checked(items, arena, None, starts, 4) == (arena, None, starts)
    for outside, first, name in (([0, 61], 61, 1), ([-1], -1, 0), ([64, 0], 64, 0)):
        with pytest.raises(Fault) as caught:
            _checked(items, arena, None, np.array(outside, np.int64), 4)
        assert f"work-item {name} accesses bytes [{first}, {first + 4})" in str(caught.value)
    with pytest.raises(Fault, match="work-item 7 accesses"):
        _checked(items, arena, np.array([3, 7]), np.array([0, 99], np.int64), 4)


def joined(*parts: tuple[int, int, int, int]) -> tuple[Any, list[list[tuple[int, int]]]]:
    """Where values end up that are wanted one after the other; parts are (area, offset, elements, stride)."""
    areas = {number: Area(False, number) for number in range(9)}
    operands = [Operand(areas[area], offset, (count,), (step,), F32) for area, offset, count, step in parts]
    calls: list[list[tuple[int, int]]] = []
    batch: Any = SimpleNamespace(
        _places={}, _operand=lambda ref: operands[ref], _area=lambda size: areas[8],
        _call=lambda style, function, given: calls.append([(x.area.number, x.offset) for x in given]),
    )  # fmt: skip
    node: Any = SimpleNamespace(inputs=range(len(parts)), nbytes=0)
    Layout._join(batch, node)
    area, offset = batch._places[id(node)]
    return (area.number, offset), calls


def test_consecutive_values() -> None:
    """They stay where they lie, or are copied."""
    assert joined((1, 8, 2, 4), (1, 16, 3, 4)) == ((1, 8), [])
    assert joined((1, 8, 2, 4)) == ((1, 8), [])
    copied = [[(1, 8), (8, 0)], [(1, 20), (8, 8)]]
    assert joined((1, 8, 2, 4), (1, 20, 3, 4)) == ((8, 0), copied)
    assert joined((1, 8, 2, 4), (2, 16, 3, 4)) == ((8, 0), [[(1, 8), (8, 0)], [(2, 16), (8, 8)]])
    assert joined((1, 8, 2, 4), (1, 16, 3, 8)) == ((8, 0), [[(1, 8), (8, 0)], [(1, 16), (8, 8)]])
    assert joined((1, 8, 2, 8), (1, 16, 3, 4)) == ((8, 0), [[(1, 8), (8, 0)], [(1, 16), (8, 8)]])
    assert joined((1, 16, 2, 4), (1, 8, 2, 4)) == ((8, 0), [[(1, 16), (8, 0)], [(1, 8), (8, 8)]])


def test_ends_of_a_queue_wait_in_both_directions() -> None:
    """Each kind of wait, direction, side and split has tokens of its own, found once."""
    asked: list[tuple[int, bool, int]] = []
    waited: list[Any] = []

    def vectors(direction: int, producing: bool, split: int) -> tuple[int, ...]:
        asked.append((direction, producing, split))
        return (0, 1) if split else (0,)

    end: Any = SimpleNamespace(
        _waited={}, _vectors=vectors, _token=lambda kind, direction, vector: (kind, direction, vector),
        core=SimpleNamespace(await_signals=lambda pipe, tokens: waited.append(tokens)),
    )  # fmt: skip
    for _ in range(2):
        for direction in (C2V, V2C):
            for kind, producing in (("slot", True), ("entry", False)):
                for split in (0, 1):
                    FifoEnd._wait(end, kind, direction, producing, split)
                    assert waited.pop() == ((kind, direction, 0), (kind, direction, 1))[: 1 + split]
    assert len(asked) == len(set(asked)) == 8


@pytest.mark.parametrize(("pipe", "waiting", "there", "taken"), [("PIPE_V", 0, True, True), ("PIPE_V", 0, False, False),
                         ("PIPE_V", 1, True, False), ("PIPE_S", 0, True, False)])  # fmt: skip
def test_a_token_that_is_there_is_taken_at_once(
    pipe: str, waiting: int, there: bool, taken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That counts as one more instruction."""
    seen: list[str] = []
    monkeypatch.setattr(OrderedCore.__mro__[1], "await_signals", lambda self, pipe, keys, line: seen.append("queued"))
    core: Any = OrderedCore.__new__(OrderedCore)
    core.issued, core.waiting = 5, waiting
    monkeypatch.setattr(OrderedCore, "_ready", lambda self, keys: there)
    monkeypatch.setattr(OrderedCore, "_take", lambda self, keys: seen.append("taken"))
    core.await_signals(pipe, (("a", "b", 0),))
    assert (seen, core.issued) == ((["taken"], 6) if taken else (["queued"], 5))


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint32])
def test_operations_on_unsigned_bits_keep_the_type(dtype: type) -> None:
    values = np.array([-1, 1, 3] if np.iinfo(dtype).min else [7, 1, 3]).astype(dtype)
    found = integers._of_unsigned(np.maximum)(values, values[::-1].copy())
    assert found.dtype == dtype and found.tolist() == [values[0], 1, values[0]]


def test_lines_of_names_have_at_most_118_characters() -> None:
    for length in (1, 10, 56, 57, 58, 59, 115, 116):
        names = [f"{'n' * length}"] * 7
        lines = _wrapped(names).split("\n")
        room = max(1, (118 + 1) // (length + 3))
        assert [line.count("`") // 2 for line in lines] == [room] * (7 // room) + ([7 % room] if 7 % room else [])
        assert " ".join(lines) == " ".join(f"`{name}`" for name in names)


def test_ranks_whose_memory_cannot_be_shared_run_here(monkeypatch: pytest.MonkeyPatch) -> None:
    part: Any = SimpleNamespace(kernel=SimpleNamespace(program=SimpleNamespace(operations=[])))
    world: Any = SimpleNamespace(holds=lambda value: False, content=np.zeros(4))
    monkeypatch.setattr(rank_processes, "run_ranks", lambda parts, world: "here")
    monkeypatch.setattr(rank_processes, "can_fork", lambda: True)
    monkeypatch.setattr(rank_processes, "bound_values", lambda rank, part: [])
    monkeypatch.setattr(rank_processes, "hand_back", lambda values: None)
    for shared, expected in ((None, "here"), ([], [["apart"], ["apart"]])):
        monkeypatch.setattr(rank_processes, "share", lambda own, kept, shared=shared: shared)
        outcome = rank_processes.WorkerReport({0: ["apart"], 1: ["apart"]})
        apart: Any = SimpleNamespace(run=lambda outcome=outcome: [outcome])
        monkeypatch.setattr(rank_processes, "shared_copy", lambda content: content)
        monkeypatch.setattr(rank_processes, "WindowArena", lambda layout, windows: None)
        monkeypatch.setattr(rank_processes, "RankProcesses", lambda *rest, apart=apart: apart)
        world.layout = None
        assert rank_processes.run_ranks_apart([part, part], world, 2) == expected
        assert rank_processes.run_ranks_apart([part, part], world, 1) == "here"


def test_an_entry_that_was_freed_is_no_array() -> None:
    with pytest.raises(Fault, match="the popped entry was freed"):
        np.asarray(FREED)


@pytest.mark.parametrize(("rows", "cols"), [(0, 0), (0, 4), (4, 0)])
def test_random_queries_of_an_empty_region(rows: int, cols: int) -> None:
    """Nothing of the tile is looked at."""
    tile: Any = SimpleNamespace(valid_rows=rows, valid_cols=cols)
    RandomWords(10)(1, 2, 3, 4, 5, 6, tile)

"""Arenas, pointers and strided views: contents, bounds, alignment, faults."""

from __future__ import annotations

import pickle
import struct

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.spaces import (
    CORE_SPACES,
    HARD_ALIGNMENT,
    Arena,
    CoreMemory,
    Pointer,
    may_self_overlap,
    natural_alignment,
    strided_view,
)

A5_SIZES = {"ub": 262144, "l1": 524288, "l0a": 65536, "scale_left": 4096}


def test_fault_carries_rule_message_and_notes() -> None:
    fault = Fault("mem-oob", "too far", ("first", "second"))
    assert (fault.rule, fault.message, fault.notes) == ("mem-oob", "too far", ("first", "second"))
    assert str(fault) == "mem-oob: too far\n  note: first\n  note: second"
    copy = pickle.loads(pickle.dumps(fault))
    assert (copy.rule, copy.message, copy.notes) == (fault.rule, fault.message, fault.notes)


def test_fill_modes() -> None:
    assert not Arena("ub", 64).bytes.any()
    assert Arena("ub", 64, fill="poison").bytes.tolist() == [255] * 64
    random = Arena("ub", 64, fill="random").bytes
    assert random.tobytes() == Arena("ub", 64, fill="random").bytes.tobytes()
    assert random.tobytes() != Arena("ub", 64, name="other", fill="random").bytes.tobytes()
    assert len(set(random.tolist())) > 16
    with pytest.raises(ValueError, match="fill"):
        _ = Arena("ub", 4, fill="none").bytes  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "dtype",
    [
        np.float16,
        np.float32,
        np.float64,
        ml_dtypes.bfloat16,
        ml_dtypes.float8_e4m3fn,
        ml_dtypes.float8_e5m2,
        ml_dtypes.float8_e8m0fnu,
    ],
)
def test_poison_is_nan_in_every_float_format(dtype: type) -> None:
    poisoned = Arena("ub", 64, fill="poison").bytes.view(dtype).astype(np.float64)
    assert np.isnan(poisoned).all()


def test_bytes_are_created_once_and_on_demand() -> None:
    arena = Arena("l1", 524288)
    assert arena._bytes is None
    first = arena.bytes
    first[5] = 7
    assert arena.bytes is first and arena.bytes[5] == 7 and first.flags.writeable


def test_from_array_shares_memory() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    arena = Arena.from_array(array, name="x")
    strided_view(arena.pointer(4, np.float32), (1,), (4,))[0] = 9
    assert array[0, 1] == 9 and arena.capacity == 24
    with pytest.raises(ValueError, match="contiguous"):
        Arena.from_array(array.T)
    array.flags.writeable = False
    with pytest.raises(ValueError, match="writable"):
        Arena.from_array(array)


def test_pointer_arithmetic_counts_elements_in_bytes() -> None:
    arena = Arena("gm", 64)
    pointer = arena.pointer(8, np.float16)
    assert pointer.advance(3) == arena.pointer(14, np.float16)
    assert pointer.advance(-5).offset == -2
    assert pointer.shifted(3).offset == 11
    assert pointer.with_dtype(np.int32) == arena.pointer(8, np.int32)
    assert arena.pointer(0, np.uint8, item_bytes=1).advance(7).offset == 7
    slot = Pointer(arena, 0, np.dtype(np.float16), 4)
    assert slot.advance(3).offset == 12 and slot.advance(3).item_bytes == 4
    assert pointer != arena.pointer(8, np.float32) and pointer != Arena("gm", 64).pointer(8, np.float16)
    assert hash(pointer) == hash(arena.pointer(8, np.float16))


def test_check_names_memory_range_and_capacity() -> None:
    arena = Arena("ub", 256, name="aiv1.ub")
    arena.pointer(0, np.uint8).check(256, "load")
    with pytest.raises(Fault) as caught:
        arena.pointer(200, np.uint8).check(57, "load")
    assert caught.value.rule == "mem-oob"
    assert caught.value.message == "load: bytes [200, 257) are outside ub 'aiv1.ub', which has 256 bytes"
    with pytest.raises(Fault, match=r"\[-1, 3\)"):
        arena.pointer(-1, np.uint8).check(4, "load")


def test_check_aligned() -> None:
    arena = Arena("ub", 256)
    arena.pointer(64, np.uint8).check_aligned(32, "base")
    with pytest.raises(Fault) as caught:
        arena.pointer(48, np.uint8).check_aligned(32, "base")
    assert caught.value.rule == "mem-align" and "48" in caught.value.message


@pytest.mark.parametrize(
    ("offset", "shape", "strides"),
    [
        (-4, (1,), (4,)),
        (61, (1,), (4,)),
        (60, (2,), (4,)),
        (0, (2,), (-4,)),
        (0, (3, 2), (29, 4)),
        (0, (2,), (2**63 - 4,)),
        (0, (3,), (2**62,)),
        (2**70, (1,), (4,)),
        (0, (2, 2**62), (4, 4)),
        (0, (-1,), (4,)),
        (0, (0, -1), (4, 4)),
    ],
)
def test_strided_view_out_of_bounds(offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
    with pytest.raises(Fault) as caught:
        strided_view(Arena("ub", 64).pointer(offset, np.float32), shape, strides)
    assert caught.value.rule == "mem-oob"


def test_strided_view_of_an_absent_memory() -> None:
    pointer = Arena("scale_left", 0).pointer(0, np.float32)
    with pytest.raises(Fault):
        strided_view(pointer, (1,), (4,))
    assert strided_view(pointer, (0, 3), (4, 4)).shape == (0, 3)


def test_strided_view_may_end_at_the_last_byte_and_walk_backwards() -> None:
    arena = Arena("ub", 64)
    arena.bytes[:] = np.arange(64)
    view = strided_view(arena.pointer(60, np.uint32), (16,), (-4,))
    assert view[0] == int.from_bytes(bytes(range(60, 64)), "little")
    assert view[15] == int.from_bytes(bytes(range(4)), "little")


def test_strided_view_read_only() -> None:
    view = strided_view(Arena("ub", 64).pointer(0, np.uint8), (4,), (1,), writable=False)
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1


@pytest.mark.parametrize(("dtype", "code"), [(np.float16, "<e"), (np.float32, "<f"), (np.int64, "<q")])
@pytest.mark.parametrize("offset", [1, 2, 3, 5])
def test_unaligned_elements(dtype: type, code: str, offset: int) -> None:
    arena = Arena("gm", 256)
    size = struct.calcsize(code)
    values = [[1, -2, 3], [4, 5, -6]]
    view = strided_view(arena.pointer(offset, dtype), (2, 3), (37, size))
    view[...] = values
    for row in range(2):
        for col in range(3):
            raw = arena.bytes[offset + 37 * row + size * col :][:size].tobytes()
            assert struct.unpack(code, raw) == (values[row][col],)
    assert view.astype(np.float64).tolist() == values


def test_unaligned_bfloat16() -> None:
    arena = Arena("gm", 64)
    view = strided_view(arena.pointer(3, ml_dtypes.bfloat16), (4,), (5,))
    view[...] = np.array([1.5, -2.0, 0.0, 3.0], np.float32)
    for index, value in enumerate([1.5, -2.0, 0.0, 3.0]):
        raw = arena.bytes[3 + 5 * index :][:2].tobytes()
        assert struct.unpack("<f", b"\0\0" + raw) == (value,)


@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(-6, 6)), min_size=1, max_size=3),
    st.integers(1, 4),
)
def test_self_overlap_never_misses(dims: list[tuple[int, int]], item: int) -> None:
    starts = [0]
    for extent, stride in dims:
        starts = [start + index * stride for start in starts for index in range(extent)]
    touched = [start + byte for start in starts for byte in range(item)]
    shape, strides = zip(*dims, strict=True)
    if len(set(touched)) < len(touched):
        assert may_self_overlap(shape, strides, item)


def test_self_overlap_accepts_interleaved_loops() -> None:
    assert not may_self_overlap((4, 8), (32, 128), 32)
    assert not may_self_overlap((8, 4), (128, 32), 32)
    assert not may_self_overlap((1,), (0,), 32)
    assert may_self_overlap((2,), (31,), 32)
    assert may_self_overlap((5, 8), (32, 128), 32)


def test_core_memory_of_a_cube_core() -> None:
    core = CoreMemory("aic", A5_SIZES, fill="poison")
    assert {arena.space for arena in core} == {
        "l1", "l0a", "l0b", "l0c", "bt", "fb", "scale_left", "scale_right"
    }  # fmt: skip
    assert core["mat"] is core["l1"] and core["l1"].capacity == 524288
    assert core["left"].base_align == 512
    assert core["scale_right"].capacity == 0
    assert core["l1"].bytes[0] == 255
    assert "ub" not in core and "left" in core
    with pytest.raises(Fault) as caught:
        _ = core["vec"]
    assert caught.value.rule == "unmodelled"


def test_core_memory_of_a_vector_core() -> None:
    core = CoreMemory("aiv", A5_SIZES, name="aiv1")
    assert [arena.name for arena in core] == ["aiv1.ub"]
    assert core["vec"].capacity == 262144 and "l1" not in core


def test_alignments_are_those_of_the_memories_of_a_chip() -> None:
    expected = {"gm": 1, "ub": 32, "l1": 32, "l0a": 512, "l0b": 512, "l0c": 1024, "bt": 64, "fb": 64}
    assert {space: natural_alignment(space) for space in expected} == expected
    assert natural_alignment("scale_left") == natural_alignment("scale_right") == 16
    assert natural_alignment("anything else") == 1
    assert HARD_ALIGNMENT == 32


def test_each_core_has_its_memories() -> None:
    assert CORE_SPACES == {
        "aic": ("l1", "l0a", "l0b", "l0c", "bt", "fb", "scale_left", "scale_right"),
        "aiv": ("ub",),
    }

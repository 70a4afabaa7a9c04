"""How arrays and numbers become run-time values. Source: docs/reference/execution.md, "Launches"."""

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from groups import in_groups
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

import pto_dialect
from pto_dialect.ir.core import types as t
from pto_dialect.runtime.errors import BindingError
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.spaces import Pointer
from pto_dialect.runtime.memory.values import GmTensor, ValueTile
from pto_dialect.runtime.run import arguments
from pto_dialect.runtime.run.arguments import bind_argument
from pto_dialect.runtime.run.per_core import InParts
from pto_dialect.targets.choice import get_profile


def type_of(text: str) -> Attribute:
    """The type that ``text`` spells, read as that of an argument."""
    module = pto_dialect.parse(f"func.func @f(%x: {text}) {{\n  return\n}}\n")
    assert isinstance(module, ModuleOp)
    (function,) = module.body.block.ops
    return function.regions[0].block.args[0].type


def bound(text: str, value: Any) -> Any:
    return bind_argument("x", type_of(text), value)


@in_groups(("text", "value", "wanted"), [
        ("i32", 5, 5), ("i32", -(2**31), -(2**31)), ("i32", 2**32 - 1, -1), ("i32", 2**31, -(2**31)),
        ("ui8", 255, 255), ("ui8", -1, 255), ("i64", 2**64 - 1, -1), ("index", -3, -3),
        ("i1", True, True), ("i1", 0, False), ("i32", np.array([[7, 8]]), 7),
        ("f32", 1, 1.0), ("f32", 0.1, float(np.float32(0.1))), ("f16", 0.1, float(np.float16(0.1))),
        ("bf16", ml_dtypes.bfloat16(1.5), 1.5), ("f32", ml_dtypes.float8_e4m3fn(-0.25), -0.25),
        ("i32", ml_dtypes.int4(-3), -3), ("i1", np.True_, True), ("i32", np.array(ml_dtypes.uint4(9)), 9),
        ("f32", np.longdouble(0.5), 0.5),
        ("bf16", 1.01, 1.0078125), ("f64", 0.1, 0.1), ("f32", np.float64(0.1), float(np.float32(0.1))),
    ])  # fmt: skip
def test_numbers_take_the_form_generated_code_computes_with(text: str, value: Any, wanted: Any) -> None:
    found = bound(text, value)
    assert found == wanted
    assert type(found) is type(wanted)


def test_nan_and_infinity_stay() -> None:
    assert math.isnan(bound("f16", math.nan))
    assert bound("f16", -math.inf) == -math.inf


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("i32", 2**32), ("i32", -(2**31) - 1), ("i32", 1.5), ("i32", True), ("i32", np.True_),
        ("i32", ml_dtypes.bfloat16(1)), ("i8", "1"), ("f32", "1"), ("i32", np.zeros(0, np.int32)),
        ("!pto.ptr<f32>", 1.0), ("!pto.pipe", 1),
        ("!pto.ptr<i2>", np.zeros(1)), ("!pto.f4E2M1x2", 1.0),
    ],
)  # fmt: skip
def test_values_that_do_not_fit(text: str, value: Any) -> None:
    with pytest.raises(BindingError):
        bound(text, value)


def test_pointer_shares_the_array() -> None:
    array = np.arange(4, dtype=np.float32)
    pointer = bound("!pto.ptr<f32>", array)
    assert isinstance(pointer, Pointer)
    pointer.arena.bytes[:4] = 0xFF
    assert math.isnan(array[0])


def test_tile_is_the_array() -> None:
    array = np.arange(6, dtype=np.float16).reshape(2, 3)
    tile = bound("!pto.tile<2x3xf16>", array)
    assert isinstance(tile, ValueTile)
    assert (tile.read() == array).all()


@pytest.mark.parametrize(
    ("text", "shape", "strides", "offset"),
    [
        ("!pto.tensor_view<3x4xf32>", (3, 4), (4, 1), 0),
        ("!pto.tensor_view<?x4xf32>", (3, 4), (4, 1), 0),
        ("!pto.partition_tensor_view<2x3x2xf32>", (2, 3, 2), (6, 2, 1), 0),
        ("memref<3x4xf32>", (3, 4), (4, 1), 0),
        ("memref<?x?xf32>", (3, 4), (4, 1), 0),
        ("memref<2x3xf32, strided<[4, 1], offset: 2>>", (2, 3), (4, 1), 2),
        ("memref<3x2xf32, strided<[1, 5]>>", (3, 2), (1, 5), 0),
    ],
)
def test_views_of_whole_buffers(text: str, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> None:
    array = np.arange(12, dtype=np.float32).reshape(shape if math.prod(shape) == 12 else (12,))
    view = bound(text, array)
    assert isinstance(view, GmTensor)
    assert (view.shape, view.strides) == (shape, strides)
    assert view.pointer.offset == offset * 4


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("!pto.tensor_view<3x4xf32>", (11,)),
        ("!pto.tensor_view<?x4xf32>", (4, 3)),
        ("!pto.tensor_view<?x4xf32>", (12,)),
        ("!pto.tensor_view<?x4xf32>", (3, 4, 1)),
        ("memref<2x3xf32, strided<[4, 1], offset: 6>>", (12,)),
        ("memref<2x3xf32, strided<[?, 1]>>", (12,)),
        ("memref<2x3xf32, strided<[4, 1], offset: ?>>", (12,)),
        ("memref<3x2xf32, affine_map<(d0, d1) -> (d0 * 2 + d1 mod 2)>>", (6,)),
        ("!pto.tile<3x4xf32>", (4, 3)),
    ],
)
def test_buffers_that_do_not_fit(text: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(BindingError):
        bound(text, np.zeros(shape, np.float32))


def test_array_of_other_elements() -> None:
    for dtype in (np.float16, np.float64, np.int16):
        with pytest.raises(BindingError):
            bound("!pto.ptr<f32>", np.zeros(4, dtype))


@pytest.mark.parametrize("shape", [(0, 4), (4, 0)])
def test_a_buffer_without_elements_may_be_empty(shape: tuple[int, int]) -> None:
    view = bound(f"memref<{shape[0]}x{shape[1]}xf32, strided<[1, 100], offset: 500>>", np.zeros(0, np.float32))
    assert view.shape == shape


def test_an_array_without_elements_is_a_null_pointer() -> None:
    view = bound("memref<256xi64>", np.zeros(0, np.int64))
    assert view.shape == (256,)
    with pytest.raises(Fault, match="outside gm 'x', which has 0 bytes"):
        view.read()


@pytest.mark.parametrize(
    ("element", "dtype", "fits"),
    [
        # Bits of integers stand for anything of their size, floats for integers and for themselves.
        ("f16", np.int16, True), ("f16", np.uint16, True), ("i16", np.float16, True), ("ui16", np.int16, True),
        ("bf16", np.float16, False), ("f16", ml_dtypes.bfloat16, False), ("i16", ml_dtypes.bfloat16, True),
        ("f8E4M3FN", np.uint8, True), ("f8E4M3FN", ml_dtypes.float8_e5m2, False), ("i8", ml_dtypes.float8_e5m2, True),
        ("!pto.f8E8M0", ml_dtypes.float8_e8m0fnu, True), ("f8E4M3FN", ml_dtypes.float8_e8m0fnu, False),
        ("!pto.f8E8M0", ml_dtypes.float8_e4m3fn, False), ("!pto.hif8", ml_dtypes.float8_e4m3fn, False),
        ("i32", np.float16, False), ("f32", np.uint16, False),
    ],
)  # fmt: skip
def test_elements_whose_bits_may_stand_for_others(element: str, dtype: Any, fits: bool) -> None:
    array = np.arange(8).astype(dtype)
    if fits:
        pointer = bound(f"!pto.ptr<{element}>", array)
        assert pointer.arena.bytes.tobytes() == array.tobytes()
    else:
        with pytest.raises(BindingError, match="needs elements of"):
            bound(f"!pto.ptr<{element}>", array)


@pytest.mark.parametrize("space", ["ub", "l1"])
def test_only_global_memory_has_parts(space: str) -> None:
    for text in (f"!pto.ptr<f32, {space}>", "!pto.tensor_view<8xf32>", "memref<8xf32>"):
        with pytest.raises(BindingError, match="is no pointer to global memory, which has parts"):
            bound(text, InParts(np.zeros(8, np.float32)))
    assert bound("!pto.ptr<f32>", InParts(np.zeros(8, np.float32))).nbytes == 32


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("!pto.tile<16x64x!pto.f4E2M1x2>", (16, 64)), ("!pto.tile_buf<vec, 16x64x!pto.f4E2M1x2>", (16, 64)),
        ("!pto.tile_buf<mat, 16x64x!pto.f4E2M1x2, blayout=col_major, slayout=row_major>", (16, 32)),
        ("!pto.tile_buf<left, 16x64x!pto.f4E1M2x2, blayout=col_major, slayout=row_major>", (16, 32)),
        ("!pto.tile_buf<right, 64x16x!pto.f4E2M1x2, slayout=col_major>", (32, 16)),
        ("!pto.tile_buf<mat, 16x64xf8E4M3FN, blayout=col_major, slayout=row_major>", (16, 64)),
        ("!pto.tile_buf<left, 16x64xf16, blayout=col_major, slayout=row_major>", (16, 64)),
    ],
)  # fmt: skip
def test_matrix_operands_of_small_numbers_are_bytes_of_two(text: str, shape: tuple[int, int]) -> None:
    type_ = type_of(text)
    assert isinstance(type_, (t.TileType, t.TileBufType)) and arguments.host_shape(type_) == shape


def test_buffer_must_be_writable_in_place() -> None:
    frozen = np.zeros(4, np.float32)
    frozen.flags.writeable = False
    for array in (frozen, np.zeros(8, np.float32)[::2]):
        with pytest.raises(BindingError):
            bound("!pto.ptr<f32>", array)


def test_one_row_of_a_tile_may_be_a_list() -> None:
    array = np.arange(8, dtype=np.float32)
    for text in ("!pto.tile<1x8xf32>",):
        assert (bound(text, array).read() == array.reshape(1, 8)).all()
    for text in ("!pto.tile<2x4xf32>", "!pto.tile<8x1xf32>", "!pto.tile<1x9xf32>"):
        with pytest.raises(BindingError, match="found 1x8"):
            bound(text, array)


def test_lanes_of_a_vector() -> None:
    for text in ("!pto.vreg<64xf32>", "!pto.vmi.vreg<64xf32>"):
        assert bound(text, np.arange(64, dtype=np.float32)).tolist() == list(range(64))
        for count in (63, 65):
            with pytest.raises(BindingError):
                bound(text, np.zeros(count, np.float32))


def test_pairs_after_a_pointer() -> None:
    """Single numbers, as many as whole pairs have, one after the other."""
    pointer = bound("!pto.ptr<vector<2xf16>>", np.arange(8, dtype=np.float16))
    assert pointer.item_bytes == 4
    for array in (np.zeros(7, np.float16), np.zeros(16, np.float16)[::2]):
        with pytest.raises(BindingError, match="whole vector<2xf16>"):
            bound("!pto.ptr<vector<2xf16>>", array)


@pytest.mark.parametrize("space", ["", ", gm"])
def test_plain_arrays_are_global_memory_at_once(space: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most arguments of most launches: nothing is checked but their type and how they lie."""
    monkeypatch.setattr(arguments, "bind_argument", None)
    bind = arguments.binder("x", type_of(f"!pto.ptr<f32{space}>"), get_profile("a5"), lambda _: "otherwise")
    values = np.arange(6, dtype=np.float32)
    pointer = bind(values)
    assert isinstance(pointer, Pointer) and (pointer.arena.space, pointer.offset) == ("gm", 0)
    assert pointer.arena.bytes.nbytes == 24 and np.may_share_memory(pointer.arena.bytes, values)
    fixed = values.copy()
    fixed.flags.writeable = False
    for other in (values[::2], values.astype(np.float16), fixed, values.tolist()):
        assert bind(other) == "otherwise"
    local = arguments.binder("x", type_of("!pto.ptr<f32, ub>"), get_profile("a5"), lambda _: "otherwise")
    assert local(values) == "otherwise"

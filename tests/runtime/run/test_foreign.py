"""Arrays of other libraries: the same memory, element types that numpy does not have, read-only memory."""

from __future__ import annotations

import array
import ctypes
import gc

import ml_dtypes
import numpy as np
import pytest
from dlpack_export import Export
from parse_helpers import parsed

from pto_dialect.runtime import api
from pto_dialect.runtime.errors import BindingError
from pto_dialect.runtime.run.foreign import as_array
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.runtime.run.per_core import InParts
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions

# y[1] = x[0]
COPY = """
func.func @copy(%x: !pto.ptr<{0}>, %y: !pto.ptr<{0}>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = pto.load_scalar %x[%c0] : !pto.ptr<{0}> -> {0}
  pto.store_scalar %v, %y[%c1] : !pto.ptr<{0}>, {0}
  return
}}
"""


def copy(element: str) -> api.CompiledKernel:
    module, found = parsed(COPY.format(element))
    assert found == []
    return api.compile(module)


@pytest.mark.parametrize("version", [None, 1])
@pytest.mark.parametrize(
    ("code", "bits", "dtype"),
    [
        (0, 16, np.int16), (1, 8, np.uint8), (2, 32, np.float32), (2, 64, np.float64), (6, 8, np.bool_),
        (4, 16, ml_dtypes.bfloat16), (10, 8, ml_dtypes.float8_e4m3fn), (12, 8, ml_dtypes.float8_e5m2),
        (14, 8, ml_dtypes.float8_e8m0fnu),
    ],
)  # fmt: skip
def test_dlpack_shares_memory(code: int, bits: int, dtype: type, version: int | None) -> None:
    memory = np.ones((2, 3), dtype)
    found = as_array(Export(memory, code, bits, version=version))
    assert (found.dtype, found.shape) == (np.dtype(dtype), (2, 3))
    assert np.shares_memory(found, memory)
    assert found.tobytes() == memory.tobytes()
    assert found.flags.writeable


def test_dlpack_has_strides_offsets_and_no_elements() -> None:
    memory = np.arange(12, dtype=np.int32)
    found = as_array(Export(memory, 0, 32, shape=(2, 3), strides=(1, 2), offset=8))
    assert found.tolist() == [[2, 4, 6], [3, 5, 7]]
    assert as_array(Export(memory, 0, 32, shape=(0, 3))).shape == (0, 3)
    pairs = as_array(Export(np.array([0x21, 0x43], np.uint8), 17, 4, lanes=2))
    assert (pairs.dtype, pairs.tolist()) == (np.dtype(np.uint8), [0x21, 0x43])


def test_memory_lives_as_long_as_the_array() -> None:
    export = Export(np.zeros(4, np.float32), 2, 32)
    found = as_array(export)
    part = found[1:]
    del found
    gc.collect()
    assert not export.freed
    del part
    gc.collect()
    assert export.freed


def test_dlpack_that_is_read_only() -> None:
    assert not as_array(Export(np.zeros(4, np.float32), 2, 32, read_only=True)).flags.writeable


@pytest.mark.parametrize(
    ("export", "message"),
    [
        (Export(np.zeros(1, np.float32), 2, 32, device=2), "an array of Export lies on a device"),
        (Export(np.zeros(1, np.float32), 2, 32, version=9), "Export exports version 9 of DLPack, 1 is known"),
        (Export(np.zeros(1, np.float32), 3, 24), "DLPack code 3, 24 bits, 1 lanes"),
        (Export(np.zeros(1, np.uint8), 99, 8, lanes=2), "DLPack code 99, 8 bits, 2 lanes"),
    ],
)
def test_dlpack_that_cannot_be_used(export: Export, message: str) -> None:
    with pytest.raises(BindingError, match=message):
        as_array(export)


def test_kernels_take_what_exports() -> None:
    x = np.array([1.5, 2], ml_dtypes.bfloat16)
    y = np.zeros(2, ml_dtypes.bfloat16)
    copy("bf16")(Export(x, 4, 16, read_only=True), Export(y, 4, 16))
    assert y.astype(np.float32).tolist() == [0, 1.5]
    floats = array.array("f", [2.5, 0])
    copy("f32")(floats, floats)
    assert list(floats) == [2.5, 2.5]
    raw = bytearray(8)
    copy("f32")(np.array([3, 0], np.float32).tobytes(), raw)
    assert np.frombuffer(raw, np.float32).tolist() == [0, 3]
    numbers = (ctypes.c_int32 * 2)(7, 0)
    copy("i32")(numbers, numbers)
    assert list(numbers) == [7, 7]


def test_results_are_in_what_was_given() -> None:
    module, _ = parsed(COPY.format("f32"))
    x, memory = np.ones(2, np.float32), np.zeros(2, np.float32)
    y = Export(memory, 2, 32)
    found = api.run(module, {"x": x, "y": y})
    assert found["x"] is x
    assert found["y"] is y
    assert memory.tolist() == [0, 1]


def test_read_only_memory_is_read() -> None:
    x, y = np.ones((2, 2), np.float32), np.zeros((2, 2), np.float32)
    x.flags.writeable = False
    run = copy("f32")
    run(x, y)
    assert y.tolist() == [[0, 1], [0, 0]]
    run(InParts(x), InParts(y), blocks=2, jobs=2)
    assert y.tolist() == [[0, 1], [0, 1]]
    with pytest.raises(BindingError, match="argument y is read-only, and @copy may write it; give it a copy"):
        run(y, x)
    with pytest.raises(BindingError, match="argument y is read-only"):
        run(y, bytes(16))


def test_instrumented_runs_read_read_only_memory() -> None:
    module, _ = parsed(COPY.format("f32"))
    x, y = np.ones(2, np.float32), np.zeros(2, np.float32)
    x.flags.writeable = False
    kernel = InstrumentedKernel(module, None, None, RunOptions(), SanitizeOptions())
    kernel.run([x, y])
    assert y.tolist() == [0, 1]
    assert kernel.observer.findings.all == []


def test_what_does_not_fit() -> None:
    y = np.zeros(2, np.float32)
    for value in ([1.0, 2.0], None, object()):
        with pytest.raises(BindingError, match=r"argument x \(.*\) needs an array"):
            copy("f32")(value, y)
    with pytest.raises(BindingError, match="argument x needs whole elements of f32, found 7 bytes"):
        copy("f32")(bytes(7), y)
    with pytest.raises(BindingError, match="argument x needs elements of f32, found an array of float64"):
        copy("f32")(array.array("d", [1]), y)
    with pytest.raises(BindingError, match="argument x needs elements of f8E4M3FN, found an array of float8_e5m2"):
        copy("f8E4M3FN")(np.zeros(2, ml_dtypes.float8_e5m2), np.zeros(2, ml_dtypes.float8_e4m3fn))
    with pytest.raises(BindingError, match="argument x needs elements of f8E5M2, found an array of float8_e4m3fn"):
        copy("f8E5M2")(np.zeros(2, ml_dtypes.float8_e4m3fn), np.zeros(2, ml_dtypes.float8_e5m2))


def test_tensors_of_pytorch() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    for dtype, element in ((torch.bfloat16, "bf16"), (torch.float8_e4m3fn, "f8E4M3FN"), (torch.float32, "f32")):
        x = torch.tensor([1.5, 0.0]).to(dtype).requires_grad_(dtype is torch.float32)
        y = torch.zeros(2).to(dtype)
        copy(element)(x, y)
        assert y.to(torch.float32).tolist() == [0, 1.5]

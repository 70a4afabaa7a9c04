"""Arrays of other libraries as numpy arrays over the same memory: DLPack, the buffer protocol, tensors of PyTorch.

Element types that numpy does not have (bf16, 8-bit floats) become those of ``ml_dtypes``. Memory that its owner calls
read-only stays so. Source: docs/reference/execution.md, "Launches".
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from ..errors import BindingError
from ..memory.spaces import Array, DType

_HOST = (1, 3)
"""Kinds of devices whose memory this process reads: the CPU, and host memory that is shared with a GPU."""

_READ_ONLY = 1
_NEWEST = (1, 0)
"""Requested version of DLPack: the first with a flag for read-only memory."""

_NUMPY_KINDS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}
_SMALL_FLOATS = {
    4: ml_dtypes.bfloat16,
    7: ml_dtypes.float8_e3m4,
    8: ml_dtypes.float8_e4m3,
    9: ml_dtypes.float8_e4m3b11fnuz,
    10: ml_dtypes.float8_e4m3fn,
    11: ml_dtypes.float8_e4m3fnuz,
    12: ml_dtypes.float8_e5m2,
    13: ml_dtypes.float8_e5m2fnuz,
    14: ml_dtypes.float8_e8m0fnu,
}
"""Element types by the codes of DLPack."""

_TORCH_FLOATS = {
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
    "float8_e8m0fnu": ml_dtypes.float8_e8m0fnu,
}
"""Types of tensors whose bits must be taken, because older versions do not export them."""


class _Tensor(ctypes.Structure):
    """``DLTensor``."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Versioned(ctypes.Structure):
    """``DLManagedTensorVersioned``."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_valid = ctypes.pythonapi.PyCapsule_IsValid
_valid.argtypes, _valid.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_int
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.argtypes, _pointer.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_void_p


def as_array(value: Any) -> Any:
    """Returns ``value`` as a numpy array over the same memory, if it is an array of another library; otherwise
    ``value`` itself.

    Raises ``BindingError`` for memory of another device, and for element types that no array here has.
    """
    if isinstance(value, (np.ndarray, np.generic, int, float, str)):
        return value
    if type(value).__module__.partition(".")[0] == "torch":
        return _of_torch(value)
    if hasattr(value, "__dlpack__"):
        return _of_dlpack(value)
    if hasattr(value, "__array_interface__"):
        return np.asarray(value)
    try:
        return np.asarray(memoryview(value))
    except (TypeError, ValueError):
        return value


def _of_torch(value: Any) -> Any:
    """Returns a tensor; one that belongs to a graph of gradients is detached, its memory stays."""
    if not hasattr(value, "data_ptr"):
        return value
    plain = value.detach()
    small = _TORCH_FLOATS.get(str(plain.dtype).removeprefix("torch."))
    if small is None or plain.device.type != "cpu":
        return _of_dlpack(plain)
    import torch  # deferred: optional  # pyright: ignore[reportMissingImports]

    bits = plain.view(torch.uint8 if plain.element_size() == 1 else torch.int16)
    return _of_dlpack(bits).view(small)


class _Facts(NamedTuple):
    shape: Sequence[int]
    strides: Sequence[int]
    dtype: DType


def _of_dlpack(value: Any) -> Array:
    kind = int(value.__dlpack_device__()[0]) if hasattr(value, "__dlpack_device__") else _HOST[0]
    if kind not in _HOST:
        raise BindingError(f"an array of {type(value).__name__} lies on a device; move it to the host's memory first")
    try:
        capsule = value.__dlpack__(max_version=_NEWEST)
    except TypeError:
        capsule = value.__dlpack__()
    read_only = False
    if _valid(capsule, b"dltensor_versioned"):
        managed = ctypes.cast(_pointer(capsule, b"dltensor_versioned"), ctypes.POINTER(_Versioned)).contents
        if managed.major > _NEWEST[0]:
            raise BindingError(
                f"{type(value).__name__} exports version {managed.major} of DLPack, {_NEWEST[0]} is known"
            )
        tensor, read_only = managed.tensor, bool(managed.flags & _READ_ONLY)
    elif _valid(capsule, b"dltensor"):
        tensor = ctypes.cast(_pointer(capsule, b"dltensor"), ctypes.POINTER(_Tensor)).contents
    else:
        raise BindingError(f"{type(value).__name__} exports no tensor by DLPack")
    array = _over(tensor, _facts(tensor, type(value).__name__), capsule)
    if read_only:
        array.flags.writeable = False
    return array


def _facts(tensor: _Tensor, name: str) -> _Facts:
    code, bits, lanes = tensor.code, tensor.bits, tensor.lanes
    if code in _NUMPY_KINDS and bits % 8 == 0 and lanes == 1:
        dtype = np.dtype(np.bool_ if code == 6 else f"{_NUMPY_KINDS[code]}{bits // 8}")
    elif code in _SMALL_FLOATS and lanes == 1:
        dtype = np.dtype(_SMALL_FLOATS[code])
    elif bits * lanes == 8:
        # Packed pairs of 4-bit numbers.
        dtype = np.dtype(np.uint8)
    else:
        raise BindingError(f"elements of {name} (DLPack code {code}, {bits} bits, {lanes} lanes) are not known")
    shape = [tensor.shape[axis] for axis in range(tensor.ndim)]
    if tensor.strides:
        strides = [tensor.strides[axis] for axis in range(tensor.ndim)]
    else:
        strides = [math.prod(shape[axis + 1 :]) for axis in range(tensor.ndim)]
    return _Facts(shape, [stride * dtype.itemsize for stride in strides], dtype)


def _over(tensor: _Tensor, facts: _Facts, capsule: Any) -> Array:
    """Returns an array over the memory of ``tensor``, which owns ``capsule`` and thereby the memory."""
    shape, strides, dtype = facts
    if 0 in shape:
        return np.empty(shape, dtype)
    steps = [(extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)]
    low, high = sum(min(step, 0) for step in steps), sum(max(step, 0) for step in steps) + dtype.itemsize
    memory = (ctypes.c_uint8 * (high - low)).from_address(tensor.data + tensor.byte_offset + low)
    memory.owner = capsule  # pyright: ignore[reportAttributeAccessIssue]
    return np.ndarray(shape, dtype, memory, -low, strides)  # pyright: ignore[reportArgumentType]

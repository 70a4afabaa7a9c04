"""The types of PyPTO's run time: what its callers make, hand over and get back.

Names and values are those of the package `simpler` that PyPTO imports. See docs/pypto.md.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from math import prod
from types import SimpleNamespace
from typing import Any, NamedTuple

from .objects import unpacked


class DataType(Enum):
    """Element types of tensors."""

    FLOAT32 = 0
    FLOAT16 = 1
    INT32 = 2
    INT16 = 3
    INT8 = 4
    UINT8 = 5
    BFLOAT16 = 6
    INT64 = 7
    UINT64 = 8
    UINT16 = 9
    UINT32 = 10
    BOOL = 11
    FP8E4M3FN = 12
    FP8E8M0 = 13
    FP4E2M1 = 14


SIZES = (4, 2, 4, 2, 1, 1, 2, 8, 8, 2, 4, 1, 1, 1, 1)
"""Bytes of the elements of each type."""

TORCH_TYPES = {
    "float32": DataType.FLOAT32,
    "float16": DataType.FLOAT16,
    "int32": DataType.INT32,
    "int16": DataType.INT16,
    "int8": DataType.INT8,
    "uint8": DataType.UINT8,
    "bfloat16": DataType.BFLOAT16,
    "int64": DataType.INT64,
    "uint16": DataType.UINT16,
    "uint32": DataType.UINT32,
    "uint64": DataType.UINT64,
    "bool": DataType.BOOL,
    "float8_e4m3fn": DataType.FP8E4M3FN,
    "float8_e8m0fnu": DataType.FP8E8M0,
    "float4_e2m1fn_x2": DataType.FP4E2M1,
}


class ArgDirection(Enum):
    """What a task does with a tensor."""

    IN = 0
    OUT = 1
    INOUT = 2
    SCALAR = 3


class TensorArgType(Enum):
    """What a task of a host orchestration does with a tensor."""

    INPUT = 0
    OUTPUT = 1
    INOUT = 2
    OUTPUT_EXISTING = 3
    NO_DEP = 4


@dataclass(frozen=True)
class CommBufferSpec:
    """A buffer in the window of each chip of a communication domain."""

    name: str
    dtype: str = "opaque"
    count: int = 0
    nbytes: int = 0


def torch_dtype_to_datatype(dtype: Any) -> DataType:
    """Returns the element type for one of PyTorch. Raises ``KeyError``."""
    return TORCH_TYPES[str(dtype).removeprefix("torch.")]


@dataclass(frozen=True)
class Tensor:
    """A contiguous tensor in memory of this process; ``keep`` is what owns the memory."""

    address: int
    shapes: tuple[int, ...]
    dtype: DataType
    keep: Any = field(default=None, compare=False, repr=False)

    @classmethod
    def make(cls, data: int, shapes: Sequence[int], dtype: DataType, child_memory: bool = False) -> Tensor:
        """Returns a tensor at address ``data``."""
        return cls(int(data), tuple(int(extent) for extent in shapes), DataType(dtype))

    @property
    def nbytes(self) -> int:
        """Size of the memory."""
        return prod(self.shapes) * SIZES[self.dtype.value]


def make_chip_tensor_arg(tensor: Any) -> Tensor:
    """Returns a tensor of PyTorch as an argument. Raises ``ValueError`` for one that is no contiguous tensor of the
    host."""
    try:
        dtype = torch_dtype_to_datatype(tensor.dtype)
    except KeyError:
        raise ValueError(f"Unsupported tensor dtype: {tensor.dtype}") from None
    if tensor.device.type != "cpu":
        raise ValueError(f"a tensor of the host is needed, found one on {tensor.device}")
    if not tensor.is_contiguous():
        raise ValueError("a contiguous tensor is needed; call tensor.contiguous() first")
    return Tensor(tensor.data_ptr(), tuple(int(extent) for extent in tensor.shape), dtype, tensor)


class TaskArgs:
    """Arguments of an orchestration: tensors, then numbers as 64 bits."""

    def __init__(self) -> None:
        self.tensors: list[Tensor] = []
        self.tags: list[TensorArgType] = []
        self.scalars: list[int] = []

    def add_tensor(self, tensor: Tensor, tag: Any = TensorArgType.INOUT, *_: Any) -> None:
        """Appends a tensor; ``tag`` states what the task does with it."""
        self.tensors.append(tensor)
        self.tags.append(tag)

    def add_scalar(self, value: int) -> None:
        """Appends a number."""
        self.scalars.append(int(value) & (1 << 64) - 1)

    def tensor_count(self) -> int:
        """Returns how many tensors there are."""
        return len(self.tensors)

    def scalar_count(self) -> int:
        """Returns how many numbers there are."""
        return len(self.scalars)


def scalar_to_uint64(value: Any) -> int:
    """Returns the bits of a number of `ctypes`, or of an integer or float of Python, in 64."""
    if isinstance(value, float):
        value = ctypes.c_float(value)
    if isinstance(value, ctypes._SimpleCData):
        return int.from_bytes(bytes(value), "little")
    return int(value) & (1 << 64) - 1


class CoreCallable(NamedTuple):
    """A kernel: the C++ text of its wrapper."""

    signature: tuple[Any, ...]
    text: str

    @classmethod
    def build(cls, signature: Sequence[Any] = (), binary: bytes = b"", **_: Any) -> CoreCallable:
        """Returns a kernel from its object file."""
        return cls(tuple(signature), unpacked(binary))


@dataclass(eq=False)
class ChipCallable:
    """An orchestration with its kernels, by their numbers."""

    signature: tuple[Any, ...]
    func_name: str
    text: str
    children: dict[int, CoreCallable]

    @classmethod
    def build(
        cls,
        signature: Sequence[Any] = (),
        func_name: str = "",
        binary: bytes = b"",
        children: Sequence[tuple[int, CoreCallable]] = (),
        **_: Any,
    ) -> ChipCallable:
        """Returns an orchestration from its object file."""
        return cls(tuple(signature), func_name, unpacked(binary), dict(children))


class CallConfig(SimpleNamespace):
    """How a call is carried out; measurements of boards, which are taken note of and not made."""

    def __init__(self, **given: Any) -> None:
        super().__init__(
            aicpu_thread_num=0,
            enable_chip_swimlane=0,
            enable_dump_args=0,
            enable_pmu=0,
            enable_dep_gen=False,
            enable_scope_stats=False,
            output_prefix="",
            runtime_env=SimpleNamespace(ring_task_window=0, ring_heap=0, ring_dep_pool=0),
        )
        self.__dict__.update(given)

    def validate(self) -> None:
        """Accepts everything."""

"""A small exporter of memory by DLPack, for tests: any element type, strides, marks and devices."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

_new = ctypes.pythonapi.PyCapsule_New
_new.argtypes, _new.restype = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p), ctypes.py_object
Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


_EXPORTS: list[Export] = []
"""Callbacks of capsules have to stay for as long as these live."""


class Tensor(ctypes.Structure):
    """The header that consumers read."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class Plain(ctypes.Structure):
    """Version 0."""

    _fields_ = (("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", Deleter))


class Versioned(ctypes.Structure):
    """Version 1 and later."""

    _fields_ = (
        ("version", ctypes.c_uint32 * 2),
        ("context", ctypes.c_void_p),
        ("deleter", Deleter),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    )


class Export:
    """``memory`` as elements of a DLPack type; ``strides`` count elements. ``freed`` states that a capsule has
    ended."""

    def __init__(
        self,
        memory: np.ndarray,
        code: int,
        bits: int,
        *,
        shape: tuple[int, ...] | None = None,
        strides: tuple[int, ...] | None = None,
        offset: int = 0,
        lanes: int = 1,
        version: int | None = 1,
        read_only: bool = False,
        device: int = 1,
    ) -> None:
        self.memory, self.version, self.read_only, self.device, self.freed = memory, version, read_only, device, False
        self.shape = memory.shape if shape is None else shape
        self._shape = (ctypes.c_int64 * len(self.shape))(*self.shape)
        self._strides = None if strides is None else (ctypes.c_int64 * len(strides))(*strides)
        steps = ctypes.cast(self._strides, ctypes.POINTER(ctypes.c_int64)) if self._strides is not None else None
        address = memory.__array_interface__["data"][0]
        self._tensor = Tensor(
            address, (ctypes.c_int32 * 2)(device, 0), len(self.shape), code, bits, lanes, self._shape, steps, offset
        )
        _EXPORTS.append(self)
        self._deleter = Deleter(lambda _: None)
        self._destructor = Deleter(self._destroyed)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0

    def __dlpack__(self, **options: Any) -> Any:
        if self.version is None:
            if options:
                raise TypeError("no options")
            self._managed: Any = Plain(self._tensor, None, self._deleter)
            name = b"dltensor"
        else:
            flags = int(self.read_only)
            self._managed = Versioned((ctypes.c_uint32 * 2)(self.version, 0), None, self._deleter, flags, self._tensor)
            name = b"dltensor_versioned"
        self._name = name
        return _new(ctypes.addressof(self._managed), name, ctypes.cast(self._destructor, ctypes.c_void_p))

    def _destroyed(self, capsule: int) -> None:
        self.freed = True

"""Buffers that are known by their address."""

import numpy as np
import pytest

from pto_dialect.integrations.memory import AddressSpace, as_array
from pto_dialect.runtime.errors import BindingError
from pto_dialect.runtime.numerics.formats import format_of


def test_arrays_at_addresses() -> None:
    space = AddressSpace()
    data = np.arange(10, dtype=np.float32)
    space.register(data.ctypes.data, data.nbytes, data)
    found = space.array_at(data.ctypes.data + 16, format_of("f32"))
    assert found.tolist() == [4, 5, 6, 7, 8, 9]
    found[0] = 99
    assert data[4] == 99
    assert space.array_at(data.ctypes.data + 38, format_of("f16")).size == 1


def test_addresses_outside() -> None:
    space = AddressSpace()
    data = np.zeros(4, np.uint8)
    space.register(data.ctypes.data, data.nbytes)
    for address in (data.ctypes.data - 1, data.ctypes.data + 4):
        with pytest.raises(BindingError, match="is in no buffer"):
            space.buffer_at(address)
    space.release(data.ctypes.data)
    with pytest.raises(BindingError, match="is in no buffer"):
        space.buffer_at(data.ctypes.data)


def test_buffers_inside_others() -> None:
    space = AddressSpace()
    data = np.zeros(64, np.uint8)
    start = data.ctypes.data
    space.register(start, 64)
    space.register(start + 8, 4)
    space.register(start, 16)
    assert space.buffer_at(start + 10).content.size == 4
    assert space.buffer_at(start + 20).content.size == 64


def test_new_memory() -> None:
    space = AddressSpace()
    address = space.allocate(100)
    assert address % 64 == 0
    assert space.array_at(address, format_of("i32")).tolist() == [0] * 25
    space.register(0, 0)
    with pytest.raises(BindingError):
        space.buffer_at(0)


def test_buffers_of_python() -> None:
    memory = bytearray(b"\x01\x02")
    as_array(memory)[0] = 7
    assert memory == b"\x07\x02"
    assert as_array(3) == 3
    text = object()
    assert as_array(text) is text

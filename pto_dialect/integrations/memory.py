"""Memory of clients: arrays without copies, and buffers that are known by their address.

See docs/integrations.md.
"""

from __future__ import annotations

import ctypes
from bisect import bisect_right, insort
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from pto_dialect.runtime.errors import BindingError
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.numerics.formats import Format


def as_array(value: Any) -> Any:
    """Returns ``value`` as a numpy array over the same memory, if it is a tensor or a buffer; numbers stay numbers.

    Takes numpy arrays, CPU tensors of PyTorch (elements that numpy does not have become unsigned integers of their
    size), and objects with a buffer or ``__array_interface__``.
    """
    if isinstance(value, (np.ndarray, np.generic, int, float, bool)):
        return value
    if type(value).__module__.partition(".")[0] == "torch":
        return _of_torch(value)
    if hasattr(value, "__array_interface__") or isinstance(value, (bytearray, memoryview)):
        return np.asarray(value)
    return value


def _of_torch(tensor: Any) -> Any:
    if not hasattr(tensor, "data_ptr"):
        return tensor
    torch = import_module("torch")
    plain = tensor.detach()
    if plain.device.type != "cpu":
        raise BindingError(f"tensors have to be in the memory of the host, found one on {plain.device}")
    try:
        return plain.numpy()
    except TypeError:
        same_size = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[plain.element_size()]
        return plain.view(same_size).numpy().view(f"u{plain.element_size()}")


class Buffer(NamedTuple):
    """Memory of a client: its first address and its bytes; ``keep`` is what it belongs to."""

    address: int
    content: Array
    keep: Any = None


class AddressSpace:
    """The buffers of a client that names memory by addresses of this process."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._buffers: dict[int, Buffer] = {}

    def register(self, address: int, size: int, keep: Any = None) -> None:
        """Makes ``size`` bytes at ``address`` known; ``keep`` is an object that owns them."""
        if not size:
            return
        if self.knows(address, size):
            return
        content = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))
        if address not in self._buffers:
            insort(self._starts, address)
        self._buffers[address] = Buffer(address, content, keep)

    def allocate(self, size: int) -> int:
        """Returns the address of ``size`` new bytes, aligned to 64, which hold zeros."""
        memory = np.zeros(size + 64, np.uint8)
        address = -(-memory.ctypes.data // 64) * 64
        self.register(address, size, memory)
        return address

    def knows(self, address: int, size: int) -> bool:
        """Returns whether ``size`` bytes at ``address`` are registered, as one buffer that begins there."""
        known = self._buffers.get(address)
        return known is not None and known.content.size >= size

    def release(self, address: int) -> None:
        """Forgets the buffer at ``address``."""
        if self._buffers.pop(address, None) is not None:
            self._starts.remove(address)

    def buffer_at(self, address: int) -> Buffer:
        """Returns the buffer that ``address`` lies in. Raises ``BindingError``."""
        index = bisect_right(self._starts, address) - 1
        # Buffers may lie inside others, as views of tensors do: the one that ends last has all of it.
        for start in reversed(self._starts[max(index - 8, 0) : index + 1]):
            found = self._buffers[start]
            if address < start + found.content.size:
                return found
        raise BindingError(f"address {address:#x} is in no buffer of this launch")

    def array_at(self, address: int, elements: Format) -> Array:
        """Returns what lies from ``address`` to the end of its buffer; no element for a null pointer, which nothing may
        access.

        Raises ``BindingError``.
        """
        if address == 0:
            return np.empty(0, elements.storage)
        found = self.buffer_at(address)
        rest = found.content[address - found.address :]
        return rest[: rest.size // elements.bytes * elements.bytes].view(elements.storage)

"""What the pointers of a launch mean: memory of tensors and arrays, known by address."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from weakref import finalize

import numpy as np
from xdsl.ir import Attribute

from pto_dialect.integrations.memory import AddressSpace
from pto_dialect.runtime.errors import BindingError
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.numerics.formats import Format
from pto_dialect.runtime.run.arguments import argument_format

memory = AddressSpace()
"""The memory of this process that kernels may access."""


def note_tensor(tensor: Any) -> None:
    """Makes the memory of a tensor of PyTorch known for as long as it lives. Does nothing for other tensors."""
    if tensor.device.type != "cpu":
        return
    storage = tensor.untyped_storage()
    address, size = storage.data_ptr(), storage.nbytes()
    if size and not memory.knows(address, size):
        memory.register(address, size)
        # Its memory may belong to another tensor afterwards.
        finalize(storage, memory.release, address)


def pointer(array: Array) -> int:
    """Returns the address of a numpy array, as an argument of launches for as long as the array lives.

    Raises ``BindingError`` for an array that no kernel can write.
    """
    _require_plain(array)
    address = array.ctypes.data
    if array.nbytes and not memory.knows(address, array.nbytes):
        memory.register(address, array.nbytes)
        finalize(array, memory.release, address)
    return address


def _require_plain(array: Array, name: str | None = None) -> None:
    """Refuses an array whose memory a kernel cannot have; ``name`` is that of the argument, if it is one."""
    what = "the array" if name is None else f"argument {name}"
    if not array.flags.c_contiguous:
        raise BindingError(f"{what} is not contiguous: pass a copy of it, numpy.ascontiguousarray(..)")
    if not array.flags.writeable:
        raise BindingError(f"{what} is not writable: kernels get the memory of an array itself, pass a copy of it")


class Memory(NamedTuple):
    """A parameter that is memory, and its elements."""

    name: str
    elements: Format

    def require_elements(self, array: Array) -> None:
        """Refuses an array of floats of another size than those of the parameter; a kernel may take other bytes as
        elements of its own."""
        if array.dtype.kind == "f" and self.elements.is_float and array.itemsize != self.elements.bytes:
            needed = self.elements.name
            raise BindingError(f"argument {self.name} needs elements of {needed}, found an array of {array.dtype}")


@contextmanager
def addresses(args: Sequence[Any], pointers: Sequence[Memory | None]) -> Iterator[list[Any]]:
    """``args`` with addresses instead of arrays and tensors where ``pointers`` has a parameter, and with numbers of
    Python instead of those of numpy and ``ml_dtypes``; addresses are valid inside the ``with`` block."""
    made: list[Any] = []
    added: list[int] = []
    try:
        for position, value in enumerate(args):
            parameter = pointers[position] if position < len(pointers) else None
            if parameter is None:
                made.append(value.item() if isinstance(value, np.generic) else value)
            elif isinstance(value, np.ndarray):
                _require_plain(value, parameter.name)
                parameter.require_elements(value)
                address = value.ctypes.data
                if value.nbytes and not memory.knows(address, value.nbytes):
                    memory.register(address, value.nbytes, value)
                    added.append(address)
                made.append(ctypes.c_void_p(address))
            elif hasattr(value, "untyped_storage"):
                _require_host(value)
                note_tensor(value)
                made.append(ctypes.c_void_p(value.data_ptr()))
            else:
                made.append(value)
        yield made
    finally:
        for address in added:
            memory.release(address)


def _require_host(tensor: Any) -> None:
    if tensor.device.type != "cpu":
        raise BindingError(f"tensors have to be in the memory of the host, found one on {tensor.device}")


def value_of(name: str, type_: Attribute, given: Any) -> Any:
    """Returns the array or number that an argument of type ``type_`` gets for a marshalled value. Raises
    ``BindingError``."""
    plain = given.value if isinstance(given, ctypes._SimpleCData) else given
    elements = argument_format(type_)
    if elements is None:
        # Tensors and arrays with one element are numbers.
        return plain.item() if hasattr(plain, "item") else plain
    if not plain:
        # A null pointer: memory without a byte, which no kernel can access.
        return np.empty(0, elements.storage)
    try:
        return memory.array_at(int(plain), elements)
    except BindingError:
        raise BindingError(
            f"argument {name}: no tensor of this process has the address {int(plain):#x}; pass the tensor or array"
            " itself, or for an array the result of pto_dialect.integrations.builders.launch.pointers.pointer"
        ) from None

"""Arrays of instrumented memory: they behave like numpy arrays and report each access before it happens.

The memory itself is never exposed, so no read or write of a kernel is missed: indexing and reshaping yield further
windows, operations that need the elements take a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from pto_dialect.runtime.memory.cast import copy_boxes

from .regions import Bytes, Elements, Region

_FLAGS = SimpleNamespace(c_contiguous=False, f_contiguous=False, writeable=True)
"""No window is contiguous memory that could be filled without a report."""

_FILLING = (np.put, np.place, np.putmask, np.put_along_axis)
"""Functions that change their first argument."""

_BASIC = (int, np.integer, slice, type(None), type(Ellipsis))


class Accesses(Protocol):
    """The memory of a window, which reports its accesses."""

    def offset_of(self, data: np.ndarray[Any, Any]) -> int:
        """Returns the byte offset of ``data``."""
        ...

    def region(self, data: np.ndarray[Any, Any], offset: int | None = None) -> Region | None:
        """Returns the bytes of ``data``, ``None`` where it has none."""
        ...

    def on_read(self, region: Bytes, data: np.ndarray[Any, Any] | None = None) -> None:
        """Reports a read of the bytes of ``region`` before it happens."""
        ...

    def on_write(self, region: Bytes, data: np.ndarray[Any, Any] | None = None) -> None:
        """Reports a write of the bytes of ``region`` before it happens."""
        ...


class Window(NDArrayOperatorsMixin):
    """Part of an instrumented memory as an array; ``data`` is the memory, ``offset`` the byte of the first element
    where that is known."""

    __slots__ = ("_region", "arena", "data", "offset")

    # Kernels check whether an operand is an array; the result is yes.
    __class__ = property(lambda _: np.ndarray)  # pyright: ignore[reportIncompatibleMethodOverride]
    flags = _FLAGS

    def __init__(self, arena: Accesses, data: np.ndarray[Any, Any], offset: int | None = None) -> None:
        self.arena = arena
        self.data = data
        self.offset = offset
        self._region: Region | None = None
        """The bytes of all elements, computed on demand."""

    # ------------------------------------------------------------ accesses

    def note_read(self) -> None:
        """Reports that all elements are read."""
        region = self._region or self._bytes()
        if region is not None:
            self.arena.on_read(region, self.data)

    def note_write(self) -> None:
        """Reports that all elements are written."""
        region = self._region or self._bytes()
        if region is not None:
            self.arena.on_write(region, self.data)

    def _bytes(self) -> Region | None:
        region = self._region = self.arena.region(self.data, self.offset)
        return region

    def taken(self) -> np.ndarray[Any, Any]:
        """Returns the elements, read now, as an array of its own."""
        self.note_read()
        return self.data.copy()

    def _start_of(self, key: Any) -> int | None:
        """Returns the byte of the first element that a basic index selects, where that is cheap to compute."""
        offset = self.offset
        if offset is None:
            return None
        if type(key) is not tuple:
            key = (key,)
        for part, stride in zip(key, self.data.strides, strict=False):
            start = part.start if type(part) is slice and part.step is None else part
            if type(start) is int and start >= 0:
                offset += start * stride
            elif start is not None or part is None:
                return None
        return offset

    def _elements(self, key: Any) -> Elements:
        """Returns the elements that an index selects for which numpy makes a copy."""
        data = self.data
        starts: Any = self.arena.offset_of(data)
        for axis, (count, stride) in enumerate(zip(data.shape, data.strides, strict=True)):
            starts = starts + (np.arange(count) * stride).reshape(-1, *(1,) * (data.ndim - axis - 1))
        return Elements(np.atleast_1d(np.broadcast_to(starts, data.shape)[key]), data.itemsize)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        values = self.taken()
        return values if dtype is None else values.astype(dtype, copy=False)

    def __getitem__(self, key: Any) -> Any:
        if type(key) is slice and self.offset is not None:
            part, start = self.data[key], key.start
            if type(start) is not int or start < 0 or key.step is not None:
                start = key.indices(len(self.data))[0]
            return Window(self.arena, part, self.offset + start * self.data.strides[0])
        if _basic(key):
            part = self.data[key]
            if isinstance(part, np.ndarray):
                return Window(self.arena, part, self._start_of(key))
            self.arena.on_read(self._elements(key))
            return part
        plain = _plain_key(key)
        chosen = self._elements(plain)
        if chosen.starts.size:
            self.arena.on_read(chosen)
        return self.data[plain]

    def __setitem__(self, key: Any, value: Any) -> None:
        if type(value) is Window:
            # Memory that may overlap is read before anything is written.
            value = value.taken() if value.arena is self.arena else _note(value)
        if key is Ellipsis:
            self.note_write()
            self.data[...] = value
            return
        if _basic(key):
            part = self.data[key]
            if isinstance(part, np.ndarray):
                Window(self.arena, part, self._start_of(key)).note_write()
                part[...] = value
                return
        key = _plain_key(key)
        chosen = self._elements(key)
        if chosen.starts.size:
            self.arena.on_write(chosen)
            self.data[key] = value

    def fill(self, value: Any) -> None:
        """Stores one value everywhere."""
        self[...] = value

    def sort(self, *arguments: Any, **options: Any) -> None:
        """Sorts in place."""
        values = self.taken()
        values.sort(*arguments, **options)
        self[...] = values

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "__call__" and "where" not in options:
            return _called(ufunc, inputs, options)
        out = options.pop("out", ())
        where = True
        if "where" in options:
            where = options["where"] = _read(options["where"])
        if method == "at":
            target, indices, *values = inputs
            indices = _plain_key(indices)
            values = [_read(value) for value in values]
            chosen = target._elements(indices)
            if chosen.starts.size:
                target.arena.on_read(chosen)
                target.arena.on_write(chosen)
            return ufunc.at(target.data, indices, *values)
        plain = [_note(value) for value in inputs]
        for target in out:
            if type(target) is Window:
                target._note_masked(where)
        if out:
            options["out"] = tuple(target.data if type(target) is Window else target for target in out)
        result = getattr(ufunc, method)(*plain, **options)
        if not out:
            return result
        return out[0] if len(out) == 1 else out

    def _note_masked(self, where: Any) -> None:
        if where is True:
            self.note_write()
            return
        chosen = self._elements(np.broadcast_to(where, self.data.shape))
        if chosen.starts.size:
            self.arena.on_write(chosen)

    def __array_function__(
        self, function: Callable[..., Any], types: Sequence[type], arguments: Any, options: Any
    ) -> Any:
        if function is np.copyto:
            return _copyto(*arguments, **options)
        if function in (np.shares_memory, np.may_share_memory):
            return function(*(_memory(value) for value in arguments))
        target = arguments[0] if function in _FILLING else options.get("out")
        if type(target) is Window:
            target.note_read()
            target.note_write()
        windows: list[Window] = []
        _collect((arguments, options), windows)
        result = function(*_mapped(arguments, _memory), **_mapped(options, _memory))
        wrapped = _mapped(result, lambda part: _as_window(part, windows))
        views: list[Window] = []
        _collect(wrapped, views)
        if not views:
            # The elements were used; nothing has changed between that and this report.
            for window in windows:
                window.note_read()
        return wrapped

    # ------------------------------------------------------------ shape

    shape = property(attrgetter("data.shape"), doc="Extents.")
    strides = property(attrgetter("data.strides"), doc="Bytes between neighbours along each axis.")
    dtype = property(attrgetter("data.dtype"), doc="Type of the elements.")
    ndim = property(attrgetter("data.ndim"), doc="Number of axes.")
    size = property(attrgetter("data.size"), doc="Number of elements.")
    itemsize = property(attrgetter("data.itemsize"), doc="Bytes of an element.")
    nbytes = property(attrgetter("data.nbytes"), doc="Bytes of all elements.")

    @property
    def T(self) -> Window:
        """Returns the axes in reverse order."""
        return Window(self.arena, self.data.T, self.offset)

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self.data)))

    def _same(self, view: np.ndarray[Any, Any]) -> Any:
        """Returns a window for a view of the memory; a copy counts as read."""
        data, base = self.data, view.base
        same = base is not None and (base is data or base is data.base)
        if same or view.size == 0 or np.may_share_memory(view, data):
            return Window(self.arena, view, self.offset)
        self.note_read()
        return view

    def reshape(self, *shape: Any, **options: Any) -> Any:
        """Reshapes as numpy: a window where the memory allows it, otherwise a copy."""
        return self._same(self.data.reshape(*shape, **options))

    def ravel(self, *order: Any) -> Any:
        """Flattens as numpy: a window where the memory allows it, otherwise a copy."""
        return self._same(self.data.ravel(*order))

    def transpose(self, *axes: Any) -> Window:
        """The axes in another order."""
        return Window(self.arena, self.data.transpose(*axes), self.offset)

    def swapaxes(self, first: int, second: int) -> Window:
        """Returns two axes exchanged."""
        return Window(self.arena, self.data.swapaxes(first, second), self.offset)

    def squeeze(self, *axis: Any) -> Window:
        """Without axes of extent 1."""
        return Window(self.arena, self.data.squeeze(*axis), self.offset)

    def view(self, dtype: Any = None) -> Window:
        """Returns the same bytes as elements of another type."""
        return Window(self.arena, self.data.view() if dtype is None else self.data.view(dtype), self.offset)

    def copy(self) -> np.ndarray[Any, Any]:
        """Returns the elements, read now."""
        return self.taken()

    def __bool__(self) -> bool:
        return bool(self.taken())

    def __int__(self) -> int:
        return int(self.taken())

    def __float__(self) -> float:
        return float(self.taken())

    def __index__(self) -> int:
        return self.taken().__index__()

    def __contains__(self, value: Any) -> bool:
        return value in self.taken()

    def __getattr__(self, name: str) -> Any:
        # All other methods of arrays use the elements and leave the memory unchanged.
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.taken(), name)


def _called(ufunc: np.ufunc, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """Applies a function to all elements of its operands: returns its result, or where it was stored."""
    plain: list[Any] = []
    for value in inputs:
        if type(value) is Window:
            value.note_read()
            value = value.data
        plain.append(value)
    out = options.get("out")
    if out is None:
        return ufunc(*plain, **options)
    indices: list[Any] = []
    for target in out:
        if type(target) is Window:
            target.note_write()
            target = target.data
        indices.append(target)
    options["out"] = tuple(indices)
    ufunc(*plain, **options)
    return out[0] if len(out) == 1 else out


def _basic(key: Any) -> bool:
    """Returns whether indices select a view, or one element."""
    parts = key if isinstance(key, tuple) else (key,)
    return all(isinstance(part, _BASIC) and not isinstance(part, (bool, np.bool_)) for part in parts)


def _plain_key(key: Any) -> Any:
    return tuple(_read(part) for part in key) if isinstance(key, tuple) else _read(key)


def _read(value: Any) -> Any:
    """Returns the elements of a window, read now; other values unchanged."""
    return value.taken() if type(value) is Window else value


def _note(value: Any) -> Any:
    """Reports memory of an operand that is read in place."""
    if type(value) is Window:
        value.note_read()
        return value.data
    return value


def _memory(value: Any) -> Any:
    return value.data if type(value) is Window else value


def _copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    where = _read(where)
    # Overlapping memory must be read before it is written, so this is a copy.
    overlaps = type(src) is Window and type(dst) is Window and src.arena is dst.arena
    source = src.taken() if overlaps else _note(src)
    if type(dst) is Window:
        dst._note_masked(where)
    if where is True and casting == "same_kind" and isinstance(source, np.ndarray):
        copy_boxes(_memory(dst), source)
    else:
        np.copyto(_memory(dst), source, casting=casting, where=where)


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    if type(value) in (tuple, list):
        return type(value)(_mapped(part, change) for part in value)
    if type(value) is dict:
        return {key: _mapped(part, change) for key, part in value.items()}
    return change(value)


def _collect(value: Any, windows: list[Window]) -> None:
    if type(value) in (tuple, list):
        for part in value:
            _collect(part, windows)
    elif type(value) is dict:
        for part in value.values():
            _collect(part, windows)
    elif type(value) is Window:
        windows.append(value)


def _as_window(value: Any, sources: list[Window]) -> Any:
    """Returns a result of numpy that is memory of one of ``sources``, as a window."""
    if isinstance(value, np.ndarray) and type(value) is not Window:
        for source in sources:
            if np.may_share_memory(value, source.data):
                return Window(source.arena, value)
    return value

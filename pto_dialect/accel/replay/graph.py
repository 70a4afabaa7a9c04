"""What a launch computes as a graph: values instead of memory, so that it does not matter which bytes were used again.

A step that reads memory reads the values in it; where these are not known as a whole, the launch is not replayed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np

from pto_dialect.accel.replay.steps import Between, Box, Constant, Foreign, Step, Style, assign
from pto_dialect.runtime.memory.spaces import Array

JOIN = "join"
"""Function of a value that consists of consecutive others."""


class Node:
    """A value: an array ``shape`` of ``dtype``, row after row where somebody computes it.

    ``key`` is the same for values that are computed in the same way from others of equal keys. ``buffer`` and
    ``offset`` say where a part of global memory begins; ``values`` are those of a constant.
    """

    __slots__ = ("buffer", "dtype", "function", "inputs", "key", "offset", "shape", "strides", "style", "values")

    def __init__(self, key: int, shape: tuple[int, ...], dtype: np.dtype[Any], strides: tuple[int, ...]) -> None:
        self.key = key
        self.shape = shape
        self.dtype = dtype
        self.strides = strides
        self.style = Style.SAME
        self.function: Any = None
        self.inputs: tuple[Any, ...] = ()
        self.buffer = -1
        self.offset = 0
        self.values: Array | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of a value that is computed."""
        return prod(self.shape) * self.dtype.itemsize


class Ref(NamedTuple):
    """Elements of a value: ``offset`` and ``strides`` in bytes from its first element."""

    node: Node
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def dense(self) -> bool:
        """True for contiguous elements."""
        return _dense(self.shape, self.strides, self.dtype.itemsize)

    def part(self, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> Ref:
        """Returns some of the elements, ``offset`` bytes from the first."""
        return Ref(self.node, self.offset + offset, shape, strides, self.dtype)


@dataclass
class _Content:
    """The content of the bytes [low, high): ``ref``, where the bytes are those of the array with ``shape`` and
    ``strides`` or of the box."""

    low: int
    high: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    box: Box | None
    ref: Ref

    @property
    def flat(self) -> bool:
        """True for elements that fill the bytes in order."""
        return self.box is None and _dense(self.shape, self.strides, self.ref.dtype.itemsize)


class Output(NamedTuple):
    """A part of global memory and what is stored there."""

    ref: Ref
    buffer: int
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def dense_strides(shape: Sequence[int], item: int) -> tuple[int, ...]:
    """Byte strides of an array with contiguous elements."""
    found = [item] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        found[axis] = found[axis + 1] * shape[axis + 1]
    return tuple(found)


def _dense(shape: Sequence[int], strides: Sequence[int], item: int) -> bool:
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if extent != 1:
            if stride != item:
                return False
            item *= extent
    return True


def address(values: Array) -> int:
    """Returns where the first element of an array is."""
    return values.__array_interface__["data"][0]


def span(values: Array) -> tuple[int, int]:
    """Returns the bytes between which all elements of an array are."""
    low = high = address(values)
    for extent, stride in zip(values.shape, values.strides, strict=True):
        low += min(0, (extent - 1) * stride)
        high += max(0, (extent - 1) * stride)
    return low, high + values.itemsize


class Graph:
    """The values of one launch; ``buffers`` are the bytes of its arguments, ``changed`` the numbers of those that are
    stored to where they were loaded before."""

    def __init__(self, buffers: Sequence[Array], memories: Sequence[Array], steps: Sequence[Step]) -> None:
        """``memories`` are the bytes of the memories of cores. Raises ``Foreign`` where a step reads what no step has
        written."""
        self.starts = [address(content) for content in buffers]
        self.sizes = [content.nbytes for content in buffers]
        places = [*zip(self.starts, self.sizes, range(len(buffers)), strict=True)]
        places += [(address(content), content.nbytes, -1 - number) for number, content in enumerate(memories)]
        places.sort()
        self._starts = [start for start, _, _ in places]
        self._places = places
        self._loaded: dict[int, Ref] = {}
        self._keys: dict[Hashable, int] = {}
        self._known: dict[Hashable, Node] = {}
        self._contents: dict[int, list[_Content]] = {}
        self._lost: list[tuple[int, int]] = []
        self._between: dict[int, Ref] = {}
        self.nodes: list[Node] = []
        for step in steps:
            self._add(step)
        given = range(len(buffers))
        self.outputs = [self._output(one, buffer) for buffer in given for one in self._contents.get(buffer, ())]
        self.changed: set[int] = set()
        self._check_apart()

    # ------------------------------------------------------------ steps

    def _add(self, step: Step) -> None:
        inputs = [self._read(value) if not isinstance(value, (bool, int, float)) else value for value in step.inputs]
        target = step.target
        ref = inputs[0]
        if step.style is not Style.SAME:
            shape = (target.rows, target.cols) if isinstance(target, (Box, Between)) else target.shape
            dtype = np.dtype(np.float32) if isinstance(target, Between) else target.dtype
            ref = self._computed(step, inputs, shape, dtype)
        assert isinstance(ref, Ref)
        if isinstance(target, Between):
            self._between[target.number] = ref
        else:
            self._write(target, ref)

    def _computed(self, step: Step, inputs: list[Any], shape: tuple[int, ...], dtype: np.dtype[Any]) -> Ref:
        same = tuple(_identity(value) for value in inputs)
        identity = (step.style, id(step.function), same, shape, dtype)
        found = self._known.get(identity)
        if found is None:
            structure = (step.style, id(step.function), tuple(map(_structural_key, inputs)), shape, dtype)
            found = self._node(structure, shape, dtype)
            found.style, found.function, found.inputs = step.style, step.function, tuple(inputs)
            if all(not isinstance(x, Ref) or x.node.values is not None for x in inputs):
                self._fold(found)
            self._known[identity] = found
        return Ref(found, 0, shape, found.strides, dtype)

    def _fold(self, node: Node) -> None:
        """A value of numbers and constants alone is a constant."""
        given = [_array(x.node.values, x) if isinstance(x, Ref) else x for x in node.inputs]
        values = np.empty(node.shape, node.dtype)
        with np.errstate(all="ignore"):
            if node.function is JOIN:
                np.concatenate([part.reshape(-1) for part in given], out=values)
            elif node.style is Style.ROWS:
                node.function.reduce(*given, -1, None, values, True)
            else:
                node.function(*given, values)
        node.values, node.inputs = values, ()

    def _node(self, structure: Hashable, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Node:
        key = self._keys.setdefault(structure, len(self._keys))
        # All nodes are retained, because nodes are distinguished by their identity.
        self.nodes.append(Node(key, shape, dtype, dense_strides(shape, dtype.itemsize)))
        return self.nodes[-1]

    # ------------------------------------------------------------ memory

    def _read(self, place: Any) -> Ref:
        if isinstance(place, Constant):
            return self._constant(place.values)
        if isinstance(place, Between):
            return self._between[place.number]
        if isinstance(place, Box):
            return self._read_box(place)
        low, high = span(place)
        buffer = self._buffer(low, high)
        if buffer >= 0:
            offset = address(place) - self.starts[buffer]
            node = self._leaf(place, buffer, offset)
            ref = Ref(node, 0, place.shape, place.strides, place.dtype)
            new = _Content(low, high, place.shape, place.strides, None, ref)
            if all(_apart(old, new) for old in self._contents.get(buffer, ())):
                self._loaded[id(node)] = ref
                return ref
        return self._read_array(place, low, high, buffer)

    def _buffer(self, low: int, high: int) -> int:
        """Returns the number of the argument that has these bytes; a number below 0 for a memory of a core."""
        start, size, number = self._places[bisect_right(self._starts, low) - 1]
        if not start <= low or high > start + size:
            raise Foreign("elsewhere")
        return number

    def _constant(self, values: Array) -> Ref:
        node = self._node(("constant", values.shape, values.dtype), values.shape, values.dtype)
        node.values = values
        return Ref(node, 0, node.shape, node.strides, node.dtype)

    def _untouched(self, shape: tuple[int, ...], dtype: np.dtype[Any], low: int, high: int) -> Ref:
        """Returns what memories of cores hold in the beginning, where no step has written."""
        if any(first < high and low < last for first, last in self._lost):
            raise Foreign("in parts")
        return self._constant(np.zeros(shape, dtype))

    def _leaf(self, place: Array, buffer: int, offset: int) -> Node:
        """Returns a part of an argument."""
        identity = (buffer, offset, place.shape, place.strides, place.dtype)
        node = self._known.get(identity)
        if node is None:
            node = self._node(("load", buffer, place.shape, place.strides, place.dtype), place.shape, place.dtype)
            node.buffer, node.offset, node.strides = buffer, offset, place.strides
            self._known[identity] = node
        return node

    def _read_array(self, place: Array, low: int, high: int, buffer: int) -> Ref:
        dtype, shape, strides = place.dtype, place.shape, place.strides
        contents = self._contents.get(buffer, ())
        parts = [content for content in contents if content.low < high and low < content.high]
        if not parts:
            return self._untouched(shape, dtype, low, high)
        if any(content.ref.dtype != dtype for content in parts):
            raise Foreign("another type")
        if len(parts) == 1:
            one = parts[0]
            if (one.low, one.box, one.shape, one.strides) == (low, None, shape, strides):
                return one.ref
            if one.flat and one.low <= low and high <= one.high:
                return self._in_order(one).part(low - one.low + address(place) - low, shape, strides)
        if not _dense(shape, strides, dtype.itemsize):
            raise Foreign("in parts")
        found, reached = [], low
        for content in sorted(parts, key=lambda content: content.low):
            if not content.flat or content.low > reached:
                raise Foreign("in parts")
            first, last = max(content.low, low), min(content.high, high)
            found.append(_line(self._in_order(content), first - content.low, last - first))
            reached = last
        if reached != high:
            raise Foreign("not written")
        return self._joined(found).part(0, shape, dense_strides(shape, dtype.itemsize))

    def _in_order(self, content: _Content) -> Ref:
        """Returns the elements of a content in order, contiguous."""
        if not content.ref.dense:
            ref = content.ref
            content.ref = self._computed(Step(Style.EACH, assign, [], None), [ref], ref.shape, ref.dtype)
        return content.ref

    def _read_box(self, place: Box) -> Ref:
        low, high = place.start, place.start + place.layout.nbytes
        contents = self._contents.get(self._buffer(low, high), ())
        parts = [content for content in contents if content.low < high and low < content.high]
        if not parts:
            return self._untouched((place.rows, place.cols), place.dtype, low, high)
        boxes = [(content.box, content.ref) for content in parts if content.box is not None]
        if len(boxes) != len(parts) or any(not _same_tile(place, box) for box, _ in boxes):
            raise Foreign("another tile")
        inside = [(box, ref) for box, ref in boxes if _meet(place, box)]
        if len(inside) == 1:
            box, ref = inside[0]
            if _covers(box, place):
                rows, cols = ref.strides
                return ref.part(
                    (place.row - box.row) * rows + (place.col - box.col) * cols, (place.rows, place.cols), ref.strides
                )
        reached, found = place.row, []
        for box, ref in sorted(inside, key=lambda pair: pair[0].row):
            whole = (box.col, box.cols) == (place.col, place.cols) and box.row + box.rows <= place.row + place.rows
            if not whole or box.row != reached:
                raise Foreign("in parts")
            found.append(ref)
            reached += box.rows
        if reached != place.row + place.rows:
            raise Foreign("not written")
        shape = (place.rows, place.cols)
        return self._joined(found).part(0, shape, dense_strides(shape, place.dtype.itemsize))

    def _joined(self, parts: list[Ref]) -> Ref:
        """Returns the elements of several values, contiguous."""
        count = sum(prod(ref.shape) for ref in parts)
        step = Step(Style.SAME, JOIN, [], None)
        return self._computed(step, parts, (count,), parts[0].dtype)

    def _write(self, place: Any, ref: Ref) -> None:
        if isinstance(place, Box):
            low, high = place.start, place.start + place.layout.nbytes
            self._put(_Content(low, high, (), (), place, ref), self._buffer(low, high))
        else:
            low, high = span(place)
            self._put(_Content(low, high, place.shape, place.strides, None, ref), self._buffer(low, high))

    def _output(self, content: _Content, buffer: int) -> Output:
        """Returns what a buffer holds in the end."""
        return Output(content.ref, buffer, content.low - self.starts[buffer], content.shape, content.strides)

    def _put(self, new: _Content, buffer: int) -> None:
        kept: list[_Content] = []
        for old in self._contents.get(buffer, ()):
            if old.high <= new.low or new.high <= old.low or _apart(old, new):
                kept.append(old)
            elif old.flat and new.flat and old.ref.dense:
                for low, high in ((old.low, new.low), (new.high, old.high)):
                    if low < high:
                        line = _line(old.ref, low - old.low, high - low)
                        kept.append(_Content(low, high, line.shape, line.strides, None, line))
            elif buffer >= 0 and (old.low, old.shape, old.strides) != (new.low, new.shape, new.strides):
                # What is left of the old content would be lost.
                raise Foreign("stored over a part")
            else:
                self._lost.append((old.low, old.high))
        kept.append(new)
        self._contents[buffer] = kept

    def _check_apart(self) -> None:
        """Raises ``Foreign`` where two stores write one byte; finds loads of what a store writes later."""
        marks: dict[int, Array] = {}
        for output in self.outputs:
            mark = marks.get(output.buffer)
            if mark is None:
                mark = marks[output.buffer] = np.zeros(self.sizes[output.buffer], np.bool_)
            place = _bytes_of(mark, output.offset, output.shape, output.strides, output.ref.dtype.itemsize)
            if place.any():
                raise Foreign("stored twice")
            place[...] = True
        for ref in self._loaded.values():
            mark = marks.get(ref.node.buffer)
            if mark is not None and _bytes_of(mark, ref.node.offset, ref.shape, ref.strides, ref.dtype.itemsize).any():
                self.changed.add(ref.node.buffer)


def _apart(one: _Content, other: _Content) -> bool:
    """Returns True when no byte belongs to both."""
    if one.high <= other.low or other.high <= one.low:
        return True
    if one.box is not None or other.box is not None:
        same = one.box is not None and other.box is not None and _same_tile(one.box, other.box)
        return same and not _meet(one.box, other.box)  # pyright: ignore[reportArgumentType]
    first, second = _rows(one), _rows(other)
    if first is None or second is None:
        return False
    (count, pitch, width), (others, step, breadth) = first, second
    pitch = pitch if count > 1 else step
    if (others > 1 and step != pitch) or width > pitch:
        return False
    # Not all rows of one are before those of the other, so they lie side by side or share bytes.
    return width <= (col := (other.low - one.low) % pitch) and col + breadth <= pitch


def _rows(content: _Content) -> tuple[int, int, int] | None:
    """Number, distance and length in bytes of rows without gaps; ``None`` for other contents."""
    if content.flat:
        return 1, content.high - content.low, content.high - content.low
    item = content.ref.dtype.itemsize
    if len(content.shape) == 2 and content.strides[1] == item and content.strides[0] >= content.shape[1] * item:
        return content.shape[0], content.strides[0], content.shape[1] * item
    return None


def _bytes_of(mark: Array, offset: int, shape: Sequence[int], strides: Sequence[int], item: int) -> Array:
    return np.ndarray((*shape, item), np.bool_, mark, offset, (*strides, 1))


def _array(values: Array | None, ref: Ref) -> Array:
    assert values is not None
    return np.ndarray(ref.shape, ref.dtype, values, ref.offset, ref.strides)


def _line(ref: Ref, offset: int, nbytes: int) -> Ref:
    """Returns the bytes of a value whose elements lie in order, as one row."""
    item = ref.dtype.itemsize
    return ref.part(offset, (nbytes // item,), (item,))


def _identity(value: Any) -> Hashable:
    """Returns what tells an operand from others: the same elements, or the same bits of a number."""
    if isinstance(value, Ref):
        return (id(value.node), value.offset, value.shape, value.strides, value.dtype)
    return (type(value), repr(value))


def _structural_key(value: Any) -> Hashable:
    """As ``_identity``, for elements anywhere in values of one key."""
    if isinstance(value, Ref):
        return (value.node.key, value.node.buffer >= 0, value.shape, value.strides, value.dtype)
    return (type(value), repr(value))


def _same_tile(one: Box, other: Box) -> bool:
    return (one.start, one.layout, one.dtype) == (other.start, other.layout, other.dtype)


def _meet(one: Box, other: Box) -> bool:
    apart = one.row + one.rows <= other.row or other.row + other.rows <= one.row
    return not (apart or one.col + one.cols <= other.col or other.col + other.cols <= one.col)


def _covers(one: Box, other: Box) -> bool:
    rows = one.row <= other.row and other.row + other.rows <= one.row + one.rows
    return rows and one.col <= other.col and other.col + other.cols <= one.col + one.cols

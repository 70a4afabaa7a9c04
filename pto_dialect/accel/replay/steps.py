"""What an instruction of a launch computes, derived from the function and the arguments that generated code passes.

Nothing is executed here. What is not known in every detail is ``Foreign``, and its launch is not replayed. See
docs/performance.md, "Repeated launches".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from pto_dialect.runtime.kernels.cube.fixpipe_tile import AccumulatorOut
from pto_dialect.runtime.kernels.cube.matmul import TileMatmul
from pto_dialect.runtime.kernels.sync.pipe_transfer import Fetch, Push, halves, placed, slot_view
from pto_dialect.runtime.kernels.tile import convert, formulas, reduce
from pto_dialect.runtime.kernels.tile.apply import Converted, Regions
from pto_dialect.runtime.kernels.tile.generate import Triangle
from pto_dialect.runtime.kernels.tile.memory import Load, Store, load_part, load_view, store_part, store_view
from pto_dialect.runtime.kernels.tile.move import Move
from pto_dialect.runtime.kernels.tile.operands import region
from pto_dialect.runtime.memory.cast import copy_cast
from pto_dialect.runtime.memory.layout import TileLayout
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.memory.values import Tile, ValueTile
from pto_dialect.runtime.numerics.direct import cast
from pto_dialect.runtime.numerics.matmul import matmul
from pto_dialect.runtime.queues.fifo import FifoEnd
from pto_dialect.runtime.run.machine import block_cores


class Foreign(Exception):
    """Something that no replay knows."""


class Style(Enum):
    """How a function is called: ``EACH`` element alone, so that arrays may be stacked; ``ROWS`` reduced along the last
    axis; ``ONE`` tile at a time; ``SAME`` gives its operand as it is."""

    EACH = 1
    ROWS = 2
    ONE = 3
    SAME = 4


@dataclass(frozen=True)
class Box:
    """A rectangle of a tile in blocks: where the tile begins, how it lies, and the rectangle in elements."""

    start: int
    layout: TileLayout
    row: int
    col: int
    rows: int
    cols: int
    dtype: np.dtype[Any]


Place = Array | Box
"""Memory that an instruction reads or writes, named by an array over it or a rectangle of a tile."""


@dataclass
class Step:
    """``target`` = ``function`` of ``inputs``, which are memory, numbers, or what a step before has given; called as
    ``function(*inputs, out)``."""

    style: Style
    function: Any
    inputs: list[Any]
    target: Any


@dataclass(frozen=True, eq=False)
class Constant:
    """Values that do not depend on any memory."""

    values: Array


@dataclass(frozen=True)
class Between:
    """A matrix between two steps of one instruction, which no memory holds."""

    number: int
    rows: int
    cols: int


ELEMENTWISE = frozenset(
    (
        *(np.add, np.subtract, np.multiply, np.divide, np.absolute, np.negative, np.invert, np.exp, np.log, np.sqrt),
        *(np.reciprocal, np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.maximum, np.minimum),
        *(formulas.maximum, formulas.minimum, formulas.reciprocal_root, formulas.relu, formulas.add_relu),
        *(formulas.exponential_of_difference, formulas.sum_of_three, formulas.difference_and_sum),
        *(convert.copy, convert.widen, cast, *convert.ROUNDINGS.values()),
    )
)
"""Functions whose every element depends on one element of each operand, and on nothing else."""

PLAIN = frozenset(function for function in ELEMENTWISE if isinstance(function, np.ufunc))
"""Those that may write where an operand lies, or to any strides."""


def assign(values: Array, out: Array) -> None:
    """``out`` = ``values``, broadcast."""
    np.copyto(out, values)


def widened(values: Array, out: Array) -> None:
    """``out`` = ``values`` in float32."""
    copy_cast(out, values)


class Exact:
    """A product with sums in order."""

    def __call__(self, lhs: Array, rhs: Array, *rest: Array) -> None:
        """The last argument takes lhs x rhs, plus the third where there are four."""
        *init, out = rest
        matmul(lhs, rhs, init=init[0] if init else None, out=out, exact=True)


EXACT = Exact()


class Reader:
    """Reports the steps of instructions, one after the other."""

    def __init__(self) -> None:
        self.count = 0

    def steps(self, action: Callable[..., Any], arguments: Sequence[Any]) -> Iterator[Step]:
        """Yields the steps of one instruction. Raises ``Foreign``."""
        if getattr(action, "__name__", "") == "retire":
            return
        plain = getattr(action, "__self__", None)
        if action is load_view or action is load_part:
            yield self._load(arguments)
        elif action is store_view or action is store_part:
            source, *view = arguments
            target = self._elements(view)
            if target.shape != source.shape or target.dtype != source.dtype:
                raise Foreign(action)
            yield Step(Style.SAME, None, [source], target)
        elif isinstance(plain, Load):
            yield self._load(arguments)
        elif isinstance(plain, np.ufunc) and action.__name__ == "reduce":
            yield self._reduction(plain, arguments)
        elif action is np.copyto:
            target, source = arguments
            same = isinstance(source, np.ndarray) and source.shape == target.shape and source.dtype == target.dtype
            yield Step(Style.SAME if same else Style.EACH, None if same else assign, [source], target)
        elif isinstance(action, Regions):
            *inputs, dst = arguments
            rows, cols = dst.valid_rows, dst.valid_cols
            arrays = [region(_flat(x), rows, cols) if isinstance(x, Tile) else x for x in inputs]
            yield from self.steps(action.compute, (*arrays, _flat(dst).array))
        else:
            method = _METHODS.get(type(action))
            if method is not None:
                yield from method(self, action, arguments)
            else:
                yield self._function(action, arguments)

    def _function(self, action: Any, arguments: Sequence[Any]) -> Step:
        """Returns an instruction that is a function of arrays and numbers, the last of which takes the result."""
        *inputs, out = arguments
        if not isinstance(out, np.ndarray) or not all(isinstance(x, (np.ndarray, int, float)) for x in inputs):
            raise Foreign(action)
        if isinstance(action, (Converted, convert.NearestConversion)) or _hashed(action):
            return Step(Style.EACH, action, inputs, out)
        direct = getattr(action, "__module__", "") == "pto_dialect.runtime.numerics.direct"
        if direct or isinstance(action, (convert.Conversion, reduce.Total, reduce.Whole)):
            return Step(Style.ONE, action, inputs, out)
        raise Foreign(action)

    def _reduction(self, function: np.ufunc, arguments: Sequence[Any]) -> Step:
        values, axis, dtype, out, keep = arguments
        if axis != 1 or not keep or dtype is not None or values.dtype != np.float32:
            raise Foreign(function)
        return Step(Style.ROWS, function, [values], out)

    def _elements(self, view: Sequence[Any]) -> Array:
        """Returns the memory of a view of global memory, or of a part of one."""
        values = view[0].elements(view[1]) if len(view) == 2 else view[0].elements()
        if values is None:
            raise Foreign(view)
        return values

    def _load(self, arguments: Sequence[Any]) -> Step:
        *view, dst = arguments
        values = self._elements(view)
        if isinstance(dst, np.ndarray):
            place: Place = dst
            shape = dst.shape
        elif isinstance(dst, Tile) and not dst.pad:
            place, shape = _place(dst, dst.valid_rows, dst.valid_cols), (dst.valid_rows, dst.valid_cols)
        else:
            raise Foreign(dst)
        if values.shape != shape or values.dtype != place.dtype:
            raise Foreign(dst)
        return Step(Style.SAME, None, [values], place)

    def _store(self, store: Store, arguments: Sequence[Any]) -> Iterator[Step]:
        source, dst, *rest = arguments
        if store.atomic is not None or any(x is not None for x in rest):
            raise Foreign(store)
        target = self._elements((dst,))
        if target.shape != (source.valid_rows, source.valid_cols):
            raise Foreign(store)
        yield from self._delivered(store.convert, source, target)

    def _delivered(self, change: AccumulatorOut | None, source: Any, target: Place) -> Iterator[Step]:
        """A tile goes to ``target``, which has its valid region, through ``change``."""
        given = _place(source, source.valid_rows, source.valid_cols)
        if given.dtype != target.dtype or (change is not None and not _as_it_is(change)):
            raise Foreign(change)
        yield Step(Style.SAME, None, [given], target)

    def _move(self, move: Move, arguments: Sequence[Any]) -> Iterator[Step]:
        source, dst, *rest = arguments
        if move.mode != "move" or any(rest) or not isinstance(source, Tile) or not isinstance(dst, Tile):
            raise Foreign(move)
        if move.convert is not None:
            raise Foreign(move)
        rows, cols = dst.valid_rows, dst.valid_cols
        if source.fmt.name != dst.fmt.name or rows > source.valid_rows or cols > source.valid_cols:
            raise Foreign(move)
        yield Step(Style.SAME, None, [_place(source, rows, cols)], _place(dst, rows, cols))

    def _product(self, product: TileMatmul, arguments: Sequence[Any]) -> Iterator[Step]:
        lhs, rhs, dst, *rest = arguments
        init = rest[0] if rest else None
        tiles = [lhs, rhs, dst, *([init] if init is not None else [])]
        if product.scaled or any(x is not None for x in rest[1:]):
            raise Foreign(product)
        if not all(isinstance(tile, Tile) for tile in tiles) or dst.fmt.name != "f32":
            raise Foreign(product)
        m, k, n = lhs.valid_rows, lhs.valid_cols, rhs.valid_cols
        if rhs.valid_rows != k or not (m and k and n) or m > dst.valid_rows or n > dst.valid_cols:
            raise Foreign(product)
        operands = []
        for tile, rows, cols in ((lhs, m, k), (rhs, k, n)):
            if tile.fmt.name not in ("f16", "bf16", "f32"):
                raise Foreign(product)
            operands.append(self._between(rows, cols))
            yield Step(Style.EACH, widened, [_place(tile, rows, cols)], operands[-1])
        start = [] if init is None else [_place(init, 1 if product.bias else m, n)]
        target = _place(dst, m, n)
        if product.exact:
            yield Step(Style.ONE, EXACT, [*operands, *start], target)
            return
        total = target if init is None else self._between(m, n)
        yield Step(Style.ONE, np.matmul, operands, total)
        if init is not None:
            yield Step(Style.EACH, np.add, [total, *start], target)

    def _between(self, rows: int, cols: int) -> Between:
        self.count += 1
        return Between(self.count, rows, cols)

    def _push(self, push: Push, arguments: Sequence[Any]) -> Iterator[Step]:
        end, number, tile, *vector = arguments
        assert isinstance(end, FifoEnd)
        if any(x is not None for x in vector) or not isinstance(tile, Tile) or not push.outgoing.as_it_is:
            raise Foreign(push)
        if not end.takes_part(push.direction, True, push.split):
            return
        maker, rows, cols = push.maker, tile.valid_rows, tile.valid_cols
        source = _place(tile, rows, cols)
        if maker is None:
            # All that the cube core sends is in one slot.
            split = 0 if end.core.cube else push.split
            row, col, _, width = placed(rows, cols, split, end.core.index)
            pointer = end.gm_address(push.direction, number, push.outgoing.target)
            target = slot_view(pointer, row * width + col, rows, cols, width)
            yield Step(Style.SAME, None, [source], target)
        elif not end.core.cube:
            row, col, height, width = placed(rows, cols, push.split, end.core.index)
            slot = maker(end.core, end.local_address(push.direction, number), height, width)
            yield Step(Style.SAME, None, [source], _window(slot, row, col, rows, cols))
        else:
            yield from self._to_vector_cores(push, end, number, tile)

    def _to_vector_cores(self, push: Push, end: FifoEnd, number: int, tile: Tile) -> Iterator[Step]:
        assert push.maker is not None
        rows, cols = tile.valid_rows, tile.valid_cols
        # The indices of the elements state where each part starts.
        parts = halves(np.arange(rows * cols).reshape(rows, cols), push.split)
        for core in block_cores(end.core)[1]:
            if core.index == 0 or push.split or end.everyone:
                part = parts[core.index]
                row, col = divmod(int(part[0, 0]), cols) if part.size else (0, 0)
                slot = push.maker(core, end.local_address(push.direction, number), *part.shape)
                source = _window(tile, row, col, *part.shape)
                yield Step(Style.SAME, None, [source], _window(slot, 0, 0, *part.shape))

    def _fetch(self, fetch: Fetch, arguments: Sequence[Any]) -> Iterator[Step]:
        end, number, tile, *vector = arguments
        if any(x is not None for x in vector):
            raise Foreign(fetch)
        if not end.takes_part(fetch.direction, False, fetch.split):
            return
        rows, cols = tile.valid_rows, tile.valid_cols
        row, col, _, width = placed(rows, cols, fetch.split, end.core.index)
        pointer = end.gm_address(fetch.direction, number, tile.fmt)
        source = slot_view(pointer, row * width + col, rows, cols, width)
        yield Step(Style.SAME, None, [source], _place(tile, rows, cols))

    def _triangle(self, triangle: Triangle, arguments: Sequence[Any]) -> Iterator[Step]:
        diagonal, dst = arguments
        target = _flat(dst).array
        rows, cols = target.shape
        whole = ValueTile(rows, cols, dst.fmt)
        triangle(diagonal, whole)
        yield Step(Style.EACH, assign, [Constant(whole.array)], target)


_METHODS: dict[type, Any] = {
    Load: lambda reader, _, arguments: iter((reader._load(arguments),)),
    Store: Reader._store,
    Move: Reader._move,
    TileMatmul: Reader._product,
    Push: Reader._push,
    Fetch: Reader._fetch,
    Triangle: Reader._triangle,
}


def _hashed(action: Any) -> bool:
    try:
        return action in ELEMENTWISE
    except TypeError:
        return False


def _as_it_is(change: AccumulatorOut) -> bool:
    return change.source == change.target and change.relu == "no_relu" and change.base is None


def _flat(tile: Any) -> Tile:
    """Returns a tile whose valid region is one array of its memory. Raises ``Foreign``."""
    if not isinstance(tile, Tile) or tile.layout.slayout != "none_box":
        raise Foreign(tile)
    return tile


def _place(tile: Any, rows: int, cols: int) -> Place:
    return _window(tile, 0, 0, rows, cols)


def _window(tile: Any, row: int, col: int, rows: int, cols: int) -> Place:
    """Returns a rectangle of a tile."""
    if not isinstance(tile, Tile) or tile.fmt.is_packed or min(rows, cols) < 1:
        raise Foreign(tile)
    if tile.layout.slayout == "none_box":
        return tile.view.window(row, col, rows, cols).read(rows, cols)
    content = tile.pointer.arena.array((1,), np.dtype(np.uint8), tile.pointer.offset, (1,))
    start = content.__array_interface__["data"][0]
    return Box(start, tile.layout, tile.row0 + row, tile.col0 + col, rows, cols, tile.fmt.storage)

"""The tiles of a product: what fits the memories of the cube core and keeps its pipes busy.

Source: docs/reference/targets.md, "Memories"; docs/reference/cycles.md, "Transfers", "Products".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product as combinations
from math import prod
from typing import NamedTuple

from pto_dialect.analysis.constants import constant_trip_count
from pto_dialect.analysis.cycles.moves import FRACTAL, INNER_BYTES
from pto_dialect.analysis.cycles.table import CycleTable, shipped
from pto_dialect.ir.core.types import bit_width, byte_width, element_name
from pto_dialect.passes.instructions.writer import Number
from pto_dialect.targets.matmul_types import MX_K_MULTIPLE, MX_SCALE_GROUP
from pto_dialect.targets.profile import Profile

from .course import Sizes, Times, cycles
from .product import NotTiledError, Product, steps_of

ROWS = (16, 32, 64, 128, 256)
COLUMNS = (16, 32, 64, 128, 256, 512)
PANELS = (32, 64, 128, 256, 512, 1024)
"""Sizes that are tried, in elements."""

SLOTS = 2
"""Slots of each tile that is loaded while another one is used."""

_TABLE_BYTES = 8
"""Bytes of the scale of a column of the result."""

_LEAST_PART = 32
"""Columns that an accumulator has at least where a block has two."""

MOST_PANELS = 32
"""Maximum number of panels of a block that are consecutive in the text, which they are if the last one is shorter."""


@dataclass(frozen=True)
class Range:
    """``count`` pieces of ``size`` elements from ``first`` on."""

    first: int
    count: int
    size: int


@dataclass(frozen=True)
class OpenRange:
    """The same, where values of the program are numbers that only a run knows."""

    first: Number
    count: Number
    size: int


def ranges(length: int, size: int) -> tuple[Range, ...]:
    """Returns the whole pieces of a length, and the rest."""
    whole, rest = divmod(length, size)
    pieces = (Range(0, whole, size), Range(whole * size, min(rest, 1), rest))
    return tuple(piece for piece in pieces if piece.count)


_NOMINAL = 4096
"""About how many elements a direction has whose size only a run knows."""


def extents(product: Product, axis: str, size: int) -> tuple[Range, ...]:
    """Returns the whole pieces of a direction of a product and the rest; where only a run knows its size, some whole
    pieces and one of the tile of the program, if that is smaller."""
    length = getattr(product, axis)
    if axis not in product.open:
        return ranges(length, size)
    many = Range(0, max(1, _NOMINAL // size), size)
    return (many,) if length % size == 0 else (many, Range(many.count * size, 1, length))


def has_edges(product: Product, shape: Shape) -> bool:
    """Returns whether blocks have several sizes."""
    sizes = (("rows", shape.rows), ("cols", shape.columns))
    return any(len(extents(product, axis, size)) > 1 for axis, size in sizes)


class Units(NamedTuple):
    """Sizes of tiles are multiples of these: rows, columns and length along k. ``step`` is that of left operands, of
    which panels and products along k are multiples."""

    rows: int
    columns: int
    depth: int
    step: int

    def of(self, role: str) -> tuple[int, int]:
        """Returns the units of the rows and columns of the tiles of an operand."""
        return steps_of(role, self.rows, self.columns, self.step if role == "left" else self.depth)


@dataclass(frozen=True)
class Shape:
    """A base tile of ``rows`` x ``columns`` sums in two accumulators side by side, or in one if it is narrow, with
    ``panel`` elements along k in L1 and ``depth`` in each product."""

    rows: int
    columns: int
    panel: int
    depth: int
    units: Units

    def parts_of(self, columns: int) -> tuple[int, ...]:
        """Returns the columns of the accumulators of a block of ``columns`` columns."""
        if columns < 2 * max(_LEAST_PART, self.units.columns):
            return (columns,)
        first = round_up(-(-columns // 2), self.units.columns)
        return (first, columns - first)


@dataclass(frozen=True)
class Request:
    """Sizes that the user states, where 0 leaves one to the pass, and the number of blocks of the launch that share the
    product."""

    rows: int = 0
    columns: int = 0
    panel: int = 0
    blocks: int = 1


def units_of(product: Product) -> Units:
    """Returns the units of the tiles of a product: a block of the operands in both directions, a pair of scales of
    scaled ones. The operand of one row has whole blocks along k, which its loads move."""
    bytes_ = byte_width(product.left.level0.element)
    assert bytes_ is not None
    unit = max(FRACTAL, INNER_BYTES // bytes_)
    family = product.family
    depth = MX_K_MULTIPLE if family.scaled else unit
    if family.one_row:
        return Units(1, unit, depth, FRACTAL * INNER_BYTES // bytes_)
    return Units(unit, unit, depth, depth)


def round_up(number: int, unit: int) -> int:
    """Returns ``number`` rounded up to a multiple."""
    return -(-number // unit) * unit


def choose(product: Product, profile: Profile, request: Request) -> Shape:
    """Returns the shape with the least time by :func:`_cycles`; the smaller one of equal ones. Raises
    :class:`NotTiledError` if none with the stated sizes fits."""
    table = shipped(profile.arch)
    shapes = list(_fitting(product, profile, request))
    if product.family.scaled:
        # Slots of scales are stated in the text.
        shapes = [shape for shape in shapes if -(-product.depth // shape.panel) <= MOST_PANELS]
    # Panels of two lengths in one loop wait for one another.
    shapes = [shape for shape in shapes if _is_even(shape, product)] or shapes
    if not shapes:
        raise NotTiledError("no tiles of these sizes fit the memories of the cube core")

    def order(shape: Shape) -> tuple[float, int, int]:
        return _cycles(shape, product, table, request.blocks), shape.rows * shape.columns, shape.panel

    return min(shapes, key=order)


def _is_even(shape: Shape, product: Product) -> bool:
    """Returns whether all panels are equal, or consecutive in the text."""
    if "depth" in product.open:
        return len(extents(product, "depth", shape.panel)) == 1
    return product.depth % shape.panel == 0 or -(-product.depth // shape.panel) <= MOST_PANELS


def _fitting(product: Product, profile: Profile, request: Request) -> Iterator[Shape]:
    """Yields all shapes that fit."""
    bytes_ = byte_width(product.left.level0.element)
    sums = byte_width(product.acc.element)
    assert bytes_ is not None
    assert sums is not None
    units = units_of(product)
    capacity = {name: profile.capacity_of(name) or 0 for name in ("mat", "left", "right", "acc", "bias", "scaling")}
    for rows, columns, panel in combinations(
        [1] if product.family.one_row else _sizes(product, "rows", ROWS, request.rows, units.rows),
        _sizes(product, "cols", COLUMNS, request.columns, units.columns),
        _sizes(product, "depth", PANELS, request.panel, units.step),
    ):
        lengths = extents(product, "depth", panel)
        bias = columns * sums if "bias" in product.inputs else 0
        table = columns * _TABLE_BYTES if "table" in product.inputs else 0
        rest = sum(one.size for one in lengths[1:])
        rests = SLOTS if "depth" in product.open else 1
        level1 = sum(
            size * (SLOTS * panel + rests * round_up(rest, unit)) * bytes_
            for size, unit in ((rows, units.step), (columns, units.depth))
        )
        level1 += bias + table + (-(-level1 // MX_SCALE_GROUP) if product.family.scaled else 0)
        if level1 > capacity["mat"] or rows * columns * sums > capacity["acc"]:
            continue
        if bias > capacity["bias"] or table > capacity["scaling"]:
            continue
        one = Shape(rows, columns, panel, 0, units)
        # Parts of different width, and products of different length, have tiles of their own.
        widths = max(_together(one.parts_of(cols.size), units.columns) for cols in extents(product, "cols", columns))
        for depth in range(round_up(lengths[0].size, units.step), 0, -units.step):
            pieces = pieces_of(lengths, depth)
            left, right = (SLOTS * bytes_ * _together(pieces, unit) for unit in (units.step, units.depth))
            if left * rows <= capacity["left"] and right * widths <= capacity["right"]:
                yield replace(one, depth=depth)
                break


def _together(sizes: Iterable[int], unit: int) -> int:
    """Returns the elements of tiles of all different sizes."""
    return sum(round_up(size, unit) for size in {*sizes})


def pieces_of(panels: Iterable[Range], depth: int) -> set[int]:
    """Returns the lengths along k of the products of a block."""
    return {min(depth, one.size - at) for one in panels for at in range(0, one.size, depth)}


def _sizes(product: Product, axis: str, tried: Sequence[int], stated: int, unit: int) -> list[int]:
    """Returns the sizes that are tried in one direction, none larger than the product: some numbers, the parts of its
    size that are most equal with as many pieces. Where only a run knows its size, multiples and parts of the tile of
    the program."""
    size = getattr(product, axis)
    if axis in product.open:
        some = {*tried, *(size * times for times in range(1, tried[-1] // size + 1))} if not stated else {stated}
        return sorted(one for one in some if one % unit == 0 and one <= tried[-1] and 0 in (one % size, size % one))
    end = round_up(size, unit)
    if stated:
        return [min(round_up(stated, unit), end)]
    equal = {round_up(-(-size // -(-size // one)), unit) for one in tried}
    return sorted(one for one in {*tried, *equal} if unit <= one <= min(end, tried[-1]) and one % unit == 0)


def _cycles(shape: Shape, product: Product, table: CycleTable, shared: int = 1) -> float:
    """About how long the product takes, ``shared`` by so many blocks."""
    left, out = product.left.level0.element, product.out.part.result.type.element  # pyright: ignore
    scaled = product.family.scaled
    times = Times(table, Sizes(bit_width(left) or 8, bit_width(out) or 8, element_name(left), scaled))
    panels = tuple(one.size for one in extents(product, "depth", shape.panel) for _ in range(one.count))
    repeats = prod(constant_trip_count(loop) or 1 for loop in product.repeats)
    several = [*combinations(extents(product, "rows", shape.rows), extents(product, "cols", shape.columns))]
    # Edges keep the loops that repeat the product around themselves.
    times_each, times_all = (1, repeats) if len(several) == 1 else (repeats, 1)
    together = sum(rows.count * cols.count for rows, cols in several) * times_all
    share = -(-together // shared) / together
    return times_each * sum(
        cycles(times, max(1, round(rows.count * cols.count * times_all * share)), rows.size,
               shape.parts_of(cols.size), panels, shape.depth, SLOTS)
        for rows, cols in several
    )  # fmt: skip

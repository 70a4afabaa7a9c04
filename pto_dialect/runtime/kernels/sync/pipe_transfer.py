"""Data transfer of a push and a pop: conversion of the values, halves, and their addresses in a slot.

Source: docs/reference/execution.md, "Queues between cores"; docs/reference/numerics.md, "Write-back".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pto_dialect.analysis.queues import C2V
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.spaces import Array, Pointer, strided_view
from pto_dialect.runtime.memory.values import Tile, ValueTile
from pto_dialect.runtime.numerics import fixpipe
from pto_dialect.runtime.numerics.formats import Format
from pto_dialect.runtime.queues.fifo import FifoEnd
from pto_dialect.runtime.queues.plan import Epilogue, Transfer
from pto_dialect.runtime.run.machine import block_cores
from pto_dialect.verify.sync.pipe_epilogue import QUANTS

from ..buffers.tile_maker import TileMaker
from ..cube.fixpipe_tile import AccumulatorOut, channel_table
from ..tile.memory import element_format
from ..tile.move import converted

AnyTile = Tile | ValueTile
Convert = Callable[[FifoEnd, AnyTile], Array]

ROWS, COLS, ODD_ROWS, ODD_COLS = 1, 2, 3, 4
"""Splits of an entry into its upper and lower or left and right half; for odd extents the first core gets the larger
part."""


def halves(values: Array, split: int) -> list[Array]:
    """Returns the parts of a matrix for each vector core."""
    if not split:
        return [values, values]
    axis = 0 if split in (ROWS, ODD_ROWS) else 1
    first = -(-values.shape[axis] // 2)
    return [values[:first], values[first:]] if axis == 0 else [values[:, :first], values[:, first:]]


def placed(rows: int, cols: int, split: int, vector: int) -> tuple[int, int, int, int]:
    """Returns start row and column of a vector core's part of ``rows`` x ``cols`` in the whole entry, and
    its extents."""
    extra = 1 if split in (ODD_ROWS, ODD_COLS) else 0
    other = extra * (2 * vector - 1)
    if split in (ROWS, ODD_ROWS):
        return vector * (rows + extra), 0, 2 * rows + other, cols
    if split in (COLS, ODD_COLS):
        return 0, vector * (cols + extra), rows, 2 * cols + other
    return 0, 0, rows, cols


# ------------------------------------------------------------ types


def target_element(source: t.TileBufType, popped: Sequence[t.TileBufType], epilogue: Epilogue | None) -> Any:
    """Returns the element type of an entry: that of the popped tiles if they agree, otherwise that of the conversion or
    producer."""
    elements = list({tile.element: None for tile in popped})
    if len(elements) == 1:
        return elements[0]
    if epilogue is not None and epilogue.quant in QUANTS and epilogue.quant != "no_convert":
        return t.BUILTIN_SCALARS.get(QUANTS[epilogue.quant].results[0], source.element)
    return source.element


def consumer_type(source: Any, element: Any, transfer: Transfer, popped: Sequence[t.TileBufType]) -> t.TileBufType:
    """Returns the type of the tile that a push fills: the popped one with matching extents, otherwise row-major (L1:
    blocks)."""
    rows, cols = source.rows, source.cols
    half = 1 if transfer.direction == C2V else -1
    if transfer.split in (ROWS, ODD_ROWS):
        rows = -(-rows // 2) if half > 0 else 2 * rows
    elif transfer.split in (COLS, ODD_COLS):
        cols = -(-cols // 2) if half > 0 else 2 * cols
    for tile in popped:
        if (tile.rows, tile.cols, tile.element) == (rows, cols, element):
            return tile
    if transfer.direction == C2V:
        return t.TileBufType("vec", rows, cols, element)
    return t.TileBufType("mat", rows, cols, element, blayout="col_major", slayout="row_major")


# ------------------------------------------------------------ values


@dataclass(eq=False)
class Outgoing:
    """The values of a pushed tile as storage of the entry's element type."""

    target_type: Any
    target: Format
    convert: Convert
    as_it_is: bool = False
    """Values are unchanged."""

    @classmethod
    def of(cls, op: PtoOp, g: Generator, transfer: Transfer, popped: Sequence[t.TileBufType]) -> Outgoing:
        """Returns the conversion of a push; raises the error of the operation for an unsupported one."""
        type_ = named(op, "tile").type
        if not isinstance(type_, t.TileBufType):
            raise g.error("unmodelled", f"{t.type_text(type_)} cannot be pushed", op)
        epilogue = transfer.facts.epilogue
        element = target_element(type_, popped, epilogue)
        source, target = element_format(type_, g), g.format(element)
        if epilogue is not None:
            return cls(element, target, Converting(source, target, epilogue, transfer.facts.label))
        if type_.loc == "acc":
            out = AccumulatorOut(source.name, target.name, "no_relu", g.profile, False)
            return cls(element, target, lambda _, tile: out(tile.read()), source.name == target.name)
        like = ValueTile(1, 1, target)
        return cls(element, target, lambda _, tile: converted(tile.read(), tile, like), source.name == target.name)


class Converting:
    """Conversion of a queue with an epilogue: its scale was latched at the producer's end."""

    def __init__(self, source: Format, target: Format, epilogue: Epilogue, label: str) -> None:
        self.source = source
        self.target = target
        self.mode = None if epilogue.quant == "no_convert" else epilogue.quant
        self.relu = ("normal_relu", None) if epilogue.relu == "normal_relu" else None
        self.label = label

    def __call__(self, end: FifoEnd, tile: AnyTile) -> Array:
        """Returns the values of a pushed tile in the element type of the entry. Raises ``Fault`` (``pipe-epilogue``)
        where no scale was set."""
        values = tile.read()
        quant = None if self.mode is None else (self.mode, self._payload(end, values.shape[1]))
        return fixpipe.convert(values, self.source.name, self.target.name, quant=quant, relu=self.relu)

    def _payload(self, end: FifoEnd, columns: int) -> Any:
        assert self.mode is not None
        scale = end.scale
        if self.mode.endswith("_scalar"):
            if not isinstance(scale, float):
                raise Fault("pipe-epilogue", f"the scale of {self.label} was not set")
            return scale
        if not self.mode.endswith("_vec"):
            return 0.0
        if not isinstance(scale, ValueTile):
            raise Fault("pipe-epilogue", f"the scales of {self.label} were not set")
        return channel_table(scale, columns, self.target.kind == "int")


# ------------------------------------------------------------ slots


class Push:
    """Stores a tile in a slot: row-major in global memory, otherwise as the tile that ``maker`` builds there."""

    label = "tpush"

    def __init__(self, transfer: Transfer, outgoing: Outgoing, maker: TileMaker | None) -> None:
        self.direction = transfer.direction
        self.split = transfer.split
        self.slot_size = transfer.facts.slot_size
        self.outgoing = outgoing
        self.maker = maker

    def __call__(self, end: FifoEnd, number: int, tile: AnyTile, vector: int | None = None) -> None:
        """Stores ``tile`` in slot ``number``, the part for ``vector`` where that core is named; a core that does not
        take part does nothing."""
        if not end.takes_part(self.direction, True, self.split):
            return
        values = self.outgoing.convert(end, tile)
        index = end.core.index if vector is None else vector
        if self.maker is None:
            self._to_gm(end, number, values, index)
        elif self.direction == C2V:
            self._to_vector_cores(end, number, values)
        else:
            self._to_cube(end, number, values, index)

    def _to_gm(self, end: FifoEnd, number: int, values: Array, index: int) -> None:
        rows, cols = values.shape
        split = 0 if self.direction == C2V else self.split
        row, col, height, width = placed(rows, cols, split, index)
        pointer = end.gm_address(self.direction, number, self.outgoing.target)
        if height * width * pointer.item_bytes > self.slot_size:
            size = height * width * pointer.item_bytes
            raise Fault("pipe-slot", f"an entry of {size} bytes does not fit into a slot of {self.slot_size} bytes")
        slot_view(pointer, row * width + col, rows, cols, width)[...] = values

    def _to_vector_cores(self, end: FifoEnd, number: int, values: Array) -> None:
        assert self.maker is not None
        parts = halves(values, self.split)
        for core in block_cores(end.core)[1]:
            if core.index == 0 or self.split or end.everyone:
                part = parts[core.index]
                self.maker(core, end.local_address(self.direction, number), *part.shape).write(part)

    def _to_cube(self, end: FifoEnd, number: int, values: Array, index: int) -> None:
        assert self.maker is not None
        rows, cols = values.shape
        row, col, height, width = placed(rows, cols, self.split, index)
        if height > self.maker.type.rows or width > self.maker.type.cols:
            shape = f"{self.maker.type.rows}x{self.maker.type.cols}"
            raise Fault("pipe-slot", f"an entry of {height}x{width} elements does not fit into a tile of {shape}")
        tile = self.maker(end.core, end.local_address(self.direction, number), height, width)
        tile.view.window(row, col, *values.shape).write(values)


class Fetch:
    """Loads a slot of global memory, or a vector core's part of it, into the popped tile."""

    label = "tpop"

    def __init__(self, direction: int, split: int) -> None:
        self.direction = direction
        self.split = split if direction == C2V else 0

    def __call__(self, end: FifoEnd, number: int, tile: Tile, vector: int | None = None) -> None:
        """Loads slot ``number`` of global memory into ``tile``, the part of ``vector`` where that core is named."""
        if not end.takes_part(self.direction, False, self.split):
            return
        rows, cols = tile.valid_rows, tile.valid_cols
        index = end.core.index if vector is None else vector
        row, col, _, width = placed(rows, cols, self.split, index)
        pointer = end.gm_address(self.direction, number, tile.fmt)
        tile.write(slot_view(pointer, row * width + col, rows, cols, width))


def slot_view(pointer: Pointer, start: int, rows: int, cols: int, width: int) -> Array:
    """Returns ``rows`` x ``cols`` elements of a slot whose rows have ``width``, from element ``start`` on."""
    item = pointer.item_bytes
    return strided_view(pointer.advance(start), (rows, cols), (width * item, item))

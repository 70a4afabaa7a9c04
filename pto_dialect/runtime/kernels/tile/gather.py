"""Gathers and scatters inside the unified buffer. Source: docs/reference/tiles.md, "Irregular operations"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.numerics.decode import decode
from pto_dialect.runtime.numerics.formats import Format
from pto_dialect.targets.mask_patterns import MASK_PATTERNS
from pto_dialect.targets.vector_unit import VLANE_BYTES

from ..registry import kernel
from .compare import compare_mode
from .generate import integer_attribute
from .operands import (
    AnyTile,
    in_row_order,
    linear_memory,
    number,
    region,
    tile_format,
    tile_operand,
    write_all,
    write_at,
    write_linear,
)


def offsets_of(tile: AnyTile, rows: int, cols: int) -> Array:
    """Returns index elements as non-negative numbers: the hardware reads them as unsigned (docs/reference/vectors.md,
    "Loads and stores")."""
    values = np.ascontiguousarray(region(tile, rows, cols))
    return values.view(f"u{values.dtype.itemsize}").astype(np.int64)


def check_offsets(offsets: Array, limit: int, what: str) -> None:
    """Raises ``Fault`` (``mem-oob``) when an offset reaches ``limit``."""
    if offsets.size and int(offsets.max()) >= limit:
        raise Fault("mem-oob", f"{what}: index {int(offsets.max())} leaves the {limit} elements of the memory")


def bits_as(values: Array, fmt: Format) -> Array:
    """Returns the same bits as elements of ``fmt``, which have the same size."""
    return values if values.dtype == fmt.storage else np.ascontiguousarray(values).view(fmt.storage)


def gather_elements(src: AnyTile, indices: AnyTile, dst: AnyTile) -> None:
    """dst(r,c) = element indices(r,c) of src in memory order."""
    positions = offsets_of(indices, dst.valid_rows, dst.valid_cols)
    memory = linear_memory(src)
    check_offsets(positions, memory.size, "tgather")
    dst.write(memory[positions])


class PatternMask:
    """Positions that a pattern selects, along rows or whole rows."""

    def __init__(self, pattern: str, by_rows: bool) -> None:
        self.step, self.first = MASK_PATTERNS[pattern]
        self.by_rows = by_rows


class GatherMask(PatternMask):
    """The elements that a pattern selects, packed: along consecutive rows, or whole rows."""

    label = "tgather"

    def __call__(self, src: AnyTile, dst: AnyTile) -> None:
        """Packs the selected elements of ``src`` into ``dst``."""
        values = src.read()
        picked = values[self.first :: self.step] if self.by_rows else values[:, self.first :: self.step]
        picked = bits_as(picked, dst.fmt)
        if self.by_rows:
            if picked.shape[0] > dst.rows or picked.shape[1] > dst.cols:
                actual = f"{picked.shape[0]}x{picked.shape[1]} selected elements"
                raise Fault("gather-mask-count", f"{actual} do not fit into {dst.rows}x{dst.cols}")
            write_at(dst, 0, picked)
            return
        if picked.shape[0] <= dst.valid_rows and picked.shape[1] == dst.valid_cols:
            dst.write(picked)
            return
        if picked.size > dst.rows * dst.cols:
            raise Fault("gather-mask-count", f"{picked.size} selected elements do not fit into {dst.rows}x{dst.cols}")
        write_linear(dst, picked.flatten())


_REPEAT = 64
"""Elements that one step of a gather by comparison takes on a5."""


class GatherMatches:
    """dst row r = positions of the elements of row r that compare with a number; counts = their number.

    A position is the element's index in the rows of the source, plus ``offset``: rows follow each other as in memory,
    or, with ``repeats``, as the instruction counts them, each in a whole number of repeats. Positions that do not fit
    into the valid columns of dst are dropped.
    """

    label = "tgather"

    def __init__(self, compare: Callable[..., Any], fmt: Format, offset: int, repeats: bool) -> None:
        self.compare = compare
        self.fmt = fmt
        self.offset = offset
        self.repeats = repeats

    def _pitch(self, src: AnyTile) -> int:
        """Returns the positions from one row to the next."""
        return -(-src.valid_cols // _REPEAT) * _REPEAT if self.repeats else src.cols

    def __call__(self, src: AnyTile, value: Any, dst: AnyTile, counts: AnyTile) -> None:
        """Writes the positions of matches in ``src`` to ``dst`` and their number in each row to ``counts``."""
        matches = self.compare(decode(src.read(), self.fmt), value)
        rows, pitch = matches.shape[0], self._pitch(src)
        if rows > dst.rows:
            raise Fault("tile-valid-rows", f"positions of {rows} rows do not fit into {dst.rows} rows")
        counted = np.zeros(rows, np.int64)
        for row in range(rows):
            positions = np.flatnonzero(matches[row])
            counted[row] = positions.size
            fitting = positions[: dst.valid_cols] + (row * pitch + self.offset)
            if fitting.size:
                # The elements after the positions are unchanged.
                write_at(dst, row, fitting.astype(dst.fmt.storage).reshape(1, -1))
        if counted.size > counts.rows * counts.cols:
            raise Fault("tile-valid-rows", f"{rows} counts do not fit into {counts.rows}x{counts.cols}")
        write_linear(counts, counted.astype(counts.fmt.storage))


def gather_blocks(src: AnyTile, offsets: AnyTile, dst: AnyTile) -> None:
    """Block b of dst row r = the 32 bytes of src at byte offset offsets(r,b)."""
    size = dst.fmt.bytes
    per_block = VLANE_BYTES // size
    rows, blocks = dst.valid_rows, -(-dst.valid_cols // per_block)
    starts = offsets_of(offsets, rows, blocks)
    memory = linear_memory(src).view(np.uint8)
    check_offsets(starts + (VLANE_BYTES - 1), memory.size, "tgatherb")
    raw = memory[starts[:, :, None] + np.arange(VLANE_BYTES)]
    values = raw.reshape(rows, blocks * VLANE_BYTES).view(dst.fmt.storage)
    dst.write(values[:, : dst.valid_cols])


def scatter_elements(src: AnyTile, indexes: AnyTile, dst: AnyTile) -> None:
    """Element indexes(r,c) of dst in memory order = src(r,c), in row order; all others become 0, also outside of the
    valid region."""
    rows, cols = indexes.valid_rows, indexes.valid_cols
    positions = offsets_of(indexes, rows, cols).reshape(-1)
    values = region(src, rows, cols).flatten()
    check_offsets(positions, linear_memory(dst).size, "tscatter")
    write_all(dst, np.zeros((dst.rows, dst.cols), dst.fmt.storage))
    memory = linear_memory(dst)
    # Of equal positions the last one wins.
    memory[positions] = values
    if in_row_order(dst) is None:
        write_all(dst, memory.reshape(dst.rows, dst.cols))


class ScatterMask(PatternMask):
    """Elements of src scattered to the positions that a pattern selects, 0 between them; with ``clears`` all other
    elements become 0, also outside of the valid region."""

    label = "tscatter"

    def __init__(self, pattern: str, by_rows: bool, clears: bool = False) -> None:
        super().__init__(pattern, by_rows)
        # A pattern of all elements is a move.
        self.clears = clears and self.step > 1

    def __call__(self, src: AnyTile, dst: AnyTile) -> None:
        """Scatters the elements of ``src`` to ``dst``."""
        values = bits_as(src.read(), dst.fmt)
        out = np.zeros((dst.valid_rows, dst.valid_cols), dst.fmt.storage)
        spread = out[self.first :: self.step] if self.by_rows else out[:, self.first :: self.step]
        rows, cols = min(spread.shape[0], values.shape[0]), min(spread.shape[1], values.shape[1])
        spread[:rows, :cols] = values[:rows, :cols]
        if self.clears and out.shape != (dst.rows, dst.cols):
            write_all(dst, np.zeros((dst.rows, dst.cols), dst.fmt.storage))
        dst.write(out)


def _along_rows(op: PtoOp) -> bool:
    return getattr(op.attributes.get("axis"), "data", "row") == "col"


@kernel("pto.tgather")
def tgather(op: PtoOp, g: Generator) -> None:
    """Elements of a tile: those at given positions, those that a pattern selects, or the positions of those that
    compare with a number."""
    src, dst = tile_operand(op, g, "src"), g.destination(op)
    fmt, target = tile_format(src, g), tile_format(dst, g)
    pipe, pattern = g.pipe(op), enumerator(op, "maskPattern")
    scalar = g.operand(op, "kValue")
    if scalar is not None:
        counts = g.destination(op, "cdst", 1)
        repeats = g.profile.arch == "a5"
        instruction = GatherMatches(compare_mode(op), fmt, integer_attribute(op, "offset", 0), repeats)
        g.call(instruction, src, number(g, scalar, fmt), dst, counts, pipe=pipe)
        return
    if fmt.bytes != target.bytes:
        raise g.error("unmodelled", f"tgather of {fmt.name} elements into {target.name} cannot be executed")
    if pattern:
        g.call(GatherMask(pattern, _along_rows(op)), src, dst, pipe=pipe)
    else:
        g.call(gather_elements, src, tile_operand(op, g, "indices"), dst, pipe=pipe)


@kernel("pto.tgatherb")
def tgatherb(op: PtoOp, g: Generator) -> None:
    """Blocks of 32 bytes at given byte offsets."""
    src, offsets, dst = tile_operand(op, g, "src"), tile_operand(op, g, "offsets"), g.destination(op)
    g.call(gather_blocks, src, offsets, dst, pipe=g.pipe(op))


@kernel("pto.tscatter")
def tscatter(op: PtoOp, g: Generator) -> None:
    """Elements to the positions that another tile names, or to those that a pattern selects."""
    src, dst = tile_operand(op, g, "src"), g.destination(op)
    if tile_format(src, g).bytes != tile_format(dst, g).bytes:
        raise g.error("unmodelled", "tscatter between elements of different sizes cannot be executed")
    pipe, pattern = g.pipe(op), enumerator(op, "maskPattern")
    if pattern:
        by_rows = _along_rows(op)
        instruction = ScatterMask(pattern, by_rows, by_rows or g.options.backend != "vpto")
        g.call(instruction, src, dst, pipe=pipe)
    else:
        g.call(scatter_elements, src, tile_operand(op, g, "indexes"), dst, pipe=pipe)

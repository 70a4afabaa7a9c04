"""``tsort32`` and ``tmrgsort``: records of a score and a position, sorted by score. Source: docs/reference/tiles.md,
"Irregular operations".

A record has 8 bytes: the score (f32, or f16 and two bytes of 0) and a 32-bit position.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from pto_dialect.ir.core.base import PtoOp
from pto_dialect.runtime.compile.generator import Expr, Generator
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.spaces import Array, strided_view
from pto_dialect.runtime.memory.values import Tile
from pto_dialect.runtime.numerics.formats import Format
from pto_dialect.runtime.vector.sort import RECORD, SORTED, falling, merge_order
from pto_dialect.targets.backend import SORT_FILLERS

from ..registry import kernel
from .generate import integer_attribute
from .operands import AnyTile, in_row_order, region, tile_format, tile_operand

_STATE = Expr("core.state")
_MERGED_LISTS = 4
"""Maximum number of lists of one merge."""


def make_records(scores: Array, positions: Array) -> Array:
    """Returns records as 64-bit words: the bits of the score low, the position high."""
    bits = np.ascontiguousarray(scores).view(f"u{scores.dtype.itemsize}").astype(np.uint64)
    return bits | (positions.astype(np.uint64) << np.uint64(32))


def scores_of(records: Array, fmt: Format) -> Array:
    """Returns the scores of records."""
    return records.view(fmt.storage)[..., :: RECORD // fmt.bytes]


def descending(scores: Array) -> Array:
    """Returns the order of the last axis by descending score; equal scores keep their order, NaN comes last."""
    return np.argsort(-scores.astype(np.float32), axis=-1, kind="stable")


class SortGroups:
    """Records of each group of 32 scores of a row, sorted; an incomplete group is filled with ``filler``."""

    label = "tsort32"

    def __init__(self, fmt: Format, filler: float) -> None:
        self.fmt = fmt
        self.filler = filler

    def __call__(self, src: AnyTile, idx: AnyTile, dst: AnyTile) -> None:
        """Sorts the scores of ``src`` with the positions of ``idx`` into ``dst``."""
        rows, cols = src.valid_rows, src.valid_cols
        if not (rows and cols):
            return
        width = -(-cols // SORTED) * SORTED
        scores = np.full((rows, width), self.filler, self.fmt.storage)
        scores[:, :cols] = src.read()
        positions = np.zeros((rows, width), np.uint32)
        # One row of positions serves all rows.
        positions[:, :cols] = region(idx, 1 if idx.valid_rows == 1 else rows, cols).view(np.uint32)
        records = make_records(scores, positions).reshape(rows, -1, SORTED)
        ordered = np.take_along_axis(records, descending(scores.reshape(records.shape)), axis=-1)
        flat = ordered.reshape(rows, width).view(self.fmt.storage)
        dst.write(flat[: dst.valid_rows, : dst.valid_cols])
        if isinstance(dst, Tile):
            _write_after(dst, flat[: dst.valid_rows])


def _write_after(dst: Tile, records: Array) -> None:
    """Writes the records of the last row that are after the memory of ``dst``: whole groups are written, whatever
    belongs to the tile. Raises ``Fault`` (``mem-oob``) at the end of the memory."""
    rows, width = records.shape
    layout = dst.layout
    size = layout.rows * layout.cols
    after = (dst.row0 + rows - 1) * layout.cols + dst.col0 + width - size
    if rows and after > 0:
        outside = strided_view(dst.pointer.advance(size), (min(after, width),), (layout.item_bytes,))
        np.copyto(outside, records[-1, width - min(after, width) :])


def records_of(tile: AnyTile, fmt: Format) -> Array:
    """Returns the records in the valid columns of a one-row tile."""
    per_record = RECORD // fmt.bytes
    count = tile.valid_cols // per_record
    row = np.ascontiguousarray(region(tile, 1, count * per_record))
    return row.reshape(-1).view(np.uint64)


class MergeBlocks:
    """Merges each four adjacent sorted blocks of ``block`` elements into one sorted block.

    Remaining blocks give 0 with ``clears``; otherwise the corresponding part of dst is unchanged.
    """

    label = "tmrgsort"

    def __init__(self, fmt: Format, clears: bool) -> None:
        self.fmt = fmt
        self.clears = clears

    def __call__(self, src: AnyTile, block: int, dst: AnyTile) -> None:
        """Merges blocks of ``block`` elements of ``src`` into ``dst``. Raises ``Fault`` (``mrgsort-form``) for a block
        without whole records."""
        per_record = RECORD // self.fmt.bytes
        if block <= 0 or block % per_record:
            raise Fault("mrgsort-form", f"a block of {block} elements holds no whole records")
        size = _MERGED_LISTS * block // per_record
        records = records_of(src, self.fmt)
        count = min(records.size, dst.valid_cols // per_record)
        complete = count // size * size
        grouped = records[:complete].reshape(-1, size)
        keys = falling(scores_of(grouped, self.fmt).reshape(-1, _MERGED_LISTS, size // _MERGED_LISTS)).reshape(-1, size)
        order = np.argsort(-keys, axis=-1, kind="stable")
        merged = np.take_along_axis(grouped, order, axis=-1).reshape(-1)
        if self.clears:
            merged = np.concatenate([merged, np.zeros(count - complete, merged.dtype)])
        if merged.size:
            dst.write(merged.view(self.fmt.storage).reshape(1, -1))


class MergeLists:
    """Merges two to four sorted rows into one; ``counts`` receives the number of records from each row, whatever part
    of the merge dst has room for.

    ``exhausted`` stops as soon as one row is empty. All columns of dst are copied from the scratch tile, so with
    ``undefines`` those after the merged records are undefined.
    """

    label = "tmrgsort"

    def __init__(self, fmt: Format, exhausted: bool, undefines: bool = False) -> None:
        self.fmt = fmt
        self.exhausted = exhausted
        self.undefines = undefines

    def merge(self, lists: Sequence[Array], capacity: int) -> tuple[Array, Array]:
        """Returns the merged records, at most ``capacity``, and the number that the merge took from each list."""
        order, counts = merge_order([scores_of(records, self.fmt) for records in lists], self.exhausted)
        return np.concatenate(lists)[order[:capacity]], np.pad(counts, (0, _MERGED_LISTS - counts.size))

    def __call__(self, dst: AnyTile, counts: Any, state: dict[Any, Any], *sources: AnyTile) -> None:
        """Merges ``sources`` into ``dst``. The number of records from each goes to ``counts``, where it is large
        enough, and to the register that ``get_vms4_sr`` reads in the ``state`` of the core."""
        capacity = dst.valid_cols * self.fmt.bytes // RECORD
        merged, taken = self.merge([records_of(tile, self.fmt) for tile in sources], capacity)
        dst.write(merged.view(self.fmt.storage).reshape(1, -1))
        start = in_row_order(dst) if self.undefines else None
        if start is not None and merged.nbytes < dst.valid_cols * self.fmt.bytes:
            start.arena.undefine(start.offset + merged.nbytes, start.offset + dst.valid_cols * self.fmt.bytes)
        state["vms4"] = tuple(taken.tolist())
        if isinstance(counts, np.ndarray) and counts.size == _MERGED_LISTS:
            counts[...] = taken.astype(np.uint16).astype(counts.dtype).reshape(counts.shape)


def no_counts() -> Array:
    """Returns counts before a merge, as a new array."""
    return np.zeros(_MERGED_LISTS, np.int16)


@kernel("pto.tsort32")
def tsort32(op: PtoOp, g: Generator) -> None:
    """Records of score and position, each 32 of a row sorted by descending score."""
    src, idx, dst = tile_operand(op, g, "src"), tile_operand(op, g, "idx"), g.destination(op)
    if tile_format(idx, g).bytes != 4:
        raise g.error("sort-types", "positions of tsort32 have 32 bits")
    fmt = _score_format(src, op, g)
    filler = SORT_FILLERS[fmt.name] if g.options.backend == "vpto" else -np.inf
    g.call(SortGroups(fmt, filler), src, idx, dst, pipe=g.pipe(op))


@kernel("pto.tmrgsort")
def tmrgsort(op: PtoOp, g: Generator) -> None:
    """Sorted rows of records merged into one, or each four adjacent sorted blocks of one row into one block."""
    groups = g.operands(op)
    sources = groups["srcs"]
    fmt = _score_format(sources[0], op, g)
    pipe = g.pipe(op)
    dst = groups["dsts"][0] if groups["dsts"] else g.destination(op, "", 0)
    block = g.operand(op, "blockLen")
    if block is not None:
        g.call(MergeBlocks(fmt, clears=g.options.backend == "emitc"), sources[0], block, dst, pipe=pipe)
        return
    counts = g.operand(op, "excuted")
    if counts is None and len(op.results) > 1:
        counts = op.results[1]
        g.define(counts, f"{g.argument(no_counts)}()")
    merge = MergeLists(fmt, bool(integer_attribute(op, "exhausted", 0)), g.undefines)
    g.call(merge, dst, counts, _STATE, *sources, pipe=pipe)


def _score_format(scores: SSAValue, op: PtoOp, g: Generator) -> Format:
    fmt = tile_format(scores, g)
    if fmt.name not in ("f16", "f32"):
        raise g.error("sort-types", f"{op.name} sorts f16 or f32 scores, found {fmt.name}")
    return fmt

"""Unit flags: the hand-over of accumulators between the cube unit and the write-back, block by block.

Source: docs/reference/execution.md, "Synchronisation"; docs/reference/instrumentation.md, "Findings".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pto_dialect.ir.core.extents import round_up
from pto_dialect.runtime.memory.spaces import Pointer
from pto_dialect.runtime.memory.values import Tile

from ..report.findings import Finding
from ..state.clocks import Clock, Thread
from .observed import ObservedCore
from .observer import RunObserver

if TYPE_CHECKING:
    from ..context import Context

BLOCK_BYTES = 1024
_ROW_BYTES = 64
_SIDE = 16


@dataclass(frozen=True)
class UnitCheck:
    """Blocks that an instruction checks, whether they must be full, and their state after it (``None``: unchanged)."""

    blocks: tuple[int, ...]
    full: bool
    sets: bool | None


class UnitFlags:
    """The full blocks of the accumulator of one core, and the clock of the pipe that filled them."""

    def __init__(self, core: ObservedCore, observer: RunObserver) -> None:
        self.core = core
        self.observer = observer
        self.full: set[int] = set()
        self.known: dict[int, Clock] = {}
        self.times: dict[int, float] = {}
        self.expected: tuple[str, tuple[int, ...]] | None = None

    def expect(self, word: str, pointer: Pointer, m: int, n: int, stride: int | None) -> None:
        """Records the check of the next instruction."""
        rows = round_up(max(m, 1), _SIDE)
        step = rows if stride is None else stride
        blocks: set[int] = set()
        for column in range(-(-max(n, 1) // _SIDE)):
            start = pointer.offset + column * step * _ROW_BYTES
            blocks.update(range(start // BLOCK_BYTES, -(-(start + rows * _ROW_BYTES) // BLOCK_BYTES)))
        self.expected = (word, tuple(sorted(blocks)))

    def expect_tile(self, word: str, tile: Tile) -> None:
        """Records the check of the next instruction, of the blocks in the valid region of a tile."""
        rows = tile.layout.rows
        first = tile.pointer.shifted(tile.col0 // _SIDE * rows * _ROW_BYTES + tile.row0 * _ROW_BYTES)
        self.expect(word, first, tile.valid_rows, tile.valid_cols, rows)

    def take(self, pipe: str) -> UnitCheck | None:
        """Returns the check of the instruction that is issued to ``pipe`` now."""
        if self.expected is None:
            return None
        word, blocks = self.expected
        self.expected = None
        product = pipe == "PIPE_M"
        return UnitCheck(blocks, not product, None if word == "check_only" else product)

    def open(self, check: UnitCheck) -> bool:
        """Returns whether the blocks are in the state that the instruction requires."""
        return all((block in self.full) == check.full for block in check.blocks)

    def passed(self, thread: Thread, check: UnitCheck) -> None:
        """Lets the instruction continue and joins the clock of the other side."""
        other = self.core.threads["PIPE_M" if check.full else "PIPE_FIX"]
        for block in check.blocks:
            known = self.known.get(block)
            if known is not None:
                thread.join(known)
                self.observer.delay(thread, self.times[block], "unit-flag", other)

    def hand(self, thread: Thread, check: UnitCheck) -> None:
        """Handles that the instruction has finished with its blocks."""
        known = thread.snapshot()
        for block in check.blocks:
            if check.sets:
                self.full.add(block)
            else:
                self.full.discard(block)
            self.known[block] = known
            self.times[block] = thread.time
        thread.tick()

    def _ordered(self, thread: Thread) -> bool:
        """Returns whether everything that products have written happens before the present operation of ``thread``."""
        accumulators: Any = self.core.arena("l0c")
        last = accumulators.shadow.last_write.get(self.core.threads["PIPE_M"].number)
        return last is not None and self.observer.log.happened_before(last, thread)

    def refused(self, thread: Thread, context: Context, check: UnitCheck) -> None:
        """Reports that the blocks will never be in the required state.

        A write-back that a flag orders after the product does not need the unit flag.
        """
        observer = self.observer
        thread.join(context.mark.known)
        handed = any(block in self.known for block in check.blocks)
        if check.full and not handed and self._ordered(thread):
            return
        site = observer.sites[context.mark.site]
        if not observer.wants("sync") or observer.findings.repeated("sync-unit-flag", site):
            return
        blocks = [block for block in check.blocks if (block in self.full) != check.full]
        where = f"[{blocks[0] * BLOCK_BYTES}, {(blocks[-1] + 1) * BLOCK_BYTES})"
        if check.full:
            message = f"{site.name} waits for the unit flag of l0c bytes {where}, which no product sets"
            advice = "unit_flag(check_and_set) on the product, or a flag from PIPE_M to PIPE_FIX"
        else:
            message = (
                f"{site.name} waits until l0c bytes {where} are handed over, but no write-back clears their unit flag"
            )
            advice = "unit_flag(check_and_clear) on the write-back in between"
        observer.findings.add(Finding("sync-unit-flag", message, (site,), site.span, help=advice))

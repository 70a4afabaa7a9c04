"""How long a shape of tiles takes: the pipes of the cube core as queues, with the slots that they wait for.

Source: docs/reference/cycles.md, "Pipes", "Transfers", "Products".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from pto_dialect.analysis.cycles.moves import FRACTAL, INNER_BYTES, extract_lanes
from pto_dialect.analysis.cycles.table import CycleTable
from pto_dialect.targets.matmul_types import MX_SCALE_GROUP

_FOLLOWED = 3
"""Blocks that are followed; each further one takes as long as the last of these."""


class Sizes(NamedTuple):
    """Bits of an element of the operands and of the result in global memory, the name of the former, whether operands
    have scales."""

    bits: int
    out_bits: int
    element: str
    scaled: bool = False


@dataclass(frozen=True)
class Times:
    """Cycles of what a pipe does, by the table of a chip."""

    table: CycleTable
    sizes: Sizes

    def move(self, path: str, elements: int, bits: int) -> float:
        """Returns a transfer of ``elements`` along ``path``."""
        law = self.table.group("move", path, "*")
        return law["fixed"] + elements * bits / 8 / law["rate"]

    def load(self, rows: int, columns: tuple[int, ...], pieces: list[int]) -> float:
        """Returns the loads of a panel of both operands into L1; scales come piece by piece."""
        panel, bits = sum(pieces), self.sizes.bits
        load = self.move("gm:l1", rows * panel, bits) + self.move("gm:l1", sum(columns) * panel, bits)
        if self.sizes.scaled:
            load += sum(
                self.move("gm:l1", one * piece // MX_SCALE_GROUP, 8) for piece in pieces for one in (rows, *columns)
            )
        return load

    def product(self, rows: int, columns: int, depth: int) -> float:
        """Returns a product."""
        type_ = self.table.type_of("cube", "tmatmul", self.sizes.element)
        law = {"head": 0.0, "passes": 1.0} if type_ is None else self.table.group("cube", "tmatmul", type_)
        blocks = -(-rows // FRACTAL) * -(-columns // FRACTAL) * -(-depth * self.sizes.bits // (8 * INNER_BYTES))
        return law["head"] + law["passes"] * blocks


def cycles(
    times: Times, blocks: int, rows: int, columns: tuple[int, ...], panels: tuple[int, ...], depth: int, slots: int
) -> float:
    """Returns the cycles of ``blocks`` blocks of ``rows`` rows and accumulators of ``columns`` columns, whose panels
    have those lengths along k; ``depth`` is that of a product."""
    core = _Core(times, rows, columns, panels, depth, slots)
    ends = [0.0]
    for _ in range(min(blocks, _FOLLOWED)):
        core.block()
        ends.append(core.cube)
    more = max(0, blocks - _FOLLOWED)
    return core.out + more * (ends[-1] - ends[-2])


class _Core:
    """When each pipe of a core is done, and from when on each slot may be written."""

    def __init__(
        self, times: Times, rows: int, columns: tuple[int, ...], panels: tuple[int, ...], depth: int, slots: int
    ) -> None:  # fmt: skip
        bits = times.sizes.bits
        self.slots, self.columns = slots, columns
        lengths = [[min(depth, panel - at) for at in range(0, panel, depth)] for panel in panels]
        self.panels = [(times.load(rows, columns, one), one) for one in lengths]
        pieces = {piece for _, some in self.panels for piece in some}
        self.left = {piece: times.move("l1:l0a", rows * piece, bits) for piece in pieces}
        pairs = {(piece, part) for piece in pieces for part in columns}
        self.right = {(piece, part): times.move("l1:l0b", part * piece, bits) for piece, part in pairs}
        self.products = {(piece, part): times.product(rows, part, piece) for piece, part in pairs}
        self.stores = [times.move("l0c:gm", rows * part, times.sizes.out_bits) for part in columns]
        self.lanes = extract_lanes(times.table)
        self.load = self.out = self.cube = 0.0
        self.moves = [0.0, 0.0]
        self.level1 = [0.0] * slots
        self.level0 = [0.0] * slots
        self.sums = [0.0] * len(columns)
        self.step = self.turn = 0

    def block(self) -> None:
        """Computes one block."""
        for number, (load, pieces) in enumerate(self.panels):
            slot = self.step % self.slots
            self.step += 1
            self.load = max(self.load, self.level1[slot]) + load
            for part, width in enumerate(self.columns):
                for at, piece in enumerate(pieces):
                    self._multiply(part, width, piece, begins=number == at == 0)
                if number == len(self.panels) - 1:
                    self.out = max(self.out, self.cube) + self.stores[part]
                    self.sums[part] = self.out
            self.level1[slot] = max(self.moves)

    def _multiply(self, part: int, width: int, piece: int, begins: bool) -> None:
        slot = self.turn % self.slots
        self.turn += 1
        start = max(self.load, self.level0[slot])
        left = max(self.moves[0], start) + self.left[piece]
        before = max(self.moves[1], start) if self.lanes > 1 else left
        right = before + self.right[piece, width]
        self.moves = [left if self.lanes > 1 else right, right]
        self.cube = max(self.cube, left, right, self.sums[part] if begins else 0.0) + self.products[piece, width]
        self.level0[slot] = self.cube

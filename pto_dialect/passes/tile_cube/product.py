"""A matrix product in global memory, as the loops of a program compute it.

Source: docs/reference/numerics.md, "Matrix products".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.dialects.scf import ForOp
from xdsl.ir import Block, Operation, SSAValue

from pto_dialect.ir.buffers.views import PartitionViewOp
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.types import TileBufType
from pto_dialect.ir.tile.memory import TLoadOp, TStoreOp

from .sums import Sum


class NotTiledError(Exception):
    """Why a product keeps its tiles."""


@dataclass(frozen=True)
class Window:
    """Rows and columns of an array in global memory: ``rows`` x ``cols`` elements from ``row``, ``col`` on; ``part`` is
    a part of the same view."""

    part: PartitionViewOp
    row: Sum
    col: Sum
    rows: int
    cols: int

    def at(self, value: SSAValue, number: int) -> Window:
        """The window for one number of ``value``."""
        return Window(self.part, self.row.at(value, number), self.col.at(value, number), self.rows, self.cols)


@dataclass(frozen=True)
class Operand:
    """An operand of a product: what it shows of an array, and how it comes there: a load into a tile of L1, a move into
    the tile of the product."""

    window: Window
    load: TLoadOp
    move: PtoOp
    level1: TileBufType
    level0: TileBufType


class Start(NamedTuple):
    """The product that begins a sum. With ``when``, ``then`` begins it where that value is true, else ``other``."""

    op: PtoOp | None
    when: SSAValue | None = None
    then: Start | None = None
    other: Start | None = None

    def products(self) -> tuple[PtoOp, ...]:
        """All products that may begin the sum."""
        if self.op is not None:
            return (self.op,)
        assert self.then is not None
        assert self.other is not None
        return (*self.then.products(), *self.other.products())


@dataclass
class Product:
    """``store`` writes rows x cols sums over ``depth`` products of elements of ``left`` and ``right``. ``ops`` are the
    operations that compute it inside of ``block``, where ``place`` is the last one; ``loops`` have been followed."""

    store: TStoreOp
    out: Window
    left: Operand
    right: Operand
    bias: Operand | None
    start: Start
    depth: int
    block: Block
    place: Operation
    acc: TileBufType
    ops: set[Operation] = field(default_factory=set)
    loops: list[ForOp] = field(default_factory=list)
    rows: int = 0
    cols: int = 0

    def windows(self) -> tuple[Window, ...]:
        """What the product reads and writes of global memory."""
        biases = () if self.bias is None else (self.bias.window,)
        return (self.left.window, self.right.window, *biases, self.out)

"""A matrix product in global memory, as the loops of a program compute it.

Source: docs/reference/numerics.md, "Matrix products".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from xdsl.dialects.scf import ForOp
from xdsl.ir import Block, Operation, SSAValue

from pto_dialect.ir.buffers.views import PartitionViewOp
from pto_dialect.ir.core.base import PtoOp, signature
from pto_dialect.ir.core.types import TileBufType
from pto_dialect.ir.cube.gemv import (
    TGemvAccOp,
    TGemvBiasOp,
    TGemvMxAccOp,
    TGemvMxBiasOp,
    TGemvMxOp,
    TGemvOp,
)
from pto_dialect.ir.cube.matmul import (
    TMatmulAccOp,
    TMatmulBiasOp,
    TMatmulMxAccOp,
    TMatmulMxBiasOp,
    TMatmulMxOp,
    TMatmulOp,
)
from pto_dialect.ir.tile.memory import TLoadOp, TStoreOp
from pto_dialect.targets.matmul_types import MX_SCALE_GROUP

from .sums import Sum


class Family(NamedTuple):
    """Products of one kind: the operations that begin sums, begin them with a bias, and add to them."""

    begin: type[PtoOp]
    biased: type[PtoOp]
    adding: type[PtoOp]
    one_row: bool = False
    scaled: bool = False


FAMILIES = (
    Family(TMatmulOp, TMatmulBiasOp, TMatmulAccOp),
    Family(TGemvOp, TGemvBiasOp, TGemvAccOp, one_row=True),
    Family(TMatmulMxOp, TMatmulMxBiasOp, TMatmulMxAccOp, scaled=True),
    Family(TGemvMxOp, TGemvMxBiasOp, TGemvMxAccOp, one_row=True, scaled=True),
)
FAMILY_OF = {cls: family for family in FAMILIES for cls in family[:3]}
PRODUCTS = tuple(FAMILY_OF)
BEGINNING = tuple(cls for family in FAMILIES for cls in (family.begin, family.biased))
ADDING = tuple(family.adding for family in FAMILIES)

_ROLES = {
    "lhs": "left", "rhs": "right", "a": "left", "b": "right", "a_scale": "left_scale", "b_scale": "right_scale",
    "bias": "bias", "acc_in": "sums", "c_in": "sums",
}  # fmt: skip


def roles_of(cls: type[PtoOp]) -> dict[str, str]:
    """Returns the names of the operands of a product by what they are: ``left``, ``right``, ``left_scale``,
    ``right_scale``, ``bias``, ``sums``."""
    names = [slot.name for slot in signature(cls).operands]
    return {_ROLES[name]: name for name in names if name in _ROLES}


def steps_of(role: str, rows: int, cols: int, depth: int) -> tuple[int, int]:
    """Returns how far the part of an operand, or the result, goes when that of the product goes so far."""
    return {
        "left": (rows, depth),
        "right": (depth, cols),
        "left_scale": (rows, depth // MX_SCALE_GROUP),
        "right_scale": (depth // MX_SCALE_GROUP, cols),
        "out": (rows, cols),
    }.get(role, (0, cols))


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
        """Returns the window for one number of ``value``."""
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
        """Returns all products that may begin the sum."""
        if self.op is not None:
            return (self.op,)
        assert self.then is not None
        assert self.other is not None
        return (*self.then.products(), *self.other.products())


@dataclass
class Product:
    """``store`` writes rows x cols sums over ``depth`` products of elements of ``inputs``: ``left``, ``right``, and
    where there are some ``left_scale``, ``right_scale``, ``bias``, and ``table``, the scales of the columns of the
    result. ``ops`` are the operations that compute it inside of ``block``, where ``place`` is the last one; ``loops``
    have been followed, and ``repeats`` are those around them, the inner one first, that compute it for other parts of
    the arrays; ``inner`` is its last operation in the first of these. ``open`` are loops along ``rows``, ``cols`` or
    ``depth`` whose number of iterations only a run knows: the size of that direction is the one of one iteration."""

    store: TStoreOp
    family: Family
    out: Window
    inputs: Mapping[str, Operand]
    start: Start
    depth: int
    block: Block
    place: Operation
    acc: TileBufType
    inner: Operation
    ops: set[Operation] = field(default_factory=set)
    loops: list[ForOp] = field(default_factory=list)
    repeats: list[ForOp] = field(default_factory=list)
    open: dict[str, ForOp] = field(default_factory=dict)
    rows: int = 0
    cols: int = 0

    @property
    def left(self) -> Operand:
        """The left operand."""
        return self.inputs["left"]

    @property
    def right(self) -> Operand:
        """The right operand."""
        return self.inputs["right"]

    def windows(self) -> dict[str, Window]:
        """Returns what the product reads and writes (``out``) of global memory."""
        return {**{role: operand.window for role, operand in self.inputs.items()}, "out": self.out}

    def without_repeats(self) -> None:
        """Leaves the loops around the product as they are."""
        if self.repeats:
            self.block, self.place = self.repeats[0].body.block, self.inner
            self.ops.difference_update(self.repeats)
            self.repeats = []

    def begin_at(self, value: SSAValue, number: int) -> None:
        """Takes the windows for one number of ``value``."""
        self.out = self.out.at(value, number)
        self.inputs = at(self.inputs, value, number)


def at(operands: Mapping[str, Operand], value: SSAValue, number: int) -> dict[str, Operand]:
    """Returns the operands for one number of ``value``."""
    return {role: replace(one, window=one.window.at(value, number)) for role, one in operands.items()}

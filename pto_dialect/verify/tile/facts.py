"""The facts that rules query about the type of a tile operand, whichever of its three kinds it has.

A ``!pto.tile_buf`` states everything, a ``!pto.tile`` (Level 1) only shape and element type, a ``memref`` (a tile after
lowering) shape, element type and memory space. A fact that a kind does not state is ``None`` or ``DYNAMIC``, and rules
about it do not apply.

Source: docs/reference/constraints.md, "All tiles"; docs/reference/language.md, "Types".
"""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.ir.core.attributes import EnumAttr
from pto_dialect.ir.core.types import DYNAMIC, TileBufType, TileType, bit_width, element_name, shape_of
from pto_dialect.targets.tile_layouts import LAYOUT_NAME

PAD_NAMES = ("null", "zero", "max", "min")
"""Names of the pad values of a tile type in encoding order."""


class Tile(NamedTuple):
    """Facts about a tile type; sizes are in elements, ``bits`` is the storage of an element (0 when unknown)."""

    rows: int
    cols: int
    valid_rows: int
    valid_cols: int
    element: str
    bits: int
    loc: str | None
    blayout: str | None
    slayout: str | None
    fractal: int
    pad: str | None

    @property
    def layout(self) -> str | None:
        """Short layout name (``ND``, ``DN``, ``NZ``, ``ZN``, ``ZZ``, ``NN``)."""
        if self.blayout is None or self.slayout is None:
            return None
        return LAYOUT_NAME[self.blayout, self.slayout]

    @property
    def layout_text(self) -> str:
        """Block layout and inner layout as the type spells them."""
        return f"{self.blayout}/{self.slayout}"

    @property
    def logical_rows(self) -> int:
        """Valid rows where they are static, else physical rows."""
        return self.rows if self.valid_rows == DYNAMIC else self.valid_rows

    @property
    def logical_cols(self) -> int:
        """Valid columns where they are static, else physical columns."""
        return self.cols if self.valid_cols == DYNAMIC else self.valid_cols


_tiles: dict[Attribute, Tile | None] = {}


def tile_of(value: SSAValue | None) -> Tile | None:
    """Returns the facts about the tile ``value``; ``None`` when it is not a tile of rank 2."""
    if value is None:
        return None
    type_ = value.type
    try:
        return _tiles[type_]
    except KeyError:
        found = _tiles[type_] = _facts(type_)
        return found


def _facts(type_: Attribute) -> Tile | None:
    if isinstance(type_, TileBufType):
        return Tile(
            rows=type_.rows,
            cols=type_.cols,
            valid_rows=type_.valid_rows,
            valid_cols=type_.valid_cols,
            element=element_name(type_.element),
            bits=bit_width(type_.element) or 0,
            loc=type_.loc,
            blayout=type_.blayout,
            slayout=type_.slayout,
            fractal=type_.fractal,
            pad=PAD_NAMES[type_.pad],
        )
    if isinstance(type_, TileType):
        return _unstated_tile(type_.rows, type_.cols, type_.element, static=True)
    if isinstance(type_, MemRefType) and type_.get_num_dims() == 2:
        rows, cols = shape_of(type_)
        space = type_.memory_space
        loc = space.value if isinstance(space, EnumAttr) else None
        return _unstated_tile(rows, cols, type_.element_type, static=False)._replace(loc=loc)
    return None


def _unstated_tile(rows: int, cols: int, element: Attribute, *, static: bool) -> Tile:
    """Returns a tile of which only shape and element type are known; its valid region is the shape if ``static``."""
    valid = (rows, cols) if static else (DYNAMIC, DYNAMIC)
    return Tile(
        rows=rows,
        cols=cols,
        valid_rows=valid[0],
        valid_cols=valid[1],
        element=element_name(element),
        bits=bit_width(element) or 0,
        loc=None,
        blayout=None,
        slayout=None,
        fractal=0,
        pad=None,
    )


def is_lowered(value: SSAValue) -> bool:
    """Returns whether a tile operand is a memref: only its shape, element type and space can be checked."""
    # Compare the class first: isinstance is slow when the answer is no, as it is here nearly always.
    return type(value.type) is MemRefType


def place(op: Operation, value: SSAValue) -> SSAValue | None:
    """Returns where to point: ``value`` where it is written as an operand, ``None`` (the operation's name) for a
    result."""
    return value if any(operand is value for operand in op.operands) else None


def statically_differ(a: int, b: int) -> bool:
    """Returns whether two sizes are both static and unequal."""
    return a != b and a != DYNAMIC and b != DYNAMIC

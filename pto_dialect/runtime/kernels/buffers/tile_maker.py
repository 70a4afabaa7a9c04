"""Builders of tile handles, one for each tile type.

Source: docs/reference/execution.md, "Pointers, tiles and views".
"""

from __future__ import annotations

from pto_dialect.ir.core import types as t
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.layout import native_layout
from pto_dialect.runtime.memory.spaces import Pointer
from pto_dialect.runtime.memory.values import Tile
from pto_dialect.runtime.numerics.formats import format_of
from pto_dialect.runtime.run.machine import Core
from pto_dialect.targets.memory import tile_space
from pto_dialect.targets.profile import Profile
from pto_dialect.targets.tile_layouts import PACKED_OPERANDS

MATRIX_SPACES = frozenset(("l1", "l0a", "l0b", "l0c"))
"""Memories through which operands and sums of matrix products pass."""


class TileMaker:
    """Builds the handles of one tile type; everything that the type determines is computed once."""

    def __init__(self, type_: t.TileBufType, profile: Profile) -> None:
        self.type = type_
        self.fmt = format_of(t.element_name(type_.element))
        packed = self.fmt.is_packed and type_.loc in PACKED_OPERANDS
        if packed and self.fmt.bits != 4:
            raise Fault("unmodelled", f"{type_.loc} tiles of packed {self.fmt.name} elements are not supported")
        self.layout = native_layout(
            type_.loc,
            profile.arch,
            type_.rows,
            type_.cols,
            self.fmt.bytes,
            type_.blayout,
            type_.slayout,
            type_.fractal,
            packed,
        )
        self.space = tile_space(type_.loc, type_.blayout, type_.fractal, profile.arch)
        self.fixed = t.DYNAMIC not in (type_.valid_rows, type_.valid_cols)
        self.whole = (type_.valid_rows, type_.valid_cols) if self.fixed else (type_.rows, type_.cols)
        self.label = f"{type_.loc}_{type_.rows}x{type_.cols}x{self.fmt.name}"

    @property
    def nbytes(self) -> int:
        """Bytes of one tile."""
        return self.layout.nbytes

    def __call__(self, core: Core, address: int, valid_rows: int | None = None, valid_cols: int | None = None) -> Tile:
        """Returns the tile at byte ``address`` of its memory; immutable handles are shared."""
        if address % 32:
            raise Fault("mem-align", f"tile address {address} in {self.space} is not a multiple of 32")
        arena = core.arena(self.space)
        known = arena.handles.get((self, address))
        same = self.fixed and valid_rows is None and valid_cols is None
        type_ = self.type
        if known is None:
            tile = self.at(Pointer(arena, address, self.fmt.storage, self.fmt.bytes), valid_rows, valid_cols)
            # Handles with their own valid sizes share the facts that the cached handle has about the memory.
            arena.handles[self, address] = tile if same else tile.with_valid(*self.whole)
            return tile
        if same:
            return known
        return known.with_valid(
            type_.valid_rows if valid_rows is None else valid_rows,
            type_.valid_cols if valid_cols is None else valid_cols,
        )

    def at(self, pointer: Pointer, valid_rows: int | None = None, valid_cols: int | None = None) -> Tile:
        """Returns the tile at ``pointer``."""
        type_ = self.type
        return Tile(
            pointer,
            self.layout,
            self.fmt,
            type_.loc,
            type_.rows,
            type_.cols,
            type_.valid_rows if valid_rows is None else valid_rows,
            type_.valid_cols if valid_cols is None else valid_cols,
            pad=type_.pad,
        )


_makers: dict[tuple[str, str], TileMaker] = {}


def tile_maker(type_: t.TileBufType, profile: Profile) -> TileMaker:
    """Returns the builder of a tile type on a target."""
    key = (type_.data, profile.arch)
    if key not in _makers:
        _makers[key] = TileMaker(type_, profile)
    return _makers[key]

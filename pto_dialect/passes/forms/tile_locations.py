"""Chooses the memory location and layout of the tiles of a Level 1 function when they become buffers.

A tile has the location that its definition or its uses require: operands of products theirs, sums ``acc``, sources of
moves to the matrix memories ``mat``, all others ``vec``. Source: docs/reference/language.md, "Level 1 and Level 2";
docs/reference/targets.md, "Layouts of locations".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.ir.core.base import Shape, op_spec, operand_groups
from pto_dialect.ir.core.extents import round_up
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.operands import find, shown
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import TileBufType, TileType, bit_width, element_name
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.core_dialects.structured import is_for, is_if
from pto_dialect.syntax.types.parser import intern_type
from pto_dialect.targets.profile import Profile
from pto_dialect.targets.tile_layouts import DN, ND, NN_SCALE, ZZ_SCALE, TileLayout, inner_block
from pto_dialect.verify.cube.product_locations import location_made_by
from pto_dialect.verify.cube.product_roles import roles_of

from .liveness import tile_pairs
from .operands import accesses, is_tile_operation, is_value
from .rebuild import RefusedError, name_of

_WANTED = {"lhs": "left", "rhs": "right", "c_in": "acc", "bias": "bias"}
_SIDES = {"scale of lhs": "left", "scale of rhs": "right"}
_FED = ("left", "right", "bias", "scaling")
"""Places that are filled from ``mat``."""
_BYTES = 32
_SCALES = "f8E8M0"


@dataclass
class _Group:
    """Tiles that share a location: the location, the operation that requires it, the operand of MX products their
    scales belong to, and their uses."""

    space: str | None = None
    stated_by: Operation | None = None
    side: str | None = None
    feeds: str | None = None


class TileLocations:
    """The locations of the tiles of one function, some of which have types that are ``stated``. Raises
    :class:`RefusedError` where two locations are required of one tile."""

    def __init__(self, function: Operation, profile: Profile, stated: Mapping[SSAValue, TileBufType]) -> None:
        self.profile = profile
        self.stated = stated
        self._leaders: dict[SSAValue, SSAValue] = {}
        self._groups: dict[SSAValue, _Group] = {}
        operations = [op for op in walk(function) if op is not function]
        for op in operations:
            self._join(op)
        for op in operations:
            self._wanted(op)
        moved = True
        while moved:
            moved = any([self._fed(op) for op in operations])

    # ------------------------------------------------------------ groups

    def _leader(self, value: SSAValue) -> SSAValue:
        while (leader := self._leaders.get(value, value)) is not value:
            value = leader
        return value

    def _group(self, value: SSAValue) -> _Group:
        return self._groups.setdefault(self._leader(value), _Group())

    def _same(self, one: SSAValue, other: SSAValue) -> None:
        self._leaders[self._leader(other)] = self._leader(one)

    def _join(self, op: Operation) -> None:
        """Tiles that go through loops, branches and read-modify-writes stay where they are."""
        if is_for(op):
            block = op.body.block
            for operand, argument in zip(op.iter_args, block.args[1:], strict=True):
                if is_value(operand):
                    self._same(argument, operand)
            for operand, result in (*tile_pairs(block, op.results), *tile_pairs(block, block.args[1:])):
                self._same(result, operand)
        elif is_if(op):
            for region in op.regions:
                for block in region.blocks:
                    for operand, result in tile_pairs(block, op.results):
                        self._same(result, operand)
        elif is_tile_operation(op):
            uses = accesses(op, self.profile.arch)
            if uses.old is not None:
                self._same(op.results[0], uses.old.value)
        elif has_role(op, Role.VIEW) and is_value(shown(op)):
            self._same(op.results[0], shown(op))

    # ------------------------------------------------------------ what operations want

    def _state(self, value: SSAValue, space: str, op: Operation, side: str | None = None) -> None:
        group = self._group(value)
        if value in self.stated:
            return
        if group.space is not None and group.space != space:
            assert group.stated_by is not None
            raise RefusedError(
                op,
                f"{name_of(value)} would be in {space} for {op.name} and in {group.space} for {group.stated_by.name}; "
                "move it with pto.tmov first",
                value,
            )
        group.space, group.stated_by = space, group.stated_by or op
        group.side = group.side or side

    def _wanted(self, op: Operation) -> None:
        if not is_tile_operation(op):
            return
        made = location_made_by(op)
        if made == "acc":
            for role, name in roles_of(op.name).items():
                value = find(op, name)
                if value is not None and is_value(value):
                    self._state(value, _WANTED.get(role, "scaling"), op, _SIDES.get(role))
        if made is not None:
            for result in op.results:
                if is_value(result):
                    self._state(result, made, op)
        if made == "vec":
            for use in accesses(op, self.profile.arch).reads:
                if is_value(use.value):
                    self._state(use.value, "vec", op)
        elif OPS[op.name][0] == "tile_move" or op_spec(type(op)).shape is Shape.DPS_KEYED:
            for value in operand_groups(op).get("fp", ()):
                if is_value(value):
                    self._state(value, "scaling", op)

    def _fed(self, op: Operation) -> bool:
        """Returns a tile whose copy is in one of the matrix memories is loaded to ``mat``."""
        if not is_tile_operation(op) or OPS[op.name][0] != "tile_move":
            return False
        source = find(op, "src")
        if source is None or not is_value(source) or not op.results:
            return False
        target, group = self._group(op.results[0]), self._group(source)
        if group.space is None and target.space in _FED:
            group.space, group.stated_by, group.feeds, group.side = "mat", op, target.space, target.side
            return True
        return False

    # ------------------------------------------------------------ answers

    def type_of(self, value: SSAValue) -> TileBufType:
        """Returns the type of the buffer for a tile value; its valid region is the tile."""
        if value in self.stated:
            return self.stated[value]
        type_ = value.type
        assert isinstance(type_, TileType)
        group = self._group(value)
        space = group.space or "vec"
        layout = self._layout(group, space, type_)
        rows, cols = _whole(type_.rows, type_.cols, type_.element, layout)
        tile_type = TileBufType(
            space, rows, cols, type_.element, (type_.rows, type_.cols), layout.blayout, layout.slayout, layout.fractal
        )
        interned = intern_type(tile_type)
        assert isinstance(interned, TileBufType)
        return interned

    def _layout(self, group: _Group, space: str, type_: TileType) -> TileLayout:
        scales = element_name(type_.element) == _SCALES
        if scales and (space in ("scaling", "mat")) and group.side is not None:
            return ZZ_SCALE if group.side == "left" else NN_SCALE
        if group.feeds in ("bias", "scaling"):
            return ND
        if space == "vec":
            bits = _bits(type_.element)
            row, column = type_.cols * bits // 8, type_.rows * bits // 8
            return DN if row % _BYTES and not column % _BYTES else ND
        return self.profile.layouts[space].native


def _whole(rows: int, cols: int, element: Attribute, layout: TileLayout) -> tuple[int, int]:
    """Rows and columns of the smallest buffer in ``layout`` that holds a tile."""
    bits = _bits(element)
    if layout.slayout == "none_box":
        unit = _BYTES * 8 // bits
        return (round_up(rows, unit), cols) if layout.blayout == "col_major" else (rows, round_up(cols, unit))
    block = inner_block(layout.fractal, layout.slayout, bits)
    if layout.fractal == ZZ_SCALE.fractal:
        return rows, cols
    return rows if rows == 1 else round_up(rows, block[0]), round_up(cols, block[1])


def _bits(element: Attribute) -> int:
    bits = bit_width(element)
    assert bits is not None
    return bits

"""Whether the iterations of a loop over panels leave nothing for one another in tiles and arrays.

Source: docs/resize-panels.md, "What is a panel".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import NamedTuple

from xdsl.dialects.arith import CmpiOp
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.scf import ForOp, IfOp
from xdsl.ir import Block, Operation, SSAValue

from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.queues import is_pop
from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.analysis.type_facts import space_of as space_of_type
from pto_dialect.ir.buffers.views import AllocTileOp, PartitionViewOp, SubviewOp
from pto_dialect.ir.core.base import PtoOp, op_spec, operand_groups
from pto_dialect.ir.core.operands import find
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import DYNAMIC, PartitionViewType, PtrType, TensorViewType, TileBufType
from pto_dialect.ir.core.walk import ancestors, walk
from pto_dialect.ir.tile.expand import TColExpandOp
from pto_dialect.ir.tile.irregular import TGatherOp, TMrgsortOp, TSort32Op
from pto_dialect.ir.tile.memory import TLoadOp, TStoreOp
from pto_dialect.ir.tile.scalar import TExpandsOp
from pto_dialect.passes.instructions.writer import is_handle
from pto_dialect.passes.loops.arrays import array_of, part_of
from pto_dialect.passes.loops.parts import users_of

from .links import Links
from .loops import ROWS, BlockNumbers, NotResizedError, Panels

_RECORD = 2
"""Elements of a sorted record: value and index."""
_MERGED = 4
"""Sorted lists that are merged into one."""
_GLOBAL = (PtrType, TensorViewType, PartitionViewType, MemRefType)
"""Pointers and views that may show global memory."""


class _Effects(NamedTuple):
    """The tiles whose contents an operation reads and writes, as their allocations or pops."""

    reads: frozenset[SSAValue]
    writes: frozenset[SSAValue]


def effects_of(op: Operation) -> _Effects:
    """Returns the effects of an operation on tiles."""
    if not isinstance(op, PtoOp) or is_handle(op):
        return _Effects(frozenset(), frozenset())
    groups, spec = operand_groups(op), op_spec(type(op))

    def tiles(names: Iterable[str]) -> frozenset[SSAValue]:
        values = [value for name in names for value in groups.get(name, ())]
        return frozenset(tile_of(value, op) for value in values if isinstance(value.type, TileBufType))

    written = tiles((*spec.writes, *spec.in_place))
    return _Effects(tiles((*spec.reads, *spec.in_place)), written)


def tile_of(value: SSAValue, op: Operation) -> SSAValue:
    """Returns the tile that a value shows. Raises :class:`NotResizedError` where its bytes may be those of others."""
    while isinstance(value.owner, SubviewOp):
        value = value.owner.source
    owner, kind = value.owner, value.type
    if isinstance(owner, Block) or not isinstance(kind, TileBufType):
        raise NotResizedError(op, "a tile is given from outside")
    if not is_pop(owner) and not (isinstance(owner, AllocTileOp) and not len(owner.operands)):
        raise NotResizedError(op, "a tile has an address already, sizes that only a run knows, or another form")
    if DYNAMIC in (kind.valid_rows, kind.valid_cols) or (kind.rows, kind.cols) != (kind.valid_rows, kind.valid_cols):
        raise NotResizedError(op, "a part of a tile is not valid")
    return value


def check_tiles(panels: Panels, links: Links, numbers: BlockNumbers) -> list[Operation]:
    """Checks that each iteration fills the tiles that it reads, or that they are the same for all. Returns the
    operations before the loop that fill tiles of panels with equal rows or columns. Raises :class:`NotResizedError`."""
    found = dict.fromkeys(
        tile for op in walk(panels.loop) for tiles in effects_of(op) for tile in sorted(tiles, key=id)
    )
    before: list[Operation] = []
    for tile in found:
        users = users_of(tile)
        inside = [op for op in walk(panels.loop) if op in users]
        outside = [op for op in users if op not in inside]
        if any(tile in effects_of(op).writes for op in inside):
            if outside:
                raise NotResizedError(outside[0], "a tile of the loop is used elsewhere")
            _check_filled(tile, inside, panels)
            _check_row_loops(tile, inside, links)
        elif not is_pop(_owner(tile)):
            before += _filled_before(tile, outside, panels, links, numbers)
    return before


def _owner(value: SSAValue) -> Operation:
    assert isinstance(value.owner, Operation)
    return value.owner


def _check_filled(tile: SSAValue, users: Sequence[Operation], panels: Panels) -> None:
    """Checks that the first operation on a tile writes all of it, whenever another one runs in the same iteration."""
    first, *others = users
    effects = effects_of(first)
    if tile not in effects.writes or tile in effects.reads or not _writes_all(first):
        raise NotResizedError(first, "a tile keeps something from the panel before")
    place = first.parent
    while place is not None and any(place not in map(_block, ancestors_with(op)) for op in others):
        parent = place.parent_op()
        if isinstance(parent, IfOp) and (loop := _first_iteration(parent, place)) is not None:
            place = loop.body.block
        elif isinstance(parent, ForOp) and parent is not panels.loop and _runs(parent):
            place = parent.parent
        else:
            raise NotResizedError(first, "a tile may keep something from the panel before")


def ancestors_with(op: Operation) -> list[Operation]:
    """Returns an operation and those around it."""
    return [op, *ancestors(op)]


def _block(op: Operation) -> Block | None:
    return op.parent


def _first_iteration(choice: IfOp, place: Block) -> ForOp | None:
    """Returns the loop in whose first iteration a branch runs."""
    test, loop = choice.cond.owner, choice.parent_op()
    if not isinstance(test, CmpiOp) or not isinstance(loop, ForOp) or place is not choice.true_region.block:
        return None
    counter = loop.body.block.args[0]
    other = {test.lhs: test.rhs, test.rhs: test.lhs}.get(counter)
    begins = other is loop.lb or (other is not None and constant_of(other) == constant_of(loop.lb) is not None)
    return loop if test.predicate.value.data == 0 and begins and _runs(loop) else None


def _runs(loop: ForOp) -> bool:
    """Returns whether a loop has an iteration."""
    low, high = constant_of(loop.lb), constant_of(loop.ub)
    return isinstance(low, int) and isinstance(high, int) and low < high


def _writes_all(op: Operation) -> bool:
    """Returns whether an operation writes all elements of its result."""
    assert isinstance(op, PtoOp)
    groups = operand_groups(op)
    results = [value for name in op_spec(type(op)).writes for value in groups.get(name, ())]
    kinds = [value.type for value in results]
    if any(isinstance(value.owner, SubviewOp) and not _is_whole_row(value.owner) for value in results):
        return False
    kind = kinds[0]
    if len(kinds) != 1 or not isinstance(kind, TileBufType):
        return False
    if isinstance(op, TLoadOp):
        part = part_of(op)
        sizes = [constant_of(size) for size in part.sizes] if part is not None else [None]
        numbers = [size for size in sizes if isinstance(size, int)]
        return len(numbers) == len(sizes) and (prod(numbers[:-1]), numbers[-1]) == (kind.rows, kind.cols)
    if isinstance(op, (TSort32Op, TGatherOp, TMrgsortOp)):
        return _fills_rows(op, kind)
    return not has_role(op, Role.PARTIAL)


def _is_whole_row(part: SubviewOp) -> bool:
    """Returns whether a part is a row of its tile; all of them are written in a loop."""
    source, result = part.source.type, part.result.type
    assert isinstance(source, TileBufType)
    assert isinstance(result, TileBufType)
    return result.rows == 1 and result.cols == source.cols and isinstance(part.offsets[0].owner, Block)


def _fills_rows(op: TSort32Op | TGatherOp | TMrgsortOp, result: TileBufType) -> bool:
    """Returns whether an operation that sorts or packs fills its rows."""
    source = (op.srcs[0] if isinstance(op, TMrgsortOp) else op.src).type
    assert isinstance(source, TileBufType)
    if isinstance(op, TMrgsortOp):
        length = constant_of(op.blockLen) if op.blockLen is not None else None
        alone = len(op.srcs) == 1 and source.cols == result.cols
        return alone and isinstance(length, int) and length > 0 and source.cols % (_MERGED * length) == 0
    if isinstance(op, TSort32Op):
        return source.cols % 32 == 0 and result.cols == _RECORD * source.cols
    pattern = enumerator(op, "maskPattern")
    return source.cols * pattern.count("1") == result.cols * (len(pattern) - 1)


def _check_row_loops(tile: SSAValue, users: Sequence[Operation], links: Links) -> None:
    """Checks that a loop over the rows of a panel computes each row from that row alone."""
    for loop in links.row_loops:
        inside = [op for op in users if loop in ancestors_with(op)]
        if not inside:
            continue
        if not links.is_panel(tile) and len(inside) < len(users):
            raise NotResizedError(inside[0], "a row of the panel leaves something for others")
        for op in inside if links.is_panel(tile) else ():
            parts = [value.owner for value in op.operands if isinstance(value.owner, SubviewOp)]
            shown = [part for part in parts if tile_of(part.result, op) is tile]
            if tile in op.operands or any(part.offsets[0] is not loop.body.block.args[0] for part in shown):
                raise NotResizedError(op, "it uses other rows of the panel")


def _filled_before(
    tile: SSAValue, users: Sequence[Operation], panels: Panels, links: Links, numbers: BlockNumbers
) -> list[Operation]:
    """Returns what fills a tile before the loop, all of whose rows or columns are equal if it is one of a panel."""
    writers = [op for op in users if tile in effects_of(op).writes]
    for op in writers:
        _check_same_for_blocks(op, numbers, set())
    if not links.is_panel(tile):
        return []
    spread = TColExpandOp if links.axis == ROWS else TExpandsOp
    for op in users:
        early = op.parent is panels.loop.parent and op.is_before_in_block(panels.loop)
        if not early or not isinstance(op, (TExpandsOp, spread)) or links.is_panel(find(op, "src")):
            raise NotResizedError(op, "a tile of the panel is used outside of the loop")
    return list(users)


def _check_same_for_blocks(op: Operation, numbers: BlockNumbers, seen: set[Operation]) -> None:
    """Checks that blocks compute the same before the loop."""
    if op in seen:
        return
    seen.add(op)
    if any(map(numbers.reach, op.operands)):
        raise NotResizedError(op, "it depends on the number of the block")
    for tile in effects_of(op).reads:
        for user in users_of(tile):
            if tile in effects_of(user).writes:
                _check_same_for_blocks(user, numbers, seen)


def check_arrays(module: ModuleOp, loops: Sequence[Panels]) -> None:
    """Checks that panels are stored where nothing else is read or stored. Raises :class:`NotResizedError`."""
    given = _given(module)
    stored: dict[SSAValue, PartitionViewOp] = {}
    for panels in loops:
        for op in walk(panels.loop):
            part = part_of(op)
            if not isinstance(op, TStoreOp) or part is None:
                continue
            array = _array(part.result, op, given)
            if part not in panels.parts or not _is_same(stored.setdefault(array, part), part):
                raise NotResizedError(op, "other panels may be stored to the same elements")
    for op in walk(module):
        if has_role(op, Role.CALL) or (is_handle(op) and not isinstance(op, PartitionViewOp)):
            continue
        for value in op.operands if stored and not isinstance(op, PartitionViewOp) else ():
            if not isinstance(value.type, _GLOBAL) or space_of_type(value.type) not in (None, "gm"):
                continue
            owner, part = value.owner, stored.get(_array(value, op, given))
            if part is not None and not (isinstance(owner, PartitionViewOp) and _is_same(owner, part)):
                raise NotResizedError(op, "it uses an array that panels are stored to")


def _array(value: SSAValue, op: Operation, given: dict[SSAValue, SSAValue]) -> SSAValue:
    """Returns the array whose memory ``op`` accesses through a pointer or a view. Raises :class:`NotResizedError`."""
    array = array_of(value)
    found = given.get(array, array) if array is not None else None
    if found is None or array_of(found) is not found:
        raise NotResizedError(op, "nobody knows which array it uses")
    return found


def _is_same(one: PartitionViewOp, other: PartitionViewOp) -> bool:
    """Returns whether two parts are the same elements in an iteration."""
    alike = one.source is other.source and tuple(one.offsets) == tuple(other.offsets)
    return alike and one.result.type == other.result.type


def _given(module: ModuleOp) -> dict[SSAValue, SSAValue]:
    """Returns the arrays of the caller that the arguments of functions are. Raises :class:`NotResizedError` where a
    call gives an array twice, or a function is called twice."""
    functions = {op.properties["sym_name"]: op for op in walk(module) if has_role(op, Role.FUNCTION)}
    known: dict[SSAValue, SSAValue] = {}
    for op in walk(module):
        if not has_role(op, Role.CALL):
            continue
        callee = functions.get(op.properties["callee"].root_reference)  # pyright: ignore
        blocks = callee.regions[0].blocks if callee is not None else ()
        for argument, value in zip(blocks[0].args, op.operands, strict=True) if blocks else ():
            if argument in known:
                raise NotResizedError(op, "a function is called more than once")
            known[argument] = array_of(value) or value
    return {argument: _outermost(value, known) for argument, value in known.items()}


def _outermost(value: SSAValue, known: dict[SSAValue, SSAValue]) -> SSAValue:
    """Returns what the outermost caller gives; functions do not call themselves."""
    while value in known:
        value = known[value]
    return value

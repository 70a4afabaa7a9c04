"""Everything that is decided about the buffers of a function before it is written at Level 2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue

from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import TileBufType, TileType
from pto_dialect.ir.core.walk import walk
from pto_dialect.targets.profile import Profile

from .liveness import Liveness
from .operands import is_value
from .rebuild import RefusedError
from .shared import share
from .tile_locations import TileLocations
from .webs import Webs
from .written import BufferFacts, handle_name, key_of, numbered, read


class Buffer(NamedTuple):
    """A buffer that is allocated: its type and name, the web whose values lie in it (``None`` for one that nothing lies
    in), and its address if it has one."""

    type: TileBufType
    name: str | None
    web: int | None
    address: int | None = None


class Plan:
    """The buffers of one function.

    ``before`` has, for operations, those that are allocated before them, ``first`` the operation before which each web
    must exist, ``results`` the tiles that the function returns. Raises :class:`RefusedError`.
    """

    def __init__(self, function: Operation, profile: Profile) -> None:
        self.function = function
        self.values = list(_tiles(function))
        self.order = {value: number for number, value in enumerate(self.values)}
        self.kept = read(function)
        lives = Liveness(profile.arch)
        lives.bits(self.values)
        lives.follow(function)
        self._keys = keys = {value: key for value in self.values if (key := key_of(value, self.kept)) is not None}
        fixed = {value: stated for value in self.values if (stated := self._stated(value)) is not None}
        self._places = TileLocations(function, profile, fixed)
        self.webs = Webs(lives, self._places.type_of, keys)
        self.webs.build(function)
        self.arguments = [value for value in function.regions[0].block.args if is_value(value)]
        self.results = [value for value in self._returned() if is_value(value)]
        self.given = self._stated_addresses()
        self.before: dict[Operation, list[Buffer]] = {}
        self.first: dict[int, Operation] = {}
        self._allocate()
        self.refuse_shared(profile)

    def _returned(self) -> list[SSAValue]:
        last = self.function.regions[0].block.last_op
        return list(last.operands) if last is not None and has_role(last, Role.RETURN) else []

    def _stated(self, value: SSAValue) -> TileBufType | None:
        """Returns the type that the author states for the buffer of a value."""
        type_, tile = self.kept.get(self._keys.get(value, ""), BufferFacts()).type, value.type
        assert isinstance(tile, TileType)
        if not isinstance(type_, TileBufType):
            return None
        same = (type_.valid_rows, type_.valid_cols, type_.element) == (tile.rows, tile.cols, tile.element)
        return type_ if same else None

    def _stated_addresses(self) -> dict[int, int]:
        """Returns the webs that become a destination which the caller gives, with the number of the result."""
        taken = {self.webs.web_id(value) for value in self.arguments}
        fixed: dict[int, int] = {}
        for number, value in enumerate(self.results):
            web = self.webs.web_id(value)
            if web not in taken:
                taken.add(web)
                fixed[web] = number
        return fixed

    def webs_of(self, key: str) -> set[int]:
        """Returns the webs of the values that an author calls ``key``."""
        return {self.webs.web_id(value) for value, name in self._keys.items() if name == key}

    # ------------------------------------------------------------ allocations

    def _allocate(self) -> None:
        webs = dict.fromkeys(self.webs.web_id(value) for value in self.values)
        for value in self.arguments:
            webs.pop(self.webs.web_id(value), None)
        order_of = dict(numbered(self.function)) if self.kept else {}
        entries = list(self.kept.items())
        rank = {name: number for number, (name, _) in enumerate(entries)}

        def order(web: int) -> tuple[int, int]:
            first = min(self.order[value] for value in self.webs.members(web))
            return rank.get(self.webs.key_of(web) or "", len(rank)), first

        used = set(self._keys.values())
        rows = [(*order(web), self._first(web), web) for web in webs if web not in self.given]
        self.first = {web: op for _, _, op, web in rows}
        rows += [(number, 0, None, None) for name, number in rank.items() if name not in used]
        for number, _, first, web in sorted(rows, key=lambda one: one[:2]):
            name, stated = entries[number] if number < len(entries) else (None, BufferFacts())
            position = order_of.get(-1 if stated.at is None else stated.at)
            op = position if position is not None and (first is None or _before(position, first)) else first
            if web is not None:
                buffer = Buffer(self.webs.type_of(web), self.name_of(web), web, stated.address)
            elif isinstance(stated.type, TileBufType):
                buffer = Buffer(stated.type, handle_name(name), None, stated.address)
            else:
                continue
            if op is not None:
                self.before.setdefault(op, []).append(buffer)

    def refuse_shared(self, profile: Profile) -> None:
        """Raises :class:`RefusedError` for buffers that share bytes and are needed at one time."""
        placed = [buffer for buffers in self.before.values() for buffer in buffers if buffer.address is not None]
        for number, one in enumerate(placed):
            for other in placed[:number]:
                assert one.address is not None and other.address is not None
                if one.web is None or other.web is None or not self.webs.conflict(one.web, other.web):
                    continue
                if share(one.type, one.address, other.type, other.address, profile):
                    names = f"the addresses of %{other.name} and %{one.name}"
                    raise RefusedError(self.function, f"{names} share bytes, and both are needed at one time")

    def _first(self, web: int) -> Operation:
        """Returns the operation before which a web must be there: the first one that touches it in the block around all
        that do."""
        touching: list[Operation] = []
        for value in self.webs.members(web):
            owner = value.owner
            touching.append(owner if isinstance(owner, Operation) else _parent(owner))
            touching += [use.operation for use in value.uses]
        ways = [_ancestors(op) for op in touching]
        common = next(block for block in ways[0] if all(block in way for way in ways))
        inside = {way[common] for way in ways}
        return next(op for op in common.ops if op in inside)

    def name_of(self, web: int) -> str | None:
        """Returns the name of the buffer of a web."""
        key = self.webs.key_of(web)
        return handle_name(key or min(self.webs.members(web), key=self.order.__getitem__)._name)


def _parent(block: Block) -> Operation:
    op = block.parent_op()
    assert op is not None
    return op


def _ancestors(op: Operation) -> dict[Block, Operation]:
    """Returns the enclosing blocks of ``op``, the innermost first, and the ancestor of ``op`` in each of them."""
    by_block: dict[Block, Operation] = {}
    inner: Operation | None = op
    while inner is not None and inner.parent is not None:
        by_block[inner.parent] = inner
        inner = inner.parent.parent_op()
    return by_block


def _before(one: Operation, other: Operation) -> bool:
    """Returns whether what is made before ``one`` is there at ``other``."""
    block = one.parent
    if block is None:
        return False
    inner = _ancestors(other).get(block)
    return inner is not None and (inner is one or one.is_before_in_block(inner))


def _tiles(function: Operation) -> Iterator[SSAValue]:
    for op in walk(function):
        for region in op.regions:
            for block in region.blocks:
                yield from (value for value in block.args if is_value(value))
        if op is not function:
            yield from (value for value in op.results if is_value(value))

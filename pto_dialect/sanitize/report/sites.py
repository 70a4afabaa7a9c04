"""Sites of a program: what its text states about an operation that a run reports on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.analysis.queues import action_of
from pto_dialect.analysis.scalar_cache import is_cached
from pto_dialect.analysis.streaming import is_streamed
from pto_dialect.analysis.type_facts import space_of
from pto_dialect.diagnostics.origins import shown_span
from pto_dialect.diagnostics.source import Span
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.attributes import EnumAttr
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.facts.operation_form import form_of
from pto_dialect.ir.core.location import label_of, span_of
from pto_dialect.ir.core.operands import shown
from pto_dialect.ir.core.registry import family_of_name
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import byte_width
from pto_dialect.ir.core.walk import ancestors
from pto_dialect.ir.sync.pipes import SetQuantVectorOp
from pto_dialect.ir.tile.elementwise import TCvtOp
from pto_dialect.ir.tile.memory import TGetValOp, TPrintOp
from pto_dialect.ir.tile.reduce import TRowMaxOp, TRowMinOp, TRowProdOp, TRowSumOp
from pto_dialect.ir.vector.dma import CopyUbufToUbufOp, MteUbUbOp
from pto_dialect.targets.memory import SPACE_ALIASES

# ------------------------------------------------------------ consumption


MOVING_FAMILIES = frozenset(
    (
        *("mte", "mte_raw", "dma", "fixpipe", "tile_move", "tile_memory", "pipes"),
        *("vector_memory", "predicate_memory", "vmi_load", "vmi_store"),
    )
)
"""Families whose operations copy, convert element by element, or pad."""

COMPUTING = (TGetValOp, TPrintOp, SetQuantVectorOp)
"""Operations of those families that use the values they read."""


def moves(op: Operation) -> bool:
    """Returns whether ``op`` passes on what it reads without using it."""
    if isinstance(op, COMPUTING):
        return False
    return has_role(op, Role.COPY) or family_of_name(op.name) in MOVING_FAMILIES


TILES = (t.TileBufType, t.MultiTileBufType)
_BY_ROWS = (TRowMaxOp, TRowMinOp, TRowProdOp, TRowSumOp)
_PLAIN = frozenset(("atomic_none", "none"))


@dataclass(eq=False)
class Site:
    """One operation; ``number`` is its index in ``table``, ``loops`` the names of the enclosing loop indices."""

    number: int
    op: Operation
    loops: tuple[str, ...]
    table: Sites

    @property
    def name(self) -> str:
        """Returns the operation's name."""
        return self.op.name

    @cached_property
    def function(self) -> Operation:
        """Returns the function that contains it."""
        enclosing = [self.op, *ancestors(self.op)]
        return next((one for one in enclosing if has_role(one, Role.FUNCTION)), enclosing[-1])

    @cached_property
    def span(self) -> Span | None:
        """Returns its span."""
        return span_of(self.op)

    @property
    def line_text(self) -> str:
        """Returns ``line N``, with the file where there are several, or the operation where there is no text."""
        if self.span is None:
            return self.name
        seen = shown_span(self.span)
        return f"line {seen.line}{f' of {seen.source.name}' if self.table.several_files else ''}"

    @cached_property
    def atomic(self) -> str | None:
        """Kind of combination with memory; accesses of one kind do not conflict."""
        if has_role(self.op, Role.ATOMIC):
            return self.op.name
        if has_role(self.op, Role.SIGNAL):
            return "signal"
        for name, attr in self.op.attributes.items():
            if "atomic" in name and isinstance(attr, EnumAttr) and attr.value not in _PLAIN:
                return attr.value
        return None

    @cached_property
    def cached(self) -> bool:
        """Whether the operation, on the scalar unit, accesses global memory through its data cache."""
        return is_cached(self.op) and any(memory_of(value.type) == "gm" for value in self.op.operands)

    @cached_property
    def moves(self) -> bool:
        """Whether the operation copies data without using it."""
        return moves(self.op)

    @cached_property
    def copies(self) -> bool:
        """Whether the operation copies bytes inside one memory, in an order of its own."""
        return isinstance(self.op, (MteUbUbOp, CopyUbufToUbufOp))

    @cached_property
    def loads_tile(self) -> bool:
        """Whether the operation fills a tile from global memory."""
        return has_role(self.op, Role.TILE_LOAD)

    @cached_property
    def computes(self) -> bool:
        """The operation makes tiles of tiles, and may lie over its own sources."""
        return isinstance(self.op, PtoOp) and all(
            any(isinstance(value.type, t.TileBufType) for value in self._accessed(writing)) for writing in (False, True)
        )

    @cached_property
    def in_order(self) -> bool:
        """Each part of the result needs that part of the sources alone, in the order of memory."""
        return has_role(self.op, Role.LANEWISE) or isinstance(self.op, (TCvtOp, *_BY_ROWS))

    @cached_property
    def width(self) -> int:
        """Bytes of an element, the widest of its tiles."""
        widths = [byte_width(value.type.element) for value in self.op.operands if isinstance(value.type, t.TileBufType)]
        return max((width for width in widths if width), default=1)

    def allocations(self, writing: bool) -> tuple[Operation, ...]:
        """Returns the allocations of the tiles that the operation reads or writes."""
        return self._allocations[writing]

    @cached_property
    def _allocations(self) -> tuple[tuple[Operation, ...], tuple[Operation, ...]]:
        reads, writes = (
            tuple(dict.fromkeys(op for value in self._accessed(writing) if (op := allocation_of(value)) is not None))
            for writing in (False, True)
        )
        return reads, writes

    @cached_property
    def result_name(self) -> str:
        """What a person calls the tile that the operation allocates."""
        return label_of(self.op.results[0], "a tile")

    @cached_property
    def is_result_read(self) -> bool:
        """Whether some operation may read the tile that the operation allocates through its handle."""
        return any(
            _may_read(use.operation, result, self.table.arch) for result in self.op.results for use in result.uses
        )

    def travelled(self, writing: bool) -> tuple[int, ...]:
        """Returns the indices of the operands through which the operation reads or writes tiles whose allocation the
        text leaves open: handles that loops, branches, blocks, choices or calls have passed on, or that a pop has
        bound."""
        return self._travelled[writing]

    @cached_property
    def _travelled(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        action = action_of(self.op)
        if action is not None and action.role in ("pop", "alloc"):
            # It binds its operand, which holds nothing, or another entry, before.
            return (), ()
        reads, writes = (
            tuple(
                index
                for index, value in enumerate(self.op.operands)
                if value in accessed and isinstance(value.type, TILES) and allocation_of(value) is None
            )
            for accessed in (set(self._accessed(False)), set(self._accessed(True)))
        )
        return reads, writes

    def _accessed(self, writing: bool) -> list[SSAValue]:
        """Returns the operands through which the operation reads or writes memory."""
        return self._read_and_written[writing]

    @cached_property
    def _read_and_written(self) -> tuple[list[SSAValue], list[SSAValue]]:
        op = self.op
        if not isinstance(op, PtoOp):
            return list(op.operands), list(op.operands)
        form = form_of(op, self.table.arch, self.table.backend)
        groups = operand_groups(op)
        reads, writes = (
            [value for name in names for value in groups.get(name, ())] for names in (form.reads, form.writes)
        )
        return reads, writes

    def operands_in(self, space: str, writing: bool) -> list[str]:
        """Returns the names of the operands through which the operation reads or writes memory ``space``."""
        named = [value_name(value) for value in self._accessed(writing) if memory_of(value.type) == space]
        return list(dict.fromkeys(name for name in named if name))


def allocation_of(value: SSAValue) -> Operation | None:
    """Returns the allocation of a tile handle, followed through views of it; ``None`` where the text leaves it open."""
    while isinstance(value.owner, Operation):
        op = value.owner
        if has_role(op, Role.TILE_ALLOCATION):
            return op
        if not has_role(op, Role.VIEW):
            return None
        value = shown(op)
    return None


def root_of(value: SSAValue) -> SSAValue:
    """Returns the handle that a view was made from; other values unchanged."""
    while isinstance(value.owner, Operation) and has_role(value.owner, Role.VIEW):
        value = shown(value.owner)
    return value


def value_name(value: SSAValue) -> str:
    """Returns what a person calls a value, empty for values without a name."""
    return label_of(value)


def memory_of(type_: Attribute) -> str | None:
    """Returns the memory that values of a type refer to."""
    if isinstance(type_, t.PtrType):
        return SPACE_ALIASES.get(type_.space, type_.space)
    if isinstance(type_, t.TileBufType):
        return SPACE_ALIASES.get(type_.loc, type_.loc)
    if isinstance(type_, t.MultiTileBufType):
        return memory_of(type_.slot)
    if isinstance(type_, t.ShapedView):
        return "gm"
    if isinstance(type_, MemRefType):
        return space_of(type_) or "gm"
    return None


def _may_read(op: Operation, value: SSAValue, arch: str) -> bool:
    if not isinstance(op, PtoOp) or op.results or has_role(op, Role.VIEW):
        return True
    groups = operand_groups(op)
    return any(value in groups.get(name, ()) for name in form_of(op, arch).reads)


class Sites:
    """All sites of one compiled program, numbered from 1, which runs on ``arch`` through ``backend``."""

    def __init__(self) -> None:
        self.arch = "a5"
        self.backend = "emitc"
        self.all: list[Site | None] = [None]
        self._reached: set[int] = set()
        self._streams: dict[tuple[int, int, str], bool] = {}

    def add(self, op: Operation, loops: tuple[str, ...]) -> Site:
        """Returns a new site."""
        site = Site(len(self.all), op, loops, self)
        self.all.append(site)
        return site

    @cached_property
    def several_files(self) -> bool:
        """Returns whether the program comes from more than one file."""
        return len({shown_span(site.span).source.name for site in self if site.span is not None}) > 1

    def __iter__(self) -> Iterator[Site]:
        return (site for site in self.all if site is not None)

    def stream(self, first: Site, second: Site, kind: str) -> bool:
        """Returns whether hardware streams everything that an access of this kind shares with an earlier one."""
        key = (first.number, second.number, kind)
        known = self._streams.get(key)
        if known is None:
            known = self._streams[key] = is_streamed(first, second, kind)
        return known

    def reach(self, number: int) -> None:
        """Records that a run reached this site."""
        self._reached.add(number)

    def reached(self) -> list[Site]:
        """Returns the sites that a run reached."""
        return [self[number] for number in sorted(self._reached)]

    def __getitem__(self, number: int) -> Site:
        site = self.all[number]
        assert site is not None
        return site

"""``check-memory``: tiles with addresses that share bytes while both are in use.

Source: docs/reference/constraints.md, "Whole programs"; docs/reference/instrumentation.md, "Findings".
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, NamedTuple, Self

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from pto_dialect.analysis.abstract_interpreter import AbstractInterpreter, AnalysisLimitExceeded
from pto_dialect.analysis.abstract_state import Step
from pto_dialect.analysis.abstract_values import AbstractValue
from pto_dialect.analysis.target import profile_of
from pto_dialect.diagnostics.diagnostic import Diagnostic, Note, Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.wording import listed
from pto_dialect.ir.buffers.pointers import TileBufAddrOp
from pto_dialect.ir.buffers.views import TAssignOp
from pto_dialect.ir.core.base import PtoOp, is_pto, op_spec, operand_groups
from pto_dialect.ir.core.facts.operation_form import form_of
from pto_dialect.ir.core.location import label_of, span_of
from pto_dialect.ir.core.operands import shown
from pto_dialect.ir.core.roles import RUNS, Role, has_role
from pto_dialect.ir.core.types import MultiTileBufType, PartitionViewType, PtrType, TensorViewType, TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.sync.cross_core import SyncWaitOp
from pto_dialect.ir.sync.pipes import ImportReservedBufferOp
from pto_dialect.targets.profile import Profile
from pto_dialect.verify.engine.rule import read_rules

from .base import PtoPass
from .check_sync import entry_functions
from .tile_addresses import Allocator, Positions, Tile, TileAddresses, allocator

_RULES = read_rules("passes")
OVERLAP = _RULES["overlap-tiles"]
UNINIT = read_rules("run")["mem-uninit"]
_GLOBAL = (PtrType, PartitionViewType, TensorViewType)
"""Types of operands that give places in global memory, of stores above all."""
_TILES = (TileBufType, MultiTileBufType)
_OTHERS_WRITE = (TileBufAddrOp, TAssignOp, SyncWaitOp, ImportReservedBufferOp)
"""Operations after which another agent may write the tiles of a function, besides calls, sections and queues."""


@dataclass(frozen=True)
class CheckMemoryPass(PtoPass):
    """Follows which tile owns which bytes along the ways of every function that no other calls."""

    name: ClassVar[str] = "check-memory"

    def run(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        """Reports what the functions of ``module`` do wrong with memory."""
        for function in entry_functions(module):
            # Functions that are too long for the analysis have no diagnostics.
            with suppress(AnalysisLimitExceeded):
                texts = _Texts(profile_of(function, self.target))
                reporter = _Reporter(engine)
                try:
                    AbstractInterpreter(
                        function, None, _Owners(texts, reporter, _fills_all(function), TileAddresses({}, {}))
                    ).run()
                finally:
                    reporter.finish()


class _Reporter:
    """Reports each pair of tiles once, each tile that is stored and nothing has written, and in one warning all those
    that are only computed with: ``computed`` has the operations that do, by allocation."""

    def __init__(self, engine: DiagnosticEngine) -> None:
        self.engine = engine
        self.seen: set[tuple[int, int, bool]] = set()
        self.computed: dict[Operation, dict[Operation, None]] = {}

    def overlap(self, lost: Tile, by: Lost, op: Operation, certain: bool, undefined: bool) -> None:
        """``op`` reads a tile that a write has ``lost``; ``certain``: on every path; ``undefined``: the write left
        undefined contents."""
        owner = by.owner
        # Planned memory gives one address to values with disjoint live ranges; a read through a loop-carried or
        # selected handle expects the contents of that handle, unless the write went through it.
        planned = lost.is_same_memory(owner) and not undefined and (by.derived or not _is_carried(lost, op))
        if self._first((lost.made, owner.made, planned)):
            self.engine.report(_overlap(lost, owner, op, certain, planned))

    def unwritten(self, made: Operation, op: Operation) -> None:
        """``op`` reads the tile that ``made`` allocates, and nothing can have written it."""
        if made in self.computed:
            self.computed[made][op] = None
        elif self._first((id(made), id(made), False)):
            if any(isinstance(value.type, _GLOBAL) for value in op.operands):
                self.engine.report(_stored(made, op))
            else:
                self.computed[made] = {op: None}

    def finish(self) -> None:
        """The end of a function."""
        if self.computed:
            self.engine.report(_computed(self.computed))

    def _first(self, pair: tuple[int, int, bool]) -> bool:
        known = pair in self.seen
        self.seen.add(pair)
        return not known


class _Texts:
    """Static facts on each operation of a function, computed once for all states."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.operands: dict[Operation, Positions] = {}
        self.allocators: dict[Operation, Allocator] = {}
        self.tiles: dict[tuple[int, int], Tile] = {}
        self.sums: dict[Operation, bool] = {}

    def positions(self, op: Operation) -> Positions:
        """Returns the positions of the tiles that an operation reads, of those that it writes, and of those that it
        leaves with undefined contents."""
        known = self.operands.get(op)
        if known is None:
            arch = self.profile.arch
            known = self.operands[op] = tile_operands(op, arch) if isinstance(op, PtoOp) else ((), (), ())
            self.sums[op] = has_role(op, Role.ACCUMULATES)
        return known

    def allocator(self, op: Operation) -> Allocator:
        """Returns what an allocation says."""
        known = self.allocators.get(op)
        if known is None:
            known = self.allocators[op] = allocator(op, self.profile)
        return known

    def tile(self, op: Operation, start: int) -> Tile:
        """Returns the tile that ``op`` allocates at ``start``, the same object each time."""
        known = self.tiles.get((id(op), start))
        if known is None:
            made_by = self.allocator(op)
            known = self.tiles[id(op), start] = Tile(op, made_by.space, start, start + made_by.size)
        return known


class Lost(NamedTuple):
    """The tile through which content was overwritten; ``derived``: by an operation that has read that content in this
    very place, where it leaves the next one."""

    owner: Tile
    derived: bool


class _Owners:
    """Which tile wrote which bytes last, as ranges. ``alone``: nobody but the tiles of the function writes them;
    ``meant``: pairs of tiles that are two names for the same bytes on purpose."""

    def __init__(self, texts: _Texts, reporter: _Reporter, alone: bool, locations: TileAddresses) -> None:
        self.texts = texts
        self.reporter = reporter
        self.alone = alone
        self.places = locations
        self.lost: dict[int, Lost] = {}
        self.meant: frozenset[tuple[int, int]] = frozenset()
        self.written: dict[int, Tile] = {}
        self.filled: frozenset[int] = frozenset()
        self.clobbered: frozenset[int] = frozenset()
        """Tiles whose content the last write has left undefined."""
        self._rivals: dict[Tile, list[int]] = {}

    def is_relevant(self, op: Operation) -> bool:
        """Allocations, and what goes through their tiles."""
        return has_role(op, Role.TILE_ALLOCATION) or any(self.texts.positions(op))

    def relevant_operands(self, op: Operation) -> Iterable[SSAValue]:
        """Handles of tiles, and what allocations depend on."""
        if has_role(op, Role.TILE_ALLOCATION):
            return op.operands
        return [op.operands[i] for group in self.texts.positions(op) for i in group]

    def copy(self) -> Self:
        """An independent copy of the state."""
        self.places.shared = True
        other = type(self)(self.texts, self.reporter, self.alone, self.places)
        other.lost, other.written, other.filled = dict(self.lost), dict(self.written), self.filled
        other.clobbered, other.meant = self.clobbered, self.meant
        return other

    def key(self) -> Hashable:
        """Which tiles are where, and whose bytes are whose."""
        lost, written = frozenset(self.lost.items()), frozenset(self.written.items())
        return self.places.key(), lost, written, self.filled, self.clobbered, self.meant

    def finish(self, is_must: bool) -> None:
        """Nothing is left to say at the end."""

    def transfer(self, step: Step, is_must: bool) -> bool:
        """Reports tiles that are read after another tile has overwritten part of them, or before any write."""
        op = step.op
        if has_role(op, Role.TILE_ALLOCATION):
            self._allocate(op, step.values)
            return True
        accesses = self.places.accessed(op, self.texts.positions(op), step.values)
        if self.lost:
            for tile in accesses.reads:
                if tile.made in self.lost:
                    owner = self.lost[tile.made]
                    self.reporter.overlap(tile, owner, op, is_must, owner.owner.made in self.clobbered)
        if self.alone and is_must:
            for made in accesses.read:
                if id(made) not in self.filled:
                    self.reporter.unwritten(made, op)
        for tile in accesses.reads:
            if tile.made not in self.written:
                self._meet(tile)
        for tile in accesses.writes:
            undefined = tile in accesses.clobbered
            if undefined != (tile.made in self.clobbered):
                self.clobbered ^= {tile.made}
            self._write(tile, accesses.reads, self.texts.sums[op], undefined)
        if not accesses.written <= self.filled:
            self.filled |= accesses.written
        return True

    def _allocate(self, op: Operation, numbers: tuple[AbstractValue, ...]) -> None:
        made_by = self.texts.allocator(op)
        start = numbers[made_by.address] if made_by.address >= 0 else None
        number = (id(op.results[0]), *numbers)
        if not isinstance(start, int) or not made_by.size:
            if made_by.address >= 0 and not isinstance(start, int):
                # Anywhere, so perhaps where something is.
                self.filled |= {id(op)}
            self.places = self.places.with_(number, op, None)
            return
        tile: Tile | None = self.texts.tile(op, start)
        if made_by.view:
            self.filled |= {id(op)}
            tile = self.places.owner(tile)
        elif id(op) not in self.filled and any(tile.shares(other) for other in self.written.values()):
            self.filled |= {id(op)}
        self.places = self.places.with_(number, op, tile)

    def _meet(self, tile: Tile) -> None:
        """Through ``tile``, which nothing was written through, something is read that others have left in its very
        bytes: these have two names on purpose."""
        others = [
            one.made for one in self.written.values() if one.is_same_memory(tile) and one.made not in self.clobbered
        ]
        if others:
            self.meant |= {pair for made in others for pair in ((made, tile.made), (tile.made, made))}

    def _write(self, tile: Tile, read: tuple[Tile, ...], sums: bool, undefined: bool) -> None:
        """``tile`` is written; other tiles that were written before lose what they share with it, except those that the
        operation has ``read`` if it ``sums`` up."""
        rivals = self._rivals.get(tile)
        if rivals is None:
            others = (other for other in self.written.values() if other.made != tile.made)
            rivals = self._rivals[tile] = [other.made for other in others if other.shares(tile)]
        for made in rivals:
            rival = self.written[made]
            if (made, tile.made) in self.meant and not undefined:
                self.lost.pop(made, None)
                continue
            if rival in read and sums:
                continue
            self.lost[made] = Lost(tile, rival in read and rival.is_same_memory(tile))
        if tile not in read and not undefined:
            self.lost.pop(tile.made, None)
        if self.written.get(tile.made) is not tile:
            self.written[tile.made] = tile
            self._rivals.clear()
        sharing = self.places.sharing(tile)
        if not sharing <= self.filled:
            self.filled |= sharing


def tile_operands(op: PtoOp, arch: str) -> Positions:
    form = form_of(op, arch)
    groups = operand_groups(op)

    def positions(names: Iterable[str]) -> tuple[int, ...]:
        values = {value for name in names for value in groups.get(name, ())}
        return tuple(i for i, value in enumerate(op.operands) if value in values and isinstance(value.type, _TILES))

    scratch = {*positions(form.scratch)}
    reads = tuple(i for i in positions(form.reads) if i not in scratch)
    return reads, positions(form.writes), positions(form.clobbered)


@cache
def _lets_others_write(cls: type[PtoOp]) -> bool:
    spec = op_spec(cls)
    pops = spec.queue is not None and spec.queue.role == "pop"
    runs = bool(spec.roles & (RUNS | Role.RESERVATION))
    return pops or runs or bool(spec.section) or issubclass(cls, _OTHERS_WRITE)


def _fills_all(function: Operation) -> bool:
    """Returns True when only operations on the tiles of the function write these: no pointers, queues or other
    cores."""
    for op in walk(function):
        if _lets_others_write(type(op)) if is_pto(op) else has_role(op, RUNS):
            return False
        if isinstance(op, PtoOp):
            spec = op_spec(type(op))
            groups = operand_groups(op)
            for name in (*spec.writes, *spec.outs):
                for value in groups.get(name, ()):
                    if isinstance(value.type, PtrType) and value.type.space != "gm":
                        return False
    return True


def _is_carried(tile: Tile, op: Operation) -> bool:
    """Returns whether ``op`` uses a tile through a handle that a loop carries, a branch gives or a choice."""
    return not any(_allocation_of(value) is tile.op for value in op.operands if isinstance(value.type, _TILES))


def _allocation_of(value: SSAValue) -> Operation | None:
    """Returns the allocation that a value is a view of, if the text says it."""
    while isinstance(owner := value.owner, Operation) and not has_role(owner, Role.TILE_ALLOCATION):
        if not has_role(owner, Role.VIEW) or not owner.operands:
            return None
        value = shown(owner)
    return owner if isinstance(owner, Operation) else None


def _overlap(lost: Tile, owner: Tile, op: Operation, certain: bool, planned: bool) -> Diagnostic:
    names = [_name(tile.op) for tile in (lost, owner)]
    first, last = max(lost.start, owner.start), min(lost.stop, owner.stop)
    message = (
        f"{names[0]} and {names[1]} share bytes [{first}, {last}) of {lost.space}: what {op.name} reads through "
        f"{names[0]} was overwritten through {names[1]}{'' if certain else ' on some path'}"
    )
    notes = tuple(
        Note(f"{name} has bytes [{tile.start}, {tile.stop})", span_of(tile.op))
        for name, tile in zip(names, (lost, owner), strict=True)
    )
    severity = Severity.INFO if planned else OVERLAP.severity if certain else Severity.WARNING
    return OVERLAP.at(op, message, notes, "give them other addresses", severity=severity)


def _stored(made: Operation, op: Operation) -> Diagnostic:
    message = f"{op.name} reads {_name(made)}, which nothing has written"
    note = Note("it is allocated here", span_of(made))
    return UNINIT.at(op, message, (note,), f"fill {_name(made)} before it is stored")


def _computed(reads: dict[Operation, dict[Operation, None]]) -> Diagnostic:
    """Returns one warning for all tiles of a function: what is only computed with may never be used."""
    first = next(iter(next(iter(reads.values()))))
    together = [made for made, ops in reads.items() if first in ops]
    message = f"{first.name} reads {listed(list(map(_name, together)))}, which nothing has written"
    rest = len(reads) - len(together)
    if rest:
        message += f"; so do other operations with {rest} more {'tile' if rest == 1 else 'tiles'} of the function"
    notes: list[Note] = []
    for made, ops in reads.items():
        later = [op for op in ops if op is not first]
        if made in together:
            notes.append(Note(f"{_name(made)} is allocated here{_read_by(len(later))}", span_of(made)))
        else:
            notes.append(Note(f"{later[0].name} reads {_name(made)}{_read_by(len(later) - 1)}", span_of(later[0])))
    help_ = f"fill {listed(list(map(_name, together)))} before the function computes with them"
    return UNINIT.at(first, message, notes, help_, severity=Severity.WARNING)


def _name(made: Operation) -> str:
    return label_of(made.results[0], "a tile")


def _read_by(count: int) -> str:
    """Returns how many more operations read a tile."""
    if not count:
        return ""
    return f", and {count} more {'operation reads' if count == 1 else 'operations read'} it"

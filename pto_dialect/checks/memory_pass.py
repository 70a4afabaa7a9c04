"""``check-memory``: tiles with addresses that share bytes while both are in use.

Source: verifier-rules page, section 17; execution page, section 6.3.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ..diagnostics.diagnostic import Diagnostic, Note, Severity
from ..diagnostics.engine import DiagnosticEngine
from ..ir.base import PtoOp, op_spec, operand_groups
from ..ir.location import span_of
from ..ir.types import MultiTileBufType, PartitionViewType, PtrType, TensorViewType, TileBufType
from ..ir.walk import walk
from ..targets.profile import Profile
from ..transforms.module_pass import PtoPass
from ..verify.alloc_rules import address_operand, is_view, space_of, tile_bytes
from ..verify.module_target import profile_of
from ..verify.rule import ERROR, MEMORY, rule
from ..verify.run_rules import RUN_RULES
from .symbols import Number
from .sync_pass import entry_functions
from .ways import TooMuch, Walk
from .world import Step

_PAGE = "verifier-rules page, section 17"
_T = "!pto.tile_buf<vec, 16x16xf32>"
_BAD = f"""func.func @f() {{
  %c0 = arith.constant 0 : i64
  %c512 = arith.constant 512 : i64
  %one = arith.constant 1.0 : f32
  %a = pto.alloc_tile addr = %c0 : {_T}
  %b = pto.alloc_tile addr = %c512 : {_T}
  pto.texpands ins(%one : f32) outs(%a : {_T})
  pto.texpands ins(%one : f32) outs(%b : {_T})
  pto.tadd ins(%a, %b : {_T}, {_T}) outs(%a : {_T})
  return
}}"""

OVERLAP = rule(
    "overlap-tiles",
    ERROR,
    MEMORY,
    "tiles that are in use at the same time share no bytes, unless one is a view of the other",
    source=_PAGE,
    bad=_BAD,
    good=_BAD.replace("512", "1024"),
)
_ALLOCATIONS = frozenset(("pto.alloc_tile", "pto.alloc_multi_tile"))
_OTHERS_WRITE = frozenset(
    ("func.call", "pto.simt_launch", "pto.tile_buf_addr", "pto.sync.wait", "pto.tassign", "pto.comm")
)


class _Tile(NamedTuple):
    """An allocation with a known place."""

    op: Operation
    space: str
    start: int
    stop: int

    def shares(self, other: _Tile) -> bool:
        """Whether some byte belongs to both."""
        return self.space == other.space and self.start < other.stop and other.start < self.stop

    def contains(self, other: _Tile) -> bool:
        """Whether all bytes of ``other`` belong to this one."""
        return self.space == other.space and self.start <= other.start and other.stop <= self.stop


@dataclass(frozen=True)
class CheckMemoryPass(PtoPass):
    """Follows which tile owns which bytes along the ways of every function that no other calls."""

    name: ClassVar[str] = "check-memory"

    def run(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        for function in entry_functions(module):
            # Nothing is said about functions that are too long to follow.
            with suppress(TooMuch):
                owners = _Owners(profile_of(function, self.target), _Reporter(engine), _fills_all(function))
                Walk(function, None, owners).run()


class _Reporter:
    """Reports each pair of tiles, and each tile that nothing has written, once."""

    def __init__(self, engine: DiagnosticEngine) -> None:
        self.engine = engine
        self.seen: set[tuple[int, int]] = set()

    def overlap(self, lost: _Tile, owner: _Tile, op: Operation, certain: bool) -> None:
        """``op`` reads what is ``lost`` to ``owner``; ``certain``: on every way."""
        if self._first(lost.op, owner.op):
            self.engine.report(_overlap(lost, owner, op, certain))

    def unwritten(self, made: Operation, op: Operation) -> None:
        """``op`` reads the tile that ``made`` allocates, and nothing can have written it."""
        if self._first(made, made):
            self.engine.report(_unwritten(made, op))

    def _first(self, one: Operation, other: Operation) -> bool:
        pair = (id(one), id(other))
        known = pair in self.seen
        self.seen.add(pair)
        return not known


class _Owners:
    """Which tile wrote which bytes last, as ranges. ``alone``: nobody but the tiles of the function writes them."""

    def __init__(self, profile: Profile, reporter: _Reporter, alone: bool) -> None:
        self.profile = profile
        self.reporter = reporter
        self.alone = alone
        self.made: dict[Number, Operation] = {}
        self.tiles: dict[Number, _Tile] = {}
        self.lost: dict[Operation, _Tile] = {}
        self.written: dict[Operation, _Tile] = {}
        self.filled: frozenset[Operation] = frozenset()
        self.operands: dict[Operation, tuple[tuple[int, ...], tuple[int, ...]]] = {}
        self.bases: dict[Number, Number] = {}

    def concerns(self, op: Operation) -> bool:
        """Allocations, and what goes through their tiles."""
        return op.name in _ALLOCATIONS or any(self._operands(op))

    def copy(self) -> Self:
        """The same state, to go on with by itself."""
        other = type(self)(self.profile, self.reporter, self.alone)
        other.made, other.tiles = dict(self.made), dict(self.tiles)
        other.lost, other.written, other.filled = dict(self.lost), dict(self.written), self.filled
        other.operands, other.bases = self.operands, self.bases
        return other

    def key(self) -> Hashable:
        """Which tiles are where, and whose bytes are whose."""
        tables = (self.made, self.tiles, self.lost, self.written)
        return (*[frozenset(table.items()) for table in tables], self.filled)

    def finish(self, certain: bool) -> None:
        """Nothing is left to say at the end."""

    def take(self, step: Step, certain: bool) -> bool:
        """Tells of tiles that are read after another tile has overwritten part of them, or before anything is there."""
        op = step.op
        if op.name in _ALLOCATIONS:
            self._allocate(op, step.numbers)
            return True
        read, written = (
            list(dict.fromkeys(base for i in positions if (base := self._base(step.numbers[i])) is not None))
            for positions in self._operands(op)
        )
        reads, writes = ([self.tiles[base] for base in bases if base in self.tiles] for bases in (read, written))
        for tile in dict.fromkeys(reads):
            if tile.op in self.lost:
                self.reporter.overlap(tile, self.lost[tile.op], op, certain)
        if self.alone and certain:
            for base in read:
                if self.made[base] not in self.filled:
                    self.reporter.unwritten(self.made[base], op)
        for tile in dict.fromkeys(writes):
            self._write(tile, whole=tile not in reads, kept=reads if accumulates(op) else [])
        self.filled |= {self.made[base] for base in written}
        return True

    def _allocate(self, op: Operation, numbers: tuple[Number, ...]) -> None:
        kind = op.results[0].type
        number = (id(op.results[0]), *numbers)
        tile = kind.slot if isinstance(kind, MultiTileBufType) else kind
        address = address_operand(op)
        start = None if address is None else numbers[list(op.operands).index(address)]
        self.made[number] = op
        if address is not None and not isinstance(start, int):
            # Anywhere, so perhaps where something is.
            self.filled |= {op}
        if not isinstance(tile, TileBufType) or not isinstance(start, int):
            return
        size = tile_bytes(tile) * (kind.count if isinstance(kind, MultiTileBufType) else 1)
        found = _Tile(op, space_of(tile, self.profile), start, start + size)
        if is_view(op):
            self.filled |= {op}
            owner = next((known for known in self.tiles.values() if known.contains(found)), None)
            if owner is None:
                return
            found = owner
        elif any(found.shares(other) for other in self.written.values()):
            self.filled |= {op}
        self.tiles[number] = found

    def _base(self, number: Number) -> Number | None:
        """The allocation that a handle comes from, through views and slots."""
        if isinstance(number, int):
            return None
        known = number if number in self.made else self.bases.get(number)
        if known is None or known not in self.made:
            known = next((base for part in number if isinstance(part, tuple) and (base := self._base(part))), None)
            if known is not None:
                self.bases[number] = known
        return known

    def _operands(self, op: Operation) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The positions of the tiles that an operation reads, scratch aside, and of those that it writes."""
        found = self.operands.get(op)
        if found is None:
            found = self.operands[op] = _tile_operands(op) if isinstance(op, PtoOp) else ((), ())
        return found

    def _write(self, tile: _Tile, whole: bool, kept: list[_Tile]) -> None:
        """``tile`` is written; other tiles that were written before lose what they share with it, except ``kept``."""
        for other in self.written.values():
            if other.op is not tile.op and other.shares(tile) and other not in kept:
                self.lost[other.op] = tile
        if whole:
            self.lost.pop(tile.op, None)
        self.written[tile.op] = tile
        self.filled |= {made.op for made in self.tiles.values() if made.shares(tile)}


def _tile_operands(op: PtoOp) -> tuple[tuple[int, ...], tuple[int, ...]]:
    spec = op_spec(type(op))
    groups = operand_groups(op)

    def positions(names: Iterable[str]) -> tuple[int, ...]:
        values = {value for name in names for value in groups.get(name, ())}
        tiles = (TileBufType, MultiTileBufType)
        return tuple(i for i, value in enumerate(op.operands) if value in values and isinstance(value.type, tiles))

    written = positions((*spec.writes, *spec.outs))
    scratch = {*positions(spec.writes)} - {*positions(spec.outs)}
    return tuple(i for i in positions(spec.reads) if i not in scratch or not spec.outs), written


def _fills_all(function: Operation) -> bool:
    """True when only operations on the tiles of the function write these: no pointers, queues or other cores."""
    for op in walk(function):
        if op.name in _OTHERS_WRITE or op.name.startswith(("pto.section.", "pto.tpop", "pto.reserve", "pto.import")):
            return False
        if isinstance(op, PtoOp):
            spec = op_spec(type(op))
            groups = operand_groups(op)
            for name in (*spec.writes, *spec.outs):
                for value in groups.get(name, ()):
                    if isinstance(value.type, PtrType) and value.type.space != "gm":
                        return False
    return True


def accumulates(op: Operation) -> bool:
    """True for operations that go on with a sum, which may stay where it is under another handle."""
    return "acc" in op.name.replace("_", ".").split(".")


def _overlap(lost: _Tile, owner: _Tile, op: Operation, certain: bool) -> Diagnostic:
    names = [f"%{tile.op.results[0].name_hint or 'a tile'}" for tile in (lost, owner)]
    first, last = max(lost.start, owner.start), min(lost.stop, owner.stop)
    message = (
        f"{names[0]} and {names[1]} share bytes [{first}, {last}) of {lost.space}: what {op.name} reads through "
        f"{names[0]} was overwritten through {names[1]}{'' if certain else ' on some path'}"
    )
    notes = tuple(
        Note(f"{name} has bytes [{tile.start}, {tile.stop})", span_of(tile.op))
        for name, tile in zip(names, (lost, owner), strict=True)
    )
    # Programs whose memory was planned give one place to values that follow each other.
    planned = (lost.start, lost.stop) == (owner.start, owner.stop)
    severity = Severity.INFO if planned else OVERLAP.severity if certain else Severity.WARNING
    return Diagnostic(OVERLAP.id, severity, message, span_of(op), notes, "give them other addresses")


def _unwritten(made: Operation, op: Operation) -> Diagnostic:
    name = f"%{made.results[0].name_hint or 'a tile'}"
    stores = any(isinstance(value.type, (PtrType, PartitionViewType, TensorViewType)) for value in op.operands)
    declared = RUN_RULES["mem-uninit"]
    note = Note("it is allocated here", span_of(made))
    message = f"{op.name} reads {name}, which nothing has written"
    # What is only computed with may never be used.
    severity = declared.severity if stores else Severity.WARNING
    return Diagnostic(declared.id, severity, message, span_of(op), (note,), f"fill {name} first")

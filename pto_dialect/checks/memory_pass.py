"""``check-memory``: tiles with addresses that share bytes while both are in use.

Source: verifier-rules page, section 17; execution page, section 6.3.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ..diagnostics.diagnostic import Diagnostic, Note, Severity
from ..diagnostics.engine import DiagnosticEngine
from ..ir.base import PtoOp, op_spec, operand_groups
from ..ir.location import span_of
from ..ir.types import MultiTileBufType, TileBufType
from ..targets.profile import Profile
from ..transforms.module_pass import PtoPass
from ..verify.alloc_rules import address_operand, is_view, space_of, tile_bytes
from ..verify.module_target import profile_of
from ..verify.rule import ERROR, MEMORY, rule
from .symbols import Number
from .sync_pass import entry_functions
from .worlds import Step, TooMuch, Walk

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
_VIEWS = frozenset(("pto.subview", "pto.treshape", "pto.bitcast", "pto.multi_tile_get"))


class _Tile(NamedTuple):
    """An allocation with a known place."""

    op: Operation
    space: str
    start: int
    stop: int

    def contains(self, other: _Tile) -> bool:
        """Whether all bytes of ``other`` belong to this one."""
        return self.space == other.space and self.start <= other.start and other.stop <= self.stop


@dataclass(frozen=True)
class CheckMemoryPass(PtoPass):
    """Follows which tile owns which bytes along the paths of every function that no other calls."""

    name: ClassVar[str] = "check-memory"

    def run(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        for function in entry_functions(module):
            # Nothing is said about functions that are too long to follow.
            with suppress(TooMuch):
                Walk(function, None, _Owners(profile_of(function, self.target), _Reporter(engine))).run()


class _Reporter:
    """Reports each pair of tiles once."""

    def __init__(self, engine: DiagnosticEngine) -> None:
        self.engine = engine
        self.seen: set[tuple[int, int]] = set()

    def overlap(self, lost: _Tile, owner: _Tile, op: Operation, certain: bool) -> None:
        """``op`` reads what is ``lost`` to ``owner``; ``certain``: on every way."""
        pair = (id(lost.op), id(owner.op))
        if pair not in self.seen:
            self.seen.add(pair)
            self.engine.report(_overlap(lost, owner, op, certain))


class _Owners:
    """Which tile wrote which bytes last, as ranges."""

    def __init__(self, profile: Profile, reporter: _Reporter) -> None:
        self.profile = profile
        self.reporter = reporter
        self.tiles: dict[Operation, _Tile] = {}
        self.lost: dict[Operation, _Tile] = {}
        self.written: dict[Operation, _Tile] = {}
        self.touched: dict[Operation, tuple[tuple[Operation, ...], tuple[Operation, ...]]] = {}

    def concerns(self, op: Operation) -> bool:
        """Allocations with an address, and what goes through their tiles."""
        return op.name in _ALLOCATIONS or any(self._touched(op))

    def copy(self) -> Self:
        """The same state, to go on with by itself."""
        other = type(self)(self.profile, self.reporter)
        other.tiles, other.lost, other.written = dict(self.tiles), dict(self.lost), dict(self.written)
        other.touched = self.touched
        return other

    def key(self) -> Hashable:
        """Which tiles are where, and whose bytes are whose."""
        return tuple(frozenset(table.items()) for table in (self.tiles, self.lost, self.written))

    def finish(self, certain: bool) -> None:
        """Nothing is left to say at the end."""

    def take(self, step: Step, certain: bool) -> bool:
        """Tells of tiles that are read after another tile has overwritten part of them."""
        op = step.op
        if op.name in _ALLOCATIONS:
            self._allocate(op, step.numbers)
            return True
        reads, writes = (
            list(dict.fromkeys(self.tiles[owner] for owner in owners if owner in self.tiles))
            for owners in self._touched(op)
        )
        for tile in reads:
            if tile.op in self.lost:
                self.reporter.overlap(tile, self.lost[tile.op], op, certain)
        for tile in writes:
            self._write(tile, whole=tile not in reads, kept=reads if accumulates(op) else [])
        return True

    def _allocate(self, op: Operation, numbers: tuple[Number, ...]) -> None:
        kind = op.results[0].type
        tile = kind.slot if isinstance(kind, MultiTileBufType) else kind
        address = address_operand(op)
        start = None if address is None else numbers[list(op.operands).index(address)]
        if not isinstance(tile, TileBufType) or not isinstance(start, int):
            return
        size = tile_bytes(tile) * (kind.count if isinstance(kind, MultiTileBufType) else 1)
        found = _Tile(op, space_of(tile, self.profile), start, start + size)
        if is_view(op):
            owner = next((known for known in self.tiles.values() if known.contains(found)), None)
            if owner is None:
                return
            found = owner
        self.tiles[op] = found

    def _touched(self, op: Operation) -> tuple[tuple[Operation, ...], tuple[Operation, ...]]:
        """The allocations behind what an operation reads, and behind what it writes."""
        if not isinstance(op, PtoOp):
            return (), ()
        found = self.touched.get(op)
        if found is None:
            spec = op_spec(type(op))
            groups = operand_groups(op)

            def owners(names: Iterable[str]) -> tuple[Operation, ...]:
                values = [value for name in dict.fromkeys(names) for value in groups.get(name, ())]
                return tuple(owner for value in values if (owner := _allocation(value)) is not None)

            found = self.touched[op] = owners(spec.reads), owners((*spec.writes, *spec.outs))
        return found

    def _write(self, tile: _Tile, whole: bool, kept: list[_Tile]) -> None:
        """``tile`` is written; other tiles that were written before lose what they share with it, except ``kept``."""
        for other in self.written.values():
            shared = other.start < tile.stop and tile.start < other.stop
            if other.op is not tile.op and other.space == tile.space and shared and other not in kept:
                self.lost[other.op] = tile
        if whole:
            self.lost.pop(tile.op, None)
        self.written[tile.op] = tile


def _allocation(value: SSAValue) -> Operation | None:
    while isinstance(value.owner, Operation):
        op = value.owner
        if op.name in _ALLOCATIONS:
            return op
        if op.name not in _VIEWS:
            return None
        value = op.operands[0]
    return None


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

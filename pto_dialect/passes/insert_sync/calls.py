"""Calls of functions in the same file: what they touch counts where they are called, what they order is their own.

Source: docs/reference/synchronisation.md, "Calls".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import combinations

from xdsl.ir import Operation, SSAValue

from pto_dialect.analysis.affine import AffineAnalysis
from pto_dialect.analysis.symbols import Symbols
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.accesses.items import Call, Item, Leaf, Sequence, Signal, UnsupportedError, innermost
from pto_dialect.passes.accesses.locations import GLOBAL, HandleLocations, MemoryLocation
from pto_dialect.passes.accesses.overlap import may_overlap
from pto_dialect.passes.accesses.program import MEMORY, Reader
from pto_dialect.passes.accesses.setting import ANY, Setting
from pto_dialect.passes.accesses.signals import signal_of

Pair = tuple[int, int]
Used = dict[Pair, set[int]]
"""The numbers of flags that a function and those that it calls use between two pipes."""
Path = tuple[tuple[Sequence, int], ...]


class CallReader(Reader):
    """Builds sequences in which the accesses of called functions replace the call. ``used`` are the flag ids of all
    callees."""

    def __init__(
        self,
        locations: HandleLocations,
        side: str | None,
        symbols: Symbols,
        numbers_of: Callable[[Operation], Used],
        above: tuple[Operation, ...],
    ) -> None:
        super().__init__(locations, side)
        self.symbols = symbols
        self.numbers_of = numbers_of
        self.above = above
        self.used: Used = defaultdict(set)

    def _item(self, op: Operation, path: Path, mine: bool) -> Item | None:
        return self._call(op, path, mine) if has_role(op, Role.CALL) else super()._item(op, path, mine)

    def _call(self, op: Operation, path: Path, mine: bool) -> Call | None:
        callee = self.symbols.callee(op)
        if callee is None or not callee.regions[0].blocks:
            raise UnsupportedError(op, "nobody knows what the function does that it calls")
        if callee in self.above:
            raise UnsupportedError(op, "it calls a function that is running already")
        arguments = callee.regions[0].blocks[0].args
        pairs = zip(arguments, op.operands, strict=True)
        passed_in: dict[SSAValue, tuple[MemoryLocation, ...]] = {inner: self.places.of(outer) for inner, outer in pairs}
        inner_locations = HandleLocations(self.places.profile, passed_in)
        inner = CallReader(inner_locations, self.side, self.symbols, self.numbers_of, (*self.above, callee))
        body = inner.called(callee, path, mine)
        if not body.items:
            return None
        _check(op, passed_in, body)
        for used in (inner.used, self.numbers_of(callee)):
            for pair, numbers in used.items():
                self.used[pair] |= numbers
        return Call(op, body)

    def called(self, function: Operation, path: Path, mine: bool) -> Sequence:
        """Returns the sequence of a function that is called."""
        region, *_ = function.regions
        if len(region.blocks) != 1:
            raise UnsupportedError(function, "it goes from block to block; only structured control flow is followed")
        body = self._sequence(region.block, path, mine)
        for leaf in _leaves(body):
            # Its numbers are of one call, and another may have others.
            leaf.reads, leaf.writes = (
                tuple(dict.fromkeys(location.unframed for location in all_)) for all_ in (leaf.reads, leaf.writes)
            )
        return body


def _leaves(sequence: Sequence) -> list[Leaf]:
    """Returns the operations of a sequence and all in it."""
    return [part for part in innermost(sequence) if isinstance(part, Leaf)]


def _check(op: Operation, arguments: dict[SSAValue, tuple[MemoryLocation, ...]], body: Sequence) -> None:
    """Arguments that may be the same memory, or lie where the function has tiles of its own: the function was given its
    own order as if they were not. Raises :class:`UnsupportedError`."""
    same = Setting(lambda value: True, None, lambda value: ANY, AffineAnalysis())
    by_argument = [locations for value, locations in arguments.items() if isinstance(value.type, MEMORY)]
    for one, other in combinations(by_argument, 2):
        if any(may_overlap(first, second, same) for first in one for second in other):
            raise UnsupportedError(op, "two of its arguments may be the same memory")
    known = {location.unframed.location for locations in by_argument for location in locations}
    own = {location.location for leaf in _leaves(body) for location in (*leaf.reads, *leaf.writes)} - known
    for location in own:
        # In global memory the function itself takes such places for anything.
        on_chip = location.root == "bytes" and location.space != GLOBAL
        if on_chip and any(may_overlap(one, location, same) for one in known):
            raise UnsupportedError(op, "a tile of the function lies where an argument does")


def flag_ids(function: Operation, arch: str) -> Used:
    """Returns the flag ids used in a function. Raises :class:`UnsupportedError`."""
    used: Used = defaultdict(set)
    for op in walk(function):
        if has_role(op, Role.PIPES) and not has_role(op, Role.BARRIER):
            signal: Signal = signal_of(op, (), arch)
            used[signal.source, signal.target].add(signal.number)
    return used

"""A function as one core runs it: accesses, loops and choices, without everything that touches no memory.

Source: docs/reference/synchronisation.md, "Dependences".
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.scf import ForOp, WhileOp
from xdsl.ir import Block, Operation, SSAValue

from pto_dialect.analysis.constants import constant_of, is_read_unsigned, trip_count
from pto_dialect.analysis.scalar_cache import stores_asynchronously
from pto_dialect.ir.core.base import Pipe, PtoOp, is_pto, op_spec, operand_groups, section_of
from pto_dialect.ir.core.facts.operation_form import OperationForm, form_of, pipe_of
from pto_dialect.ir.core.placement import named_pipe
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import MultiTileBufType, PartitionViewType, PtrType, TensorViewType, TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.core_dialects.llvm_pointers import is_llvm_pointer
from pto_dialect.ir.tile.memory import TGetValOp, TSetValOp

from .items import NUMBER, SCALAR, Choice, Item, Leaf, Loop, Sequence, UnsupportedError, Users, users_of
from .locations import GLOBAL, HandleLocations, MemoryLocation
from .pops import Pops
from .setting import Iteration, Range

MEMORY = (TileBufType, MultiTileBufType, PtrType, TensorViewType, PartitionViewType, MemRefType)
_MEMORY = frozenset(MEMORY)
_ELEMENTS = (TGetValOp, TSetValOp)
SHARED = (GLOBAL, "ub", "l1")
"""Memories that another core may write or look at."""

_ELEMENT_WRITES = Role.ELEMENT_STORE | Role.ATOMIC
_ELEMENT_ACCESSES = Role.ELEMENT_LOAD | _ELEMENT_WRITES
_SIGNALS = Role.CORES | Role.PEERS


class Reader:
    """Makes the sequence of a function; ``side`` is the kind of core in a function with sections."""

    def __init__(self, locations: HandleLocations, side: str | None) -> None:
        self.places = locations
        self.arch = locations.profile.arch
        self.side = side
        self.ranges: dict[SSAValue, Range] = {}
        self.pops: Pops | None = None
        self.users: Users | None = None
        """Who does something in the function that was read."""
        self.rings = True
        """Whether flags may have numbers that go round with a counter."""

    def function(self, op: Operation) -> Sequence:
        """Returns the sequence of a function. Raises :class:`UnsupportedError`."""
        self.pops = Pops(op, self.places)
        region, *_ = op.regions
        if len(region.blocks) != 1:
            raise UnsupportedError(op, "it goes from block to block; only structured control flow is followed")
        # If there are sections for one kind of core, it also runs the code outside of them.
        mine = self.side is None or {section_of(inner) for inner in walk(op)} <= {self.side, "simt", ""}
        sequence = self._sequence(region.block, (), mine)
        self.users = users_of(sequence, self.arch)
        return sequence

    def _sequence(self, block: Block, path: tuple[tuple[Sequence, int], ...], mine: bool) -> Sequence:
        """``mine``: whether the core runs the operations of ``block`` itself, not those of a section in it."""
        sequence = Sequence(block, len(path))
        self._fill(sequence, block, path, mine)
        return sequence

    def _fill(self, into: Sequence, block: Block, path: tuple[tuple[Sequence, int], ...], mine: bool) -> None:
        for op in block.ops:
            section = section_of(op)
            if section and self.side is not None and section != "simt":
                if section == self.side:
                    self._fill(into, op.regions[0].block, path, True)
                continue
            here = (*path, (into, len(into.items)))
            item = self._item(op, here, mine)
            if item is not None:
                into.items.append(item)

    def _item(self, op: Operation, path: tuple[tuple[Sequence, int], ...], mine: bool) -> Item | None:
        if op.regions and has_role(op, Role.LOOP):
            return self._loop(op, path, mine)
        if op.regions and has_role(op, Role.CHOICE):
            branches = [self._sequence(region.block, path, mine) for region in op.regions if region.blocks]
            has_items = any(branch.items for branch in branches)
            return Choice(op, branches, len(branches) < 2) if has_items else None
        if op.regions and not is_pto(op):
            if has_role(op, Role.SCALAR):
                return None
            raise UnsupportedError(op, f"{op.name} is not followed")
        if has_role(op, Role.LAUNCH):
            text = "what work-items access is not followed; order the launch with set_flag and wait_flag"
            raise UnsupportedError(op, text)
        if has_role(op, Role.CALL):
            raise UnsupportedError(op, "calls are not followed; inline the function first")
        if not mine:
            return None
        return self._leaf(op, path) if is_pto(op) else self._scalar(op, path)

    def _loop(self, op: Operation, path: tuple[tuple[Sequence, int], ...], mine: bool) -> Loop | None:
        if isinstance(op, WhileOp):
            return self._while(op, path, mine)
        if not isinstance(op, ForOp):
            if any(pipe_of(inner, self.arch) for inner in walk(op)):
                raise UnsupportedError(op, f"{op.name} is not followed, only scf.for and scf.while are")
            return None
        low, high, step = (constant_of(value) for value in (op.lb, op.ub, op.step))
        if is_read_unsigned(op):
            raise UnsupportedError(op, "it compares a negative constant as an unsigned number")
        index = op.body.block.args[0]
        count = trip_count(low, high, step)
        trips = inf if count is None else count
        if count is not None and isinstance(low, int) and isinstance(step, int):
            self.ranges[index] = (low, low + max(0, trips - 1) * step)
        elif isinstance(low, int):
            self.ranges[index] = (low, high - 1 if isinstance(high, int) else inf)
        if not trips:
            return None
        iteration = Iteration(index, step, trips) if isinstance(step, int) else None
        body = self._sequence(op.body.block, path, mine)
        if not body.items:
            return None
        return Loop(op, body, iteration, trips)

    def _while(self, op: WhileOp, path: tuple[tuple[Sequence, int], ...], mine: bool) -> Loop | None:
        """Returns a loop that runs as long as a condition holds; what decides that may be no work that needs an
        order."""
        if self._sequence(op.before_region.block, path, mine).items:
            raise UnsupportedError(op, "its condition does more than compute with numbers")
        body = self._sequence(op.after_region.block, path, mine)
        return Loop(op, body, None, inf) if body.items else None

    def _scalar(self, op: Operation, path: tuple[tuple[Sequence, int], ...]) -> Leaf | None:
        """Returns an operation of another dialect on memory, which the scalar unit carries out."""
        if has_role(op, _ELEMENT_ACCESSES) and any(is_llvm_pointer(value.type) for value in op.operands):
            raise UnsupportedError(op, "pointers of LLVM are not followed")
        locations = tuple(
            location
            for value in op.operands
            if isinstance(value.type, MemRefType)
            for location in self.places.of(value)
        )
        if has_role(op, Role.COPY):
            raise UnsupportedError(op, f"{op.name} is not followed")
        if has_role(op, Role.ELEMENT_LOAD):
            return Leaf(op, SCALAR, locations, (), path=path)
        if not has_role(op, _ELEMENT_WRITES):
            return None
        return Leaf(op, SCALAR, locations, locations, path=path, asynchronous=True)

    def _leaf(self, op: PtoOp, path: tuple[tuple[Sequence, int], ...]) -> Leaf | None:
        if has_role(op, Role.PIPES):
            joins = named_pipe(op.attributes.get("pipe")) is Pipe.ALL
            return Leaf(op, SCALAR, (), (), True, path=path) if joins else None
        if op.regions:
            return self._scope(op, path)
        form = form_of(op, self.arch)
        loaded = self.pops.loaded(op) if self.pops is not None else ()
        if loaded:
            return Leaf(op, NUMBER[Pipe.MTE2], (), loaded, path=path)
        pipe = form.pipe
        reads, writes = self._accesses(op, form)
        if has_role(op, Role.JOINS) or form.self_ordered:
            return Leaf(op, SCALAR, reads, writes, True, path=path)
        if op_spec(type(op)).pipes:
            raise UnsupportedError(op, f"{op.name} works on several pipes")
        signals = has_role(op, _SIGNALS)
        if signals:
            # Whoever is signalled may look at all that cores share, and may have written it.
            everywhere = tuple(MemoryLocation(space, None) for space in SHARED)
            reads, writes = (everywhere, ()) if has_role(op, Role.SETS) else ((), everywhere)
        if pipe is None or not (reads or writes):
            return None
        shows, learns = signals and bool(reads), signals and bool(writes)
        asynchronous = pipe is Pipe.S and stores_asynchronously(op, self.arch)
        return Leaf(op, NUMBER[pipe], reads, writes, False, shows, learns, path, asynchronous)

    def _scope(self, op: PtoOp, path: tuple[tuple[Sequence, int], ...]) -> Leaf | None:
        """Returns a region that one pipe runs as one instruction."""
        if not has_role(op, Role.SCOPE):
            raise UnsupportedError(op, f"{op.name} is not followed")
        reads: list[MemoryLocation] = []
        writes: list[MemoryLocation] = []
        for inner in walk(op):
            if is_pto(inner):
                more = self._accesses(inner, form_of(inner, self.arch))
                reads += more[0]
                writes += more[1]
        return Leaf(op, NUMBER[Pipe.V], tuple(dict.fromkeys(reads)), tuple(dict.fromkeys(writes)), path=path)

    def _accesses(
        self, op: PtoOp, form: OperationForm
    ) -> tuple[tuple[MemoryLocation, ...], tuple[MemoryLocation, ...]]:
        groups = operand_groups(op)
        results = [value for value in op.results if isinstance(value.type, TileBufType)] if form.writes_results else []
        offset = groups["offset"] if isinstance(op, _ELEMENTS) else ()

        def places(names: tuple[str, ...]) -> Iterator[MemoryLocation]:
            for name in names:
                for value in groups.get(name, ()):
                    if type(value.type) in _MEMORY:
                        yield from self.places.element(value, *offset) if offset else self.places.of(value)

        writes = (*places(form.writes), *(location for value in results for location in self.places.of(value)))
        return tuple(dict.fromkeys(places(form.reads))), tuple(dict.fromkeys(writes))

"""Transfer function of check-sync: pending signals, waits without a signal, unordered accesses.

Vector clocks model the happens-before order of the pipes, as in a run. Of two accesses the one that is first in the
text is meant to be the first. Source: docs/reference/execution.md, "Scheduling", "Synchronisation";
docs/reference/instrumentation.md, "Shadow memory", "Order of events".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from pto_dialect.analysis.abstract_state import Step
from pto_dialect.analysis.abstract_values import AbstractValue, offset_pointer
from pto_dialect.analysis.scalar_cache import MEMORY as SCALAR_STORES
from pto_dialect.analysis.scalar_cache import stores_asynchronously
from pto_dialect.analysis.streaming import is_streamed
from pto_dialect.analysis.type_facts import enumerator, is_simt_entry, space_of
from pto_dialect.ir.core.base import Pipe, PtoOp, is_declared, op_spec, operand_groups
from pto_dialect.ir.core.facts.operation_form import form_of
from pto_dialect.ir.core.placement import named_pipe
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import MultiTileBufType, PartitionViewType, PtrType, TensorViewType, TileBufType
from pto_dialect.ir.sync.flags import OperationEventOp

from .sync_state import Access, Clock, FlowState, Item, Key, Place, unit_flag

_ORDERS = (
    (Role.PIPES | Role.BARRIER, "barrier"),
    (Role.PIPES | Role.SETS, "set"),
    (Role.PIPES | Role.WAITS, "wait"),
    (Role.LOCK | Role.SETS, "get"),
    (Role.LOCK | Role.WAITS, "release"),
    (Role.JOINS, "join"),
    (Role.CORES | Role.WAITS, "blind"),
)
"""What operations with all of these roles do to the order of the pipes; ``blind``: they wait for another core."""

_known: dict[type[Operation], str | None] = {}
"""Called for each operation of a function, so classes are looked up and not compared."""


def order_of(op: Operation) -> str | None:
    """Returns what ``op`` does to the order of the pipes beside its own work: ``set``, ``wait``, ``get`` (a lock),
    ``release``, ``barrier``, ``join`` or ``blind``; ``None`` for all other operations."""
    cls = type(op)
    if cls not in _known:
        roles = op_spec(cls).roles if is_declared(cls) else Role.NONE
        _known[cls] = next((order for all_, order in _ORDERS if all_ in roles), None)
    return _known[cls]


def flag_of(step: Step) -> Key:
    """Returns the flag that a set or wait names."""
    op = step.op
    names = ("src_op", "dst_op") if isinstance(op, OperationEventOp) else ("src_pipe", "dst_pipe")
    pipes = [named_pipe(op.attributes.get(name)) for name in names]
    source, target = (pipe.value if pipe is not None else "" for pipe in pipes)
    text = enumerator(op, "event_id").removeprefix("EVENT_ID")
    number = int(text) if text.isdecimal() else step.values[0] if step.values else -1
    return source, target, number


class Flow(FlowState):
    """The pipes of one core, and what operations do to them."""

    def is_relevant(self, op: Operation) -> bool:
        """Signals, barriers and whatever a pipe does."""
        return order_of(op) is not None or self._pipe(op) is not None

    def relevant_operands(self, op: Operation) -> Iterable[SSAValue]:
        """Returns all operands: places in memory, and numbers of flags."""
        return op.operands

    def finish(self, is_must: bool) -> None:
        """The end of the function: what still waits, and what was set for nothing."""
        self.certain = is_must
        stuck = [queue[0] for queue in self.queues.values() if queue and queue[0].kind == "wait"]
        for item in stuck:
            assert item.key is not None
            self.findings.stuck(item.step.op, item.key, is_must)
        if not stuck:
            for key, tokens in self.tokens.items():
                for op, _ in tokens:
                    self.findings.left(op, key, is_must)

    # ------------------------------------------------------------ issue

    def transfer(self, step: Step, is_must: bool) -> bool:
        """Returns the scalar unit reaches an operation; False when it cannot continue."""
        op = step.op
        step = self.slots.issued(step)
        self.certain = is_must
        order = order_of(op)
        if order == "set" or order == "wait":
            return self._signal(step, order)
        if order == "get" or order == "release":
            pipe = named_pipe(op.attributes.get("op_type"))
            if pipe is not None:
                self._hold(op, (pipe.value, _lock(step)), order == "get")
                self._add(pipe.value, Item(order, step, None, self._known()))
            return True
        if order == "barrier":
            assert isinstance(op, PtoOp)
            pipe = form_of(op, self.arch).pipe
            if pipe is Pipe.ALL:
                return self._join(step)
            if pipe is not None:
                self._add(pipe.value, Item("fence", step, None, self._known()))
            return True
        if order == "join" or (isinstance(op, PtoOp) and form_of(op, self.arch).self_ordered):
            return self._join(step)
        if order == "blind":
            # Another core may have waited for anything before it signals.
            self.open = True
        pipe = self._pipe(op)
        if pipe is not None:
            self._add(pipe, Item("work", step, None, self._known()))
        return True

    def _hold(self, op: Operation, lock: tuple[str, AbstractValue], gets: bool) -> None:
        pipe, number = lock
        if isinstance(number, int) and number >= 0:
            if ((pipe, number) in self.held) == gets:
                self.findings.nesting(op, number, gets, self.certain)
            self.held = self.held | {(pipe, number)} if gets else self.held - {(pipe, number)}

    def _signal(self, step: Step, order: str) -> bool:
        key = flag_of(step)
        sets = order == "set"
        if not isinstance(key[2], int) or "" in key[:2]:
            # Unknown ids may be equal or not: their pipes have no further diagnostics.
            self._blur(key[:2])
        if key[:2] in self.unclear:
            return True
        if sets:
            if key in self.pending:
                self.findings.again(self.pending[key], step.op, key, self.certain)
            self.pending[key] = step.op
        else:
            self.pending.pop(key, None)
        return self._add(key[0] if sets else key[1], Item(order, step, key, self._known()))

    def _blur(self, pipes: tuple[str, str]) -> None:
        self.unclear |= {pipes}
        self.open = True
        self.tokens = {key: tokens for key, tokens in self.tokens.items() if key[:2] != pipes}
        self.pending = {key: op for key, op in self.pending.items() if key[:2] != pipes}
        self._advance()

    def _known(self) -> Clock:
        """Returns what an operation that is issued now takes along: all that the scalar unit knows to be complete,
        which its own last stores are not."""
        scalar = Pipe.S.value
        return {**self.clocks.get(scalar, {}), scalar: self.settled.get(scalar, 0)}

    def _pipe(self, op: Operation) -> str | None:
        if not isinstance(op, PtoOp):
            return None
        pipe = form_of(op, self.arch).pipe
        if pipe is Pipe.S and _runs_on_vector_unit(op):
            pipe = Pipe.V
        return pipe.value if pipe is not None and pipe is not Pipe.ALL else None

    def _add(self, pipe: str, item: Item) -> bool:
        queue = self.queues.get(pipe)
        if not queue and self._ready(item):
            self._execute(pipe, item)
            if item.kind == "set":
                self._advance()
            return True
        if pipe == Pipe.S.value:
            assert item.key is not None
            self.findings.stuck(item.step.op, item.key, self.certain)
            return False
        if queue is None:
            queue = self.queues[pipe] = deque()
        queue.append(item)
        return True

    def _join(self, step: Step) -> bool:
        waiting = [queue[0] for queue in self.queues.values() if queue]
        if waiting:
            for item in waiting:
                if item.key is not None:
                    self.findings.stuck(item.step.op, item.key, self.certain)
            return False
        scalar = self.clocks.setdefault(Pipe.S.value, {})
        for pipe, clock in list(self.clocks.items()):
            _merge(scalar, clock)
            self.settled[pipe] = clock.get(pipe, 0)
        return True

    # ------------------------------------------------------------ execution

    def _advance(self) -> None:
        """Runs what can run now."""
        moved = True
        while moved:
            moved = False
            for pipe, queue in self.queues.items():
                while queue and self._ready(queue[0]):
                    self._execute(pipe, queue.popleft())
                    moved = True

    def _ready(self, item: Item) -> bool:
        if item.kind != "wait":
            return True
        assert item.key is not None
        return item.key[:2] in self.unclear or bool(self.tokens.get(item.key))

    def _execute(self, pipe: str, item: Item) -> None:
        clock = self.clocks.setdefault(pipe, {})
        # What the scalar unit had waited for is complete.
        self._learn(pipe, clock, item.known)
        kind, key = item.kind, item.key
        if kind == "work":
            clock[pipe] = clock.get(pipe, 0) + 1
            self._access(pipe, clock, item.step)
        elif kind == "set":
            assert key is not None
            if key[:2] not in self.unclear:
                self.tokens[key] = (*self.tokens.get(key, ()), (item.step.op, dict(clock)))
            clock[pipe] = clock.get(pipe, 0) + 1
        elif kind == "wait":
            assert key is not None
            if key[:2] not in self.unclear:
                (_, token), *rest = self.tokens[key]
                self.tokens[key] = tuple(rest)
                self._learn(pipe, clock, token)
        elif kind == "release":
            _merge(self.released.setdefault(_lock(item.step), {}), clock)
            clock[pipe] = clock.get(pipe, 0) + 1
        elif kind == "get":
            self._learn(pipe, clock, self.released.get(_lock(item.step), {}))
        else:
            self.settled[pipe] = clock.get(pipe, 0)

    def _learn(self, pipe: str, clock: Clock, other: Clock) -> None:
        """A signal arrives: who has come back through another pipe is complete."""
        self.settled[pipe] = max(self.settled.get(pipe, 0), other.get(pipe, 0))
        _merge(clock, other)

    # ------------------------------------------------------------ accesses

    def _locations(self, step: Step, writing: bool) -> list[Place]:
        slot = self.slots.slot_of(step)
        if slot is not None:
            return [slot] if writing else []
        locations = locations_of(step, self.arch, writing)
        return [self.starts.get(one[0], one) if isinstance(one, tuple) else one for one in locations]  # pyright: ignore

    def _access(self, pipe: str, clock: Clock, step: Step) -> None:
        access = Access(pipe, clock[pipe], step.op, step.position, step.iterations)
        for location in self._locations(step, writing=False):
            self._conflict("raw", self.writers.get(location), access, clock)
            readers = self.readers.setdefault(location, {})
            self._count(access, readers.get(pipe))
            readers[pipe] = access
        for location in self._locations(step, writing=True):
            writer = self.writers.get(location)
            self._conflict("waw", writer, access, clock)
            for reader in self.readers.pop(location, {}).values():
                self._conflict("war", reader, access, clock)
                self._forget(reader)
            self._count(access, writer)
            self.writers[location] = access

    def _count(self, access: Access, before: Access | None) -> None:
        """Replaces ``before`` by ``access``."""
        numbers = self.counted.setdefault(access.pipe, {})
        numbers[access.number] = numbers.get(access.number, 0) + 1
        if before is not None:
            self._forget(before)

    def _forget(self, access: Access) -> None:
        numbers = self.counted[access.pipe]
        if numbers[access.number] == 1:
            del numbers[access.number]
        else:
            numbers[access.number] -= 1

    def _conflict(self, kind: str, before: Access | None, now: Access, clock: Clock) -> None:
        if before is None or before.op is now.op or self.open:
            return
        if before.pipe == now.pipe:
            if self._needs_fence(kind, before, now):
                self.findings.hazard(kind, before, now, False, self.certain)
            return
        if unit_flag(before.op) and unit_flag(now.op):
            return
        ordered = clock.get(before.pipe, 0) >= before.number or self._issued_after(kind, before)
        turned = before.order > now.order
        if ordered and not turned:
            return
        first, second = (now, before) if turned else (before, now)
        if turned and kind != "waw":
            kind = "war" if kind == "raw" else "raw"
        self.findings.hazard(kind, first, second, ordered, self.certain)

    def _issued_after(self, kind: str, before: Access) -> bool:
        """Returns whether an access of the scalar unit is complete for all that is issued later."""
        if before.pipe != Pipe.S.value:
            return False
        return kind == "war" or not _stores_to_buffer(before.op, self.arch)

    def _needs_fence(self, kind: str, before: Access, now: Access) -> bool:
        """Returns whether the vector unit of a2a3, which is a pipeline, may begin with ``now`` too early."""
        if self.arch != "a2a3" or now.pipe != Pipe.V.value or before.number <= self.settled.get(now.pipe, 0):
            return False
        return not is_streamed(_Position(before.op, before.order), _Position(now.op, now.order), kind)


def _stores_to_buffer(op: Operation, arch: str) -> bool:
    """Returns whether the scalar unit stores to memory that others read after a flag from it."""
    return stores_asynchronously(op, arch) and any(space_of(value.type) == SCALAR_STORES for value in op.operands)


def _runs_on_vector_unit(op: Operation) -> bool:
    """Returns whether ``op`` is part of a vector scope or of the body of a SIMT launch."""
    parent = op.parent_op()
    while parent is not None:
        if has_role(parent, Role.SCOPE) or is_simt_entry(parent):
            return True
        parent = parent.parent_op()
    return False


class _Position(NamedTuple):
    op: Operation
    number: int


def _lock(step: Step) -> AbstractValue:
    attr = step.op.attributes.get("buf_id")
    number = getattr(getattr(attr, "value", None), "data", None)
    return number if isinstance(number, int) else step.values[0] if step.values else -1


def _merge(clock: Clock, other: Clock) -> None:
    for pipe, count in other.items():
        if count > clock.get(pipe, 0):
            clock[pipe] = count


_MEMORY = (TileBufType, MultiTileBufType, PtrType, TensorViewType, PartitionViewType)


def locations_of(step: Step, arch: str, writing: bool) -> list[Place]:
    """Returns the memory that an operation must read or write: handles whose start it accesses, elements."""
    op = step.op
    if not isinstance(op, PtoOp):
        return []
    groups = operand_groups(op)
    if "offsets" in groups:
        return []
    form = form_of(op, arch)
    names = form.writes if writing else form.reads
    positions = {value: index for index, value in reversed(list(enumerate(op.operands)))}
    values = [value for name in names for value in groups.get(name, ())]
    offsets = groups.get("offset", ())
    locations: list[Place] = []
    for value in values:
        if not isinstance(value.type, _MEMORY):
            continue
        location: Place | None = step.values[positions[value]]
        if offsets and isinstance(value.type, PtrType):
            location = offset_pointer(location, step.values[positions[offsets[0]]], value.type)
        if location is not None:
            locations.append(location)
    return locations

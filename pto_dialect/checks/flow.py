"""What happens along one path: signals that stay, waits that never end, accesses without order.

The order between pipes is that of vector clocks, as in a run. Source: execution page, sections 4 to 6.2.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.ir import Operation

from ..ir.base import Pipe, PtoOp, op_spec, operand_groups
from ..ir.placement import named_pipe
from ..ir.types import MultiTileBufType, PtrType, TileBufType
from ..verify.facts import word
from .paths import Path, Step
from .symbols import Number

SETS = frozenset(("pto.set_flag", "pto.set_flag_dyn", "pto.record_event"))
WAITS = frozenset(("pto.wait_flag", "pto.wait_flag_dyn", "pto.wait_event"))
GETS = frozenset(("pto.get_buf", "pto.get_buf_dyn"))
RELEASES = frozenset(("pto.rls_buf", "pto.rls_buf_dyn"))
JOINS = frozenset(("pto.dsb", "pto.fence.barrier_all", "pto.tsync", "pto.syncall"))
_UNKNOWN_WAITS = frozenset(("pto.sync.wait", "pto.wait_intra_block", "pto.wait_cross_block"))

Clock = dict[str, int]
Key = tuple[str, str, Number]
"""A flag: both ends and the number."""
Place = tuple[object, ...]
"""Memory that two operations certainly share when it is equal: the handle that both use."""


class Access(NamedTuple):
    """A read or write: who, when, and by which operation."""

    pipe: str
    number: int
    op: Operation


class Hazard(NamedTuple):
    """Two accesses of one place that nothing orders; ``kind`` is raw, war or waw."""

    kind: str
    first: Access
    second: Access


@dataclass
class Outcome:
    """What is wrong on one path.

    ``left`` are sets that nobody waits for, ``stuck`` waits that no set ends, ``again`` pairs of sets without a wait
    between them, ``hazards`` accesses without order.
    """

    left: list[tuple[Operation, Key]] = field(default_factory=list)
    stuck: list[tuple[Operation, Key]] = field(default_factory=list)
    again: list[tuple[Operation, Operation, Key]] = field(default_factory=list)
    hazards: list[Hazard] = field(default_factory=list)


@dataclass
class _Item:
    """Work in the queue of a pipe; ``known`` is what the scalar unit knew when it was issued."""

    kind: str
    step: Step
    key: Key | None
    known: Clock
    issued: int = 0


def flag_of(step: Step) -> Key:
    """The flag that a set or wait names."""
    op = step.op
    if op.name.endswith("_event"):
        pipes = [named_pipe(op.attributes.get(name)) for name in ("src_op", "dst_op")]
        source, target = (pipe.value if pipe is not None else "" for pipe in pipes)
        return source, target, _event_number(op, step)
    pipes = [named_pipe(op.attributes.get(name)) for name in ("src_pipe", "dst_pipe")]
    source, target = (pipe.value if pipe is not None else "" for pipe in pipes)
    return source, target, _event_number(op, step)


def _event_number(op: Operation, step: Step) -> Number:
    text = word(op, "event_id").removeprefix("EVENT_ID")
    return int(text) if text.isdecimal() else step.numbers[0] if step.numbers else -1


class Flow:
    """Follows one path."""

    def __init__(self, arch: str) -> None:
        self.arch = arch
        self.queues: dict[str, deque[_Item]] = {}
        self.clocks: dict[str, Clock] = {}
        self.tokens: dict[Key, deque[tuple[Operation, Clock]]] = {}
        self.pending: dict[Key, Operation] = {}
        self.released: dict[Number, Clock] = {}
        self.writers: dict[Place, Access] = {}
        self.readers: dict[Place, dict[str, Access]] = {}
        self.outcome = Outcome()
        self.open = False
        self.unclear: set[tuple[str, str]] = set()
        self.issued = 0

    def run(self, path: Path) -> Outcome:
        """What is wrong on ``path``."""
        keys = [flag_of(step) for step in path.steps if step.op.name in SETS or step.op.name in WAITS]
        # Numbers that only a run knows may be equal or not: nothing is said about their pipes.
        self.unclear = {key[:2] for key in keys if not isinstance(key[2], int) or "" in key[:2]}
        self.open = bool(self.unclear)
        for step in path.steps:
            if not self._issue(step):
                break
        else:
            self._drain()
            for queue in self.queues.values():
                if queue and queue[0].kind == "wait":
                    item = queue[0]
                    assert item.key is not None
                    self.outcome.stuck.append((item.step.op, item.key))
        if not self.outcome.stuck:
            self.outcome.left = [(op, key) for key, tokens in self.tokens.items() for op, _ in tokens]
        return self.outcome

    # ------------------------------------------------------------ issue

    def _issue(self, step: Step) -> bool:
        """The scalar unit reaches an operation; False when it cannot go on."""
        op = step.op
        name = op.name
        if name in SETS or name in WAITS:
            key = flag_of(step)
            if key[:2] in self.unclear:
                return True
            if name in SETS:
                if key in self.pending:
                    self.outcome.again.append((self.pending[key], op, key))
                self.pending[key] = op
            else:
                self.pending.pop(key, None)
            pipe = key[0] if name in SETS else key[1]
            return self._add(pipe, _Item("set" if name in SETS else "wait", step, key, self._known()))
        if name in GETS or name in RELEASES:
            pipe = named_pipe(op.attributes.get("op_type"))
            if pipe is not None:
                self._add(pipe.value, _Item("get" if name in GETS else "release", step, None, self._known()))
            return True
        if (name == "pto.barrier" and word(op, "pipe") == "PIPE_ALL") or name in JOINS:
            return self._join(step)
        if name in _UNKNOWN_WAITS:
            # Another core may have waited for anything before it signals.
            self.open = True
        pipe = self._pipe(op)
        if pipe is not None:
            self._add(pipe, _Item("work", step, None, self._known()))
        return True

    def _known(self) -> Clock:
        return dict(self.clocks.get("PIPE_S", {}))

    def _pipe(self, op: Operation) -> str | None:
        if not isinstance(op, PtoOp):
            return None
        pipe = op.active_pipe(self.arch)
        return pipe.value if pipe is not None and pipe is not Pipe.ALL else None

    def _add(self, pipe: str, item: _Item) -> bool:
        if pipe == Pipe.S.value:
            if item.kind != "wait":
                self._execute(pipe, item)
                return True
            self._drain()
            assert item.key is not None
            if not self.tokens.get(item.key):
                self.outcome.stuck.append((item.step.op, item.key))
                return False
            self._execute(pipe, item)
            return True
        self.issued += 1
        item.issued = self.issued
        self.queues.setdefault(pipe, deque()).append(item)
        return True

    def _join(self, step: Step) -> bool:
        self._drain()
        waiting = [queue[0] for queue in self.queues.values() if queue]
        if waiting:
            for item in waiting:
                if item.key is not None:
                    self.outcome.stuck.append((item.step.op, item.key))
            return False
        scalar = self.clocks.setdefault(Pipe.S.value, {})
        for clock in list(self.clocks.values()):
            _merge(scalar, clock)
        return True

    # ------------------------------------------------------------ execution

    def _drain(self) -> None:
        """Runs what can run, oldest first."""
        while True:
            heads = [(queue[0].issued, pipe) for pipe, queue in self.queues.items() if queue and self._ready(queue[0])]
            if not heads:
                return
            pipe = min(heads)[1]
            self._execute(pipe, self.queues[pipe].popleft())

    def _ready(self, item: _Item) -> bool:
        return item.kind != "wait" or (item.key is not None and bool(self.tokens.get(item.key)))

    def _execute(self, pipe: str, item: _Item) -> None:
        clock = self.clocks.setdefault(pipe, {})
        _merge(clock, item.known)
        if item.kind == "set":
            assert item.key is not None
            self.tokens.setdefault(item.key, deque()).append((item.step.op, dict(clock)))
            clock[pipe] = clock.get(pipe, 0) + 1
        elif item.kind == "wait":
            assert item.key is not None
            _merge(clock, self.tokens[item.key].popleft()[1])
        elif item.kind == "release":
            _merge(self.released.setdefault(_lock(item.step), {}), clock)
            clock[pipe] = clock.get(pipe, 0) + 1
        elif item.kind == "get":
            _merge(clock, self.released.get(_lock(item.step), {}))
        else:
            clock[pipe] = clock.get(pipe, 0) + 1
            self._access(pipe, clock, item.step)

    def _access(self, pipe: str, clock: Clock, step: Step) -> None:
        access = Access(pipe, clock[pipe], step.op)
        flagged = _unit_flag(step.op)
        for place in _places(step, writing=False):
            self._conflict("raw", self.writers.get(place), access, clock, flagged)
            self.readers.setdefault(place, {})[pipe] = access
        for place in _places(step, writing=True):
            self._conflict("waw", self.writers.get(place), access, clock, flagged)
            for reader in self.readers.pop(place, {}).values():
                self._conflict("war", reader, access, clock, flagged)
            self.writers[place] = access

    def _conflict(self, kind: str, first: Access | None, second: Access, clock: Clock, flagged: bool) -> None:
        if first is None or first.pipe == second.pipe or self.open:
            return
        if clock.get(first.pipe, 0) >= first.number or (flagged and _unit_flag(first.op)):
            return
        self.outcome.hazards.append(Hazard(kind, first, second))


def _lock(step: Step) -> Number:
    attr = step.op.attributes.get("buf_id")
    number = getattr(getattr(attr, "value", None), "data", None)
    return number if isinstance(number, int) else step.numbers[0] if step.numbers else -1


def _unit_flag(op: Operation) -> bool:
    return any(word(op, name).startswith("check") for name in ("unit_flag_mode", "unit_flag") if name in op.attributes)


def _merge(clock: Clock, other: Clock) -> None:
    for pipe, count in other.items():
        if count > clock.get(pipe, 0):
            clock[pipe] = count


def _places(step: Step, writing: bool) -> list[Place]:
    """Handles of on-chip memory through which an operation reads or writes from their start on."""
    op = step.op
    if not isinstance(op, PtoOp):
        return []
    spec = op_spec(type(op))
    groups = operand_groups(op)
    names = (*spec.writes, *spec.outs) if writing else spec.reads
    positions = {value: index for index, value in reversed(list(enumerate(op.operands)))}
    found: list[Place] = []
    for name in dict.fromkeys(names):
        for value in groups.get(name, ()):
            on_chip = isinstance(value.type, (TileBufType, MultiTileBufType)) or (
                isinstance(value.type, PtrType) and value.type.space != "gm"
            )
            if on_chip and "offset" not in groups and "offsets" not in groups:
                found.append(("place", step.numbers[positions[value]]))
    return found

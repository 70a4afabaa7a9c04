"""An order that holds whatever conditions and trip counts are, by one walk along all control-flow paths of a function.

At each position it is known for each pipe of which statements all executions so far are complete: a fixed point over
loops. Source: docs/reference/order-proof.md, "All control-flow paths".
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from time import process_time

from pto_dialect.ir.core.facts.pipe import Pipe

from .model import PIPES, UNDETERMINED, Graph, Model, Node, Signal, Statement, common_loops
from .order_rules import competing, streams

_FLAGS, _BUFFERS = 8, 32
Key = tuple[Pipe, Pipe, Hashable, int]
Conflict = Callable[[Statement, Statement, int | None], bool]
"""Whether two statements need an order in some call: in one iteration of all loops around both (``None``), or in two
iterations of the loop of this number among them, and one of those outside of it."""


class OpenError(Exception):
    """What does not follow, and where."""

    def __init__(self, one: Statement | None, reason: str) -> None:
        super().__init__(reason)
        self.op = None if one is None else one.op
        self.reason = reason


@dataclass
class _State:
    """What holds at a position, as bits: for each statement and each number of loops around it, that all its executions
    so far in the present iteration of these loops are complete; and for each loop around it, that all those in earlier
    iterations of it are, in the present one of those outside. ``known`` has them for the next operation of each pipe,
    ``flags`` for whoever waits for a flag that is set, ``released`` for who gets a buffer id; ``held`` are the ids that
    pipes have.
    """

    known: dict[Pipe, int]
    flags: dict[Key, int] = field(default_factory=dict)
    released: dict[int, int] = field(default_factory=dict)
    held: frozenset[tuple[Pipe, int]] = frozenset()

    def copy(self) -> _State:
        return _State(dict(self.known), dict(self.flags), dict(self.released), self.held)

    def keep(self, bits: int) -> None:
        """Forgets all other bits."""
        for part in (self.known, self.flags, self.released):
            for key in part:
                part[key] &= bits  # type: ignore[index]

    def begin(self, present: int, inner: int) -> None:
        """An iteration begins: what is ``present`` so far is what was earlier, and nothing has run in it yet."""
        for part in (self.known, self.flags, self.released):
            for key in part:
                bits = part[key]  # type: ignore[index]
                part[key] = bits & ~(present << 1) | (bits & present) << 1 | inner  # type: ignore[index]

    def met(self, other: _State) -> _State | None:
        """Returns what holds in both; ``None`` where different flags are set or ids held."""
        if self.flags.keys() != other.flags.keys() or self.held != other.held:
            return None
        return _State(
            {pipe: bits & other.known[pipe] for pipe, bits in self.known.items()},
            {key: bits & other.flags[key] for key, bits in self.flags.items()},
            {
                number: bits & other.released[number]
                for number, bits in self.released.items()
                if number in other.released
            },
            self.held,
        )


class Flow:
    """The walk through one model of one core. ``conflict`` looks closer at pairs of statements that are not in order,
    ``end`` is the processor time at which it ends."""

    def __init__(self, model: Model, conflict: Conflict | None, end: float) -> None:
        self.model = model
        self.closer = conflict
        self.end = end
        self.first: dict[int, int] = {}
        """The first bit of each statement."""
        self.owner: list[Statement] = []
        """The statement of each bit."""
        self.own: dict[Pipe, int] = dict.fromkeys(PIPES, 0)
        self.present: dict[int, int] = {}
        self.inner: dict[int, int] = {}
        """For each loop the bits about all its iterations, and those about the present one."""
        waits: dict[Key, list[Statement]] = {}
        for one in model.statements:
            key = _constant_key(one)
            if one.accesses or key is not None:
                self.add(one)
            if key is not None and one.signal is not None and one.signal.kind == "wait":
                waits.setdefault(key, []).append(one)
        self.whole = (1 << len(self.owner)) - 1
        self.seen: set[tuple[int, int]] = set()
        """The pairs that had a closer look."""
        self.entries: dict[int, dict[int, _State]] = {}
        """What holds at the begin of each node of a graph."""
        self.counted: set[tuple[Pipe, Pipe]] = set()
        """The pipes between which a flag may be set again before the wait for it is over."""
        self.needed: dict[int, int] = {}
        """The bits that must hold where a statement runs."""
        working = [one for one in model.statements if one.accesses]
        for later in working:
            self.look(later)
            self.needed[later.number] = sum(1 << self.first[one.number] for one in working if self.competes(one, later))
        for one in model.statements:
            key = _constant_key(one)
            if key is not None:
                self.needed[one.number] = sum(1 << self.first[wait.number] for wait in waits.get(key, ()))

    def add(self, one: Statement) -> None:
        """Gives a statement its bits: for each number of loops around it one about all executions, and between these
        for each loop one about those in earlier iterations."""
        first = self.first[one.number] = len(self.owner)
        self.owner += [one] * (2 * len(one.loops) + 1)
        whole = (1 << len(self.owner)) - (1 << first)
        self.own[one.pipe] |= whole
        for level, loop in enumerate(one.loops):
            here = first + 2 * level
            self.present[loop.number] = self.present.get(loop.number, 0) | 1 << here
            self.inner[loop.number] = self.inner.get(loop.number, 0) | (whole >> (here + 2) << (here + 2))

    def run(self) -> None:
        """Raises :class:`OpenError` where the order does not follow."""
        end = self.items(self.model.course, _State({pipe: self.whole for pipe in PIPES}))
        if end is not None and (end.flags or end.held):
            raise OpenError(None, "a flag is left over, or a buffer id is not released")

    def look(self, one: Statement | None) -> None:
        """Ends where the time is over."""
        if process_time() > self.end:
            raise OpenError(one, "its time is over here")

    # ------------------------------------------------------------ pairs

    def competes(self, one: Statement, later: Statement) -> bool:
        """Returns whether two statements may need an order, by what is constant in them."""
        found = [pair for pair in competing(one, later, self.model.arch)]
        if not found or common_loops(one, later):
            return bool(found)
        return one.position < later.position and any(not streams(one, later, *pair, self.model.arch) for pair in found)

    def narrowed(self, one: Statement, later: Statement, closer: Conflict) -> int:
        """Returns the bits that ``later`` needs of ``one``, by a closer look at the pair."""
        first, common = self.first[one.number], common_loops(one, later)
        bits = sum(1 << (first + 2 * level + 1) for level in range(common) if closer(one, later, level))
        if one.position < later.position and closer(one, later, None):
            bits |= 1 << (first + 2 * common)
        return bits

    # ------------------------------------------------------------ paths

    def items(self, items: list[Statement | Graph], state: _State) -> _State | None:
        """The state after a part; ``None`` if its end is never reached."""
        current: _State | None = state
        for item in items:
            if current is None:
                break
            if isinstance(item, Graph):
                current = self.graph(item, current)
            else:
                self.signal(item, current)
                self.work(item, current)
        return current

    def graph(self, graph: Graph, state: _State) -> _State | None:
        """The state at the end of a graph: the weakest one that holds on all paths."""
        # What a loop inside of another one has come to in its last visit is where it continues, which saves visits.
        before = self.entries.get(id(graph), {})
        entry: dict[int, _State] = {0: state.copy()}
        ends: dict[int, _State] = {}
        pending = [0]
        while pending:
            number = min(pending)
            pending.remove(number)
            node = graph.nodes[number]
            after = self.node(node, entry[number].copy())
            if after is None:
                continue
            if not node.next:
                ends[number] = after
            for following in node.next:
                known = entry.get(following)
                known_before = before.get(following) if known is None else known
                joined = after.copy() if known_before is None else known_before.met(after)
                if joined is None:
                    raise OpenError(_first(node), f"whether a flag is set {UNDETERMINED}")
                if joined != known:
                    entry[following] = joined
                    if following not in pending:
                        pending.append(following)
        self.entries[id(graph)] = entry
        result: _State | None = None
        for one in ends.values():
            result = one if result is None else result.met(one)
            if result is None:
                raise OpenError(None, f"whether a flag is set {UNDETERMINED}")
        return result

    def node(self, node: Node, state: _State) -> _State | None:
        """The state at the end of a node."""
        self.look(None)
        if node.begins is not None:
            number = node.begins.number
            state.begin(self.present.get(number, 0), self.inner.get(number, 0))
        return self.items(node.items, state)

    # ------------------------------------------------------------ statements

    def work(self, one: Statement, state: _State) -> None:
        """A statement runs: all that needs an order with it must be complete."""
        if not one.accesses:
            return
        self.look(one)
        known = state.known[one.pipe] | state.known[Pipe.S]
        missing = self.needed[one.number] & ~known
        while missing:
            bit = missing.bit_length() - 1
            before = self.owner[bit]
            if self.closer is None or (before.number, one.number) in self.seen:
                reason = f"{one.op.name} may touch bytes of {before.op.name}, and nothing is known to order the two"
                raise OpenError(one, reason)
            self.seen.add((before.number, one.number))
            self.needed[one.number] &= ~(1 << bit)
            self.needed[one.number] |= self.narrowed(before, one, self.closer)
            missing = self.needed[one.number] & ~known
        self.begun(one, state)

    def begun(self, one: Statement, state: _State) -> None:
        """A statement has begun: nobody knows it to be complete."""
        first = self.first[one.number]
        # Even bits are about all executions so far.
        state.keep(~sum(1 << (first + 2 * level) for level in range(len(one.loops) + 1)))

    def signal(self, one: Statement, state: _State) -> None:
        """A signal: what it carries are the executions that are complete when its pipe has done all before it."""
        signal, known = one.signal, state.known
        if signal is None or signal.is_vague:
            return
        if signal.kind == "join":
            for pipe in signal.drains & self.own.keys():
                known[Pipe.S] |= known[pipe] | self.own[pipe]
            return
        if one.accesses or not {signal.source, signal.target} <= self.own.keys():
            raise OpenError(one, "it is not followed on all control-flow paths")
        carried = known[signal.source] | known[Pipe.S] | self.own[signal.source]
        if signal.kind == "barrier":
            known[signal.source] = carried
        elif signal.kind in ("set", "wait"):
            self.flag(one, signal, carried, state)
        elif signal.kind in ("get", "release"):
            self.lock(one, signal, carried, state)
        else:
            raise OpenError(one, "it signals another core")

    def flag(self, one: Statement, signal: Signal, carried: int, state: _State) -> None:
        """A flag is set or waited for."""
        key = (signal.source, signal.target, signal.channel, self.number(one, signal, _FLAGS))
        if (signal.kind == "set") == (key in state.flags):
            raise OpenError(one, f"whether its flag is set before it {UNDETERMINED}")
        if signal.kind == "set":
            known = state.known[signal.source] | state.known[Pipe.S]
            if self.needed[one.number] & ~known:
                if signal.source is Pipe.S:
                    raise OpenError(one, "its flag may be set again before the wait for it is over")
                self.counted.add((signal.source, signal.target))
            state.flags[key] = carried
            return
        state.known[signal.target] |= state.flags.pop(key)
        self.begun(one, state)
        if signal.target is Pipe.S:
            # What follows it is issued after it.
            first = self.first[one.number]
            state.known[Pipe.S] |= (1 << (first + 2 * len(one.loops) + 1)) - (1 << first)

    def lock(self, one: Statement, signal: Signal, carried: int, state: _State) -> None:
        """A buffer id is acquired or released."""
        number = self.number(one, signal, _BUFFERS)
        lock = (signal.source, number)
        if (signal.kind == "get") == (lock in state.held):
            raise OpenError(one, f"whether its pipe holds the buffer id {UNDETERMINED}")
        if signal.kind == "get":
            state.held |= {lock}
            state.known[signal.source] |= state.released.get(number, 0)
        else:
            state.held -= {lock}
            state.released[number] = state.released.get(number, 0) | carried

    def number(self, one: Statement, signal: Signal, limit: int) -> int:
        """Returns the id of a flag or a buffer, which must be a constant."""
        number = signal.number.value
        if number is None or not 0 <= number < limit:
            raise OpenError(one, "its id is computed, or out of range")
        return number


def _constant_key(one: Statement) -> Key | None:
    """Returns the pipes and the id of a flag that is set or waited for; ``None`` of others, and where the id is
    computed."""
    signal = one.signal
    if signal is None or signal.is_vague or signal.kind not in ("set", "wait"):
        return None
    number = signal.number.value
    return None if number is None else (signal.source, signal.target, signal.channel, number)


def _first(node: Node) -> Statement | None:
    return next((one for one in node.items if isinstance(one, Statement)), None)

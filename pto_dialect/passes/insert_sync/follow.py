"""Runs sequences with the flags and barriers that they have, and says which dependences nothing orders.

Source: docs/reference/synchronisation.md, "Dependences", "Order inside one pipe".
"""

from __future__ import annotations

from math import gcd
from typing import NamedTuple

from xdsl.ir import SSAValue

from pto_dialect.passes.accesses.dependences import Levels, V, implied, must_synchronize
from pto_dialect.passes.accesses.items import Call, Choice, Flag, HandOver, Item, Leaf, Loop, Sequence
from pto_dialect.passes.accesses.locations import Extent, MemoryLocation
from pto_dialect.passes.accesses.overlap import may_overlap
from pto_dialect.passes.accesses.program import Reader
from pto_dialect.passes.accesses.rotation import Rotation, iteration_distance, rotation_of
from pto_dialect.passes.accesses.setting import ANY, Iteration, Setting
from pto_dialect.passes.accesses.state import COUNT, Access, State, after_one, branch_states, learn, merged

Channel = tuple[Extent, ...] | int
"""How an iteration learns of earlier ones: the index of the slot that both use, or how many iterations lie between."""


class Need(NamedTuple):
    """An access that a leaf depends on and nothing orders before it."""

    access: Access
    leaf: Leaf
    location: MemoryLocation


class UnorderedError(Exception):
    """There is a dependence that nothing orders."""


class Runner:
    """Runs sequences; what happens at flags, barriers and leaves may be extended."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.arch = reader.arch

    def items(self, sequence: Sequence, state: State) -> State:
        """The state after a sequence."""
        for index, item in enumerate(sequence.items):
            self.before(sequence, index, state)
            state = self.item(item, state)
            self.sets_after(sequence, index, state)
        self.before(sequence, len(sequence.items), state)
        return state

    def item(self, item: Item, state: State) -> State:
        """The state after an item."""
        if isinstance(item, Leaf):
            self.leaf(item, state)
            return state
        if isinstance(item, Loop):
            return self.loop(item, state)
        if isinstance(item, Call):
            return self.items(item.body, state)
        # Functions with signals of their own are not followed here.
        return self.choice(item, state) if isinstance(item, Choice) else state

    def leaf(self, leaf: Leaf, state: State) -> None:
        """One leaf runs."""
        state.step(leaf)

    def before(self, sequence: Sequence, index: int, state: State) -> None:
        """The waits and barriers before an item."""
        if index in sequence.full:
            state.join()
        for flag in sequence.waits.get(index, ()):
            if flag.rotates:
                self.take_slot(sequence, flag, state)
            else:
                self.wait(flag, state)
        for pipe in sequence.barriers.get(index, ()):
            state.barrier(pipe)

    def sets_after(self, sequence: Sequence, index: int, state: State) -> None:
        """The sets after an item."""
        for flag in sequence.sets.get(index, ()):
            if flag.rotates:
                state.tokens["last", flag] = state.token(state.issue(flag.source), flag.source)
            else:
                self.set(flag, state)

    def set(self, flag: Flag, state: State) -> None:
        """A flag is set."""
        state.set(flag)

    def wait(self, flag: Flag, state: State) -> None:
        """A flag is waited for."""
        state.wait(flag)

    def take_slot(self, sequence: Sequence, flag: Flag, state: State) -> None:
        """The token of a slot is taken: whatever it is, the work before the loop is done."""
        learn(state.issue(flag.target), state.tokens[flag])

    def iterations(self, loop: Loop, state: State) -> State:
        """The state after at least one iteration. One iteration determines what is known after any number of them."""
        return self.once(loop, state)

    def once(self, loop: Loop, state: State) -> State:
        """The state after an iteration."""
        state = self.items(loop.body, state)
        for over in loop.handed:
            self.wait(over.back, state)
            self.hand_over(over, state)
        return state

    def hand_over(self, over: HandOver, state: State) -> None:
        """What the source of a hand-over has done is known to its target, and that this knows it to the source."""
        self.set(over.there, state)
        self.wait(over.there, state)
        self.set(over.back, state)

    def loop(self, loop: Loop, state: State) -> State:
        """Returns a loop, with the flags that it needs from one iteration to the next."""
        for flag in loop.carried:
            self.set(flag, state)
        for over in loop.handed:
            self.hand_over(over, state)
        ways = [self.iterations(loop, state.copy())]
        if loop.open:
            ways.append(state.copy())
            ways[1].now = ways[0].now
        for way in ways:
            for over in loop.handed:
                self.wait(over.back, way)
            for flag in loop.carried:
                way.tokens[flag] = way.tokens.pop(("last", flag), way.tokens[flag])
                self.wait(flag, way)
        for flag in (*loop.carried, *(over.back for over in loop.handed)):
            del state.tokens[flag]
        return self._after(state, ways)

    def choice(self, choice: Choice, state: State) -> State:
        """Returns one of several regions."""
        return self._after(state, branch_states(choice, state, self.items))

    def _after(self, state: State, ways: list[State]) -> State:
        """The state after the only path from ``state``, or after all of several."""
        return self.together(state, ways) if len(ways) > 1 else after_one(state, *ways)

    def together(self, state: State, ways: list[State]) -> State:
        """Returns the join of several paths from ``state``."""
        return merged(state, ways)


class Follower(Runner):
    """Collects in ``needs`` the unordered dependences of the items of ``sequence``; dependences inside one item are
    assumed to be ordered.

    ``loop`` is the loop whose iterations are distinguished, if the sequence is its body.
    """

    def __init__(self, reader: Reader, sequence: Sequence, loop: Loop | None) -> None:
        super().__init__(reader)
        self.sequence = sequence
        self.depth = sequence.depth
        self.needs: list[Need] = []
        self.collects = True
        """Whether leaves are queried for what they depend on; without it they only run."""
        self.stops = False
        """Whether the first dependence ends it, by :class:`UnorderedError`."""
        self.channels: list[Channel] = []
        """The indices of the slots that the iterations of the loop hand to each other, or after how many iterations."""
        levels = Levels(sequence.block)
        self._same = Setting(levels.is_invariant_inside, None, self._range, reader.places.sums)
        iteration = loop.iteration if loop is not None else None
        self.later = Setting(levels.is_invariant, iteration, self._range, reader.places.sums)

    def leaf(self, leaf: Leaf, state: State) -> None:
        """One leaf runs."""
        if self.collects and (needs := self.missing(leaf, state)):
            if self.stops:
                raise UnorderedError
            self.needs += needs
        number = state.step(leaf)
        keep = self.arch == "a2a3" and leaf.pipe == V
        for writes, locations in ((False, () if leaf.shows else leaf.reads), (True, leaf.writes)):
            for location in locations:
                state.record(Access(leaf, number, writes, location, state.iteration), keep)

    # ------------------------------------------------------------ dependences

    def missing(self, leaf: Leaf, state: State) -> list[Need]:
        """Returns the accesses that ``leaf`` depends on and that may not be done when it runs next."""
        needs: list[Need] = []
        if leaf.joins or leaf.learns:
            return needs
        row = state.issue(leaf.pipe)
        for writes, locations in ((False, leaf.reads), (True, leaf.writes)):
            for location in locations:
                for access in state.earlier(location):
                    if not (writes or access.writes) or access.number <= row[access.leaf.pipe]:
                        continue
                    if self._within(access, leaf, state) or not must_synchronize(
                        access, leaf, location, writes, state, self.arch
                    ):
                        continue
                    if self._by_slot(access, location, row, state) or self._used_between(access, leaf, location, state):
                        continue
                    setting = self.later if access.iteration != state.iteration else self._same
                    if may_overlap(access.location, location, setting):
                        needs.append(Need(access, leaf, location))
        return needs

    def take_slot(self, sequence: Sequence, flag: Flag, state: State) -> None:
        """The token of a slot is taken; in the loop that is solved, where one is needed, nothing has set any before."""
        if flag in state.tokens:
            super().take_slot(sequence, flag, state)

    def channel(self, channel: Channel, state: State) -> bool:
        """Returns whether there is this channel, or room for a new one."""
        if channel in self.channels:
            return True
        if len(self.channels) >= state.WIDTH // COUNT - 1:
            return False
        self.channels.append(channel)
        return True

    def hand(self, flag: Flag, token: tuple[int, ...], state: State) -> None:
        """A slot comes from the last iteration that had it: ``token`` is what that one knew."""
        assert isinstance(flag.chosen, tuple)
        if flag.chosen[1] == 1:
            # The iteration before knows what any other does.
            learn(state.issue(flag.target), token)
            return
        number = self.channels.index(flag.chosen[1]) + 1
        part = slice(number * COUNT, (number + 1) * COUNT)
        learn(state.issue(flag.target), (*(0,) * part.start, *token[part]))

    def done(self, access: Access, location: MemoryLocation, row: list[int], state: State) -> bool:
        """Returns whether an access is done for who knows ``row``."""
        return access.number <= row[access.leaf.pipe] or self._by_slot(access, location, row, state)

    def _by_slot(self, access: Access, location: MemoryLocation, row: list[int], state: State) -> bool:
        """Returns whether an access of an earlier iteration is done because both are of one slot."""
        if (
            not self.channels
            or access.iteration == state.iteration
            or not location.sides
            or location.frame != access.location.frame
        ):
            return False
        for number, channel in enumerate(self.channels, 1):
            if access.number > row[number * COUNT + access.leaf.pipe]:
                continue
            if isinstance(channel, int):
                distance = iteration_distance(access.location, location, self.later)
                if distance is not None and distance >= channel:
                    return True
            elif location.sides[:1] == access.location.sides[:1] == channel:
                return True
        return False

    def _used_between(self, access: Access, leaf: Leaf, location: MemoryLocation, state: State) -> bool:
        """Returns whether another pipe must use a rotating slot between two fills by one pipe: that use waits for the
        first fill, and the second fill waits for the use."""
        if (
            access.iteration == state.iteration
            or access.leaf.pipe != leaf.pipe
            or location.sides != access.location.sides
        ):
            return False
        index = rotation_of(location, self.later.sums)
        iteration = self.later.iteration
        if index is None or iteration is None:
            return False
        return any(
            not one.writes
            and one.leaf.pipe != leaf.pipe
            and one.location.frame == location.frame
            and one.location.alias.is_certain
            and _meets(location, one.location)
            and _rotates(rotation_of(one.location, self.later.sums), index.modulus, iteration)
            and implied(one, access, leaf, state)
            for one in state.earlier(location)
        )

    def _within(self, access: Access, leaf: Leaf, state: State) -> bool:
        """Returns whether both are in one item of the sequence, in the same iteration."""
        if access.iteration != state.iteration:
            return False
        return access.leaf.path[self.depth][1] == leaf.path[self.depth][1]

    def _range(self, value: SSAValue) -> tuple[float, float]:
        return self.reader.ranges.get(value, ANY)


def _meets(filled: MemoryLocation, used: MemoryLocation) -> bool:
    """Returns whether two parts of one slot have elements in common in every iteration, as far as is known."""
    (_, *filled_sides), (_, *used_sides) = filled.sides, used.sides
    constant = all(number.constant_value is not None for side in filled_sides for number in side)
    return not used_sides or (constant and (not filled_sides or filled_sides == used_sides))


def _rotates(index: Rotation | None, modulus: int, iteration: Iteration) -> bool:
    """Returns whether an index is each of its numbers once in as many iterations."""
    if index is None or index.modulus != modulus:
        return False
    terms = dict(index.total.terms)
    factor = terms.pop((iteration.counter,), 0)
    return not terms and gcd(factor * iteration.step, modulus) == 1

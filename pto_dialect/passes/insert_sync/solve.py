"""Chooses the flags and barriers of a function.

From the inside out: the body of a loop first by itself, then one iteration against the previous one, then the loop as
one item of its sequence. In a sequence each item gets the synchronization that is still missing: for each pair of pipes
one flag, set after the last work that it depends on and waited for right before it, unless the others imply it. Source:
docs/reference/synchronisation.md, "Placement".
"""

from __future__ import annotations

from pto_dialect.passes.accesses.items import SCALAR, Choice, Flag, Item, Leaf, Loop, Sequence, innermost
from pto_dialect.passes.accesses.program import Reader
from pto_dialect.passes.accesses.state import COUNT, Clocks, State, learn, state_of

from .follow import Follower, Need, UnorderedError
from .rings import about, ring_of, rotations
from .slots import assign_slot_ids, chosen_by, common_slot, sharing_reason


def solve(sequence: Sequence, reader: Reader) -> None:
    """Gives ``sequence`` and all that is in it the flags and barriers that they need."""
    _solve_inner(sequence, reader)
    _Solver(Follower(reader, sequence, None), sequence).run(State(reader.users))


def _solve_inner(sequence: Sequence, reader: Reader) -> None:
    """Gives what is in the items of ``sequence`` what it needs."""
    for item in sequence.items:
        if isinstance(item, Loop) and item.trips > 1:
            _solve_inner(item.body, reader)
            _iterations(item, reader)
            if reader.rings:
                _wait_at_end(item)
        elif isinstance(item, Loop):
            solve(item.body, reader)
        elif isinstance(item, Choice):
            for branch in item.branches:
                solve(branch, reader)


def _state(loop: Loop, reader: Reader) -> State:
    """Returns what nothing is known in yet, with channels between iterations where ``loop`` uses slots that a run
    chooses."""
    leaves = (leaf for leaf in innermost(loop.body) if isinstance(leaf, Leaf))
    if not any(chosen_by(location) for leaf in leaves for location in (*leaf.reads, *leaf.writes)):
        return State(reader.users)
    return state_of(sum(index.constant_value is None for index in reader.places.indices))(reader.users)


def _iterations(loop: Loop, reader: Reader) -> None:
    """What one iteration needs by itself, and of the one before."""
    solver = _Solver(Follower(reader, loop.body, loop), loop.body)
    state = solver.run(_state(loop, reader))
    solver.earlier = solver.marks
    solver.loop = loop
    state.iteration = 1
    solver.run(state)
    assign_slot_ids(loop, reader, solver.follower.channels)


def _wait_at_end(loop: Loop) -> None:
    """Has flags that a loop carries to the first work of a pipe in an iteration waited for at the end of the iteration
    before: that needs no set before the loop and no wait after it."""
    sequence = loop.body
    for flag in list(loop.carried):
        before = sequence.items[: flag.before]
        apart = flag.slot is None and not flag.shared and SCALAR not in (flag.source, flag.target)
        if not apart or any(_uses(one, flag.target) for one in before):
            continue
        loop.carried.remove(flag)
        sequence.remove(flag)
        flag.carried, flag.before = False, len(sequence.items)
        sequence.add(flag)


def _uses(item: Item, pipe: int) -> bool:
    """Returns whether a part has work on a pipe, or on all."""
    return any(not isinstance(one, Leaf) or one.pipe == pipe or one.joins for one in innermost(item))


def _chosen(needs: list[Need], source: int, target: int) -> object:
    """Returns the multi-buffer and the index that all dependences between two pipes are about."""
    chosen = {
        chosen_by(location)
        for need in _between(needs, source, target)
        for location in (need.access.location, need.location)
    }
    return chosen.pop() if len(chosen) == 1 else None


def _between(needs: list[Need], source: int, target: int) -> list[Need]:
    """Returns the dependences between two pipes."""
    return [need for need in needs if (need.access.leaf.pipe, need.leaf.pipe) == (source, target)]


class _Solver:
    """Gives each item of a sequence what it needs. ``earlier`` are the marks of the iteration before."""

    def __init__(self, follower: Follower, sequence: Sequence) -> None:
        self.follower = follower
        self.sequence = sequence
        self.loop: Loop | None = None
        self.marks: list[tuple[Clocks, int]] = []
        self.earlier: list[tuple[Clocks, int]] = []
        self.behind: State | None = None
        """The cached state after a loop or branch with the synchronization that it was last found to need."""

    def run(self, state: State) -> State:
        """Visits all items; returns the state after the last."""
        self.marks = []
        sequence = self.sequence
        for index, item in enumerate(sequence.items):
            self.follower.before(sequence, index, state)
            self._settle(index, item, state)
            following, self.behind = self.behind, None
            state = self._through(item, state) if following is None else following.after(state)
            self.marks.append((state.clocks(), state.now))
            self.follower.sets_after(sequence, index, state)
        return state

    def _through(self, item: Item, state: State) -> State:
        """The state after an item that has what it needs."""
        self.follower.collects = False
        state = self.follower.item(item, state)
        self.follower.collects = True
        return state

    def _settle(self, index: int, item: Item, state: State) -> None:
        """Adds what ``item`` needs, as little of it as does."""
        needs = self._missing(item, state, (), ())
        if self.loop is not None and needs and state.WIDTH > COUNT:
            needs = self._hand_slots(index, item, needs, state, self.loop)
        if not needs:
            return
        depth = self.sequence.depth
        latest: dict[tuple[int, int], Need] = {}
        barriers: set[int] = set()
        for need in needs:
            source, target = need.access.leaf.pipe, need.leaf.pipe
            if source == target:
                barriers.add(source)
            elif (source, target) not in latest or latest[source, target].access.number < need.access.number:
                latest[source, target] = need
        flags: list[tuple[Flag, tuple[int, ...]]] = []
        for (source, target), need in latest.items():
            after = need.access.leaf.path[depth][1]
            carried = need.access.iteration != state.iteration and after >= index
            clocks, now = (self.earlier if carried else self.marks)[after]
            flag = Flag(source, target, after, index, self.sequence, carried, chosen=_chosen(needs, source, target))
            mine = _between(needs, source, target)
            flag.about = about(mine, self.follower.later.sums, carried)
            flag.shared = sharing_reason(mine, self.follower.later) if carried else ""
            flag.about_slots = bool(flag.shared)
            flags.append((flag, state.token(clocks[source], source, now)))
        needed = list(flags)
        for one in sorted(flags, key=lambda pair: pair[1][pair[0].source]):
            rest = [other for other in needed if other is not one]
            if self._enough(item, state, rest, barriers, needs, latest[one[0].source, one[0].target]):
                needed = rest
        for pipe in sorted(barriers):
            if self._enough(item, state, needed, barriers - {pipe}, needs, None):
                barriers = barriers - {pipe}
        for flag, token in needed:
            self.sequence.add(flag)
            if flag.carried and self.loop is not None:
                self.loop.carried.append(flag)
            state.wait(flag, token)
        if barriers:
            self.sequence.barriers.setdefault(index, set()).update(barriers)
            for pipe in barriers:
                state.barrier(pipe)

    def _hand_slots(self, index: int, item: Item, needs: list[Need], state: State, loop: Loop) -> list[Need]:
        """Hands slots of multi-buffers from one iteration to another, the last that uses one first; what is left of
        ``needs``."""
        depth, follower = self.sequence.depth, self.follower
        pairs = {(need.access.leaf.pipe, need.leaf.pipe): need.access.leaf.path[depth][1] for need in needs}
        for source, target in sorted(pairs, key=lambda pair: -pairs[pair]):
            mine = _between(needs, source, target)
            if not mine or source == target or any(need.access.iteration for need in mine):
                continue
            after = max(need.access.leaf.path[depth][1] for need in mine)
            flag = self._slot_flag(mine, index, item, after) or self._ring_flag(mine, index, after, loop)
            if flag is None or not isinstance(flag.chosen, tuple) or not follower.channel(flag.chosen[1], state):
                continue
            self.sequence.add(flag)
            loop.carried.append(flag)
            clocks, now = self.earlier[after]
            follower.hand(flag, state.token(clocks[source], source, now), state)
            needs = self._missing(item, state, (), ())
        return needs

    def _slot_flag(self, mine: list[Need], index: int, item: Item, after: int) -> Flag | None:
        """Returns a flag with a number for each slot, where both sides use the same one."""
        follower = self.follower
        slot = common_slot(mine, item, self.sequence, follower.reader.places, follower.later)
        if slot is None or after < index:
            return None
        source, target = mine[0].access.leaf.pipe, mine[0].leaf.pipe
        return Flag(source, target, after, index, self.sequence, True, -1, slot.chosen, slot.which, slot.slots)

    def _ring_flag(self, mine: list[Need], index: int, after: int, loop: Loop) -> Flag | None:
        """Returns a flag whose numbers go round, where a slot is used some iterations after it was filled."""
        rotation = rotations(mine, self.follower.later) if self.follower.reader.rings else None
        if rotation is None or rotation[0] < 2 or (rotation[0] == rotation[1].modulus and after < index):
            return None
        distance, which = rotation
        ring = ring_of(loop, which, distance)
        if ring is None:
            return None
        source, target = mine[0].access.leaf.pipe, mine[0].leaf.pipe
        chosen = ("ahead", distance)
        return Flag(
            source, target, after, index, self.sequence, True, -1, chosen, ring.counter, which.modulus, ring,
            (which.modulus, distance),
        )  # fmt: skip

    def _enough(
        self,
        item: Item,
        state: State,
        flags: list[tuple[Flag, tuple[int, ...]]],
        barriers: set[int],
        needs: list[Need],
        without: Need | None,
    ) -> bool:
        """Returns whether nothing is missing with these flags and barriers; ``needs`` is what is without any of them.
        The flag that is left out brings ``without``."""
        if isinstance(item, Leaf):
            # Only its own pipe has to know.
            row = list(state.issue(item.pipe))
            for _, token in flags:
                learn(row, token)
            if barriers:
                for kind in range(item.pipe, len(row), COUNT):
                    row[kind] = state.now
            return all(self.follower.done(need.access, need.location, row, state) for need in needs)
        if without is not None:
            source, target, number = without.access.leaf.pipe, without.leaf.pipe, without.access.number
            others = (row for pipe, row in enumerate(state.clock) if pipe != target)
            if all(row[source] < number for row in (*others, *(token for _, token in flags))):
                # The pipe is unknown.
                return False
        self.follower.stops = True
        try:
            return not self._missing(item, state, flags, barriers)
        except UnorderedError:
            return False
        finally:
            self.follower.stops = False

    def _missing(
        self,
        item: Item,
        state: State,
        flags: tuple[()] | list[tuple[Flag, tuple[int, ...]]],
        barriers: tuple[()] | set[int],
    ) -> list[Need]:
        """Returns the dependences that these flags and barriers before ``item`` leave unordered."""
        if isinstance(item, Leaf) and not (flags or barriers):
            return self.follower.missing(item, state)
        trial = state.copy()
        for flag, token in flags:
            trial.wait(flag, token)
        for pipe in barriers:
            trial.barrier(pipe)
        if isinstance(item, Leaf):
            return self.follower.missing(item, trial)
        self.follower.needs = []
        trial = self.follower.item(item, trial)
        if not self.follower.needs:
            self.behind = trial
        return self.follower.needs

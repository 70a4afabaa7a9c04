"""Queues of tiles between the AIC and the AIVs of a block at run time: slots, tokens, addresses.

A queue holds ``slots`` entries in each direction. The producer takes a token for a free slot before it fills the slot
and adds one for the entry; the consumer takes that token and returns the slot after its last use of the entry. An entry
that is split goes to (or comes from) both vector cores, as does a whole entry on a2a3; a whole entry on a5 concerns
AIV0 alone.

Source: docs/reference/execution.md, "Queues between cores".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from pto_dialect.analysis.queues import C2V, V2C
from pto_dialect.runtime.memory.memref import dense_strides

from ..faults import Fault
from ..memory.spaces import Pointer
from ..memory.values import GmTensor, ValueTile
from ..numerics.formats import Format
from ..run.machine import Core, block_cores
from .plan import DIRECTIONS, FifoFacts
from .run import QueueCore


class Token(NamedTuple):
    """Key of a signal: a free slot or an entry of one direction, concerning vector core ``vector``."""

    kind: str
    queue: tuple[Any, ...]
    direction: int
    vector: int
    text: str


class FifoEnd:
    """One core's end of a queue.

    ``gm`` holds the slots in global memory, ``local`` the address of the consumer's slots by direction; ``everyone``
    states that both vector cores take part in whole entries.
    """

    def __init__(self, core: QueueCore, facts: FifoFacts, everyone: bool, gm: Any, local: dict[int, int]) -> None:
        self.core = core
        self.facts = facts
        self.everyone = everyone
        self.gm = gm
        self.local = local
        self.made = {C2V: 0, V2C: 0}
        self.taken = {C2V: 0, V2C: 0}
        self.held: dict[int, deque[Any]] = {C2V: deque(), V2C: deque()}
        self.scale: float | ValueTile | None = None
        # The participants and their tokens are the same for every entry of a kind.
        self._waited: dict[tuple[str, int, bool, int], tuple[Token, ...]] = {}
        self._known_others: dict[tuple[str, int, bool, int], tuple[tuple[Core, Token], ...]] = {}
        for direction in DIRECTIONS:
            if facts.mask & direction and (core.cube if direction == C2V else core.vector):
                for vector in self._vectors(direction, True, 1):
                    key = self._token("slot", direction, vector)
                    core.flags[key] = core.flags.get(key, 0) + facts.slots

    # ------------------------------------------------------------ participants

    def _vectors(self, direction: int, producing: bool, split: int) -> tuple[int, ...]:
        """Returns the vector cores that an operation of this end concerns; none when this core does not take part."""
        undivided = not split and not self.everyone
        if (direction == C2V) == producing and self.core.cube:
            return (0,) if undivided else tuple(range(self.core.block.vector_cores))
        return () if undivided and self.core.index else (self.core.index,)

    def takes_part(self, direction: int, producing: bool, split: int) -> bool:
        """Returns False for a vector core without a part in whole entries."""
        return bool(self._vectors(direction, producing, split))

    def _token(self, kind: str, direction: int, vector: int) -> Token:
        other = f"AIV{vector}" if (direction == C2V) == (kind == "slot") else "the AIC"
        text = f"{'a free slot' if kind == 'slot' else 'an entry'} of {self.facts.label} from {other}"
        return Token(kind, self.facts.key, direction, vector, text)

    def _others(self, kind: str, direction: int, producing: bool, split: int) -> tuple[tuple[Core, Token], ...]:
        """Returns the cores at the other end, each with the token that concerns it."""
        key = (kind, direction, producing, split)
        known = self._known_others.get(key)
        if known is None:
            known = self._known_others[key] = self._find_others(kind, direction, producing, split)
        return known

    def _find_others(self, kind: str, direction: int, producing: bool, split: int) -> tuple[tuple[Core, Token], ...]:
        cube, vector = block_cores(self.core)
        others: list[tuple[Core, Token]] = []
        to_vector = (direction == C2V) == producing
        for index in self._vectors(direction, producing, split):
            token = self._token(kind, direction, index)
            if not to_vector:
                others += [(cube, token)] if cube is not None else []
            else:
                others += [(core, token) for core in vector if core.index == index]
        return tuple(others)

    # ------------------------------------------------------------ slots

    def wait_slot(self, direction: int, split: int) -> None:
        """Makes the scalar unit wait until every consumer has a free slot."""
        self._wait("slot", direction, True, split)

    def wait_entry(self, direction: int, split: int) -> None:
        """Makes the scalar unit wait until every producer has filled the next slot."""
        self._wait("entry", direction, False, split)

    def _wait(self, kind: str, direction: int, producing: bool, split: int) -> None:
        key = (kind, direction, producing, split)
        tokens = self._waited.get(key)
        if tokens is None:
            vectors = self._vectors(direction, producing, split)
            tokens = self._waited[key] = tuple(self._token(kind, direction, vector) for vector in vectors)
        if tokens:
            self.core.await_signals("PIPE_S", tokens)

    def produced(self, direction: int) -> int:
        """Returns the index of the slot that this end fills next."""
        number = self.made[direction]
        self.made[direction] = number + 1
        return number

    def consumed(self, direction: int) -> int:
        """Returns the index of the slot that this end reads next."""
        number = self.taken[direction]
        self.taken[direction] = number + 1
        return number

    def announce(self, pipe: str, direction: int, split: int) -> None:
        """Signals the entry to the consumers, once ``pipe`` reaches the signal."""
        self.core.signal(pipe, self._others("entry", direction, True, split))

    def hold(self, direction: int, entry: Any) -> Any:
        """Stores a popped entry until it is freed."""
        entry = self.core.popped(entry)
        self.held[direction].append(entry)
        return entry

    def own(self, entry: Any) -> Any:
        """Records a popped tile with a local slot of its own, which belongs to the program until a later pop loads into
        it."""
        return self.core.popped(entry)

    def give_back(self, pipe: str, direction: int, split: int) -> None:
        """Returns the slot of the entry that was popped last once ``pipe`` has loaded it."""
        self.core.signal(pipe, self._others("slot", direction, False, split))

    def release(self, user: str, pipe: str, line: int, direction: int, split: int) -> None:
        """Removes the oldest popped entry from the program once pipe ``user`` reaches the release, and returns its slot
        once ``pipe`` does. An entry that ``pipe`` loads belongs to the program until the load is complete, even without
        readers.

        Raises ``Fault`` (``pipe-slot``) when every popped entry was freed before.
        """
        if not self.held[direction]:
            raise Fault("pipe-slot", f"every popped entry of {self.facts.label} was freed before")
        entry = self.held[direction].popleft()
        if user == pipe:
            self.core.issue(user, line, entry.retire)
        else:
            retire = _last_of(entry.retire, 2)
            self.core.issue(user, line, retire)
            self.core.issue(pipe, line, retire)
        self.core.signal(pipe, self._others("slot", direction, False, split))

    # ------------------------------------------------------------ addresses

    def local_address(self, direction: int, number: int) -> int:
        """Returns the byte address of a slot in the consumer's memory."""
        count = self.facts.local_slots if self.facts.through_gm else self.facts.slots
        return self.local[direction] + number % count * self.facts.steps[direction]

    def gm_address(self, direction: int, number: int, fmt: Format) -> Pointer:
        """Returns the address of a slot in global memory; those of the second direction follow those of the first."""
        pointer = self.core.pointer_of(self.gm)
        facts = self.facts
        ring = facts.slots * facts.slot_size if direction == V2C and facts.mask == C2V | V2C else 0
        offset = pointer.offset + ring + number % facts.slots * facts.slot_size
        return Pointer(pointer.arena, offset, fmt.storage, fmt.bytes)


def _last_of(action: Callable[[], None], calls: int) -> Callable[[], None]:
    """Returns a function that retires an entry on its last of several calls."""
    left = iter(range(calls - 1, -1, -1))

    def retire() -> None:
        if not next(left):
            action()

    return retire


def open_end(core: QueueCore, facts: FifoFacts, everyone: bool, gm: Any, local: dict[int, int]) -> FifoEnd:
    """Returns the end of a queue on ``core``; one that is initialized again continues with its state."""
    key = ("fifo", facts.key)
    known = core.state.get(key)
    if known is None or known.facts.mask != facts.mask:
        known = core.state[key] = FifoEnd(core, facts, everyone, gm, local)
    return known


class EntryMaker:
    """Makes views of slots in global memory: entries that a program fills and reads with transfers of its own."""

    label = "slot_view"

    def __init__(self, shape: tuple[int, ...], fmt: Format, direction: int, split: int, part: bool) -> None:
        self.shape = shape
        self.fmt = fmt
        self.direction = direction
        rows, cols = ((1,) * (2 - len(shape)) + shape)[-2:]
        self.share = {1: rows * cols, 2: cols}.get(split, 0) if part else 0

    def __call__(self, end: FifoEnd, number: int, vector: int | None = None) -> GmTensor:
        """Returns the entry in slot ``number``, or the part of it that belongs to a vector core."""
        index = end.core.index if vector is None else vector
        pointer = end.gm_address(self.direction, number, self.fmt).advance(index * self.share)
        base = end.gm
        tensor = isinstance(base, GmTensor)
        strides = base.strides if tensor and len(base.strides) == len(self.shape) else dense_strides(self.shape)
        layout = base.layout if tensor else "nd"
        return GmTensor(pointer, self.shape, strides, self.fmt, layout)

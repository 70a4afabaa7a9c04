"""What a core runs, in the order of the text: operations with their accesses, loops, choices.

Source: docs/reference/synchronisation.md, "Dependences".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from xdsl.ir import Block, Operation, SSAValue

from pto_dialect.ir.core.base import Pipe
from pto_dialect.passes.base import ObstacleError

from .areas import Areas
from .locations import MemoryLocation
from .setting import Iteration

if TYPE_CHECKING:
    from xdsl.dialects.scf import ForOp

PIPES = (Pipe.S, Pipe.V, Pipe.M, Pipe.MTE1, Pipe.MTE2, Pipe.MTE3, Pipe.FIX)
NUMBER = {pipe: number for number, pipe in enumerate(PIPES)}
SCALAR = NUMBER[Pipe.S]


def pipe_id(pipe: Pipe | None) -> int | None:
    """Returns the id of a pipe; ``None`` for all pipes together, and for no pipe."""
    return None if pipe is None else NUMBER.get(pipe)


class UnsupportedError(ObstacleError):
    """The construct that prevents the pass: an operation, and the reason."""


@dataclass(eq=False)
class Leaf:
    """An operation with work on a pipe. ``joins``: all pipes of the core have completed earlier work when it runs.
    ``shows``: it signals another core that its reads are complete, and later writers of them need not wait; ``learns``:
    its writes are complete when it runs, whoever read those bytes before; ``asynchronous``: it is a store of the scalar
    unit, which may be in flight when later operations are issued."""

    op: Operation
    pipe: int
    reads: tuple[MemoryLocation, ...]
    writes: tuple[MemoryLocation, ...]
    joins: bool = False
    shows: bool = False
    learns: bool = False
    path: tuple[tuple[Sequence, int], ...] = ()
    asynchronous: bool = False


@dataclass(eq=False)
class Loop:
    """A region that runs ``trips`` times; infinity stands for any number, also none."""

    op: Operation
    body: Sequence
    iteration: Iteration | None
    trips: float
    carried: list[Flag] = field(default_factory=list)
    handed: list[HandOver] = field(default_factory=list)

    @property
    def open(self) -> bool:
        """Whether it may run not once."""
        return self.trips == inf


@dataclass(eq=False)
class Choice:
    """Regions of which one runs, or none if ``open``."""

    op: Operation
    branches: list[Sequence]
    open: bool


@dataclass(eq=False)
class Signal:
    """What a program says itself about the order of its pipes.

    ``kind`` is ``set``, ``wait``, ``get``, ``release``, ``barrier`` or ``join`` (a barrier of all pipes). ``source``
    and ``target`` are numbers of pipes, one and the same for locks and barriers; ``number`` is that of the flag or the
    buffer.
    """

    op: Operation
    kind: str
    source: int
    target: int
    number: int = 0
    path: tuple[tuple[Sequence, int], ...] = ()


@dataclass(eq=False)
class Call:
    """A function that runs where it is called; its own order is made where it is defined."""

    op: Operation
    body: Sequence


Item = Leaf | Loop | Choice | Signal | Call


class Ring(NamedTuple):
    """Numbers that go round with the counter of ``loop``: that of an iteration is what is left of ``factor`` times the
    counter plus ``constant`` divided by the ``count`` of the flag. A flag is waited for ``ahead`` iterations after the
    one that sets it; ``first`` and ``step`` are those of the counter."""

    loop: ForOp
    counter: SSAValue
    factor: int
    constant: int
    first: int
    step: int
    ahead: int

    def number(self, iteration: int, count: int) -> int:
        """Returns the number of an iteration."""
        return (self.factor * (self.first + iteration * self.step) + self.constant) % count


@dataclass(eq=False)
class Flag:
    """A set after one item of a sequence and a wait before another. ``carried``: the wait is in the next iteration of
    the loop whose body the sequence is. ``source`` and ``target`` are ids of pipes.

    With ``slot`` it has an id for each of ``count`` slots of a multi-buffer: ``event`` and the following ones.
    ``chosen`` is the multi-buffer, and the index in it, that all its accesses use. With ``ring`` the ids rotate with
    the induction variable of the loop, which is ``slot``.
    """

    source: int
    target: int
    after: int
    before: int
    sequence: Sequence
    carried: bool = False
    event: int = -1
    chosen: object = None
    slot: SSAValue | None = None
    count: int = 1
    ring: Ring | None = None
    about: tuple[int, int] | None = None
    """For slots that rotate in the same way: the number of iterations until reuse, and the dependence distance."""
    shared: str = ""
    """Why it stands for several flags, of slots (``about_slots``) or of other dependences."""
    about_slots: bool = False

    @property
    def numbers(self) -> range:
        """The numbers that it takes."""
        return range(self.event, self.event + self.count)

    @property
    def rotates(self) -> bool:
        """Whether each iteration takes the token of its slot and gives it back."""
        return self.carried and self.slot is not None


class HandOver(NamedTuple):
    """Two flags at the end of each iteration: the source of ``there`` waits for ``back``, then sets ``there``; the
    target waits for that and sets ``back``. Both pass once before the loop, and ``back`` is waited for after it."""

    there: Flag
    back: Flag


@dataclass(eq=False)
class Sequence:
    """Items in the order of the text; ``block`` is their block, ``depth`` the number of enclosing sequences.

    ``barriers`` are the pipes with a barrier before an item.
    """

    block: Block
    depth: int
    items: list[Item] = field(default_factory=list)
    flags: list[Flag] = field(default_factory=list)
    barriers: dict[int, set[int]] = field(default_factory=dict)
    full: set[int] = field(default_factory=set)
    waits: dict[int, list[Flag]] = field(default_factory=dict)
    sets: dict[int, list[Flag]] = field(default_factory=dict)

    def add(self, flag: Flag) -> None:
        """Puts a flag into the sequence."""
        self.flags.append(flag)
        self.waits.setdefault(flag.before, []).append(flag)
        self.sets.setdefault(flag.after, []).append(flag)

    def remove(self, flag: Flag) -> None:
        """Takes a flag out again."""
        self.flags.remove(flag)
        self.waits[flag.before].remove(flag)
        self.sets[flag.after].remove(flag)


def innermost(part: Item | Sequence) -> Iterator[Leaf | Signal]:
    """Yields the operations and signals of an item or a sequence, those of all regions and calls in it included, in the
    order of the text."""
    if isinstance(part, Leaf | Signal):
        yield part
        return
    if isinstance(part, Sequence):
        parts: list[Item] | list[Sequence] = part.items
    else:
        parts = part.branches if isinstance(part, Choice) else [part.body]
    for inner in parts:
        yield from innermost(inner)


class Users(NamedTuple):
    """The pipes that touch each memory in a sequence, and all that it has work or signals for. ``streams``: vector
    operations may overlap each other. ``areas`` are those that it accesses."""

    spaces: Mapping[str, frozenset[int]]
    pipes: frozenset[int]
    streams: bool
    areas: Areas


def users_of(sequence: Sequence, arch: str) -> Users:
    """Who does something in a sequence on a chip of ``arch``."""
    spaces: dict[str, set[int]] = {}
    pipes = {SCALAR}
    for part in innermost(sequence):
        if isinstance(part, Leaf):
            pipes.add(part.pipe)
            for location in (*part.reads, *part.writes):
                spaces.setdefault(location.space, set()).add(part.pipe)
        else:
            pipes |= {part.source, part.target}
    return Users(
        {space: frozenset(users) for space, users in spaces.items()}, frozenset(pipes), arch == "a2a3", Areas()
    )

"""What a core runs, as the prover sees it: statements with their iterations, accesses to bytes, and signals.

Source: docs/reference/order-proof.md, "Model".
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from pto_dialect.ir.core.facts.pipe import Pipe

from .expressions import TRUE, ZERO, Condition, Expr, Ordinal, Symbol

_BARRIERS = ("join", "barrier")
UNDETERMINED = "depends on values that the text does not determine"
"""The end of many reasons."""


PIPES = (Pipe.S, Pipe.V, Pipe.M, Pipe.MTE1, Pipe.MTE2, Pipe.MTE3, Pipe.FIX)


class Unit(NamedTuple):
    """A pipe of one of the cores; ``Pipe.ALL`` stands for all of the core."""

    core: int
    pipe: Pipe


class UndecidedError(Exception):
    """The operation that prevents a verdict, and the reason; ``op`` is ``None`` where no operation does."""

    def __init__(self, op: Operation | None, reason: str) -> None:
        super().__init__(reason)
        self.op = op
        self.reason = reason


@dataclass(eq=False)
class Loop:
    """A loop: ``goes_on`` is the condition under which the iteration ``ordinal`` runs, given that those before did;
    ``None`` is one that nobody knows."""

    op: Operation
    number: int
    ordinal: Ordinal
    goes_on: Condition | None
    counter: Expr | None
    """The value of its counter."""
    trips: Expr | None
    """How many iterations it has."""
    body: list[Statement | Loop] = field(default_factory=list)


@dataclass(frozen=True)
class Interval:
    """Bytes from ``low`` on, before ``high`` (``None``: to the end of the memory). ``sure`` are bytes in it that an
    access touches whatever its masks and sizes are."""

    low: Expr
    high: Expr | None
    sure: tuple[Expr, Expr] | None = None


@dataclass(frozen=True)
class Rectangle:
    """A part of a view: for each dimension the first index and the number. Parts of one ``frame`` compare;
    ``bytes`` compares with others. ``certain`` states that an access touches all of it."""

    frame: Hashable
    sides: tuple[tuple[Expr, Expr], ...]
    bytes: Interval | None = None
    certain: bool = True


@dataclass(frozen=True)
class Access:
    """One access of a statement: to the bytes ``part`` of the object ``root`` in memory ``space``.

    ``root`` ``None`` is any object, ``part`` ``None`` any of its bytes. It happens when ``condition`` holds;
    ``certain`` states that it does then, and that nothing about it was widened."""

    op: Operation
    writes: bool
    space: str
    root: Hashable
    part: Interval | Rectangle | None
    condition: Condition = TRUE
    certain: bool = True

    @property
    def depends_on(self) -> list[Expr | Condition]:
        """The numbers that decide whether it happens, and to which bytes."""
        found: list[Expr | Condition] = [self.condition]
        part = self.part
        if isinstance(part, Rectangle):
            found += [each for side in part.sides for each in side]
            part = part.bytes
        if part is not None:
            found += [each for each in (part.low, part.high) if each is not None]
        return found


@dataclass(frozen=True)
class Signal:
    """What a statement says about the order: ``set``, ``wait``, ``get``, ``release``, ``barrier`` (of pipe ``source``)
    or ``join`` (work of ``drains`` is complete for all pipes). ``number`` is that of the flag or of the buffer;
    flags of one ``channel`` are apart from all others.

    ``post`` signals to others that the work of its pipe, and of ``drains``, is complete, ``take`` waits for them.
    Without a channel what they order is not known. ``perhaps`` is a join that some forms of an operation have."""

    kind: str
    source: Pipe
    target: Pipe
    number: Expr = ZERO
    drains: frozenset[Pipe] = frozenset()
    channel: Hashable = None

    @property
    def is_vague(self) -> bool:
        """Whether it is not known what it orders."""
        return self.kind in ("post", "take", "perhaps") and self.channel is None


@dataclass(eq=False)
class Statement:
    """An operation with work or a signal. ``loops`` surround it, ``position`` has its positions in the bodies of the
    function and of each loop, ``condition`` is the one under which it runs in an iteration; if ``certain``, it
    does then. ``asynchronous``: a store of the scalar unit. ``core`` is the number of its core. ``handed`` is the
    accumulator whose unit flag it sets or clears."""

    op: Operation
    number: int
    pipe: Pipe
    loops: tuple[Loop, ...]
    position: tuple[int, ...]
    condition: Condition
    certain: bool
    accesses: tuple[Access, ...] = ()
    signal: Signal | None = None
    asynchronous: bool = False
    core: int = 0
    handed: SSAValue | None = None

    @property
    def unit(self) -> Unit:
        """Its pipe on its core."""
        return Unit(self.core, self.pipe)

    @property
    def is_undetermined(self) -> bool:
        """Whether it is a flag, or a signal like one, of which nobody knows whether it runs."""
        return self.signal is not None and not self.certain and not self.is_vague(self.certain)

    def is_vague(self, certain: bool) -> bool:
        """Returns whether it is not known what it orders, as of barriers that are not ``certain`` to run."""
        signal = self.signal
        return signal is not None and (signal.is_vague or (not certain and signal.kind in _BARRIERS))


def common_loops(one: Statement, other: Statement) -> int:
    """Returns how many loops surround both."""
    common = 0
    for first, second in zip(one.loops, other.loops, strict=False):
        if first is not second:
            break
        common += 1
    return common


@dataclass(eq=False)
class Node:
    """A part of a function that runs from its begin to its end, then one of ``next`` (numbers in its graph; none: the
    graph ends). If it ``begins`` a loop, an iteration of the loop starts with it."""

    items: list[Statement | Graph]
    next: tuple[int, ...]
    begins: Loop | None = None


@dataclass(eq=False)
class Graph:
    """A loop, a branch, or blocks: its nodes, of which the first one runs first."""

    nodes: list[Node]


@dataclass
class Model:
    """A function as one kind of core runs it, or as ``cores`` cores of a block do. ``body`` is in the order of the
    text, core after core, ``course`` the same with all control-flow paths, ``symbols`` are all that are not iterations,
    ``facts`` conditions on them that hold for each launch, ``assumed`` what else a verdict rests on."""

    name: str
    function: Operation
    core: str | None
    arch: str
    body: list[Statement | Loop]
    course: list[Statement | Graph]
    statements: list[Statement]
    symbols: list[Symbol]
    facts: list[tuple[str, Condition]]
    assumed: tuple[str, ...] = ()
    cores: int = 1

    @property
    def undetermined(self) -> Statement | None:
        """The first signal of which nobody knows whether it runs, or how often."""
        return next((one for one in self.statements if one.is_undetermined), None)

    @property
    def is_vague(self) -> bool:
        """Whether others may order what nothing in it orders."""
        return any(one.is_vague(one.certain) for one in self.statements)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What a verdict rests on: what a user states, and what the prover takes for granted."""
        return (*(text for text, _ in self.facts if text), *self.assumed)

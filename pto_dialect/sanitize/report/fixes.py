"""Changes of a program's text that findings advise."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation


@dataclass(frozen=True)
class AddFlag:
    """A flag from ``source`` to ``target``: set behind ``first``, waited for before ``second``.

    ``carried`` tells that ``first`` runs in an earlier round of a loop around both.
    """

    first: Operation
    second: Operation
    source: str
    target: str
    carried: bool


@dataclass(frozen=True)
class InsertBefore:
    """A statement in front of an operation."""

    op: Operation
    statement: str


@dataclass(frozen=True)
class RemoveStatements:
    """Operations that go."""

    ops: tuple[Operation, ...]


@dataclass(frozen=True)
class SendFlag:
    """The set that a wait lacks: in front of a loop that sets the flag again for each next round, else before it."""

    wait: Operation


@dataclass(frozen=True)
class TakeFlag:
    """The wait that a set lacks: behind a loop that takes the flags of all rounds but the last, else the set goes."""

    set: Operation


@dataclass(frozen=True)
class MoveTile:
    """Another address for an allocation."""

    op: Operation
    address: int


Change = AddFlag | SendFlag | TakeFlag | MoveTile | InsertBefore | RemoveStatements

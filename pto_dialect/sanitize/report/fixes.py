"""Changes of a program's text that fix findings."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation


@dataclass(frozen=True)
class AddFlag:
    """Adds a flag from ``source`` to ``target``: set after ``first``, waited for before ``second``.

    ``carried`` states that ``first`` runs in an earlier iteration of a loop around both.
    """

    first: Operation
    second: Operation
    source: str
    target: str
    carried: bool


@dataclass(frozen=True)
class InsertBefore:
    """Inserts a statement before an operation."""

    op: Operation
    statement: str


@dataclass(frozen=True)
class RemoveStatements:
    """Removes operations."""

    ops: tuple[Operation, ...]


@dataclass(frozen=True)
class SendFlag:
    """Adds the missing set of a wait: before a loop that sets the flag again for each next iteration, otherwise before
    the wait."""

    wait: Operation


@dataclass(frozen=True)
class TakeFlag:
    """Adds the missing wait of a set: after a loop that waits for the flags of all iterations but the last, otherwise
    removes the set."""

    set: Operation


@dataclass(frozen=True)
class MoveTile:
    """Sets another address of an allocation."""

    op: Operation
    address: int


Change = AddFlag | SendFlag | TakeFlag | MoveTile | InsertBefore | RemoveStatements

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


Change = AddFlag | InsertBefore | RemoveStatements

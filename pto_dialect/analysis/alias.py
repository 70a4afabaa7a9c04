"""Alias facts: how two names of memory relate in every run, and what a handle may point to.

A pass that requires must-alias takes a :class:`Must`; a may-alias never becomes one. Source:
docs/reference/memory-planning.md, "Alias facts".
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from xdsl.ir import Operation, SSAValue

T = TypeVar("T", bound=Hashable)


class Alias(Enum):
    """How two names of memory relate.

    The facts are a join-semilattice: ``NO`` and ``MUST`` are exact, ``MAY`` covers both, ``UNKNOWN`` covers everything
    (the objects that a name may stand for are not known).
    """

    NO = "no"
    MUST = "must"
    MAY = "may"
    UNKNOWN = "unknown"

    def join(self, other: Alias) -> Alias:
        """Returns the most exact fact that holds where either one holds: on two control-flow paths."""
        if self is other:
            return self
        return Alias.UNKNOWN if Alias.UNKNOWN in (self, other) else Alias.MAY

    def meet(self, other: Alias) -> Alias | None:
        """Returns the fact that two sound analyses give together; ``None`` where they contradict each other, which only
        unreachable code allows."""
        if self.covers(other):
            return other
        return self if other.covers(self) else None

    def covers(self, other: Alias) -> bool:
        """Returns whether this fact is true wherever ``other`` is."""
        return self.join(other) is self

    @property
    def is_possible(self) -> bool:
        """Whether the names may share memory."""
        return self is not Alias.NO

    @property
    def is_certain(self) -> bool:
        """Whether the names share memory in every run."""
        return self is Alias.MUST


@dataclass(frozen=True)
class Must(Generic[T]):
    """The one object that a handle points to in every run."""

    object: T


@dataclass(frozen=True)
class Pointees(Generic[T]):
    """The objects that a handle may point to; ``is_open``: others that are not known as well."""

    objects: frozenset[T] = frozenset()
    is_open: bool = False

    @classmethod
    def of(cls, *objects: T) -> Pointees[T]:
        """Exactly these."""
        return cls(frozenset(objects))

    @classmethod
    def unknown(cls) -> Pointees[T]:
        """Anything."""
        return cls(frozenset(), True)

    def join(self, other: Pointees[T]) -> Pointees[T]:
        """Returns what either of two handles may point to."""
        return Pointees(self.objects | other.objects, self.is_open or other.is_open)

    def must(self) -> Must[T] | None:
        """Returns the object, where there is exactly one."""
        if self.is_open or len(self.objects) != 1:
            return None
        return Must(next(iter(self.objects)))

    def alias(self, target: T) -> Alias:
        """How the handle relates to an object."""
        if self.is_open:
            return Alias.UNKNOWN
        if target not in self.objects:
            return Alias.NO
        return Alias.MUST if len(self.objects) == 1 else Alias.MAY

    def alias_with(self, other: Pointees[T]) -> Alias:
        """How two handles relate."""
        if self.is_open or other.is_open:
            return Alias.UNKNOWN
        if self.objects.isdisjoint(other.objects):
            return Alias.NO
        return Alias.MUST if self.must() is not None and self == other else Alias.MAY


def is_passed_on(handle: SSAValue, keeps_to_itself: Callable[[Operation], bool]) -> bool:
    """Returns whether another value may refer to the memory of ``handle``: some user is not in ``keeps_to_itself``,
    such as a loop that carries it, a terminator that yields it, a select or a view."""
    return not all(keeps_to_itself(use.operation) for use in handle.uses)


def joined(pointees: Iterable[Pointees[T]]) -> Pointees[T]:
    """Returns what any of several handles may point to; unknown for no handles."""
    result: Pointees[T] | None = None
    for one in pointees:
        result = one if result is None else result.join(one)
    return Pointees.unknown() if result is None else result

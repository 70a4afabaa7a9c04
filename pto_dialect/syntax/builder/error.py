"""The error a statement builder raises for an incorrect statement."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import Attribute

from pto_dialect.diagnostics.diagnostic import Note
from pto_dialect.diagnostics.remedies.names import choose, replace
from pto_dialect.diagnostics.remedies.order import swap_operands
from pto_dialect.diagnostics.remedies.statements import cast, compare_with_zero
from pto_dialect.diagnostics.remedies.types import stated_type
from pto_dialect.diagnostics.remedy import Remedy
from pto_dialect.diagnostics.suggest import near_hint, near_terms
from pto_dialect.ir.core.types import I1, type_text

from ..errors.located import LocatedError
from ..read.tokens import Tok

_LISTED = 16
"""Maximum number of names that a suggestion lists."""


class BuildError(LocatedError):
    """A statement that cannot be built, with notes about other locations."""

    def __init__(
        self,
        rule: str,
        message: str,
        start: int,
        end: int,
        help: str | None = None,
        notes: tuple[Note, ...] = (),
        remedies: tuple[Remedy, ...] = (),
    ) -> None:
        super().__init__(rule, message, start, end, help, remedies)
        self.notes = notes


class FollowUp(BuildError):
    """A statement that cannot be built because of a mistake that was already reported; nothing is reported."""

    def __init__(self) -> None:
        super().__init__("", "", 0, 0)


def suggest_word(word: str, allowed: Sequence[str]) -> tuple[str | None, *tuple[Remedy, ...]]:
    """Returns a suggestion for a wrong ``word``, with its remedies: the near ones of those allowed, else all of
    them."""
    near = near_terms(word, allowed)
    if near:
        return near_hint(near), replace(word, *near)
    if not allowed:
        return (None,)
    listed = allowed[:_LISTED]
    return f"one of {', '.join(listed)}{', ..' if len(allowed) > _LISTED else ''}", choose(word, *allowed)


def at(token: Tok, rule: str, message: str, help: str | None = None, *remedies: Remedy) -> BuildError:
    """Returns the error that ``token`` is wrong."""
    return BuildError(rule, message, token.start, token.end, help, remedies=remedies)


def type_remedies(name: str, actual: Attribute, stated: Attribute, written: bool) -> tuple[Remedy, ...]:
    """Returns what to do about the value ``name`` of type ``actual`` where ``stated`` is ``written``, or needed."""
    found, wanted = type_text(actual), type_text(stated)
    remedies = [swap_operands(False), stated_type(name, found, wanted)] if written else []
    if all(isinstance(type_, (IntegerType, IndexType)) for type_ in (actual, stated)):
        remedies.append(cast(name, found, wanted) if written or stated is not I1 else compare_with_zero(name, found))
    return tuple(remedies)

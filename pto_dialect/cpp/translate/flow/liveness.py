"""Which variables statements read before they assign them, and which they assign."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ...llvm.model import Instruction
from .tree import Bind, Do, For, If, Is, Loop, Return, Set, Statement, Variable

Effects = Callable[[Instruction], tuple[set[Variable], set[Variable], set[Variable]]]
"""Variables that an instruction reads, may assign, and surely assigns."""


class Summary(NamedTuple):
    """Variables that are read before they are assigned, that may be assigned, and that surely are."""

    reads: frozenset[Variable]
    assigned: frozenset[Variable]
    surely: frozenset[Variable]


_NOTHING = Summary(frozenset(), frozenset(), frozenset())


class Liveness:
    """Summaries of the statements of a tree; each list and statement is summarized once."""

    def __init__(self, effects: Effects) -> None:
        self.effects = effects
        self._lists: dict[int, Summary] = {}
        self._kept: list[object] = []

    def of_list(self, statements: list[Statement]) -> Summary:
        """Returns the summary of statements in sequence."""
        known = self._lists.get(id(statements))
        if known is None:
            reads: set[Variable] = set()
            assigned: set[Variable] = set()
            surely: set[Variable] = set()
            for statement in statements:
                summary = self.of(statement)
                reads |= summary.reads - surely
                assigned |= summary.assigned
                surely |= summary.surely
            known = self._lists[id(statements)] = Summary(frozenset(reads), frozenset(assigned), frozenset(surely))
            self._kept.append(statements)
        return known

    def of(self, statement: Statement) -> Summary:
        """Returns the summary of one statement."""
        if isinstance(statement, Do):
            reads, assigned, surely = self.effects(statement.instruction)
            if not reads and not assigned:
                return _NOTHING
            return Summary(frozenset(reads), frozenset(assigned), frozenset(surely))
        if isinstance(statement, Bind):
            return Summary(frozenset((statement.variable,)), frozenset(), frozenset())
        if isinstance(statement, Set):
            targets = frozenset(variable for variable, _ in statement.pairs)
            return Summary(frozenset(), targets, targets)
        if isinstance(statement, If):
            return self._choice(statement)
        if isinstance(statement, Loop):
            body = self.of_list(statement.body)
            again = frozenset((statement.again,)) - body.surely
            return Summary(body.reads | again, body.assigned, body.surely)
        if isinstance(statement, For):
            body = self.of_list(statement.body)
            return Summary(body.reads, body.assigned, frozenset()) if statement.may_be_empty else body
        assert isinstance(statement, Return)
        return _NOTHING

    def _choice(self, statement: If) -> Summary:
        then, otherwise = self.of_list(statement.then), self.of_list(statement.otherwise)
        subject = statement.condition.subject if isinstance(statement.condition, Is) else None
        own = frozenset((subject,)) if isinstance(subject, Variable) else frozenset()
        return Summary(
            own | then.reads | otherwise.reads, then.assigned | otherwise.assigned, then.surely & otherwise.surely
        )

    def live_after(self, statements: list[Statement], live: frozenset[Variable]) -> list[frozenset[Variable]]:
        """Returns for each statement which of the variables that it assigns are read later."""
        present = set(live)
        found: list[frozenset[Variable]] = []
        for statement in reversed(statements):
            summary = self.of(statement)
            found.append(frozenset(summary.assigned & present))
            present -= summary.surely
            present |= summary.reads
        return found[::-1]

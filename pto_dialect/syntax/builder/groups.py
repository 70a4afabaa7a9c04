"""Reads clauses with operands in parentheses by the rows of their table, for transfers and similar operations."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from pto_dialect.diagnostics.remedies.names import replace
from pto_dialect.diagnostics.remedies.order import one_of_two_clauses, operand_count
from pto_dialect.diagnostics.suggest import did_you_mean
from pto_dialect.diagnostics.wording import count
from pto_dialect.ir.clauses import CLAUSES, Taken, clauses_of
from pto_dialect.ir.core.base import PtoOp, op_spec
from pto_dialect.ir.core.clauses import Clauses, Form

from ..read.tokens import Tok
from .error import BuildError, at

if TYPE_CHECKING:
    from .pto import Groups


@cache
def _by_row(cls: type[PtoOp]) -> dict[str, Taken]:
    return {taken.row.name: taken for taken in clauses_of(cls)}


class GroupReading:
    """Reads the clauses of one statement into ``groups``, the values by operand."""

    __slots__ = ("cls", "groups", "seen", "table", "taken", "token")

    def __init__(self, token: Tok, cls: type[PtoOp], groups: Groups) -> None:
        self.token = token
        self.cls = cls
        self.groups = groups
        self.table: Clauses = CLAUSES[op_spec(cls).shape]
        self.taken = _by_row(cls)
        self.seen: dict[str, str] = {}

    def find(self, word: Tok) -> Taken:
        """Returns the clause that starts with ``word``; raises ``BuildError`` where the operation takes none, or for a
        duplicate."""
        row = self.table.find(word.text)
        taken = self.taken.get(row.name) if row is not None else None
        if taken is None:
            said = (row.foreign if row is not None else None) or self.table.foreign
            known = [keyword for each in self.taken.values() for keyword in each.row.keywords]
            close = did_you_mean(word.text, known)
            message = said.message.format(self.token.text, word.text)
            if close:
                raise at(word, said.rule, message, f"did you mean {close[0]}?", replace(None, close[0]))
            raise at(word, said.rule, message, said.help.format(", ".join(known)) or None)
        if taken.row.name in self.seen and taken.row.form is not Form.REPEATED:
            mended = one_of_two_clauses(word.text)
            raise at(word, self.table.duplicate, f"{word.text} is given twice", None, mended)
        self.seen[taken.row.name] = word.text
        return taken

    def earlier(self, word: Tok | None) -> str | None:
        """Returns the last keyword read that a clause starting with ``word``, or an operand without a clause, must
        precede."""
        if not self.seen:
            return None
        row = self.table.find(word.text) if word is not None else None
        names = [each.name for each in self.table.rows]
        last, spelled = list(self.seen.items())[-1]
        behind = word is not None and (row is None or names.index(row.name) >= names.index(last))
        return None if behind else spelled

    def give(self, taken: Taken, word: Tok, use: Tok, values: list[SSAValue]) -> None:
        """Assigns the values of a clause to its operands; raises ``BuildError`` for another number of them."""
        row, names, _ = taken
        if row.form is Form.LIST:
            self.groups[names[0]] = values
            return
        given = len(values)
        if row.wrong_number is not None and given not in (row.numbers or (len(names),)):
            rule, message, help = row.wrong_number
            mended = (operand_count(len(names), given),) if not row.numbers else ()
            raise at(use, rule, message.format(word.text, given, count(given, "operand")), help or None, *mended)
        for name, value in zip(names, values, strict=False):
            if row.form is Form.REPEATED:
                self.groups.setdefault(name, []).append(value)
            else:
                self.groups[name] = [value]

    def absent(self) -> BuildError | None:
        """Returns the error about a missing required clause, if there is one."""
        for row, *_ in self.taken.values():
            if row.absent is not None and row.name not in self.seen:
                rule, message, help = row.absent
                return at(self.token, rule, message.format(self.token.text), help or None)
        return None

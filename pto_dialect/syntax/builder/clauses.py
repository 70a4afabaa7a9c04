"""Statement builders for the cube operations with clauses: accumulator write-back and multiply-add.

``ir/cube/clauses.py`` lists the clauses and their parameters.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute, Operation

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.wording import count
from pto_dialect.ir.clauses import clauses_of
from pto_dialect.ir.core.attributes import ENUMS
from pto_dialect.ir.core.base import PtoOp, op_spec, signature
from pto_dialect.ir.core.clauses import Clause, Clauses, Form
from pto_dialect.ir.cube.clauses import ACC_STORE, MAD, UNSUPPORTED_WORDS

from ..errors.clauses import misplaced
from ..read.tokens import Tok
from .error import BuildError, at, suggest_word
from .pto import Groups, Operands, text_slots
from .step import statement
from .structure import StructureBuilder

Written = tuple[Tok, list[Any]]
"""A clause of the text: its keyword and the contents of its parentheses."""


class ClauseBuilder(StructureBuilder):
    """Builders of the shapes whose clauses are between operands and types."""

    @statement
    def acc_store(self, items: list[Any]) -> Operation:
        """An accumulator write-back."""
        token, uses, attributes, signature_part = items[0], items[1], items[-2], items[-1]
        written: list[Written] = [item for item in items[2:-2] if isinstance(item, tuple)]
        rows = clause_rows(ACC_STORE, written)
        cls = self.pto_class(token)
        slots = text_slots(cls)
        required = [slot for slot in slots if slot.arity == "1"]
        operands = Operands()
        operands.add(uses, self.use(uses))
        if len(operands.values) != len(required):
            raise self.operand_count(token, operands, required, len(required), len(required))
        groups = self.distribute(token, required, operands)
        leading = ACC_STORE.rows[0]
        if not written and not attributes and leading.attribute not in signature(cls).attributes:
            self.report(
                "fixp-no-clause",
                f"{token.text} without clauses writes the accumulator as nz2nd does",
                token.start,
                token.end,
                "state the layout: nz2nd, nz2dn(..) or nz2nz",
                Severity.INFO,
            )
        reading = ClauseReading(self, token, cls, groups, operands, attributes)
        for (word, arguments), row in zip(written, rows, strict=True):
            reading.read(ACC_STORE, row, word, arguments)
        if leading.attribute in signature(cls).attributes and leading.attribute not in attributes:
            assert leading.incomplete is not None
            rule, _, help = leading.incomplete
            raise at(token, rule, f"{token.text} needs {leading.name}(..)", help)
        return self._typed(cls, token, groups, operands, attributes, signature_part)

    @statement
    def mad(self, items: list[Any]) -> Operation:
        """A multiply-add."""
        token, uses, attributes, signature_part = items[0], items[1], items[-2], items[-1]
        written: list[Written] = items[2:-2]
        rows = clause_rows(MAD, written)
        cls = self.pto_class(token)
        operands = Operands()
        operands.add(uses, self.use(uses))
        slots = text_slots(cls)
        if len(operands.values) != len(slots):
            error = self.operand_count(token, operands, slots, len(slots), len(slots))
            raise BuildError(
                "mad-operand-count", error.message, error.start, error.end, error.help, remedies=error.remedies
            )
        groups = self.distribute(token, slots, operands)
        reading = ClauseReading(self, token, cls, groups, operands, attributes)
        for (word, arguments), row in zip(written, rows, strict=True):
            reading.read(MAD, row, word, arguments)
        return self._typed(cls, token, groups, operands, attributes, signature_part)

    def _typed(
        self, cls: type[PtoOp], token: Tok, groups: Groups, operands: Operands, attributes: dict[str, Attribute],
        signature_part: Any,
    ) -> Operation:  # fmt: skip
        if not self.is_schematic(signature_part):
            where, stated, _ = self.stated_types(signature_part, token)
            self.check_stated(cls, groups, operands, stated, where)
        return self.assemble(cls, token, groups, (), attributes)


def clause_rows(table: Clauses, written: list[Written]) -> list[Clause]:
    """Returns the rows of the clauses of a statement; raises ``BuildError`` for the first that is unknown, duplicate,
    out of order or without its parentheses."""
    wrong = misplaced(table, [word for word, _ in written])
    rows: list[Clause] = []
    for word, arguments in written:
        if wrong is not None and wrong.word is word:
            raise at(word, *wrong.said, *wrong.remedies)
        row = table.find(word.text)
        assert row is not None
        if not arguments and row.incomplete is not None:
            raise at(word, *row.incomplete)
        rows.append(row)
    return rows


class ClauseReading:
    """Reads the clauses of one statement into operands and attributes."""

    def __init__(
        self,
        builder: StructureBuilder,
        token: Tok,
        cls: type[PtoOp],
        groups: Groups,
        operands: Operands,
        attributes: dict[str, Attribute],
    ) -> None:
        self.builder = builder
        self.token = token
        self.cls = cls
        self.declared = signature(cls).attributes
        self.groups = groups
        self.operands = operands
        self.attributes = attributes

    def read(self, table: Clauses, row: Clause, word: Tok, arguments: list[Any]) -> None:
        """Reads one clause."""
        if row.declares and row.declares not in op_spec(self.cls).tokens:
            said = row.foreign or table.foreign
            taken = ", ".join(keyword for taken in clauses_of(self.cls) for keyword in taken.row.keywords)
            message = said.message.format(self.token.text, word.text)
            raise at(word, said.rule, message, said.help.format(taken) or None)
        _READERS[row.form](self, row, word, arguments)

    def flag(self, row: Clause, word: Tok, arguments: list[Any]) -> None:
        """Reads a keyword without parameters."""
        if arguments:
            raise at(word, "parse-syntax", f"{word.text} takes nothing in parentheses", f"remove {word.text}(..)")
        self.attributes[row.attribute] = UnitAttr()

    def keyword(self, row: Clause, word: Tok, arguments: list[Any]) -> None:
        """Reads a keyword that is the enumerator of its attribute, with an option or an operand."""
        spelled = word
        if arguments:
            given = arguments[0]
            operand = dict(row.by_keyword).get(word.text)
            options = {(keyword, option): meant for keyword, option, meant in row.options}
            meant = options.get((word.text, _text(given)))
            if len(arguments) > 1 or (operand is None and meant is None) or (operand and _kind(given) != "USES"):
                raise self._wrong_option(row, word, given)
            if operand is not None:
                self._operand(operand, given)
            else:
                spelled = Tok("WORD", meant or "", word.start)
        self.attributes[row.attribute] = self.builder.token_attribute(self.cls, row.attribute, spelled)

    def choice(self, row: Clause, word: Tok, arguments: list[Any]) -> None:
        """Reads an enumerator in parentheses, or the operand that replaces it."""
        given, *more = arguments
        if more or isinstance(given, tuple) or (given.type == "USES" and not row.operands):
            raise self._unexpected(row, word, more)
        if given.type == "USES":
            self._operand(row.operands[0], given)
            single = Tok("WORD", row.single, word.start)
            self.attributes[row.attribute] = self.builder.token_attribute(self.cls, row.attribute, single)
        else:
            self._word(row, row.attribute, given, word)

    def all_operands(self, row: Clause, word: Tok, arguments: list[Any]) -> None:
        """Reads operands in their order."""
        given, *more = arguments
        assert row.incomplete is not None
        if more or isinstance(given, tuple) or given.type != "USES":
            raise self._unexpected(row, word, more)
        values = self.builder.use(given)
        if len(values) != len(row.operands):
            rule, message, _ = row.incomplete
            found = count(len(values), "operand")
            raise at(given, rule, f"{message}, found {found}")
        self.operands.add(given, values)
        for name, value in zip(row.operands, values, strict=True):
            self.groups[name] = [value]

    def by_name(self, row: Clause, word: Tok, arguments: list[Any]) -> None:
        """Reads an operand, then enumerators and operands by name."""
        named = dict(row.named)
        for position, argument in enumerate(arguments):
            if isinstance(argument, tuple):
                key, given = argument
                name = named.get(key.text)
                if name is None or (given.type == "USES") != (name not in self.declared):
                    raise self._unknown_name(row, key)
                if name in self.declared:
                    self._word(row, name, given, word)
                else:
                    self._operand(name, given)
            elif argument.type == "USES" and position == 0 and row.operands:
                self._operand(row.operands[0], argument)
            elif argument.type == "USES":
                raise self._unexpected(row, word, [argument])
            else:
                raise self._without_name(row, argument)
        if any(name not in self.groups and name not in self.attributes for name in row.required):
            assert row.incomplete is not None
            raise at(word, *row.incomplete)

    # ------------------------------------------------------------ parts

    def _operand(self, name: str, use: Tok) -> None:
        self.groups[name] = [self.builder.one_use(use)]
        self.operands.add(use, self.groups[name])

    def _word(self, row: Clause, name: str, given: Tok, clause: Tok) -> None:
        words = row.words or tuple(word for e in self.declared[name].kind.enums for word in ENUMS[e].values)
        if given.text not in words and given.text not in UNSUPPORTED_WORDS:
            message = f"{clause.text} does not take {given.text!r}"
            raise at(given, row.wrong_word, message, *suggest_word(given.text, words))
        self.attributes[name] = self.builder.token_attribute(self.cls, name, given)

    def _wrong_option(self, row: Clause, word: Tok, given: Any) -> BuildError:
        place = given[0] if isinstance(given, tuple) else given
        assert row.wrong_option is not None
        rule, message, help = row.wrong_option
        return at(place, rule, message.format(word.text, place.text), help)

    def _unexpected(self, row: Clause, word: Tok, more: list[Any]) -> BuildError:
        """Reports an item of another kind than the clause takes, or ``more`` than it takes."""
        assert row.incomplete is not None
        if not more:
            return at(word, *row.incomplete)
        place = more[0][0] if isinstance(more[0], tuple) else more[0]
        return at(place, "parse-syntax", f"unexpected {place.text!r} in {row.name}(..)")

    def _unknown_name(self, row: Clause, key: Tok) -> BuildError:
        if not row.operands:
            assert row.incomplete is not None
            return at(key, *row.incomplete)
        names = ", ".join(name for name, _ in row.named)
        return at(key, "parse-syntax", f"{row.name} takes no {key.text!r}", names)

    def _without_name(self, row: Clause, given: Tok) -> BuildError:
        if not row.operands:
            assert row.incomplete is not None
            return at(given, *row.incomplete)
        message = f"the mode of {row.name} is given by name"
        return at(given, row.wrong_word, message, f"{row.named[0][0]} = {given.text}")


def _kind(given: Any) -> str:
    return "pair" if isinstance(given, tuple) else given.type


def _text(given: Any) -> str:
    return "" if isinstance(given, tuple) else given.text


_READERS = {
    Form.FLAG: ClauseReading.flag,
    Form.KEYWORD: ClauseReading.keyword,
    Form.CHOICE: ClauseReading.choice,
    Form.OPERANDS: ClauseReading.all_operands,
    Form.NAMED: ClauseReading.by_name,
}

"""Prints the clauses of an operation, row by row of their table."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from pto_dialect.ir.core.clauses import Clause, Form, Stated
from pto_dialect.ir.cube.clauses import UNSUPPORTED_WORDS

from .pto import Statement
from .writer import require


def clause_texts(s: Statement) -> list[str]:
    """The clauses that the operation has, in their order."""
    return [text for row, *_ in s.layout.clauses if (text := _PRINTERS[row.form](s, row)) is not None]


def group_texts(s: Statement) -> tuple[list[str], list[str]]:
    """The clauses of operands that the operation has, in their order, and what the type list has for each."""
    texts: list[str] = []
    types: list[str] = []
    for row, names, keyword in s.layout.clauses:
        find = _VALUES.get(row.form)
        if find is None:
            continue
        for values in find(s, row, names):
            texts.append(f"{keyword}({s.writer.uses(values)})")
            stated = s.writer.types(values)
            types.append(stated if row.stated is Stated.PLAIN else row.stated.value.format(keyword, stated))
    return texts, types


def _operands_of(s: Statement, row: Clause, names: tuple[str, ...]) -> Sequence[Sequence[SSAValue]]:
    """The values of a clause that is written once, or not at all."""
    given = s.present(*names)
    if not given and not row.needed:
        return ()
    require(given in (row.numbers or (len(names),)))
    return (s.values(names),)


def _repeated(s: Statement, row: Clause, names: tuple[str, ...]) -> Sequence[Sequence[SSAValue]]:
    """The values of each time that a clause is written."""
    columns = [s.group(name) for name in names]
    require(len({len(column) for column in columns}) == 1)
    return list(zip(*columns, strict=True))


def _list(s: Statement, row: Clause, names: tuple[str, ...]) -> Sequence[Sequence[SSAValue]]:
    """All values of one operand."""
    values = s.group(names[0])
    require(values)
    return (values,)


_VALUES = {Form.OPERANDS: _operands_of, Form.REPEATED: _repeated, Form.LIST: _list}


def _flag(s: Statement, row: Clause) -> str | None:
    return s.word(row.attribute)


def _keyword(s: Statement, row: Clause) -> str | None:
    word = s.word(row.attribute)
    given = [(keyword, operand) for keyword, operand in row.by_keyword if s.group(operand)]
    require(len(given) <= 1)
    if given:
        require(word == given[0][0])
        return f"{word}({s.single(given[0][1])})"
    for keyword, option, meant in row.options:
        if word == meant:
            return f"{keyword}({option})"
    return word


def _choice(s: Statement, row: Clause) -> str | None:
    word = s.word(row.attribute)
    if row.operands and s.group(row.operands[0]):
        require(word == row.single)
        return f"{row.name}({s.single(row.operands[0])})"
    require(word is not None or not row.leads)
    _known(row, word)
    return f"{row.name}({word})" if word is not None else None


def _operands(s: Statement, row: Clause) -> str | None:
    if not s.present(*row.operands):
        return None
    values = s.values(row.operands)
    require(len(values) == len(row.operands))
    return f"{row.name}({s.writer.uses(values)})"


def _named(s: Statement, row: Clause) -> str | None:
    parts = [s.single(name) for name in row.operands if s.group(name)]
    given = set(row.operands) if parts else set[str]()
    for key, name in row.named:
        if name in s.layout.attributes:
            word = s.word(name)
            _known(row, word)
            if word is not None:
                parts.append(f"{key} = {word}")
                given.add(name)
        elif s.group(name):
            parts.append(f"{key} = {s.single(name)}")
            given.add(name)
    require(not parts or given.issuperset(row.required))
    return f"{row.name}({', '.join(parts)})" if parts else None


def _known(row: Clause, word: str | None) -> None:
    """Custom forms hold the words that a clause takes; others are printed in generic form."""
    require(word is None or not row.words or word in row.words or word in UNSUPPORTED_WORDS)


_PRINTERS = {
    Form.FLAG: _flag,
    Form.KEYWORD: _keyword,
    Form.CHOICE: _choice,
    Form.OPERANDS: _operands,
    Form.NAMED: _named,
}

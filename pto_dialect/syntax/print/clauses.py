"""Prints the clauses of an operation, row by row of their table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from xdsl.ir import SSAValue

from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.clauses import Clause, Form, Stated
from pto_dialect.ir.cube.clauses import UNSUPPORTED_WORDS

from .pto import Statement, layout
from .writer import require

_Print = Callable[[Statement, Clause], str | None]
_Find = Callable[[Statement, Clause, tuple[str, ...]], Sequence[Sequence[SSAValue]]]


def clause_texts(s: Statement) -> list[str]:
    """Returns the clauses of the operation, in their order."""
    return [text for write, row in _printers(type(s.op)) if (text := write(s, row)) is not None]


@cache
def _printers(cls: type[PtoOp]) -> tuple[tuple[_Print, Clause], ...]:
    """Returns the clauses of a class with their printers."""
    return tuple((_PRINTERS[row.form], row) for row, *_ in layout(cls).clauses)


def group_texts(s: Statement) -> tuple[list[str], list[str]]:
    """Returns the operand clauses of the operation, in their order, with the type list entry of each."""
    texts: list[str] = []
    types: list[str] = []
    for find, row, names, keyword in _finders(type(s.op)):
        for values in find(s, row, names):
            texts.append(f"{keyword}({s.writer.uses(values)})")
            stated = s.writer.types(values)
            types.append(stated if row.stated is Stated.PLAIN else row.stated.value.format(keyword, stated))
    return texts, types


@cache
def _finders(cls: type[PtoOp]) -> tuple[tuple[_Find, Clause, tuple[str, ...], str], ...]:
    """Returns the operand clauses of a class with the functions that return their values."""
    clauses = layout(cls).clauses
    return tuple((_VALUES[row.form], row, names, keyword) for row, names, keyword in clauses if row.form in _VALUES)


def _operands_of(s: Statement, row: Clause, names: tuple[str, ...]) -> Sequence[Sequence[SSAValue]]:
    """Returns the values of a clause that is written at most once."""
    given = s.present(*names)
    if not given and not row.needed:
        return ()
    require(given in (row.numbers or (len(names),)))
    return (s.values(names),)


def _repeated(s: Statement, row: Clause, names: tuple[str, ...]) -> Sequence[Sequence[SSAValue]]:
    """Returns the values of each occurrence of a clause."""
    columns = [s.group(name) for name in names]
    require(len({len(column) for column in columns}) == 1)
    return list(zip(*columns, strict=True))


def _list(s: Statement, row: Clause, names: tuple[str, ...]) -> Sequence[Sequence[SSAValue]]:
    """Returns all values of one operand."""
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
    groups = s.groups
    parts = [s.single(name) for name in row.operands if groups[name]]
    given = [*row.operands] if parts else []
    for key, name in row.named:
        values = groups.get(name)
        if values is None:
            word = s.word(name)
            if word is not None:
                _known(row, word)
                parts.append(f"{key} = {word}")
                given.append(name)
        elif values:
            parts.append(f"{key} = {s.single(name)}")
            given.append(name)
    if not parts:
        return None
    require(all([name in given for name in row.required]))
    return f"{row.name}({', '.join(parts)})"


def _known(row: Clause, word: str | None) -> None:
    """Requires an enumerator that a clause takes; others are printed in generic form."""
    require(word is None or not row.words or word in row.words or word in UNSUPPORTED_WORDS)


_PRINTERS = {
    Form.FLAG: _flag,
    Form.KEYWORD: _keyword,
    Form.CHOICE: _choice,
    Form.OPERANDS: _operands,
    Form.NAMED: _named,
}

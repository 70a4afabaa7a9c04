"""docs/reference/clauses.md: the clauses of all shapes that have them."""

from __future__ import annotations

from pto_dialect.ir.clauses import CLAUSES, clauses_of
from pto_dialect.ir.core.attributes import ENUMS
from pto_dialect.ir.core.base import PtoOp, op_spec, signature
from pto_dialect.ir.core.clauses import Clause, Clauses, Form
from pto_dialect.ir.core.registry import all_op_classes

from .markdown import WRITTEN_BY, code, table

_LISTED = 8
"""The most keywords of a clause that are listed; the page on enumerators has longer lists."""


def page() -> str:
    """Returns the whole page."""
    lines = [
        "# Clauses",
        "",
        "Keywords of a statement that take operands or set an attribute, besides the operands themselves and the",
        "dictionary. [language.md](language.md) has the syntax of statements.",
        "",
        WRITTEN_BY,
        "",
    ]
    for clauses in _tables():
        classes = [cls for cls in all_op_classes() if CLAUSES.get(op_spec(cls).shape) is clauses]
        lines += [f"## {clauses.title}", "", clauses.intro, ""]
        lines += table(
            ("clause", "sets", "meaning", "operations"),
            (
                (code(written(row, classes)), code(_sets(row, classes)), row.summary, _takers(row, classes))
                for row in clauses.rows
            ),
        )
    return "\n".join(lines).rstrip("\n") + "\n"


def written(row: Clause, classes: list[type[PtoOp]]) -> list[str]:
    """Returns the spellings of a clause, with the keywords that ``classes`` accept."""
    if row.form is Form.FLAG:
        return list(row.keywords)
    if row.form is Form.KEYWORD:
        operands = dict(row.by_keyword)
        forms = [f"{word}(%{operands[word]})" if word in operands else word for word in row.keywords]
        return [*forms, *(f"{keyword}({option})" for keyword, option, _ in row.options)]
    if row.form is Form.CHOICE:
        chosen = row.words or words_of(classes, row.attribute)
        chosen = chosen if len(chosen) <= _LISTED else ("..",)
        return [*(f"{row.name}(%{name})" for name in row.operands), *(f"{row.name}({word})" for word in chosen)]
    if row.form is Form.FIELD:
        return [f"{row.name} = {'..' if row.attribute else f'%{row.operands[0]} : type'}"]
    names = _names(row, classes)
    if row.form is Form.INPUT:
        return [f"{row.name} %{names[0]} : type"]
    if row.form is Form.LIST:
        return [f"{row.name}(%{names[0]}, ..)"]
    parts = [f"%{name}" for name in names]
    declared = {name for cls in classes for name in signature(cls).attributes}
    parts += [f"{key} = {'..' if name in declared else '%' + name}" for key, name in row.named]
    return [
        f"{keyword}({', '.join(parts[:number])})"
        for keyword in (row.keywords if row.beside else (row.name,))
        for number in row.numbers or (len(parts),)
    ]


def _names(row: Clause, classes: list[type[PtoOp]]) -> tuple[str, ...]:
    """Returns the operands of a clause as the first class that takes it names them."""
    return next((names for cls in classes for taken, names, _ in clauses_of(cls) if taken is row), row.operands)


def words_of(classes: list[type[PtoOp]], attribute: str) -> tuple[str, ...]:
    """Returns the enumerators of an attribute of ``classes``."""
    slots = [slot for cls in classes for name, slot in signature(cls).attributes.items() if name == attribute]
    return tuple(dict.fromkeys(word for slot in slots for name in slot.kind.enums for word in ENUMS[name].values))


def _sets(row: Clause, classes: list[type[PtoOp]]) -> list[str]:
    declared = {name for cls in classes for name in signature(cls).attributes}
    return [name for name in (row.attribute, *(name for _, name in row.named)) if name and name in declared]


def _takers(row: Clause, classes: list[type[PtoOp]]) -> str:
    takers = [cls.name for cls in classes if any(taken is row for taken, *_ in clauses_of(cls))]
    return "all" if len(takers) == len(classes) else ", ".join(f"`{name}`" for name in sorted(takers))


def _tables() -> list[Clauses]:
    """Returns each table once, however many shapes have it."""
    return list({id(clauses): clauses for clauses in CLAUSES.values()}.values())

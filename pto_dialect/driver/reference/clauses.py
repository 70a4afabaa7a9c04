"""docs/reference/clauses.md: the clauses of the cube operations."""

from __future__ import annotations

from pto_dialect.ir.core.attributes import ENUMS
from pto_dialect.ir.core.base import PtoOp, Shape, op_spec, signature
from pto_dialect.ir.core.registry import all_op_classes
from pto_dialect.ir.cube.clauses import CLAUSES, Clause, Form

from .markdown import WRITTEN_BY, code, table

_TITLES: dict[str, str] = {Shape.ACC_STORE: "Accumulator write-back", Shape.MAD: "Multiply-add"}


def page() -> str:
    """The whole page."""
    lines = [
        "# Clauses",
        "",
        "What may stand between the operands and the types of a multiply-add and of an accumulator write-back,",
        "each at most once, in this order. [language.md](language.md) has the whole statement.",
        "",
        WRITTEN_BY,
        "",
    ]
    for shape, clauses in CLAUSES.items():
        classes = [cls for cls in all_op_classes() if op_spec(cls).shape == shape]
        separator = "blanks" if clauses.separator.isspace() else "commas"
        lines += [f"## {_TITLES[shape]}", "", f"Separated by {separator}.", ""]
        lines += table(
            ("clause", "sets", "meaning", "operations"),
            (
                (code(written(row, classes[0])), code(_sets(row, classes)), row.summary, _takers(row, classes))
                for row in clauses.rows
            ),
        )
    return "\n".join(lines).rstrip("\n") + "\n"


def written(row: Clause, cls: type[PtoOp]) -> list[str]:
    """The ways to write a clause, with the words that ``cls`` takes."""
    if row.form is Form.FLAG:
        return list(row.keywords)
    if row.form is Form.KEYWORD:
        operands = dict(row.by_keyword)
        forms = [f"{word}(%{operands[word]})" if word in operands else word for word in row.keywords]
        return [*forms, *(f"{keyword}({option})" for keyword, option, _ in row.options)]
    if row.form is Form.CHOICE:
        chosen = row.words or words_of(cls, row.attribute)
        return [*(f"{row.name}(%{name})" for name in row.operands), *(f"{row.name}({word})" for word in chosen)]
    parts = [f"%{name}" for name in row.operands]
    parts += [f"{key} = {'..' if name in signature(cls).attributes else '%' + name}" for key, name in row.named]
    return [f"{row.name}({', '.join(parts)})"]


def words_of(cls: type[PtoOp], attribute: str) -> tuple[str, ...]:
    """The words of an enumeration attribute of ``cls``."""
    slot = signature(cls).attributes.get(attribute)
    return tuple(word for name in slot.kind.enums for word in ENUMS[name].values) if slot is not None else ()


def _sets(row: Clause, classes: list[type[PtoOp]]) -> list[str]:
    declared = {name for cls in classes for name in signature(cls).attributes}
    return [name for name in (row.attribute, *(name for _, name in row.named)) if name and name in declared]


def _takers(row: Clause, classes: list[type[PtoOp]]) -> str:
    takers = [cls.name for cls in classes if not row.declares or row.declares in op_spec(cls).tokens]
    return "all" if len(takers) == len(classes) else ", ".join(f"`{name}`" for name in sorted(takers))

"""One mistake in a statement gives one error, at its location, in the tokens of the text, with the fix where it is
obvious.

The tables hold statements of every family with mistakes of many kinds.
"""

import re
from pathlib import Path
from typing import NamedTuple

from groups import each

from pto_dialect.api import check
from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.verify.engine.example_programs import example_program
from tests.syntax.print.test_statements import STRUCT, TYPES, VALUES

HERE = Path(__file__).parent
A2A3_FAMILIES = ("ub vector (A2/A3)",)
INTERNAL = re.compile(
    r"\bNone\b|NoneType|Attribute\b|Attr\b|object at|<class|Traceback|xdsl|__|"
    r"\b(?:USES|RESULTS|BINDINGS|TYPES|WORD|LPAR|RPAR|LSQB|RSQB|LBRACE|RBRACE|OP_[A-Z_]+)\b"
)
"""Words of the implementation, which no message may contain."""


class Row(NamedTuple):
    """A wrong statement: its family, its text, the column of the error, and how message and help begin."""

    family: str
    text: str
    column: int
    message: str
    help: str


def rows(name: str) -> list[Row]:
    """The rows of a table."""
    found: list[Row] = []
    family, statement = "", ""
    for line in (HERE / name).read_text().splitlines():
        if line.startswith("## "):
            family = line[3:]
        elif line.startswith("> "):
            column, message, help = line[2:].split(" | ")
            found.append(Row(family, statement, int(column), message, help))
        elif line.startswith("  "):
            statement += "\n" + line
        elif line and not line.startswith("//"):
            statement = line
    return found


def filled(text: str) -> str:
    """``text`` with the short names of types replaced."""
    return re.sub(r"\$([A-Z0-9]+)", lambda m: TYPES[m[1]], text)


def errors(text: str) -> list[Diagnostic]:
    """The errors that checking ``text`` gives."""
    return [found for found in check(text).diagnostics if found.severity is Severity.ERROR]


def assert_told(row: Row, text: str, statement: str, missing: tuple[str, ...] = ()) -> None:
    """``text`` has one error besides those of the rules ``missing``: the one of ``row``, inside ``statement``."""
    found = [error for error in errors(text) if error.rule not in missing]
    assert len(found) == 1, [(error.message, error.span) for error in found]
    error = found[0]
    assert error.message.startswith(row.message)
    assert (error.help or "-").startswith(row.help)
    assert not INTERNAL.search(error.message + (error.help or ""))
    assert error.span is not None
    assert error.span.start - text.index(statement) + 1 == row.column


STATEMENTS = rows("wrong_statements.txt")
OPERANDS = rows("wrong_operands.txt")
RARE = rows("rare_mistakes.txt")


@each("row", STATEMENTS, lambda row: row.family, lambda row: row.text)
def test_wrong_statement(row: Row) -> None:
    arch = "a2a3" if row.family in A2A3_FAMILIES else "a5"
    arguments = ", ".join(f"%{name}: {filled(type_)}" for name, type_ in VALUES.items())
    statement = filled(row.text)
    body = f"func.func @f({arguments}) {{\n{STRUCT}\n{statement}\nreturn\n}}"
    text = f'module attributes {{pto.target_arch = "{arch}"}} {{\n{body}\n}}\n'
    # Some of the statements are canonical text without an attribute that verification requires.
    assert_told(row, text, statement, ("attr-missing",))


@each("row", OPERANDS, lambda row: row.family, lambda row: row.text)
def test_wrong_operand(row: Row) -> None:
    place, _, statement = row.text.partition(": ")
    arch, _, scope = place.partition(" ")
    body = f"pto.vecscope {{\n{statement}\n}}" if scope else statement
    assert_told(row, example_program(body, arch), statement)


def test_tables_cover_every_family() -> None:
    families = {row.family for row in STATEMENTS}
    assert len(families) >= 24
    assert {row.family for row in OPERANDS} <= families
    assert len(STATEMENTS) >= 120 and len(OPERANDS) >= 60


@each("row", RARE, lambda row: row.family, lambda row: row.text)
def test_rare_mistake(row: Row) -> None:
    arch, _, statement = row.text.partition(": ")
    text = example_program(statement, arch)
    assert_told(row, text, statement)
    (error,) = errors(text)
    assert (error.message, error.help or "-") == (row.message, row.help)

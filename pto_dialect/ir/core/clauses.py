"""Clauses of statements as rows of a table.

A row states how a clause is written, what it sets, its position, and the messages about incorrect ones. Reading,
printing, messages, the reference and the editor support follow from the rows; a class takes the clauses whose
attributes (for clauses without one: whose operands) it declares. ``ir/clauses.py`` lists the tables by shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import NamedTuple


class Form(Enum):
    """How a clause is written."""

    FLAG = "keyword"
    """The keyword alone sets a unit attribute."""
    KEYWORD = "keyword or keyword(..)"
    """The keyword itself is the enumerator of the attribute; some keywords take an option or an operand."""
    CHOICE = "keyword(word)"
    """The token in parentheses is the enumerator of the attribute."""
    OPERANDS = "keyword(%a, %b, ..)"
    """All operands, in their order."""
    NAMED = "keyword(%payload, name = ..)"
    """An operand, then enumerators and operands by name."""
    REPEATED = "keyword(%a, %b, ..) keyword(..)"
    """Any number of times; each adds a value to every one of its operands, which take any number."""
    LIST = "keyword(%a, ..)"
    """Any number of values for one operand."""
    INPUT = "keyword %a : type"
    """One of the inputs, with a type of its own."""
    FIELD = "keyword = .."
    """An enumerator, or a value with its type."""


class Stated(Enum):
    """How the type list states the types of a clause: with its keyword, or without."""

    PLAIN = "{1}"
    """The types only."""
    KEYWORD = "{0} {1}"
    PARENTHESES = "{0}({1})"


class DiagnosticText(NamedTuple):
    """A diagnostic: its rule, its message, its help."""

    rule: str
    message: str
    help: str


@dataclass(frozen=True)
class Clause:
    """One clause.

    ``keywords`` start it, by default its name; ``attribute`` is set by its keyword or enumerator and ``words`` are the
    enumerators it takes in addition to those of its enumeration. ``operands`` are in its parentheses: all of them
    (``OPERANDS``), the first where it is given (``NAMED``), or one instead of an enumerator, which then is ``single``
    (``CHOICE``). ``by_keyword`` names the operand that a keyword takes, ``options`` the enumerator of the attribute for
    a keyword with an option. ``named`` pairs the names inside the parentheses with attributes and operands;
    ``required`` are the attributes and operands without which it is ``incomplete``. ``leads`` is the clause that
    precedes all others.

    Operands that have another name in each class are one entry with all names, separated by bars. ``numbers`` are the
    allowed numbers of its operands (empty: all), ``needed`` states that the clause is required, ``numbered`` that a
    number may follow the keyword, ``stated`` the position of its types in the type list. ``beside`` pairs an operand
    with the keyword that is printed where a class declares it.
    """

    name: str
    form: Form
    summary: str
    keywords: tuple[str, ...] = ()
    attribute: str = ""
    words: tuple[str, ...] = ()
    operands: tuple[str, ...] = ()
    single: str = ""
    by_keyword: tuple[tuple[str, str], ...] = ()
    options: tuple[tuple[str, str, str], ...] = ()
    named: tuple[tuple[str, str], ...] = ()
    required: tuple[str, ...] = ()
    leads: bool = False
    incomplete: DiagnosticText | None = None
    """Diagnostic about a clause that lacks its parentheses or something in them."""
    wrong_word: str = "parse-syntax"
    """The rule about an enumerator that the clause does not take."""
    wrong_option: DiagnosticText | None = None
    twice: DiagnosticText | None = None
    """Diagnostic about a second clause of this kind, where it has a message of its own; ``{}`` is its keyword."""
    foreign: DiagnosticText | None = None
    """Diagnostic about the clause on an operation that does not take it; ``{}`` is the operation."""
    numbers: tuple[int, ...] = ()
    needed: bool = False
    numbered: bool = False
    stated: Stated = Stated.PLAIN
    beside: tuple[tuple[str, str], ...] = ()
    wrong_number: DiagnosticText | None = None
    """Diagnostic about another number of operands; formatted with the keyword, the number, and the number with its
    noun."""
    absent: DiagnosticText | None = None
    """Diagnostic about a statement without a required clause; ``{}`` is the operation."""

    def __post_init__(self) -> None:
        if not self.keywords:
            object.__setattr__(self, "keywords", (self.name,))

    @property
    def declares(self) -> str:
        """Returns the attribute by which a class declares that it takes the clause; empty for clauses of operands
        alone."""
        return self.attribute or next((key for _, key in self.named), "")


@dataclass(frozen=True)
class Clauses:
    """The clauses of a shape in their order, their separator, and the rules about them as a whole.

    ``title`` and ``intro`` are the text of the reference about the table.
    """

    title: str
    intro: str
    rows: tuple[Clause, ...]
    separator: str
    foreign: DiagnosticText
    """Diagnostic about a keyword that an operation does not take; formatted with the operation and the keyword, the
    help with all keywords that it takes."""
    unknown: str = "parse-syntax"
    duplicate: str = "parse-clause-duplicate"
    order: str = "parse-clause-order"
    elsewhere: tuple[tuple[str, DiagnosticText], ...] = ()
    """Keywords that are not clauses of their own but occur inside one."""

    def find(self, keyword: str) -> Clause | None:
        """Returns the clause that starts with ``keyword``."""
        known = self._by_keyword
        return known.get(keyword) or known.get(f"{keyword.rstrip('0123456789')}#")

    def sets(self, attribute: str) -> Clause | None:
        """Returns the clause that sets ``attribute``."""
        return self._by_attribute.get(attribute)

    @cached_property
    def _by_attribute(self) -> dict[str, Clause]:
        return {row.attribute: row for row in self.rows if row.attribute}

    @cached_property
    def _by_keyword(self) -> dict[str, Clause]:
        """Returns the clauses by their keywords; ``#`` represents a number after a keyword."""
        known = {keyword: row for row in self.rows for keyword in row.keywords}
        return known | {f"{keyword}#": row for keyword, row in known.items() if row.numbered}

    @property
    def keywords(self) -> tuple[str, ...]:
        """Returns all keywords that start a clause; those of the leading one last."""
        rows = sorted(self.rows, key=lambda row: row.leads)
        return tuple(keyword for row in rows for keyword in row.keywords)

    @property
    def sets_in_order(self) -> tuple[str, ...]:
        """Returns what the tokens of the clauses set, by name, in the order of the rows; operands by name
        are included."""
        return tuple(name for row in self.rows for name in (row.attribute, *(key for _, key in row.named)) if name)

    @property
    def in_order(self) -> str:
        """Returns the clauses after the leading one, for messages."""
        return " -> ".join(row.name for row in self.rows if not row.leads)

    @property
    def order_as_text(self) -> str:
        """Returns the same as a sentence."""
        names = (row.name.replace("/", " or ") for row in self.rows if not row.leads)
        return f"clauses are in the order {', '.join(names)}"

"""What a clause of a statement is: a row of a table.

A row says how a clause is written, what it sets, where it stands and what is told when it is wrong. Reading, printing,
messages, the reference and the editor support follow from the rows; a class takes the clauses whose attributes (for
clauses without one: whose operands) it declares. ``ir/clauses.py`` lists the tables by shape.
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
    """The keyword itself is the word of the attribute; some keywords take an option or an operand."""
    CHOICE = "keyword(word)"
    """The word in parentheses is that of the attribute."""
    OPERANDS = "keyword(%a, %b, ..)"
    """All operands, in their order."""
    NAMED = "keyword(%payload, name = ..)"
    """An operand, then words and operands by name."""
    REPEATED = "keyword(%a, %b, ..) keyword(..)"
    """Any number of times; each adds a value to every one of its operands, which take any number."""
    LIST = "keyword(%a, ..)"
    """Any number of values for one operand."""
    INPUT = "keyword %a : type"
    """One of the inputs, with a type of its own."""
    FIELD = "keyword = .."
    """A word, or a value with its type."""


class Stated(Enum):
    """How the type list says the types of a clause: with its keyword, or without."""

    PLAIN = "{1}"
    """Nothing: the types only."""
    KEYWORD = "{0} {1}"
    PARENTHESES = "{0}({1})"


class Said(NamedTuple):
    """What a diagnostic says: its rule, its message, what would be right."""

    rule: str
    message: str
    help: str


@dataclass(frozen=True)
class Clause:
    """One clause.

    ``keywords`` begin it, its name where nothing else is said; ``attribute`` is what its keyword or word sets and
    ``words`` those it takes where its enumeration has more. ``operands`` stand in its parentheses: all of them
    (``OPERANDS``), the first where it is given (``NAMED``), or one in place of a word, which then is ``single``
    (``CHOICE``). ``by_keyword`` names the operand that a keyword takes, ``options`` the word of the attribute for a
    keyword with an option. ``named`` pairs the names inside the parentheses with attributes and operands; ``required``
    are the attributes and operands without which it is ``incomplete``. ``leads`` is the clause that all others follow.

    Of operands that have another name in each class all names stand in one entry, separated by bars. ``numbers`` are
    how many of its operands a clause may have (empty: all), ``needed`` tells that it may not be left out, ``numbered``
    that a number may follow the keyword, ``stated`` how its types stand in the type list. ``beside`` pairs an operand
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
    incomplete: Said | None = None
    """About a clause that lacks its parentheses or something in them."""
    wrong_word: str = "parse-syntax"
    """The rule that a word breaks which the clause does not take."""
    wrong_option: Said | None = None
    twice: Said | None = None
    """About a second clause of this kind, where more is to be said than that; ``{}`` stands for its keyword."""
    foreign: Said | None = None
    """About the clause on an operation that does not take it; ``{}`` stands for the operation."""
    numbers: tuple[int, ...] = ()
    needed: bool = False
    numbered: bool = False
    stated: Stated = Stated.PLAIN
    beside: tuple[tuple[str, str], ...] = ()
    wrong_number: Said | None = None
    """About another number of operands; formatted with the keyword, the number, and the number with its noun."""
    absent: Said | None = None
    """About a statement without a clause that is needed; ``{}`` stands for the operation."""

    def __post_init__(self) -> None:
        if not self.keywords:
            object.__setattr__(self, "keywords", (self.name,))

    @property
    def declares(self) -> str:
        """The attribute by which a class shows that it takes the clause; empty for clauses of operands alone."""
        return self.attribute or next((key for _, key in self.named), "")


@dataclass(frozen=True)
class Clauses:
    """The clauses of a shape in their order, what separates them, and the rules that they break as a whole.

    ``title`` and ``intro`` are what the reference says of the table.
    """

    title: str
    intro: str
    rows: tuple[Clause, ...]
    separator: str
    foreign: Said
    """About a word that an operation does not take; formatted with the operation and the word, the help with all
    keywords that it takes."""
    unknown: str = "parse-syntax"
    duplicate: str = "parse-clause-duplicate"
    order: str = "parse-clause-order"
    elsewhere: tuple[tuple[str, Said], ...] = ()
    """Words that are no clauses of their own but stand inside one."""

    def find(self, keyword: str) -> Clause | None:
        """The clause that begins with ``keyword``."""
        known = self._by_keyword
        return known.get(keyword) or known.get(f"{keyword.rstrip('0123456789')}#")

    def sets(self, attribute: str) -> Clause | None:
        """The clause that sets ``attribute``."""
        return self._by_attribute.get(attribute)

    @cached_property
    def _by_attribute(self) -> dict[str, Clause]:
        return {row.attribute: row for row in self.rows if row.attribute}

    @cached_property
    def _by_keyword(self) -> dict[str, Clause]:
        """Clauses by what they begin with; ``#`` stands for a number behind a keyword."""
        known = {keyword: row for row in self.rows for keyword in row.keywords}
        return known | {f"{keyword}#": row for keyword, row in known.items() if row.numbered}

    @property
    def keywords(self) -> tuple[str, ...]:
        """All words that begin a clause; those of the leading one last."""
        rows = sorted(self.rows, key=lambda row: row.leads)
        return tuple(keyword for row in rows for keyword in row.keywords)

    @property
    def sets_in_order(self) -> tuple[str, ...]:
        """What the words of the clauses set, by name, in the order of the rows; operands by name are among it."""
        return tuple(name for row in self.rows for name in (row.attribute, *(key for _, key in row.named)) if name)

    @property
    def in_order(self) -> str:
        """The clauses after the leading one, for messages."""
        return " -> ".join(row.name for row in self.rows if not row.leads)

    @property
    def order_in_words(self) -> str:
        """The same in a sentence."""
        names = (row.name.replace("/", " or ") for row in self.rows if not row.leads)
        return f"clauses stand in the order {', '.join(names)}"

"""What a search can find: operations, terms, rules, pages of the documentation; each with the terms it is found by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from pto_dialect.driver.reference.core import DOCUMENTED
from pto_dialect.ir.clauses import CLAUSES
from pto_dialect.ir.core.aliases import DEPRECATED
from pto_dialect.ir.core.attributes import ENUMS
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.registry import op_class
from pto_dialect.ir.core.types import PLAIN_TYPES

from ...reference.operations import TITLES, computes
from ..page import plain
from ..related import aliases
from ..rules import known_rules
from ..site import TERMS, term_file
from ..terms import terms
from .core_purposes import CORE_PURPOSES
from .guides import GUIDES, page_text
from .instruction_purposes import INSTRUCTION_PURPOSES
from .names_elsewhere import NAMES_ELSEWHERE
from .operation_purposes import PURPOSES
from .rule_purposes import RULE_PURPOSES
from .telling_terms import telling_terms
from .term_purposes import TERM_PURPOSES
from .words import ABBREVIATIONS

_PART = re.compile("|".join(ABBREVIATIONS))
_LEVELS = {"tile": 1.0, "matmul": 1.0, "gemv": 0.9, "views": 0.95, "sync": 0.95, "vector": 0.8, "dma": 0.8}
_OTHER_LEVEL, _SPECIAL, _OLD = 0.75, 0.55, 0.3
_TERM, _RULE, _GUIDE, _CORE = 0.9, 0.86, 0.76, 0.85
_BARE_TERM, _BARE_RULE = 0.7, 0.6
"""The same of terms and rules without a phrase that says what they are for."""
"""How usual pages of these kinds are among those that match equally."""


class Document(NamedTuple):
    """One page, or one part of a page.

    ``key`` is what ``--explain`` takes: a name of an operation, term or rule, or a page below ``docs/``; ``location``
    is its address on the site, ``summary`` one sentence. It is found by its ``name``, by ``phrases``, which say what
    it is for, by the summary, by the ``family`` it belongs to, and by the terms of its ``body``. ``usual`` weighs it
    against others: between 0 and 1.
    """

    kind: str
    key: str
    location: str
    summary: str
    name: tuple[str, ...]
    phrases: tuple[str, ...]
    family: str
    body: str
    usual: float


@cache
def documents() -> tuple[Document, ...]:
    """Returns all documents, operations first."""
    return (*_operations(), *_core(), *_terms(), *_rules(), *_guides())


def _operations() -> Iterator[Document]:
    for name, (family, *_) in OPS.items():
        spelled = (name, *aliases().get(name, ()))
        yield Document(
            "operation",
            name,
            f"operations/{name}.html",
            plain(computes(op_class(name))),
            tuple(part for one in spelled for part in _PART.findall(one.removeprefix("pto."))),
            (*PURPOSES.get(name, ()), *NAMES_ELSEWHERE.get(name, ()), *INSTRUCTION_PURPOSES.get(name, ())),
            TITLES[family],
            "",
            _usual(name, family),
        )


def _usual(name: str, family: str) -> float:
    """How usual an operation is among those that do the same."""
    if name in DEPRECATED:
        return _OLD
    if family.startswith(("vmi", "ub_", "simt", "mte_raw", "predicate", "scalar_config", "memref")) or "_raw" in name:
        return _SPECIAL
    return next((level for start, level in _LEVELS.items() if family.startswith(start)), _OTHER_LEVEL)


def _core() -> Iterator[Document]:
    for name in sorted(DOCUMENTED):
        dialect = name.partition(".")[0]
        location = f"reference/core-operations.html#{dialect}"
        phrases = CORE_PURPOSES.get(name, ())
        yield Document("core operation", name, location, "", _pieces(name), phrases, "", "", _CORE)


def _terms() -> Iterator[Document]:
    keywords = {keyword for table in CLAUSES.values() for row in table.rows for keyword in row.keywords}
    places = dict.fromkeys(PLAIN_TYPES, "reference/language.html#types")
    places |= dict.fromkeys(ENUMS, "reference/enumerators.html")
    places |= dict.fromkeys(sorted(keywords), "reference/clauses.html")
    places |= {term: f"operations/{term_file(term).removesuffix('.md')}.html" for term in TERMS}
    for term, location in places.items():
        phrases = TERM_PURPOSES.get(term, ())
        summary = terms()[term]().summary if term in TERMS else ""
        usual = _TERM if summary or phrases else _BARE_TERM
        yield Document("term", term, location, summary, _pieces(term), phrases, "", "", usual)


def _rules() -> Iterator[Document]:
    for id, rule in known_rules().items():
        phrases = RULE_PURPOSES.get(id, ())
        usual = _RULE if phrases else _BARE_RULE
        yield Document("rule", id, f"rules.html#{id}", plain(rule.text), _pieces(id), phrases, "", "", usual)


def _guides() -> Iterator[Document]:
    bodies = telling_terms({page: page_text(page) or "" for page in GUIDES})
    for page, (title, phrases) in GUIDES.items():
        path, _, anchor = page.partition("#")
        location = path.removesuffix(".md") + ".html" + (f"#{anchor}" if anchor else "")
        yield Document(
            "page", f"docs/{page}", location, title, _pieces(anchor or path), phrases, "", bodies.get(page, ""), _GUIDE
        )


def _pieces(name: Iterable[str] | str) -> tuple[str, ...]:
    """Parts that a name is made of."""
    return tuple(re.findall(r"[a-z0-9]+", str(name).removesuffix(".md").removeprefix("pto.").lower()))

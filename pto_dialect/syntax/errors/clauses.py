"""Errors that prevent a clause of an accumulator write-back or of a multiply-add from being read: separators and empty
parentheses. The builder reports errors in clauses that can be read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pto_dialect.diagnostics.remedies.marks import mark_before, without_comma, without_empty_parentheses, without_value
from pto_dialect.diagnostics.remedies.names import replace
from pto_dialect.diagnostics.remedies.order import clause_before, clause_before_types, one_of_two_clauses
from pto_dialect.diagnostics.remedy import Remedy
from pto_dialect.diagnostics.suggest import near_hint, near_terms
from pto_dialect.ir.core.base import Shape
from pto_dialect.ir.core.clauses import Clause, Clauses, DiagnosticText
from pto_dialect.ir.cube.clauses import ACC_STORE, MAD

from ..read.situation import Message, Situation
from ..read.tokens import Tok

_TABLES: dict[str, Clauses] = {Shape.ACC_STORE: ACC_STORE, Shape.MAD: MAD}
"""Tables of the shapes in which a clause of any keyword is read first and checked afterwards."""

KEYWORDS = frozenset(keyword for table in _TABLES.values() for keyword in table.keywords)
"""Keywords that start a clause of these."""


class Misplaced(NamedTuple):
    """The keyword of an incorrect clause, its diagnostic, and the remedies."""

    word: Tok
    said: DiagnosticText
    remedies: tuple[Remedy, ...] = ()


def misplaced(table: Clauses, keywords: Sequence[Tok]) -> Misplaced | None:
    """Returns the first of the clause keywords of a statement that is unknown, duplicate or out of order."""
    rows: list[Clause] = []
    for position, word in enumerate(keywords):
        row = table.find(word.text)
        if row is None:
            said = dict(table.elsewhere).get(word.text)
            return Misplaced(word, said) if said is not None else _unknown(table, word)
        ranks = [table.rows.index(each) for each in rows]
        if row in rows:
            said = row.twice or DiagnosticText(table.duplicate, f"{row.name} clause is given twice", "keep one")
            said = said._replace(message=said.message.format(word.text))
            return Misplaced(word, said, (one_of_two_clauses(word.text),))
        if row.leads and rows:
            said = DiagnosticText(
                table.order, f"{row.name} comes before all clauses", f"{row.name} -> {table.in_order}"
            )
            return Misplaced(word, said)
        rank = table.rows.index(row)
        later = next((each.text for each, r in zip(keywords[:position], ranks, strict=True) if r > rank), None)
        if later is not None:
            message = f"{word.text} is out of place: it comes before {later}"
            help = f"clauses are in the order {table.in_order}"
            return Misplaced(word, DiagnosticText(table.order, message, help), (clause_before(word.text, later),))
        rows.append(row)
    return None


def _unknown(table: Clauses, word: Tok) -> Misplaced:
    near = near_terms(word.text, table.keywords)
    hint = near_hint(near) or f"clauses: {table.in_order}"
    said = DiagnosticText(table.unknown, f"unknown clause {word.text!r}", hint)
    return Misplaced(word, said, (replace(None, *near),) if near else ())


def clause_error(s: Situation) -> Message | None:
    """Returns the message for a clause that is incorrectly separated, incomplete, out of order, or after the types."""
    table = _TABLES.get(s.head.type) if s.head is not None else None
    if table is None:
        return None
    wrong = misplaced(table, _keywords(s.statement))
    if wrong is not None:
        return Message(*wrong.said, wrong.word, remedies=wrong.remedies)
    incomplete = table.find(s.statement[-2].text) if s.statement[-1].type == "LPAR" and len(s.statement) > 1 else None
    if incomplete is not None and incomplete.incomplete is not None:
        return Message(*incomplete.incomplete, s.statement[-2])
    if s.token.type == "RPAR" and s.statement[-1].type == "LPAR" and table.find(s.statement[-2].text) is not None:
        word = s.statement[-2].text
        text, mended = f"{word} takes nothing in parentheses", (without_empty_parentheses(),)
        return Message("parse-syntax", text, word, s.statement[-1], remedies=mended)
    if s.token.type == "EQUAL" and table.find(s.statement[-1].text) is not None:
        word = s.statement[-1].text
        text = f"{word} is a clause, and no '=' follows it"
        return Message("parse-syntax", text, word, remedies=(without_value(),))
    if _inside_parentheses(s.statement):
        return None
    return _between_commas(s.token, s.statement) if table is ACC_STORE else _between_blanks(s)


def _keywords(statement: list[Tok]) -> list[Tok]:
    """Returns the keywords of a statement that start its clauses: those after the operands and outside of
    parentheses."""
    found: list[Tok] = []
    depth = 0
    for token in statement[next((n + 1 for n, tok in enumerate(statement) if tok.type == "USES"), len(statement)) :]:
        depth += (token.type == "LPAR") - (token.type == "RPAR")
        if token.type in ("COLON", "LBRACE"):
            break
        if depth == 0 and _is_word(token):
            found.append(token)
    return found


def _is_word(token: Tok) -> bool:
    return token.type == "WORD" or token.text in KEYWORDS


def _inside_parentheses(statement: list[Tok]) -> bool:
    return sum((tok.type == "LPAR") - (tok.type == "RPAR") for tok in statement) > 0


def _between_commas(token: Tok, statement: list[Tok]) -> Message | None:
    """Returns the error about clauses of an accumulator write-back."""
    if not _is_word(token) or not any(tok.type == "USES" for tok in statement):
        return None
    inside = dict(ACC_STORE.elsewhere).get(token.text)
    if inside is not None:
        return Message(*inside)
    if token.text in KEYWORDS and statement[-1].type != "COMMA":
        text = f"',' is missing before {token.text}"
        return Message("parse-missing-token", text, f", {token.text}", remedies=(mark_before(","),))
    wrong = _unknown(ACC_STORE, token)
    return Message(*wrong.said, remedies=wrong.remedies)


def _between_blanks(s: Situation) -> Message | None:
    """Returns the error about clauses of a multiply-add."""
    following = s.following
    if s.token.type == "COMMA":
        seen = any(MAD.find(tok.text) is not None for tok in s.statement)
        named = following is not None and (following.type == "COLON" or MAD.find(following.text) is not None)
        if not seen and following is not None and not named:
            return None
        help = f"remove the comma; clauses are in the order {MAD.in_order}"
        text = "clauses of mad are separated by blanks, not by commas"
        return Message("mad-clause-comma", text, help, remedies=(without_comma(),))
    if not _is_word(s.token):
        return None
    if MAD.find(s.token.text) is not None:
        word = s.token.text
        text, mended = f"{word} comes before the types", (clause_before_types(word),)
        return Message(MAD.order, text, f"{word} : types", remedies=mended)
    wrong = _unknown(MAD, s.token)
    return Message(*wrong.said, remedies=wrong.remedies)

"""Messages about a token that the grammar does not allow in its position."""

from __future__ import annotations

from collections.abc import Collection

from pto_dialect.diagnostics.remedies.marks import other_mark, without_brace
from pto_dialect.diagnostics.remedies.names import append
from pto_dialect.diagnostics.remedies.statements import only_operand
from pto_dialect.diagnostics.remedies.types import pointer_type
from pto_dialect.diagnostics.remedy import Remedy

from ..read.situation import Message, Situation, shown
from ..read.tokens import Tok
from ..usage import only_word, usage, value_form
from .characters import bad_character, foreign_mark, missing_name
from .clauses import clause_error
from .commas import comma_error
from .forms import form_error, missing_mark
from .nesting import nesting_error
from .separators import separator_error, unopened_angle
from .words import swallowed_operation, unknown_operation, word_error

_NAMES = {
    "USES": "a value",
    "RESULTS": "a result name",
    "BINDINGS": "%name = %value",
    "TYPES": "a type",
    "HASH": "an attribute",
    "ANGLE": "<..>",
    "BODY": "a literal",
    "WORD": "a keyword",
    "STRING": "a string",
    "INTEGER": "an integer",
    "FLOAT": "a number",
    "SYMBOL": "a symbol",
    "BLOCK": "a block label",
    "LBRACE": "'{'",
    "RBRACE": "'}'",
    "LPAR": "'('",
    "RPAR": "')'",
    "LSQB": "'['",
    "RSQB": "']'",
    "COLON": "':'",
    "COMMA": "','",
    "EQUAL": "'='",
    "ARROW": "'->'",
    "LESSTHAN": "'<'",
    "MORETHAN": "'>'",
    "INS": "'ins('",
    "OUTS": "'outs('",
    "LAUNCH_OPEN": "'<<<'",
    "LAUNCH_CLOSE": "'>>>'",
    "$END": "the end of the file",
}
_NAMED = 5
"""Maximum number of expected items that a message names."""
_QUIET = frozenset(
    ("LOC", "SEMICOLON", "FLAGS", "ELLIPSIS", "TYPE_ALIAS", "ATTRIBUTE_ALIAS", "ASSEMBLY_KEY", "OP_BROKEN")
)


_WORDS = frozenset(("WORD", "OP_UNKNOWN", "INTEGER", "FLOAT", "COMMA", "RESULTS"))
"""Tokens for which checks of keywords precede checks of punctuation."""


def explain(s: Situation) -> Message:
    """Returns the error for the unexpected token."""
    found = _explained(s)
    if s.head is None or found.help is None or s.statement[:1] == [s.head]:
        return found
    if found.help == usage(s.head.text) and not any(tok.type in ("INS", "OUTS") for tok in s.statement):
        # A result name precedes it, so it is meant to work on values.
        return found._replace(help=value_form(s.head.text) or found.help)
    return found


def _explained(s: Situation) -> Message:
    token = s.token
    found = foreign_mark(s)
    if found is not None:
        return found
    if token.type == "BAD":
        previous = s.previous
        if token.text == "*" and previous is not None and previous.type == "TYPES":
            pointer = f"!pto.ptr<{previous.text.split(',')[-1].strip()}, gm>"
            mended = (pointer_type(pointer),)
            return Message("parse-character", "pointers are written !pto.ptr<..>", pointer, remedies=mended)
        return unopened_angle(s) or bad_character(s)
    if token.type == "COMMA" and s.following is not None and s.following.text == "%":
        return missing_name("%", s.following)
    found = nesting_error(s) or clause_error(s) or swallowed_operation(s) or comma_error(s) or form_error(s)
    if found is not None:
        return found
    in_dictionary = s.inside("LBRACE") and "RESULTS" not in s.expected
    if token.type == "OP_UNKNOWN" and in_dictionary and s.statement[-1].type in ("LBRACE", "COMMA"):
        if s.following is not None and s.following.type == "COLON":
            text = f"the value of {token.text} follows '=', not ':'"
            return Message(
                "parse-missing-token", text, f"{token.text} = ..", s.following, remedies=(other_mark(":", "="),)
            )
        text = f"'=' is missing after {token.text}"
        return Message("parse-missing-token", text, f"{token.text} = ..", token, remedies=(append(" ="),))
    if token.type == "RBRACE" and not s.statement:
        return Message("parse-unbalanced", "this '}' closes nothing", None, remedies=(without_brace(),))
    found = word_error(s) if token.type in _WORDS else None
    if found is None and token.type == "OP_UNKNOWN":
        found = missing_mark(s) or unknown_operation(token.text)
    found = found or separator_error(s) or word_error(s) or missing_mark(s)
    if found is not None:
        if found.help is not None or found.rule == "op-unknown" or s.head is None:
            return found
        return found._replace(help=usage(s.head.text))
    if token.type == "$END" and "RBRACE" in s.expected:
        return Message("parse-unbalanced", "the file ends inside a region", "add the missing '}'")
    if s.begins_statement and s.head is not None and s.previous is not None:
        return _incomplete(s, s.head)
    what = "end of file" if token.type == "$END" else f"{shown(token.text)!r}"
    wanted = _expected(s.expected)
    help = usage(s.head.text) if s.head is not None else None
    return Message("parse-syntax", f"unexpected {what}" + (f", expected {wanted}" if wanted else ""), help)


def _incomplete(s: Situation, head: Tok) -> Message:
    """Reports that the next statement starts before this one is complete."""
    wanted = _expected(s.expected)
    if s.previous is head:
        text, form = f"{shown(head.text)} needs more than its name", usage(head.text)
        return Message("parse-syntax", text, form, head, remedies=_only_operand(head.text))
    text = f"{shown(head.text)} is not complete" + (f", expected {wanted}" if wanted else "")
    return Message("parse-syntax", text, usage(head.text), s.last)


def _only_operand(name: str) -> tuple[Remedy, ...]:
    """Returns the one operand, an enumerator, of an operation that takes nothing else."""
    word = only_word(name)
    return (only_operand(word),) if word is not None else ()


def _expected(terminals: Collection[str]) -> str:
    """Returns the tokens that could follow as text, at most the first ones."""
    if "RESULTS" in terminals:
        return "a statement"
    names: list[str] = []
    for terminal in sorted(terminals):
        if terminal in _QUIET or terminal.startswith("__"):
            continue
        if terminal.startswith("OP_"):
            name = "an operation"
        elif terminal in _NAMES:
            name = _NAMES[terminal]
        else:
            name = f"'{terminal.lower()}'"
        if name not in names:
            names.append(name)
    return " or ".join(names) if len(names) <= _NAMED else f"{', '.join(names[:_NAMED])} .."

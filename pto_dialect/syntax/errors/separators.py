"""Errors about the punctuation of a statement: brackets, commas, colons, arrows and equal signs.

The grammar only reports which tokens could come next; these are the cases with a more useful message.
"""

from __future__ import annotations

import re

from pto_dialect.diagnostics.remedies.marks import (
    close_bracket,
    closing_before,
    comma_before,
    mark_before,
    open_angle,
    other_mark,
)
from pto_dialect.diagnostics.remedies.names import append, insert
from pto_dialect.diagnostics.remedies.order import lost_name
from pto_dialect.diagnostics.remedies.types import missing_types, result_type, types_without_parentheses
from pto_dialect.ir.core.base import PtoOp, signature
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.registry import op_class

from ..read.situation import Message, Situation, shown
from ..read.tokens import Tok
from ..types.forms import PTO_FORMS, SPACE_ALIASES
from ..usage import usage
from .type_names import type_suggestion

_BRACKETS = {"LPAR": ("RPAR", "(", ")"), "LSQB": ("RSQB", "[", "]"), "LBRACE": ("RBRACE", "{", "}")}
_OPENING = {"RPAR": ("(", ")"), "RSQB": ("[", "]"), "RBRACE": ("{", "}")}
_TYPES = frozenset(("TYPES", "ANGLE"))
_ALIAS_VALUE = re.compile(r"[ \t]*=[ \t]*([!#])")
_NOT_IN_BRACKETS = frozenset(
    ("RESULTS", "RBRACE", "BLOCK", "$END", "COLON", "ARROW", "OUTS", "INS", "LBRACE", "ATTRIBUTES")
)
"""Tokens that cannot occur between brackets where the grammar expects the closing one."""


def separator_error(s: Situation) -> Message | None:
    """Returns the error about the punctuation around the unexpected token."""
    if s.previous is None:
        return _result_without_equal(s)
    return (
        _angle(s)
        or unopened_angle(s)
        or _quote(s)
        or _key_colon(s)
        or _missing_comma(s)
        or _missing_type(s)
        or _arrow(s)
        or _missing_colon(s)
        or _open_bracket(s)
        or _unopened_bracket(s)
    )


def _result_without_equal(s: Situation) -> Message | None:
    following = s.following
    if s.token.type == "TYPES" and following is not None and following.type == "TYPES":
        text = f"'=' is missing between {shown(s.token.text)} and {shown(following.text)}"
        help = f"{shown(s.token.text)} = {shown(following.text)}"
        return Message("parse-missing-token", text, help, remedies=(append(" ="),))
    if s.token.type == "USES" and following is not None:
        if following.type.startswith("OP_") or following.type in ("STRING", "WORD"):
            text = f"'=' is missing between {shown(s.token.text)} and {shown(following.text)}"
            help = f"{shown(s.token.text)} = {shown(following.text)} .."
            return Message("parse-missing-token", text, help, remedies=(append(" ="),))
        if following.type == "LBRACE":
            text = f"scf.if is missing before {shown(s.token.text)}"
            return Message(
                "parse-missing-token", text, f"scf.if {shown(s.token.text)} {{", remedies=(lost_name("scf.if"),)
            )
        return Message("parse-syntax", f"a statement does not begin with the value {shown(s.token.text)}", None)
    alias = alias_without_mark(s.text, s.token) if s.token.type == "WORD" else None
    if alias is not None:
        text = f"names of aliases begin with {alias[0]}, found {shown(s.token.text)!r}"
        return Message("parse-missing-token", text, f"{alias} = ..", remedies=(insert(alias[0]),))
    if s.token.type in ("WORD", "INTEGER") and following is not None and following.type == "EQUAL":
        return Message(
            "parse-missing-token",
            f"names of results begin with %, found {shown(s.token.text)!r}",
            f"%{shown(s.token.text)}",
            remedies=(insert("%"),),
        )
    return None


def alias_without_mark(text: str, token: Tok) -> str | None:
    """Returns the alias that ``name = !type`` or ``name = #attribute`` was meant to define."""
    found = _ALIAS_VALUE.match(text, token.end)
    return f"{found[1]}{token.text}" if found is not None else None


def _angle(s: Situation) -> Message | None:
    previous = s.statement[-1]
    if s.token.type == "LESSTHAN" and previous.type in (*_TYPES, "HASH"):
        last = previous.text.split(",")[-1].strip()
        text = f"the '<' of {last} is not closed"
        return Message("parse-unbalanced", text, "add the missing '>'", remedies=(close_bracket("<"),))
    if s.token.type == "LESSTHAN" and previous.type in ("WORD", "OP_UNKNOWN"):
        text = f"the '<' of {previous.text} is not closed"
        return Message("parse-unbalanced", text, "add the missing '>'", remedies=(close_bracket("<"),))
    return None


def unopened_angle(s: Situation) -> Message | None:
    """Reports a type without the bracket before its parameters."""
    previous = s.previous
    if previous is None or previous.type not in _TYPES:
        return None
    last = previous.text.split(",")[-1].strip()
    parameter = s.token.text in SPACE_ALIASES and not s.starts_line(s.token) and last.removeprefix("!") in PTO_FORMS
    if s.token.text not in (">", "?") and not parameter:
        return None
    close = type_suggestion(last)
    head = close if close is not None and close.startswith("!") else None
    help = f"did you mean {head}<..>?" if head is not None else "add the missing '<'"
    at = Tok("TYPES", last, previous.end - len(last))
    mended = (open_angle(last, head or last),)
    return Message("parse-unbalanced", f"'<' is missing in {last}", help, at, remedies=mended)


def _quote(s: Situation) -> Message | None:
    previous = s.statement[-1]
    if previous.type == "STRING" and s.token.type == "WORD" and previous.end == s.token.start:
        return Message("parse-string", f"a quote is missing in or before {previous.text}", None, previous)
    return None


def _key_colon(s: Situation) -> Message | None:
    if s.token.type != "COLON" or not s.inside("LBRACE") or "EQUAL" not in s.expected:
        return None
    key = s.statement[-1].text
    text = f"the value of {key} follows '=', not ':'"
    return Message("parse-missing-token", text, f"{key} = ..", remedies=(other_mark(":", "="),))


def _missing_comma(s: Situation) -> Message | None:
    previous, token = s.statement[-1], s.token
    if token.type == "USES" and previous.type == "USES":
        left = previous.text.split(",")[-1].strip()
        right = token.text.split(",")[0].strip()
        first = Tok("USES", right, token.start)
        text = f"',' is missing between {left} and {right}"
        return Message("parse-missing-token", text, f"{left}, {right}", first, remedies=(comma_before(),))
    word = token.type in ("WORD", "STRING", "INTEGER", "HASH", "USES") or token.type.islower()
    if word and "COMMA" in s.expected and s.open_brackets and not s.starts_line(token):
        closing, _, mark = _BRACKETS[s.open_brackets[-1].type]
        if closing in s.expected:
            marks = "','" if s.head is not None and s.head.type == "OP_FUNC" else f"',' or '{mark}'"
            text = f"{marks} is missing between {shown(previous.text)} and {shown(token.text)}"
            help = f"{shown(previous.text)}, {shown(token.text)}"
            return Message("parse-missing-token", text, help, remedies=(comma_before(), closing_before(mark)))
    return None


def _missing_type(s: Situation) -> Message | None:
    previous = s.statement[-1]
    if not (_TYPES & s.expected) or previous.type not in ("COLON", "ARROW"):
        return None
    what = "result type" if previous.type == "ARROW" else "type"
    help = f"{previous.text} f32" if s.head is None else None
    mended = (types_without_parentheses(),) if s.token.type == "LPAR" else ()
    text = f"the {what} after '{previous.text}' is missing"
    return Message("parse-missing-types", text, help, previous, remedies=mended)


def _missing_colon(s: Situation) -> Message | None:
    token, following = s.token, s.following
    if s.begins_statement and "COLON" in s.expected and "RESULTS" not in s.expected and not s.open_brackets:
        if s.previous is not None and s.previous.type == "USES":
            text = f"the types of {shown(s.previous.text)} are missing"
            return Message(
                "parse-missing-types",
                text,
                f"{shown(s.previous.text)} : types",
                s.previous,
                remedies=(missing_types(),),
            )
        return None
    if token.type in (*_TYPES, "RPAR") and s.head is None and "LBRACE" in s.expected and s.statement[-1].type == "LPAR":
        # The generic form has its regions here.
        return Message(
            "parse-missing-token",
            "':' is missing before the types",
            ": (types) -> types",
            s.statement[-1],
            remedies=(mark_before(":"),),
        )
    if token.type == "LPAR" and "COLON" in s.expected and following is not None and following.type in (*_TYPES, "RPAR"):
        text = "':' is missing before the types"
        return Message("parse-missing-token", text, ": (types) -> types", remedies=(mark_before(":"),))
    if token.type not in _TYPES or "COLON" not in s.expected:
        return None
    if s.head is not None and s.head.type in ("OP_PAREN", "OP_PIPE_INIT") and not s.open_brackets:
        type_ = shown(token.text)
        text = f"'->' is missing before the result type {type_}"
        return Message("parse-missing-token", text, f"-> {type_}", remedies=(mark_before("->"),))
    text, help = f"':' is missing before {shown(token.text)}", f": {shown(token.text)}"
    return Message("parse-missing-token", text, help, remedies=(mark_before(":"),))


def _arrow(s: Situation) -> Message | None:
    if "ARROW" not in s.expected or s.inside("LBRACE"):
        return None
    token, head = s.token, s.head
    results = head is None or _has_results(head)
    if token.type == "COLON" and results and "COLON" not in s.expected:
        return Message(
            "parse-missing-token", "the result type follows '->', not ':'", "->", remedies=(other_mark(":", "->"),)
        )
    behind = s.statement[-1].type
    dictionary = behind == "RBRACE" and "COLON" in s.expected
    if token.type in _TYPES and results and behind not in ("USES", "RSQB") and not dictionary:
        type_ = shown(token.text)
        text = f"'->' is missing before the result type {type_}"
        return Message("parse-missing-token", text, f"-> {type_}", remedies=(mark_before("->"),))
    if token.type == "LPAR" and head is not None and head.type == "OP_IF" and not s.open_brackets:
        text = "unexpected '(', expected '->' or '{'"
        return Message("parse-syntax", text, usage(head.text), remedies=(mark_before("->"),))
    ends = s.begins_statement and not any(kind in s.expected for kind in ("RESULTS", "$END"))
    if ends and head is not None and "COLON" not in s.expected:
        text = f"{head.text} needs its result type after '->'"
        return Message("parse-missing-types", text, "-> type", head, remedies=(result_type("->"),))
    return None


def _has_results(head: Tok) -> bool:
    if head.text not in OPS:
        return True
    cls = op_class(head.text)
    assert issubclass(cls, PtoOp)
    return bool(signature(cls).results)


def _open_bracket(s: Situation) -> Message | None:
    """Reports a bracket that is still open where the next part of the statement, or the next statement, starts."""
    token = s.token
    if not s.open_brackets or not (token.type in _NOT_IN_BRACKETS or token.type.startswith("OP_")):
        return _one_value(s)
    opening = s.open_brackets[-1]
    if s.begins_statement and opening is s.previous and opening.type == "LBRACE" and len(s.open_brackets) > 1:
        # The brace of a region after an open bracket.
        opening = s.open_brackets[-2]
    closing, bracket, mark = _BRACKETS[opening.type]
    if closing not in s.expected and not s.begins_statement:
        return None
    text, help = f"this '{bracket}' is not closed", f"add the missing '{mark}'"
    return Message("parse-unbalanced", text, help, opening, remedies=(close_bracket(bracket),))


def _one_value(s: Situation) -> Message | None:
    """Reports that only a closing bracket may follow."""
    if not s.open_brackets or s.expected - {"COMMA"} != {_BRACKETS[s.open_brackets[-1].type][0]}:
        return None
    _, _, mark = _BRACKETS[s.open_brackets[-1].type]
    text = f"'{mark}' is missing after {shown(s.statement[-1].text)}"
    return Message("parse-unbalanced", text, f"{shown(s.statement[-1].text)}{mark}", remedies=(closing_before(mark),))


def _unopened_bracket(s: Situation) -> Message | None:
    marks = _OPENING.get(s.token.type)
    if marks is None or any(_BRACKETS[tok.type][0] == s.token.type for tok in s.open_brackets):
        return None
    if s.token.type == "RBRACE" and (s.starts_line(s.token) or _ends_line(s)):
        # It closes the region around the statement.
        return None
    opening, closing = marks
    return Message("parse-unbalanced", f"this '{closing}' has no '{opening}'", f"add the missing '{opening}'")


def _ends_line(s: Situation) -> bool:
    """Returns whether nothing but other braces follows the unexpected token on its line."""
    following = s.following
    return following is None or following.type in ("RBRACE", "$END") or s.starts_line(following)

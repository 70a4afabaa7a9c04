"""Characters that the language does not have, and what was meant by them: marks of other languages and tools, letters
that resemble the right ones, letters directly after a number."""

from __future__ import annotations

import re

from pto_dialect.diagnostics.remedies import characters as remedies
from pto_dialect.diagnostics.remedies.marks import close_quote
from pto_dialect.diagnostics.remedies.names import insert, remove, replace
from pto_dialect.diagnostics.remedies.statements import value_name
from pto_dialect.diagnostics.remedy import Remedy

from ..read.situation import Message, Situation, shown
from ..read.tokens import Tok
from ..usage import usage

_INVISIBLE = frozenset("\u00ad\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2060\ufeff")
_KINDS = {"!": "type", "%": "value", "@": "function", "#": "attribute", "^": "block"}
_HELP = {
    "-": "did you mean '->'?",
    "'": 'strings are enclosed in " and "',
    "\\": "statements continue over the end of a line without a mark; remove it",
    "$": "names of values begin with %",
}
_MERGE = re.compile(r"(?:<{7}|>{7}|={7}|\|{7})(?=[ \r\n]|\Z)")
_FENCE = "```"
_WORDS = frozenset(("WORD", "OP_UNKNOWN", "TYPES"))
_NUMBERS = frozenset(("INTEGER", "FLOAT"))
_GLUED = re.compile(r"[\w$.]+")


def bad_character(s: Situation) -> Message:
    """Returns the message about a character that starts no token."""
    token, previous = s.token, s.previous
    text = token.text
    if text == '"':
        if previous is not None and previous.type.startswith("OP_") and previous.end == token.start:
            name = shown(previous.text)
            return Message(
                "parse-string", f"the quote before {name} is missing", f'"{name}"', previous, remedies=(insert('"'),)
            )
        text = "this string is not closed on its line"
        return Message("parse-string", text, 'add the closing "', remedies=(close_quote(),))
    if len(text) > 1:
        return Message("literal-range", "this integer does not fit into 64 bits", None)
    if text in _KINDS:
        return missing_name(text)
    if s.text.startswith(_FENCE, token.start):
        return Message(
            "parse-character",
            f"{_FENCE} is no part of a program",
            "remove these lines",
            once=True,
            remedies=(remedies.without_fences(),),
        )
    if text in "+-" and s.starts_line(token):
        help = "remove the marks of a patch"
        mended = (remedies.without_plus(),) if text == "+" else ()
        return Message("parse-character", f"lines do not begin with '{text}'", help, once=True, remedies=mended)
    return _foreign(s, text)


def missing_name(mark: str, at: Tok | None = None) -> Message:
    """Reports a sigil of names without a name after it."""
    text = f"the name of a {_KINDS[mark]} is missing after '{mark}'"
    return Message("parse-character", text, None, at, remedies=(value_name(),) if mark == "%" else ())


def _foreign(s: Situation, text: str) -> Message:
    digits = _GLUED.match(s.text, s.token.end)
    if text == "." and digits is not None and digits[0][:1].isdigit():
        number = f".{digits[0]}"
        at = Tok("BAD", number, s.token.start)
        mended = (replace(None, f"0{number}"),)
        return Message("parse-character", "numbers begin with a digit", f"write 0{number}", at, remedies=mended)
    if text in _INVISIBLE:
        message = f"there is an invisible character here, U+{ord(text):04X}"
        return Message("parse-character", message, "remove it", once=True, remedies=(remedies.without_invisible(),))
    meant = remedies.LOOK_ALIKE.get(text)
    code = "" if text.isascii() else f" (U+{ord(text):04X})"
    help = f"write {meant}" if meant is not None else _HELP.get(text)
    mended = (remedies.ascii_characters(),) if code and meant is not None else _remedies_of(text)
    message = f"unexpected character {text!r}{code}"
    return Message("parse-character", message, help, once=help is not None, remedies=mended)


def _remedies_of(text: str) -> tuple[Remedy, ...]:
    """Returns what to do about a character of ``_HELP``."""
    if text == "-":
        return (replace(None, "->"),)
    if text == "'":
        return (remedies.double_quotes(),)
    if text == "\\":
        return (remove(),)
    return (remedies.percent_signs(),) if text == "$" else ()


def foreign_mark(s: Situation) -> Message | None:
    """Reports merge markers, marks of other languages, and numbers with trailing letters."""
    begin = s.text.rfind("\n", 0, s.token.start) + 1
    merge = _MERGE.match(s.text, begin)
    if merge is not None:
        help = "keep one of the two versions and remove the lines with <<<<<<<, ======= and >>>>>>>"
        return Message(
            "parse-syntax", "a merge is not finished here", help, Tok("BAD", merge[0], begin), once=True, last=True
        )
    return _colons(s) or _assignment(s) or _glued(s) or _after_token(s)


def _after_token(s: Situation) -> Message | None:
    """Reports an invalid character after the token that it corrupts."""
    following = s.following
    if following is None or following.type != "BAD":
        return None
    glued = not following.text.isascii() and following.start == s.token.end
    return _foreign(s, following.text)._replace(at=following) if glued or following.text == "\\" else None


def _colons(s: Situation) -> Message | None:
    """Returns ``pto::tadd``."""
    words = (token for token in (*s.statement, s.token) if token.type in _WORDS and s.text.startswith("::", token.end))
    token = next(words, None)
    if token is None:
        return None
    name = _GLUED.match(s.text, token.end + 2)
    if name is None:
        return None
    whole = Tok("OP_UNKNOWN", s.text[token.start : name.end()], token.start)
    help = f"did you mean {shown(token.text)}.{shown(name[0])}?"
    mended = (replace(None, f"{token.text}.{name[0]}"),)
    message = f"names of operations have a dot, found {shown(whole.text)!r}"
    return Message("op-unknown", message, help, whole, remedies=mended)


def _assignment(s: Situation) -> Message | None:
    """Returns ``%a := ..`` and ``%a == ..``."""
    token, following = s.token, s.following
    if s.previous is not None or token.type != "USES" or following is None:
        return None
    mark = s.text[following.start : following.start + 2]
    if mark not in (":=", "=="):
        return None
    text = f"'=' follows the name of a result, not '{mark}'"
    at = Tok("EQUAL", mark, following.start)
    return Message("parse-missing-token", text, f"{shown(token.text)} = ..", at, remedies=(replace(None, "="),))


def _glued(s: Situation) -> Message | None:
    """Reports ``2.0f``, ``0xZZ`` and ``%0a``: letters directly after a number."""
    first, word = s.previous, s.token
    if first is None and s.token.type == "USES":
        first, word = s.token, s.following
    if first is None or word is None or word.type not in _WORDS or first.end != word.start:
        return None
    name = first.text.split(",")[-1].strip()
    end = _GLUED.match(s.text, word.start)
    start = first.end - len(name)
    whole = s.text[start : end.end() if end is not None else word.end]
    at = Tok("WORD", whole, start)
    if first.type == "USES" and name[1:].isdigit():
        text = f"names of values are numbers, or begin with a letter or '_', found {shown(whole)}"
        return Message(
            "parse-character", text, shown(f"%_{whole[1:]}"), at, remedies=(remedies.rename(f"%_{whole[1:]}"),)
        )
    if first.type not in _NUMBERS:
        return None
    help = usage(s.head.text) if s.head is not None else None
    mended: tuple[Remedy, ...] = ()
    if whole.lower().startswith("0x"):
        help = "digits after 0x are 0 to 9 and a to f"
    elif word.text.lower() in ("f", "d", "l", "u"):
        help, mended = f"write {name}", (replace(None, name),)
    return Message("parse-character", f"{shown(whole)} is no number", help, at, remedies=mended)

"""What is wrong with a statement that breaks off: an open bracket, a missing type, a part that is left out.

The grammar only says which tokens could come next; these are the cases in which something more useful is known.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from ..diagnostics.suggest import did_you_mean
from .tokens import Tok

_CLOSING = {"LPAR": ("RPAR", "(", ")"), "LSQB": ("RSQB", "[", "]"), "LBRACE": ("RBRACE", "{", "}")}
_TYPE_TERMINALS = frozenset(("TYPES", "ANGLE"))
_NOT_IN_BRACKETS = frozenset(("RESULTS", "RBRACE", "BLOCK", "$END", "COLON", "ARROW"))
"""Tokens that cannot stand between brackets where the grammar asks for the closing one."""

NEEDED_PARTS = {
    "OP_DPS": ("ins(..) or operands", "ins(%src : type) outs(%dst : type)"),
    "OP_DMA_BURST": ("nburst(..)", "nburst(%count, %src_stride, %dst_stride)"),
    "OP_PIPE_INIT": ("attributes in braces", "{id = 0, dir_mask = 1, slot_size = 1024}"),
    "OP_PAREN": ("operands in parentheses", "(%value : type)"),
    "OP_COMM_GROUP": ("operands in parentheses", "(%dst, %src, buf(%tile) : types)"),
    "OP_SYNC_BRACKET": ("pipes and event in brackets", '["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]'),
    "OP_INDEXED": ("an offset in brackets", "%pointer[%offset]"),
    "OP_LEAD_STRING": ("a quoted word", '"PAT_ALL"'),
}
"""What comes first after an operation of a shape, in words, with an example."""


class Broken(NamedTuple):
    """Rule, message, suggestion, and the token to point at where that is not the unexpected one."""

    rule: str
    text: str
    help: str | None
    at: Tok | None = None


def broken_statement(token: Tok, expected: Collection[str], statement: list[Tok], head: Tok | None) -> Broken | None:
    """What is known about ``token``, where one of ``expected`` should stand, after the tokens of ``statement``.

    ``head`` is the operation of the statement.
    """
    previous = statement[-1] if statement else None
    if previous is None:
        return None
    if token.type == "LESSTHAN" and previous.type in (*_TYPE_TERMINALS, "HASH"):
        last = previous.text.split(",")[-1].strip()
        return Broken("parse-unbalanced", f"the '<' of {last} is not closed", "add the missing '>'")
    if previous.type == "STRING" and token.type == "WORD" and previous.end == token.start:
        return Broken("parse-string", f"a quote is missing in or before {previous.text}", None, previous)
    if _TYPE_TERMINALS & set(expected) and previous.type in ("COLON", "ARROW"):
        what = "result type" if previous.type == "ARROW" else "type"
        return Broken("parse-missing-types", f"the {what} after '{previous.text}' is missing", None, previous)
    return (
        _open_bracket(token, expected, statement)
        or _misspelt_keyword(token, expected)
        or (_missing_part(token, statement, head) if head is not None else None)
    )


def _open_bracket(token: Tok, expected: Collection[str], statement: list[Tok]) -> Broken | None:
    """A bracket that is still open where the next part of the statement, or the next statement, begins."""
    if not (token.type.startswith("OP_") or token.type in _NOT_IN_BRACKETS):
        return None
    opened: list[Tok] = []
    for tok in statement:
        if tok.type in ("INS", "OUTS"):
            # These tokens end with the bracket.
            opened.append(Tok("LPAR", "(", tok.end - 1))
        elif tok.type in _CLOSING:
            opened.append(tok)
        elif opened and tok.type == _CLOSING[opened[-1].type][0]:
            opened.pop()
    if not opened or _CLOSING[opened[-1].type][0] not in expected:
        return None
    _, bracket, closing = _CLOSING[opened[-1].type]
    return Broken("parse-unbalanced", f"this '{bracket}' is not closed", f"add the missing '{closing}'", opened[-1])


def _misspelt_keyword(token: Tok, expected: Collection[str]) -> Broken | None:
    if token.type not in ("WORD", "OP_UNKNOWN"):
        return None
    keywords = [name.lower() for name in expected if name.isalpha() and name.isupper()]
    close = did_you_mean(token.text, [word for word in keywords if word not in _TERMINAL_WORDS])
    return Broken("parse-syntax", f"unexpected {token.text!r}", f"did you mean {close[0]}?") if close else None


_TERMINAL_WORDS = frozenset(
    (
        *("uses", "results", "bindings", "types", "hash", "angle", "body", "word", "string", "integer", "float"),
        *("symbol", "block", "lbrace", "rbrace", "lpar", "rpar", "lsqb", "rsqb", "colon", "comma", "equal", "arrow"),
        *("lessthan", "morethan", "loc", "semicolon", "flags", "ellipsis"),
    )
)
"""Names of terminals that are no keywords."""


def _missing_part(token: Tok, statement: list[Tok], head: Tok) -> Broken | None:
    """What an operation wants directly after its name, or (transfers) after its operands."""
    part = NEEDED_PARTS.get(head.type)
    after = statement[statement.index(head) + 1 :]
    wants_operands = head.type in ("OP_DMA_BURST", "OP_INDEXED")
    if part is None or [tok.type for tok in after] != (["USES"] if wants_operands else []):
        return None
    wanted, example = part
    shown = token.text.removesuffix("(").strip() or token.text
    where = f"before '{shown}'" if len(shown) < 20 and token.type != "$END" else ""
    text = f"{head.text} needs {wanted} {where}".rstrip()
    return Broken("parse-syntax", text, example)

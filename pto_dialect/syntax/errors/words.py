"""Errors about words: unknown operations, types without ``!``, values without ``%``, misspelled keywords."""

from __future__ import annotations

from functools import lru_cache

from pto_dialect.diagnostics.remedies.marks import mark_after, square_brackets
from pto_dialect.diagnostics.remedies.names import insert, quote, replace
from pto_dialect.diagnostics.remedies.order import exchange_groups
from pto_dialect.diagnostics.remedies.statements import constant_for, missing_offset, python_loop
from pto_dialect.diagnostics.remedy import Remedy
from pto_dialect.diagnostics.suggest import MOST_NAMED, did_you_mean, equally_near, near_hint
from pto_dialect.ir.core_dialects.core_ops import CORE_SHAPES, KNOWN_DIALECTS, core_class

from ..read.lexer import OPERATION_TERMINALS
from ..read.situation import Message, Situation, shown
from ..read.tokens import Tok
from .type_names import type_suggestion
from .usual_names import FOREIGN_NAMES, USUAL_OPERATIONS

_WORDS = ("WORD", "OP_UNKNOWN")
_TYPES = frozenset(("TYPES", "ANGLE"))

NEEDED_PARTS: dict[str, tuple[str, str, tuple[Remedy, ...]]] = {
    "OP_DPS": ("ins(..) or operands", "ins(%src : type) outs(%dst : type)", (exchange_groups(),)),
    "OP_DMA_BURST": ("nburst(..)", "nburst(%count, %src_stride, %dst_stride)", ()),
    "OP_PIPE_INIT": ("attributes in braces", "{id = 0, dir_mask = 1, slot_size = 1024}", ()),
    "OP_PAREN": ("operands in parentheses", "(%value : type)", ()),
    "OP_COMM_GROUP": ("operands in parentheses", "(%dst, %src, buf(%tile) : types)", ()),
    "OP_SYNC_BRACKET": (
        "pipes and event in brackets",
        '["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]',
        (square_brackets(),),
    ),
    "OP_INDEXED": ("an offset in brackets", "%pointer[%offset]", (square_brackets(), missing_offset())),
    "OP_LEAD_STRING": ("a quoted keyword", '"PAT_ALL"', (quote(),)),
}
"""The first part after an operation of a shape, as text, with an example."""

TERMINAL_WORDS = frozenset(
    (
        *("uses", "results", "bindings", "types", "hash", "angle", "body", "word", "string", "integer", "float"),
        *("symbol", "block", "lbrace", "rbrace", "lpar", "rpar", "lsqb", "rsqb", "colon", "comma", "equal", "arrow"),
        *("lessthan", "morethan", "loc", "semicolon", "flags", "ellipsis"),
    )
)
"""Names of terminals that are not keywords."""


def word_error(s: Situation) -> Message | None:
    """Returns the error about an unexpected word or number."""
    return (
        _symbol(s)
        or _type(s)
        or _value(s)
        or _operation(s)
        or _keyword(s)
        or _dangling_word(s)
        or _missing_part(s)
        or _bare_name(s)
    )


def unknown_operation(name: str, at: Tok | None = None) -> Message:
    """Returns the message for an unknown operation name."""
    dialect = name.partition(".")[0]
    near = near_operations(name)
    help = near_hint(near)
    if name not in CORE_SHAPES and core_class(name) is not None:
        return Message("op-unknown", f"{name} is read in generic form only", f'"{name}"(..) : (..) -> ..', at)
    if dialect == "a5vm":
        return Message(
            "op-unknown",
            f"{name} belongs to a5vm, the retired predecessor of this dialect",
            "use the pto.* operation",
            at,
        )
    if dialect not in KNOWN_DIALECTS and "." in name and help is None:
        return Message(
            "op-unknown",
            f"the dialect of {name!r} is unknown, so its custom form cannot be read",
            f'write the generic form "{name}"(..) : (..) -> (..)',
            at,
        )
    mended = (*((replace(name, *near),) if near else ()), *((python_loop(),) if name == "for" else ()))
    return Message("op-unknown", f"unknown operation {shown(name)!r}", help, at, remedies=mended)


@lru_cache(maxsize=1024)
def near_operations(name: str) -> tuple[str, ...]:
    """Returns the operations that ``name`` was probably meant to be, as a question."""
    foreign = FOREIGN_NAMES.get(name.removeprefix("pto."))
    return tuple(foreign or equally_near(name, OPERATION_TERMINALS, USUAL_OPERATIONS)[:MOST_NAMED])


def _type(s: Situation) -> Message | None:
    """Reports a bare token where a type belongs: after a colon, an arrow, or a comma after a type."""
    token, before = s.token, [tok.type for tok in s.statement[-2:]]
    if "USES" in s.expected and s.following is not None and s.following.type == "COLON":
        return None
    if token.type == "COMMA" and before[-1:] == ["TYPES"] and s.following is not None:
        token = s.following
        if token.type not in _WORDS:
            return None
    elif token.type not in _WORDS:
        return None
    elif before == ["TYPES", "COMMA"]:
        if not (_TYPES & s.expected) and type_suggestion(token.text) is None:
            return None
    elif not (_TYPES & s.expected) or before[-1:] not in (["COLON"], ["ARROW"], ["LPAR"], ["EQUAL"], ["TYPE_ALIAS"]):
        return None
    close = type_suggestion(token.text)
    if close is None and (before[-1:] == ["EQUAL"] or s.starts_line(token)):
        return None
    text = f"unknown type {shown(token.text)!r}"
    if close is None:
        return Message("type-unknown", text, None, token)
    return Message("type-unknown", text, f"did you mean {close}?", token, remedies=(replace(None, close),))


def _value(s: Situation) -> Message | None:
    """Reports a bare token or number where a value belongs."""
    token = s.token
    if token.type == "COMMA" and s.previous is not None and s.previous.type == "BINDINGS" and s.following is not None:
        name = shown(s.following.text.rstrip("= \t\n"))
        return Message("parse-syntax", f"expected a value for {name}", f"{name} = %value", s.following)
    if token.type == "COMMA" and s.following is not None and "USES" not in s.expected:
        token = s.following
        if s.statement[-1:] and s.statement[-1].type != "USES":
            return None
    elif "BINDINGS" in s.expected:
        return _binding(s)
    elif "USES" not in s.expected:
        return None
    if token.type in ("INTEGER", "FLOAT") and "INTEGER" not in s.expected:
        message = f"operands are values, found the number {shown(token.text)}"
        mended = (constant_for(token.text),)
        return Message("parse-syntax", message, "define it with arith.constant", token, remedies=mended)
    if token.type not in _WORDS or "WORD" in s.expected or not s.statement:
        return None
    name = f"%{token.text}"
    close = [name] if name in s.names else did_you_mean(name, list(s.names))
    # A misspelled keyword is reported as such, unless a value has this very name.
    if _keyword(s) is not None and name not in s.names:
        return None
    help = f"did you mean {close[0]}?" if close else f"{name}: names of values begin with %"
    mended = (replace(None, close[0] if close else name),)
    return Message("parse-syntax", f"expected a value, found {shown(token.text)!r}", help, token, remedies=mended)


def _binding(s: Situation) -> Message | None:
    """Reports what replaces ``%name = %value``."""
    token, following = s.token, s.following
    if token.type == "RESULTS" and following is not None and following.type in ("INTEGER", "FLOAT"):
        message = f"bounds and initial values are values, found the number {shown(following.text)}"
        mended = (constant_for(following.text),)
        return Message("parse-syntax", message, "define it with arith.constant", following, remedies=mended)
    if token.type == "WORD" and following is not None and following.type == "EQUAL":
        message, help = f"expected a value, found {shown(token.text)!r}", f"%{shown(token.text)}"
        return Message("parse-syntax", message, help, remedies=(insert("%"),))
    return None


def _symbol(s: Situation) -> Message | None:
    """Reports a name without ``@`` where a symbol belongs."""
    if s.token.type != "WORD" or "SYMBOL" not in s.expected or _keyword(s) is not None:
        return None
    message = f"names of functions begin with @, found {shown(s.token.text)!r}"
    return Message("parse-syntax", message, f"@{s.token.text}", remedies=(insert("@"),))


def _operation(s: Situation) -> Message | None:
    """Reports a bare token where an operation belongs: at the start of a statement, also on the line of the brace
    before it, or after the result list."""
    equal = s.following is not None and s.following.type == "EQUAL"
    if s.token.type != "WORD" or (equal and not s.statement):
        return None
    if all(tok.type == "RESULTS" for tok in s.statement):
        return unknown_operation(s.token.text)
    after_brace = not equal and s.previous is not None and s.previous.type == "LBRACE"
    if "RESULTS" in s.expected and (after_brace or s.starts_line(s.token)):
        return unknown_operation(s.token.text)
    return None


def swallowed_operation(s: Situation) -> Message | None:
    """Reports a name without ``pto.`` at the start of a line that was read as an optional part of the
    statement above."""
    for word in (*s.statement[1:], s.token):
        if word.type in _WORDS and word.text.lower() in OPERATION_TERMINALS and s.starts_line(word):
            return unknown_operation(word.text, word)
        if word.type == "WORD" and f"pto.{word.text}" in OPERATION_TERMINALS and s.starts_line(word):
            return unknown_operation(word.text, word)
    return None


def _keyword(s: Situation) -> Message | None:
    token, previous = s.token, s.previous
    if token.type == "LPAR" and previous is not None and previous.type == "WORD":
        close = did_you_mean(previous.text, ["ins", "outs"])
        known = any(tok.type == "INS" for tok in s.statement)
        if s.head is not None and s.head.type == "OP_DPS" and (close or known):
            meant = "outs" if known else "ins"
            return _misspelt(previous, meant, previous)
    if token.type not in _WORDS:
        return None
    keywords = [name.lower() for name in s.expected if name.isalpha() and name.isupper()]
    close = did_you_mean(token.text, [word for word in keywords if word not in TERMINAL_WORDS])
    if close == [token.text]:
        text = f"'(' is missing after {token.text}"
        return Message("parse-unbalanced", text, f"{token.text}(..)", remedies=(mark_after("("),))
    return _misspelt(token, close[0]) if close else None


def _misspelt(word: Tok, meant: str, at: Tok | None = None) -> Message:
    text = f"unexpected {shown(word.text)!r}"
    return Message("parse-syntax", text, f"did you mean {meant}?", at, remedies=(replace(None, meant),))


def _dangling_word(s: Situation) -> Message | None:
    """Reports a bare token at the end of a line that requires a continuation."""
    previous = s.previous
    if previous is None or previous.type != "WORD" or not s.starts_line(s.token) or s.open_brackets:
        return None
    return Message("parse-syntax", f"unexpected {shown(previous.text)!r} at the end of the statement", None, previous)


def _bare_name(s: Situation) -> Message | None:
    """Reports a bare token earlier in the statement that is the name of a value."""
    word = next((tok for tok in s.statement if tok.type == "WORD" and f"%{tok.text}" in s.names), None)
    if word is None or s.begins_statement:
        return None
    text = f"expected a value, found {word.text!r}"
    return Message("parse-syntax", text, f"did you mean %{word.text}?", word, remedies=(insert("%"),))


def _missing_part(s: Situation) -> Message | None:
    """Reports what an operation requires directly after its name, or (transfers) after its operands."""
    if s.head is None:
        return None
    part = NEEDED_PARTS.get(s.head.type)
    after = s.statement[s.statement.index(s.head) + 1 :]
    wants_operands = s.head.type in ("OP_DMA_BURST", "OP_INDEXED")
    if part is None or [tok.type for tok in after] != (["USES"] if wants_operands else []):
        return None
    wanted, example, mended = part
    before = s.token.text.removesuffix("(").strip() or s.token.text
    where = f"before '{before}'" if len(before) < 20 and not s.begins_statement else ""
    return Message("parse-syntax", f"{s.head.text} needs {wanted} {where}".rstrip(), example, remedies=mended)

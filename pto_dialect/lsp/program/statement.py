"""The statement before the cursor, as far as it is written."""

from __future__ import annotations

import re
from typing import NamedTuple

from pto_dialect.driver.explain.lookup import operation_named
from pto_dialect.driver.explain.schema import forms
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.registry import op_class
from pto_dialect.ir.core_dialects.core_ops import ALIASES
from pto_dialect.syntax.read.tokens import Tok
from pto_dialect.syntax.text import split_types

from .tokens import tokens

_BEGIN = re.compile(
    r"^[ \t]*(?:(?:%[^=\n\"]*=[ \t]*)?\"?[A-Za-z_]\w*\.[\w.]+|[{}^]|(?:func|module|return|call)\b)", re.MULTILINE
)
_PREFIX = re.compile(r"[%!@#^<]?[\w.$\-]*\Z")
_LINES = 30
"""Lines that a statement may have."""
_REGION = re.compile(r"[ \t]*(?:\}[ \t]*(?:else|do)?[ \t]*\{?|\^[^:\n]*:|[^\"\n]*\)[^\"\n=]*\{(?=[ \t]*\Z))")
"""The beginning of a line that belongs to a region: its braces, a label, the header of a function or loop."""
_FRESH = re.compile(r"[ \t]*(?:%[^=\n\"]*=[ \t]*)?\"?")
"""What may precede the name of an operation in its line."""
_UNFINISHED = re.compile(r"(?:[,:=(<\[]|->|\b(?:ins|outs|to|step|iter_args|shape|strides|offsets|sizes))\s*\Z")
_LISTS = ("ANGLE", "USES")
_CLOSING = {")": "(", "}": "{", "]": "["}


class Opened(NamedTuple):
    """An open bracket: the token before it, and the number of commas after it."""

    bracket: str
    word: str
    commas: int
    key: str = ""
    """The key whose value is expected next."""


class Statement:
    """The tokens of a statement up to the incomplete one, ``prefix``."""

    def __init__(self, text: str, offset: int) -> None:
        first = text.rfind("\n", 0, offset) + 1
        for _ in range(_LINES):
            if first == 0 or _BEGIN.match(text, first):
                break
            first = text.rfind("\n", 0, first - 1) + 1
        line = text.rfind("\n", 0, offset) + 1
        found = _PREFIX.search(text, line, offset)
        assert found is not None
        if first < line and _FRESH.fullmatch(text, line, found.start()) and _is_complete(text[first:line]):
            first = line
        found = _PREFIX.search(text, first, offset)
        assert found is not None
        self.offset = offset
        self.start = first
        self.prefix_start = found.start()
        self.prefix = found[0]
        self.in_comment = "//" in re.sub(r'"(?:[^"\\\n]|\\.)*"', "", text[text.rfind("\n", 0, offset) + 1 : offset])
        head = text[first : found.start()]
        region = _REGION.match(head)
        cut = region.end() if region else 0
        self.tokens: list[Tok] = tokens(head[cut:], assembly=False)
        place = next((n for n, token in enumerate(self.tokens) if token.type.startswith("OP_")), None)
        self.op_token = None if place is None else self.tokens[place]
        self.behind = [] if place is None else self.tokens[place + 1 :]
        self.text_behind = "" if self.op_token is None else head[cut + self.op_token.end :]

    @property
    def name(self) -> str:
        """The operation as it is called, empty where there is none."""
        return "" if self.op_token is None else ALIASES.get(self.op_token.text, self.op_token.text)

    @property
    def operation(self) -> type[PtoOp] | None:
        """The class of the operation, for those of this dialect."""
        name = operation_named(self.op_token.text) if self.op_token is not None else None
        return None if name is None else op_class(name)

    @property
    def begins(self) -> bool:
        """Whether an operation may be written here: only results precede."""
        return all(token.type in ("RESULTS", "RBRACE", "LBRACE") for token in self.tokens)

    @property
    def names_operation(self) -> bool:
        """Whether the prefix is that of an operation: nothing precedes it but results, and it begins as a name."""
        return self.begins and self.prefix[:1] not in tuple("%!@#^<")

    def opened(self) -> list[Opened]:
        """Returns the open brackets, the innermost last."""
        found: list[Opened] = []
        before = ""
        for token in self.behind:
            text = token.text
            if text.endswith(("(", "{", "[")) and token.type != "STRING":
                found.append(Opened(text[-1], text[:-1].strip() or before, 0))
            elif text in _CLOSING and found:
                found.pop()
            elif found:
                commas = len(split_types(text)) - 1 if token.type in _LISTS else int(text == ",")
                key = before if text == "=" else ""
                found[-1] = found[-1]._replace(commas=found[-1].commas + commas, key=key)
            before = text
        return found

    @property
    def stated_types(self) -> bool:
        """Whether the colon before the types is written."""
        depth = 0
        for token in self.behind:
            depth += token.text.endswith(("(", "{", "[")) - (token.text in _CLOSING)
            if token.type == "COLON" and depth == 0:
                return True
        return bool(self.opened()) and any(token.type == "COLON" for token in self.behind[-6:])


def _is_complete(text: str) -> bool:
    """Returns whether a statement ends with ``text``, so that another one begins in the next line."""
    text = re.sub(r"//[^\n]*", "", text).strip()
    if not text or text.endswith(("{", "}")):
        return True
    if _UNFINISHED.search(text) or any(
        text.count(opened) != text.count(closed) for opened, closed in ("()", "[]", "{}")
    ):
        return False
    before = Statement(f"{text} ", len(text) + 1)
    cls = before.operation
    if cls is None:
        return ":" in text or "%" not in text
    form = forms(cls)[0]
    words = {token.text.rstrip("( ") for token in before.behind}
    if "outs(" in form and "outs" not in words:
        # The form with a result has its type at the end.
        return "->" in text
    return " : " not in re.sub(r"\[[^\]]*\]|\([^)]*\)", "", form) or ":" in text

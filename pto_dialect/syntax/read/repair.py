"""In-place repair of mistakes: the parser continues as if the text were right, so that no later text is an error
because of them.

These are missing braces around regions, marks of block labels, and comments of other languages.
"""

from __future__ import annotations

import re

from pto_dialect.diagnostics.remedies.characters import comment_marks
from pto_dialect.diagnostics.remedies.marks import mark_after, mark_before
from pto_dialect.diagnostics.remedies.names import append, insert
from pto_dialect.diagnostics.remedy import Remedy

from ..builder.builder import BuilderBase
from ..text import indentation, starts_line
from .lalr import Parser, State
from .lexer import ProgramText
from .tokens import Tok

_LABEL = re.compile(r"\((?:[^()\n]|\([^()\n]*\))*\)[ \t]*:(?=[ \t]*(?://[^\n]*)?\n)")
"""Arguments of a block, after its name, and the colon at the end of the line."""
_DEPTH = 200
"""Number of inspected entries of the parser's stack; a statement takes up fewer."""


class Repair:
    """The repairs that ``Recovery`` tries first."""

    parser: Parser
    builder: BuilderBase
    data: ProgramText
    commented = False

    def repaired(self, state: State, statement: list[Tok], token: Tok, following: Tok | None) -> bool:
        """Reports the mistake before or at ``token`` and repairs it; returns False when it is none of these."""
        return (
            self._comment(token)
            or self._swallowed_brace(statement, token)
            or self._brace_before_else(state, statement, token)
            or self._opening_brace(state, statement, token)
            or self._label_colon(state, statement, token)
            or self._label_sign(state, token, following)
            or self._property_end(state, statement, token)
        )

    def _fail(self, rule: str, message: str, start: int, end: int, help: str, remedy: Remedy) -> bool:
        self.builder.report(rule, message, start, end, help, remedies=(remedy,))
        return True

    def _comment(self, token: Tok) -> bool:
        """Repairs a comment as in Python or C; only the first one of a file is reported."""
        text, start = self.data.text, token.start
        line_end = text.find("\n", start)
        end = line_end if line_end >= 0 else len(text)
        begin = text.rfind("\n", 0, start) + 1
        if text[begin:start].lstrip().startswith(";"):
            start = begin + text[begin:start].index(";")
        elif not ((token.text == ";" and begin == start) or token.text == "#" or text.startswith("/*", start)):
            return False
        if token.text == "/":
            close = text.find("*/", start)
            end = close + 2 if close >= 0 else end
        if not self.commented:
            self.commented = True
            shown = text[start:end].split("\n")[0].strip("#/*; ")
            self._fail("parse-character", "comments begin with //", start, start + 1, f"// {shown}", comment_marks())
        self.data.position = end
        return True

    def _swallowed_brace(self, statement: list[Tok], token: Tok) -> bool:
        """Repairs the closing brace of a region whose opening one is missing, which was reported there."""
        if token.type != "RBRACE" or statement or not self.builder.unopened:
            return False
        self.builder.unopened -= 1
        self.data.position = token.end
        return True

    def _brace_before_else(self, state: State, statement: list[Tok], token: Tok) -> bool:
        word = statement[-1] if statement else None
        if word is not None and word.type == "ELSE" and token.type == "LBRACE":
            # It was read as a token of the statement above.
            if not self._accepts(state.stack[:-1], "RBRACE", "ELSE"):
                return False
            del state.stack[-1], state.values[-1]
            token = word
        if token.type != "ELSE" or not self._accepts(state.stack, "RBRACE", "ELSE"):
            return False
        self._fail(
            "parse-unbalanced", "'}' is missing before else", token.start, token.end, "} else {", mark_before("}")
        )
        self._continue_with(state, Tok("RBRACE", "}", token.start), token.start)
        return True

    def _opening_brace(self, state: State, statement: list[Tok], token: Tok) -> bool:
        """Repairs a header at the end of a line with a deeper indented statement on the next one."""
        text = self.data.text
        if not statement or statement[-1].type == "LBRACE" or not starts_line(text, token.start):
            return False
        if indentation(text, token.start) <= indentation(text, statement[0].start):
            return False
        # A region, not a dictionary.
        if not all(self._accepts(state.stack, "LBRACE", kind) for kind in (token.type, "RESULTS")):
            return False
        end = statement[-1].end
        text = "'{' is missing at the end of this line"
        self._fail("parse-unbalanced", text, end - 1, end, "add the missing '{'", mark_after("{"))
        self._continue_with(state, Tok("LBRACE", "{", end), token.start)
        return True

    def _label_colon(self, state: State, statement: list[Tok], token: Tok) -> bool:
        if not statement or statement[-1].type != "BLOCK":
            return False
        if not starts_line(self.data.text, token.start) or not self._accepts(state.stack, "COLON", token.type):
            return False
        label = statement[-1]
        self._fail(
            "parse-missing-token",
            f"':' is missing after {label.text}",
            label.start,
            label.end,
            f"{label.text}:",
            append(":"),
        )
        self._continue_with(state, Tok("COLON", ":", label.end), token.start)
        return True

    def _label_sign(self, state: State, token: Tok, following: Tok | None) -> bool:
        """Returns ``next:`` for ``^next:``."""
        if token.type not in ("WORD", "OP_UNKNOWN") or following is None:
            return False
        if following.type != "COLON" and not _LABEL.match(self.data.text, token.end):
            return False
        if not starts_line(self.data.text, token.start) or not self._accepts(state.stack, "BLOCK", "COLON"):
            return False
        if self.data.text.startswith("::", following.start):
            return False
        name = f"^{token.text}"
        message = f"names of blocks begin with ^, found {token.text!r}"
        help = f"{name}:" if following.type == "COLON" else name
        self._fail("parse-syntax", message, token.start, token.end, help, insert("^"))
        self._continue_with(state, Tok("BLOCK", name, token.start), token.end)
        return True

    def _property_end(self, state: State, statement: list[Tok], token: Tok) -> bool:
        """Returns ``<{..}`` without its ``>``."""
        if not statement or statement[-1].type != "RBRACE" or token.type == "MORETHAN":
            return False
        if not self._accepts(state.stack, "MORETHAN", token.type):
            return False
        brace = statement[-1]
        self._fail("parse-unbalanced", "'>' is missing after '}'", brace.start, brace.end, "}>", append(">"))
        self._continue_with(state, Tok("MORETHAN", ">", brace.end), token.start)
        return True

    # ------------------------------------------------------------ the parser's stacks

    def _continue_with(self, state: State, token: Tok, position: int) -> None:
        """Reads ``token`` as if it were in the text, which continues at ``position``."""
        self._feed(state, token)
        self.data.position = position

    def _accepts(self, stack: list[int], *kinds: str) -> bool:
        """Returns whether tokens of these kinds could come next."""
        stack = stack[-_DEPTH:]
        rules = self.parser.tables.rules
        for kind in kinds:
            while (action := self.parser.actions(stack[-1]).get(kind)) is not None and action < 0:
                rule = rules[-1 - action]
                if rule.size >= len(stack):
                    return True
                del stack[len(stack) - rule.size :]
                stack.append(self.parser.actions(stack[-1])[rule.symbol])
            if action is None:
                return False
            stack.append(action)
        return True

    def _reduce(self, state: State, terminal: str) -> None:
        """Performs the reductions that ``terminal`` requires."""
        while (action := self.parser.actions(state.stack[-1]).get(terminal)) is not None and action < 0:
            self.parser.reduce(state, action)

    def _feed(self, state: State, token: Tok) -> None:
        """Reads ``token`` as if it were in the text."""
        self._reduce(state, token.type)
        state.stack.append(self.parser.actions(state.stack[-1])[token.type])
        state.values.append(token)

"""Error recovery, so that independent errors are reported in one run.

The incorrect statement is dropped, the names it would have defined become poison values, and parsing resumes at the
next statement. An incorrect header followed by a region is replaced by a placeholder, so that the region is still read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from xdsl.ir import Region

from pto_dialect.diagnostics.diagnostic import Note
from pto_dialect.diagnostics.remedies.marks import close_bracket
from pto_dialect.diagnostics.source import Span

from ..builder.builder import BuilderBase
from ..builder.step import tokens_of
from ..errors.clauses import KEYWORDS as CLAUSE_KEYWORDS
from ..errors.forms import lacks_attributes
from ..errors.messages import explain
from ..errors.separators import alias_without_mark
from ..text import indentation, starts_line
from .lalr import END, Parser, State, UnexpectedToken
from .lexer import OPERATION_TERMINALS, ProgramText
from .repair import Repair
from .situation import Message, Situation
from .tokens import SPACE, Tok

_LIMIT = 500
"""Number of syntax errors after which the rest of a program is skipped."""

_DICTIONARY = re.compile(rf"{SPACE}[=,}}]")
_SIGNATURE = re.compile(r"[ \t]*(?::|->)")
"""The text after the dictionary of a statement, but seldom after a region that ends in the middle of a line."""

_BEGINS_STATEMENT = re.compile(r"RESULTS|BLOCK|OP_(?!UNKNOWN)")


_DIRECTIVES = frozenset((".arg", ".const", "arg", "const", ".args", ".consts"))
_DIRECTIVE_NAME = re.compile(r"[ \t]*%?([\w.$-]+)")


class Recovery(Repair):
    """Error handling of one parse."""

    def __init__(self, parser: Parser, builder: BuilderBase, data: ProgramText) -> None:
        self.parser = parser
        self.builder = builder
        self.data = data
        self.resumed = -1
        self.errors = 0
        self.told: set[str] = set()

    def __call__(self, error: UnexpectedToken) -> bool:
        """Reports ``error`` and skips to the next statement; returns False when parsing cannot continue."""
        token, state = error.token, error.state
        text = self.data.text
        keep = self._statement_depth(state.stack)
        at_end = token.type == END
        if at_end:
            token = Tok(END, "", max(0, len(text.rstrip()) - 1))
        statement = self._statement(state.values[keep:], token)
        self.errors += 1
        if not at_end and self.errors <= _LIMIT and self.repaired(state, statement, token, self._after(token)):
            return True
        expected = frozenset(kind for kind in error.expected if self._accepts(state.stack, kind))
        begins_line = starts_line(text, token.start) and not self._continues(statement, token)
        goes_on = self._report(token, expected, statement, begins_line, at_end)
        if at_end or not goes_on or self.errors > _LIMIT:
            return False
        opened = bool(statement) and statement[-1].type == "LBRACE" and not lacks_attributes(text, statement[-1])
        if statement and (opened or begins_line or self._closed_region(state)):
            self._complete(state)
            keep = self._statement_depth(state.stack)
            statement = self._statement(state.values[keep:], token)
        self.builder.pending = None
        del state.stack[keep + 1 :]
        del state.values[keep:]
        self._poison_results(statement, token)
        self._resume(state, statement, token, begins_line)
        return True

    def _continues(self, statement: list[Tok], token: Tok) -> bool:
        """Returns whether a token at the start of a line belongs to the statement above."""
        clauses = any(tok.type in ("OP_ACC_STORE", "OP_MAD") for tok in statement[:2])
        behind_comma = bool(statement) and statement[-1].type == "COMMA" and token.type == "WORD"
        return behind_comma or (clauses and token.text in CLAUSE_KEYWORDS)

    def _report(
        self, token: Tok, expected: frozenset[str], statement: list[Tok], begins_line: bool, at_end: bool
    ) -> bool:
        """Reports the error; returns whether reading on is worthwhile."""
        following = None if at_end else self._after(token)
        if "RESULTS" in expected and begins_line:
            # The statement above, or the header of this region, is complete.
            statement = []
        names = self.builder.scope.values
        situation = Situation(token, expected, statement, following, names, self.data.text)
        notes: tuple[Note, ...] = ()
        position = self.builder.braces.unclosed if at_end and "RBRACE" in situation.expected else None
        if position is None:
            found = explain(situation)
        else:
            unclosed = Tok("LBRACE", "{", position)
            text, help = "this '{' is not closed", "add the missing '}'"
            found = Message("parse-unbalanced", text, help, unclosed, remedies=(close_bracket("{"),))
            notes = self._end_of_region(unclosed)
        place = found.at or token
        if token.type == "RBRACE" and not statement:
            notes = self._surplus_brace(token)
        if not found.once or found.text not in self.told:
            self.told.add(found.text)
            end = max(place.start + 1, place.end)
            self.builder.report(
                found.rule, found.text, place.start, end, found.help, notes=notes, remedies=found.remedies
            )
        return not found.last

    # ------------------------------------------------------------ the text read so far

    def _statement_depth(self, stack: list[int]) -> int:
        """Returns the number of values below the innermost position where a statement may start."""
        for depth in range(len(stack) - 1, -1, -1):
            actions = self.parser.actions(stack[depth])
            if "statement" in actions or "plain_statement" in actions:
                return depth
        return 0

    def _statement(self, values: list[Any], token: Tok) -> list[Tok]:
        """Returns the tokens of the statement before ``token``, without those of regions that end in it."""
        last = next((n for n in range(len(values) - 1, -1, -1) if isinstance(values[n], Region)), -1)
        head = list(tokens_of(values[: last + 1]))
        rest = next(tokens_of(values[last + 1 :]), None)
        if rest is None:
            return head
        ahead = ProgramText(self.data.text, self.data.assembly)
        ahead.position = rest.start
        for found in self.data.lexer.tokens(ahead):
            if found.start >= token.start:
                break
            head.append(found)
        return head

    def _after(self, token: Tok) -> Tok | None:
        """Returns the token after ``token``."""
        ahead = ProgramText(self.data.text, self.data.assembly)
        ahead.position = token.end
        return next(self.data.lexer.tokens(ahead), None)

    # ------------------------------------------------------------ the parser's stacks

    def _complete(self, state: State) -> None:
        """Reduces the symbols before an unexpected token as if a statement followed, so that a whole statement on the
        line above is built and a region just opened is entered."""
        self._reduce(state, "RESULTS")

    def _closed_region(self, state: State) -> bool:
        """Returns whether the position is directly after the closing brace of a region."""
        rules = self.parser.tables.rules
        actions = self.parser.actions(state.stack[-1]).values()
        return any(action < 0 and rules[-1 - action].symbol == "region" for action in actions)

    def _poison_results(self, statement: list[Tok], token: Tok) -> None:
        """Defines the names of an incorrect statement so that their uses are not errors as well."""
        first = statement[0] if statement else token
        if first.text in _DIRECTIVES and (name := _DIRECTIVE_NAME.match(self.data.text, first.end)):
            statement = [Tok("RESULTS", f"%{name[1]} =", name.start(1))]
        elif not statement and token.type == "USES":
            if token.text in self.builder.scope.values:
                return
            statement = [Tok("RESULTS", token.text + " =", token.start)]
        elif not statement and token.type == "WORD" and (alias := alias_without_mark(self.data.text, token)):
            statement = [Tok("TYPE_ALIAS", f"{alias} =", token.start)]
        elif not statement and token.type == "BINDINGS":
            statement = [Tok("RESULTS", token.text.partition("=")[0] + "=", token.start)]
        elif not statement and token.type in ("WORD", "INTEGER"):
            statement = [Tok("RESULTS", f"%{token.text} =", token.start)]
        elif not statement and token.type == "TYPES":
            statement = [Tok("TYPE_ALIAS", token.text + " =", token.start)]
        for found in statement:
            if found.type == "RESULTS":
                self.builder.result_statement([found, None])
            elif found.type == "TYPE_ALIAS":
                self.builder.poison_alias(found)

    # ------------------------------------------------------------ where to resume

    def _resume(self, state: State, statement: list[Tok], token: Tok, begins_line: bool) -> None:
        """Sets where lexing resumes: at the next statement, or inside the region of the incorrect one.

        Attribute dictionaries are skipped. One that is never closed ends where a line starts with a statement.
        """
        data, text = self.data, self.data.text
        data.position = max(token.start, self.resumed + 1)
        closes_nothing = token.type == "RBRACE" and not statement
        may_begin = begins_line and bool(statement) and token.start > self.resumed
        depth = sum((tok.type == "LBRACE") - (tok.type == "RBRACE") for tok in statement)
        unclosed = depth > 0
        generic = any(tok.type == "STRING" for tok in statement[:2])
        first, previous = True, statement[-1] if statement else None
        behind_brace = previous is not None and previous.type == "LBRACE" and begins_line
        if previous is not None and behind_brace and self._opens_region(token, generic):
            self._enter(state, statement[:-1], previous)
            return
        tokens = data.lexer.tokens(data)
        ahead = next(tokens, None)
        while ahead is not None:
            found, ahead = ahead, next(tokens, None)
            kind = found.type
            if kind == "LBRACE":
                if self._opens_region(ahead, generic and previous is not None and previous.type == "LPAR"):
                    self._enter(state, [*statement, *self._between(token, found)], found)
                    return
                depth += 1
            elif kind == "RBRACE":
                if depth <= 0:
                    closes = not (closes_nothing and first) and not self._is_stray(found)
                else:
                    closes = unclosed and starts_line(text, found.start) and self._surplus(found) == -1
                if closes:
                    self._continue(found.start)
                    return
                depth = max(0, depth - 1)
            elif (not first or (may_begin and kind != "OP_UNKNOWN")) and self._begins(found, previous, ahead, depth):
                self._continue(found.start)
                return
            first, previous = False, found
        data.position = len(text)

    def _begins(self, token: Tok, previous: Tok | None, following: Tok | None, depth: int) -> bool:
        """Returns whether a statement starts with ``token``, which is between the other two."""
        line = starts_line(self.data.text, token.start)
        if depth > 0:
            return line and _BEGINS_STATEMENT.match(token.type) is not None
        if (
            token.type in ("BLOCK", "STRING", "OP_UNKNOWN", "TYPE_ALIAS", "ATTRIBUTE_ALIAS")
            or token.text in _DIRECTIVES
        ):
            return line
        if token.type == "TYPES":
            # An alias without its equal sign.
            return line and len(self.builder.scope.frames) == 1
        if token.type in ("USES", "WORD"):
            # A result list without its equal sign, a name without its dialect.
            return line and _misspelt_beginning(token, following)
        if token.type == "RESULTS":
            return line or (following is not None and (following.type.startswith("OP_") or following.type == "STRING"))
        return token.type.startswith("OP_") and (previous is None or previous.type != "LPAR")

    def _continue(self, position: int) -> None:
        self.resumed = self.data.position = position

    def _opens_region(self, following: Tok | None, generic: bool) -> bool:
        """Returns whether a brace before ``following`` opens a region: not an attribute dictionary, not a ``generic``
        form."""
        if following is None or generic:
            return False
        kind = following.type
        if kind in ("WORD", "STRING", "OP_UNKNOWN"):
            return _DICTIONARY.match(self.data.text, following.end) is None
        return kind in ("RESULTS", "BLOCK", "USES") or kind.startswith("OP_")

    def _between(self, first: Tok, last: Tok) -> Iterator[Tok]:
        """Yields the tokens from ``first`` up to ``last``."""
        ahead = ProgramText(self.data.text, self.data.assembly)
        ahead.position = first.start
        for found in self.data.lexer.tokens(ahead):
            if found.start >= last.start:
                return
            yield found

    def _enter(self, state: State, header: list[Tok], brace: Tok) -> None:
        """Opens the region of an incorrect header; names that are new in the header are its arguments."""
        head = next((tok for tok in header if tok.type.startswith("OP_")), None)
        following = self._after(brace)
        if following is not None and following.type == "BLOCK":
            # Its block names the arguments itself.
            header = header[:1]
        isolated = head is not None and head.type == "OP_FUNC"
        start = header[0].start if header else brace.start
        self._feed(state, Tok("OP_BROKEN", "", start, (isolated, _with_signs(header[1:]))))
        self._feed(state, brace)
        self._continue(brace.end)

    # ------------------------------------------------------------ unbalanced braces

    def _is_stray(self, brace: Tok) -> bool:
        """Returns whether the braces of the rest of the text would match the open regions without this
        closing brace."""
        if starts_line(self.data.text, brace.start):
            return False
        return _SIGNATURE.match(self.data.text, brace.end) is not None or self._surplus(brace) == 0

    def _surplus(self, brace: Tok) -> int:
        """Returns how many more closing braces follow ``brace`` than regions are open."""
        return self.builder.braces.closing_after(brace.end) - (len(self.builder.scope.frames) - 1)

    def _end_of_region(self, brace: Tok) -> tuple[Note, ...]:
        """Returns a note at the first line after ``brace`` that is not indented deeper than its line."""
        text = self.data.text
        least = indentation(text, brace.start)
        position = text.find("\n", brace.start) + 1
        while position:
            begin = position + indentation(text, position)
            if text[begin : begin + 1].strip() and begin - position <= least:
                return self._note("'}' seems to be missing before this line", begin)
            position = text.find("\n", position) + 1
        return ()

    def _surplus_brace(self, token: Tok) -> tuple[Note, ...]:
        """Returns a note at the surplus closing brace, where it is not ``token``."""
        found = self.builder.braces.surplus
        return self._note("this '}' seems to be one too many", found) if found not in (None, token.start) else ()

    def _note(self, message: str, position: int) -> tuple[Note, ...]:
        return (Note(message, Span(self.builder.source, position, position + 1)),)


def _with_signs(header: list[Tok]) -> list[Tok]:
    """Returns ``header`` with the names of arguments and loop variables that lack their % as values."""
    found = list(header)
    for place, (token, following) in enumerate(pairwise(header)):
        if token.type == "WORD" and following.type in ("EQUAL", "COLON"):
            found[place] = Tok("USES", f"%{token.text}", token.start)
    return found


def _misspelt_beginning(token: Tok, following: Tok | None) -> bool:
    """Returns whether a value or word at the start of a line probably starts a statement."""
    if following is None:
        return False
    if token.type == "USES":
        return following.type.startswith("OP_")
    return following.type == "EQUAL" or f"pto.{token.text}" in OPERATION_TERMINALS

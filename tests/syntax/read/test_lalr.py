"""The parser's loop does what Lark's own does, on right and wrong input."""

from collections.abc import Iterator
from typing import Any

import lark
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pto_dialect.syntax.read.lalr import Parser, UnexpectedToken
from pto_dialect.syntax.read.lark_tables import OPTIONS, tables_of
from pto_dialect.syntax.read.tokens import Tok

GRAMMAR = """
start: statement*
?statement: assign | call | listed
assign: NAME "=" value tail ";"
call: NAME "(" [arguments] ")" ";"       -> call
arguments: value ("," value)*
listed: NAME "<" (NAME "=" value ";")+ (">" | "}")* ";"
?value: NUMBER | NAME | "(" value ")"     -> nested
      | pair
pair: "<" value "," value ">"
tail:
    | "{" "}"                            -> braces
NAME: /[a-z]/
NUMBER: /[0-9]/
"""


class Nested(lark.Transformer):
    """Every rule as a tuple, so that callbacks and their arguments are compared."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name.isupper() or name == "visit_wrapper":
            raise AttributeError(name)
        return lambda items: (str(name), *map(shown, items))


def shown(value: Any) -> Any:
    """A token or value of either parser as plain data; what a repetition has read so far as a list."""
    if isinstance(value, (lark.Token, Tok)):
        return (value.type, str(value))
    if isinstance(value, tuple):
        return tuple(shown(part) for part in value)
    parts = getattr(value, "children", None) or getattr(value, "values", None)
    return value if parts is None else [shown(part) for part in parts]


REFERENCE = lark.Lark(GRAMMAR, lexer="basic", transformer=Nested(), **OPTIONS)


class Text:
    """Tokens of a text, each of which is handed out once."""

    def __init__(self, text: str) -> None:
        self.tokens = REFERENCE.lex(text)


class Lexer:
    def __init__(self, literals: dict[str, str]) -> None:
        assert literals["("] == "LPAR"

    def lex(self, data: Text) -> Iterator[Tok]:
        for token in data.tokens:
            yield Tok(token.type, str(token), token.start_pos or 0)


MINE = Parser(tables_of(REFERENCE), Lexer, Nested())


def reference(text: str, skip: int) -> list[object]:
    """The parse result with every error on the way; after each of the first ``skip`` errors the wrong token is left
    out."""
    told: list[object] = []

    def on_error(error: Any) -> bool:
        if isinstance(error, lark.exceptions.UnexpectedCharacters):
            return False
        values = [shown(value) for value in error.interactive_parser.parser_state.value_stack]
        told.append((error.token.type, sorted(error.expected), values))
        return len(told) <= skip

    try:
        told.append(shown(REFERENCE.parse(text, on_error=on_error)))
    except lark.exceptions.UnexpectedInput as error:
        told.append(type(error).__name__)
    return told


def mine(text: str, skip: int) -> list[object]:
    told: list[object] = []

    def on_error(error: UnexpectedToken) -> bool:
        values = [shown(value) for value in error.state.values]
        told.append((error.token.type, sorted(error.expected), values))
        # Lark gives up where two errors at the end follow each other.
        if len(told) > 1 and told[-1] == told[-2] and error.token.type == "$END":
            del told[-1]
            return False
        return len(told) <= skip

    try:
        told.append(shown(MINE.parse(Text(text), on_error)))
    except (UnexpectedToken, lark.exceptions.UnexpectedInput) as error:
        told.append(type(error).__name__)
    return told


@given(st.text(alphabet="ab1=();,<>{}", max_size=30), st.integers(0, 3))
def test_any_token_sequence(text: str, skip: int) -> None:
    assert mine(text, skip) == reference(text, skip)


SENTENCES = ["a=1;", "b=(c);", "a=<1,(b)>{};", "f(1,<2,c>);", "g();", "l<a=1;>;", "l<a=1;b=<1,2>;c=d;>}>;", "l<a=b;;"]


@given(st.lists(st.sampled_from(SENTENCES), max_size=8))
def test_sentences(statements: list[str]) -> None:
    text = "".join(statements)
    assert mine(text, 0) == reference(text, 0)


def test_an_error_that_nobody_fixes() -> None:
    with pytest.raises(UnexpectedToken) as caught:
        MINE.parse(Text("a=;"))
    assert caught.value.token.type == "SEMICOLON"
    assert caught.value.expected == {"LESSTHAN", "LPAR", "NAME", "NUMBER"}


def test_a_handler_that_changes_the_stacks_continues() -> None:
    def drop(error: UnexpectedToken) -> bool:
        del error.state.stack[1:], error.state.values[:]
        return error.token.type != "$END"

    assert MINE.parse(Text("a=,b=1;"), drop) == ("start", ("assign", ("NAME", "b"), *SHOWN_REST))


SHOWN_REST = (("EQUAL", "="), ("NUMBER", "1"), ("tail",), ("SEMICOLON", ";"))


def test_reducing_by_hand_is_what_the_loop_does() -> None:
    found: list[object] = []

    def on_error(error: UnexpectedToken) -> bool:
        while (action := MINE.actions(error.state.stack[-1]).get("SEMICOLON")) is not None and action < 0:
            MINE.reduce(error.state, action)
        found.extend(shown(value) for value in error.state.values)
        return False

    with pytest.raises(UnexpectedToken):
        MINE.parse(Text("a=<1,b>)"), on_error)
    pair = ("pair", *(("LESSTHAN", "<"), ("NUMBER", "1"), ("COMMA", ","), ("NAME", "b"), ("MORETHAN", ">")))
    assert found == [("NAME", "a"), ("EQUAL", "="), pair, ("tail",)]

"""The parser's loop does what Lark's own does, on right and wrong input."""

from typing import Any

import lark
from hypothesis import given
from hypothesis import strategies as st
from lark.parsers.lalr_parser import _Parser

from pto_dialect.syntax.read.lalr import RowParser

GRAMMAR = """
start: statement*
?statement: assign | call
assign: NAME "=" value tail ";"
call: NAME "(" [arguments] ")" ";"       -> call
arguments: value ("," value)*
?value: NUMBER | NAME | "(" value ")"     -> nested
      | pair
pair: "<" value "," value ">"
tail:
    | "{" "}"                            -> braces
NAME: /[a-z]/
NUMBER: /[0-9]/
"""
OPTIONS: dict[str, Any] = {"parser": "lalr", "lexer": "basic", "keep_all_tokens": True, "maybe_placeholders": False}


class Nested(lark.Transformer):
    """Every rule as a tuple, so that callbacks and their arguments are compared."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name.isupper() or name == "visit_wrapper":
            raise AttributeError(name)
        return lambda items: (name, *items)


def both() -> tuple[lark.Lark, lark.Lark]:
    parsers: list[lark.Lark] = []
    for loop in (_Parser, RowParser):
        parser = lark.Lark(GRAMMAR, transformer=Nested(), **OPTIONS)
        tables: Any = parser.parser.parser
        tables.parser = loop(tables.parser.parse_table, tables.parser.callbacks)
        parsers.append(parser)
    return parsers[0], parsers[1]


REFERENCE, MINE = both()


def outcome(parser: lark.Lark, text: str, skip: int) -> list[object]:
    """The parse result with every error on the way; after each of the first ``skip`` errors the wrong token is left
    out."""
    told: list[object] = []

    def on_error(error: Any) -> bool:
        state = error.interactive_parser.parser_state
        told.append((str(error.token), error.token.type, sorted(error.expected), repr(state.value_stack)))
        told.append(sorted(error.interactive_parser.accepts()))
        return len(told) <= 2 * skip

    try:
        told.append(parser.parse(text, on_error=on_error))
    except lark.exceptions.UnexpectedInput as error:
        told.append(type(error).__name__)
    return told


@given(st.text(alphabet="ab1=();,<>{}", max_size=30), st.integers(0, 3))
def test_any_token_sequence(text: str, skip: int) -> None:
    assert outcome(MINE, text, skip) == outcome(REFERENCE, text, skip)


@given(st.lists(st.sampled_from(["a=1;", "b=(c);", "a=<1,(b)>{};", "f(1,<2,c>);", "g();"]), max_size=8))
def test_sentences(statements: list[str]) -> None:
    text = "".join(statements)
    result = outcome(MINE, text, 0)
    assert result == outcome(REFERENCE, text, 0)
    assert len(result) == 1

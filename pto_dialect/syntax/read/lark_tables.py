"""Makes parse tables from a grammar by Lark.

This takes about a second for the grammar of programs; ``grammar.py`` caches the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import lark
from lark.grammar import Rule as LarkRule
from lark.lexer import Lexer
from lark.parsers.lalr_analysis import Shift

from .lalr import Rule, Tables

OPTIONS: dict[str, Any] = {"parser": "lalr", "start": "start", "keep_all_tokens": True, "maybe_placeholders": False}


class NoLexer(Lexer):
    """Placeholder for a lexer: the terminals are only declared."""

    def __init__(self, conf: object) -> None: ...

    def lex(self, lexer_state: object, parser_state: object) -> Iterator[Any]:
        """No tokens."""
        return iter(())


def build(text: str) -> Tables:
    """Returns the tables of a grammar; raises ``lark.exceptions.GrammarError`` for one with conflicts."""
    return tables_of(lark.Lark(text, lexer=NoLexer, **OPTIONS))


def tables_of(parser: lark.Lark) -> Tables:
    """Returns the tables of a parser, with every list of symbols and every row stored once."""
    front: Any = parser.parser
    table = front.parser.parser.parse_table
    rules: dict[LarkRule, int] = {}
    columns: dict[tuple[str, ...], int] = {}
    rows: dict[tuple[int, Any], int] = {}
    states: list[int] = []
    for state in range(len(table.states)):
        actions = {
            symbol: target if kind is Shift else -1 - rules.setdefault(target, len(rules))
            for symbol, (kind, target) in sorted(table.states[state].items())
        }
        column = columns.setdefault(tuple(actions), len(columns))
        numbers = tuple(actions.values())
        row = (column, numbers[0] if len(set(numbers)) == 1 else numbers)
        states.append(rows.setdefault(row, len(rows)))
    literals = {term.pattern.value: term.name for term in parser.terminals if term.pattern.type == "str"}
    return Tables(
        tuple(columns),
        tuple(rows),
        tuple(states),
        tuple(map(_plain, rules)),
        table.start_states["start"],
        table.end_states["start"],
        literals,
    )


def _plain(rule: LarkRule) -> Rule:
    repeated = (n for n, symbol in enumerate(rule.expansion) if not symbol.is_term and symbol.name.startswith("_"))
    single = bool(rule.options.expand1) and rule.alias is None
    # Names are tokens of Lark, not plain text.
    return Rule(
        str(rule.origin.name), len(rule.expansion), str(rule.alias or rule.origin.name), single, tuple(repeated)
    )

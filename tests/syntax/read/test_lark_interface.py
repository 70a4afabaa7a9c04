"""What the maker of parse tables uses of Lark beyond its documented interface.

Lark promises nothing about these names, so ``pyproject.toml`` admits only the releases on which the tests here have
passed. When one fails after Lark has moved, its name says what is no longer there. Nothing else of the package knows
Lark.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import lark
import pytest
from lark.parsers.lalr_analysis import Reduce, Shift
from lark.parsers.lalr_parser import LALR_Parser, _Parser

ROOT = Path(__file__).parents[3]

GRAMMAR = """
start: pair+
pair: "<" item "," item ">"
?item: NAME | pair
NAME: /[a-z]/
"""


@pytest.fixture(scope="module")
def parser() -> Any:
    return lark.Lark(GRAMMAR, parser="lalr", lexer="basic")


def test_where_the_table_of_a_parser_lies(parser: Any) -> None:
    tables = parser.parser.parser
    assert isinstance(tables, LALR_Parser)
    assert isinstance(tables.parser, _Parser)


def test_what_a_table_holds(parser: Any) -> None:
    table = parser.parser.parser.parser.parse_table
    assert set(table.start_states) == set(table.end_states) == {"start"}
    assert set(table.states) == set(range(len(table.states)))
    assert set(table.end_states.values()) <= set(table.states)
    actions = [entry for row in table.states.values() for entry in row.items()]
    assert {type(symbol) for symbol, _ in actions} == {str}
    for _, (action, target) in actions:
        assert action in (Shift, Reduce)
        assert isinstance(target, int) if action is Shift else hasattr(target, "expansion")


def test_what_a_rule_holds(parser: Any) -> None:
    rules = [rule for rule in parser.rules if rule.origin.name == "item"]
    assert sorted(rule.expansion[0].name for rule in rules) == ["NAME", "pair"]
    assert all(rule.options.expand1 and rule.alias is None for rule in rules)
    assert sorted(rule.expansion[0].is_term for rule in rules) == [False, True]


def test_repetitions_are_symbols_with_an_underscore(parser: Any) -> None:
    hidden = {rule.origin.name for rule in parser.rules} - {"start", "pair", "item"}
    assert len(hidden) == 1 and hidden.pop().startswith("_")


def test_what_a_terminal_holds(parser: Any) -> None:
    found = {term.name: (term.pattern.type, term.pattern.value) for term in parser.terminals}
    assert found["NAME"] == ("re", "[a-z]")
    assert found["LESSTHAN"] == ("str", "<")


def test_one_module_knows_lark() -> None:
    files = (ROOT / "pto_dialect").rglob("*.py")
    users = [
        path.name for path in files if re.search(r"^\s*(?:from|import) lark\b", path.read_text(encoding="utf-8"), re.M)
    ]
    assert users == ["lark_tables.py"]


def test_only_releases_with_these_names_are_admitted() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [need for need in project["project"]["dependencies"] if need.startswith("lark")]
    assert wanted == ["lark==1.3.*"]
    assert wanted[0] in project["build-system"]["requires"], "the wheel brings tables that this Lark makes"
    assert lark.__version__.startswith("1.3.")

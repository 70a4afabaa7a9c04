"""What the reader uses of Lark beyond its documented interface.

Lark promises nothing about these names, so ``pyproject.toml`` admits only the releases on which the tests here have
passed. When one fails after Lark has moved, its name says what is no longer there, and ``USED`` who needs it.
"""

from __future__ import annotations

import inspect
import re
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import lark
import pytest
from lark.exceptions import UnexpectedToken
from lark.parsers.lalr_analysis import IntParseTable, Reduce, Shift
from lark.parsers.lalr_interactive_parser import InteractiveParser
from lark.parsers.lalr_parser import LALR_Parser, _Parser

ROOT = Path(__file__).parents[3]

USED = (
    ("lark.lexer", "Lexer", "lexer.py, type_parser.py: base class of the lexers"),
    ("lark.lexer", "Token.new_borrow_pos", "lalr.py: the token at the end of the text"),
    ("lark.lexer", "TerminalDef.deserialize", "table_cache.py: terminals of stored tables"),
    ("lark.grammar", "Rule.deserialize", "table_cache.py: rules of stored tables"),
    ("lark.grammar", "Rule._deserialize", "table_cache.py: rules compute their hash anew"),
    ("lark", "Lark.memo_serialize", "table_cache.py: tables to store"),
    ("lark", "Lark._load_from_dict", "table_cache.py: a parser over stored tables"),
    ("lark.parsers.lalr_analysis", "Shift", "lalr.py: kinds of actions"),
    ("lark.parsers.lalr_analysis", "Reduce", "recovery.py, repair.py: kinds of actions"),
    ("lark.parsers.lalr_analysis", "IntParseTable", "table_cache.py: the table of states"),
    ("lark.parsers.lalr_parser", "LALR_Parser.deserialize", "table_cache.py: where stored tables come in"),
    ("lark.parsers.lalr_parser", "_Parser.parse_from_state", "lalr.py: the loop that is replaced"),
    ("lark.parsers.lalr_interactive_parser", "InteractiveParser", "lalr.py: what errors carry for recovery"),
)
"""Module, name, and who uses it."""

PARAMETERS = (
    (_Parser.__init__, ["self", "parse_table", "callbacks", "debug"]),
    (_Parser.parse_from_state, ["self", "state", "last_token"]),
    (IntParseTable.__init__, ["self", "states", "start_states", "end_states"]),
    (LALR_Parser.deserialize, ["data", "memo", "callbacks", "debug"]),
    (InteractiveParser.__init__, ["self", "parser", "parser_state", "lexer_thread"]),
    (lark.Lark.memo_serialize, ["self", "types_to_memoize"]),
)
"""Functions that are called or overridden, with their parameters."""

GRAMMAR = """
start: pair+
pair: "<" item "," item ">"
?item: NAME | pair
NAME: /[a-z]/
"""


@pytest.fixture(scope="module")
def parser() -> Any:
    return lark.Lark(GRAMMAR, parser="lalr", lexer="basic")


@pytest.mark.parametrize(("module", "name", "user"), USED, ids=[f"{module}.{name}" for module, name, _ in USED])
def test_a_name_is_there(module: str, name: str, user: str) -> None:
    found: Any = import_module(module)
    for part in name.split("."):
        found = getattr(found, part, None)
        assert found is not None, f"Lark {lark.__version__} has no {module}.{name} any more, which {user}"


@pytest.mark.parametrize(("function", "wanted"), PARAMETERS, ids=lambda value: getattr(value, "__qualname__", ""))
def test_a_function_takes_what_it_took(function: Any, wanted: list[str]) -> None:
    assert list(inspect.signature(function).parameters) == wanted


def test_where_the_table_of_a_parser_lies(parser: Any) -> None:
    tables = parser.parser.parser
    assert isinstance(tables, LALR_Parser)
    assert isinstance(tables.parser, _Parser)
    assert tables.parser.parse_table is tables._parse_table


def test_what_a_table_holds(parser: Any) -> None:
    table = parser.parser.parser.parser.parse_table
    assert set(table.start_states) == set(table.end_states) == {"start"}
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
    assert set(parser.rules) <= set(parser.parser.parser.parser.callbacks)


def test_what_an_error_carries(parser: Any) -> None:
    with pytest.raises(UnexpectedToken) as caught:
        parser.parse("<a,>")
    error = caught.value
    assert error.expected == {"NAME", "LESSTHAN"}
    state = error.interactive_parser.parser_state
    assert len(state.state_stack) == len(state.value_stack) + 1
    assert state.parse_conf.start == "start"
    assert state.parse_conf.callbacks is parser.parser.parser.parser.callbacks


def test_an_error_handler_that_changes_the_stacks_goes_on(parser: Any) -> None:
    def drop(error: Any) -> bool:
        state = error.interactive_parser.parser_state
        del state.state_stack[1:], state.value_stack[:]
        return error.token.type != "$END"

    assert parser.parse("<a><b,c>", on_error=drop).children[0].data == "pair"


def test_what_stored_tables_look_like(parser: Any) -> None:
    data, memo = parser.memo_serialize([import_module("lark.grammar").Rule, import_module("lark.lexer").TerminalDef])
    assert {"parser", "options"} <= set(data)
    assert "lexer_type" in data["parser"]["lexer_conf"]
    assert {"tokens", "states", "start_states", "end_states"} <= set(data["parser"]["parser"])
    assert {item["__type__"] for item in memo.values()} == {"Rule", "TerminalDef"}
    # Which state comes first depends on the order of sets; one that only ends the text has no action.
    actions = [action for state in data["parser"]["parser"]["states"].values() for action in state.values()]
    assert {action[0] for action in actions} == {0, 1}


def test_the_reader_uses_nothing_else_of_the_private_modules() -> None:
    """Imports from modules that Lark's documentation does not name are all in the table."""
    imported: set[str] = set()
    for path in (ROOT / "pto_dialect").rglob("*.py"):
        for module, names in re.findall(
            r"^from (lark\.(?:parsers\.\w+|grammar)) import (.+)$", path.read_text(encoding="utf-8"), re.M
        ):
            imported |= {f"{module}.{name.strip()}" for name in names.split(",")}
    listed = {f"{module}.{name.split('.')[0]}" for module, name, _ in USED}
    assert imported and imported <= listed


def test_only_releases_with_these_names_are_admitted() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [need for need in project["project"]["dependencies"] if need.startswith("lark")]
    assert wanted == ["lark==1.3.*"]
    assert wanted[0] in project["build-system"]["requires"], "tables of the wheel fit one version of Lark only"
    assert lark.__version__.startswith("1.3.")

"""Parse tables on disk, in a form that loads in a few milliseconds.

Lark's own cache spells out every entry of the table and every symbol of every rule, which costs some 70 ms at
each start. Here equal parts are stored once, and a row that only reduces is stored as its one action.
"""

from __future__ import annotations

import os
import pickle
import zlib
from typing import Any

from lark import Lark
from lark.grammar import Rule
from lark.lexer import TerminalDef
from lark.parsers.lalr_analysis import IntParseTable, Reduce, Shift
from lark.parsers.lalr_parser import LALR_Parser

from .lalr import RowParser

FORMAT = 3
"""Raised by every change of what ``store`` writes, so that other versions' files are left alone."""

_MEMOIZED = {"Rule": Rule, "TerminalDef": TerminalDef}


class RowTableParser(LALR_Parser):
    """Lark's LALR parser over a table that was stored row by row."""

    @classmethod
    def deserialize(cls, data: Any, memo: Any, callbacks: Any, debug: bool = False) -> RowTableParser:
        """The parser with the tables that a cache holds."""
        actions = [(Reduce, memo[target]) if reduces else (Shift, target) for reduces, target in data["actions"]]
        columns = data["columns"]
        # Nobody changes a finished table, so states may share a row.
        rows = [
            dict.fromkeys(columns[names], actions[numbers])
            if isinstance(numbers, int)
            else dict(zip(columns[names], map(actions.__getitem__, numbers), strict=True))
            for names, numbers in data["rows"]
        ]
        states = {state: rows[row] for state, row in data["states"].items()}
        parser = cls.__new__(cls)
        parser._parse_table = IntParseTable(states, data["start_states"], data["end_states"])
        parser.parser = RowParser(parser._parse_table, callbacks, debug)
        return parser


def store(lark: Any, path: str) -> None:
    """Writes the tables of ``lark`` to ``path``, all or nothing; raises OSError."""
    data, memo = lark.memo_serialize(list(_MEMOIZED.values()))
    # The tables do not depend on it, and a wheel is built where the lexer's own dependencies are missing.
    _set_lexer(data, None)
    # Whoever loads them brings a builder, whose module may have another name by then.
    data["options"]["transformer"] = None
    data["parser"]["parser"] = _by_rows(data["parser"]["parser"])
    payload = pickle.dumps((data, _objects(memo)), protocol=pickle.HIGHEST_PROTOCOL)
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as stream:
            stream.write(zlib.crc32(payload).to_bytes(4, "little") + payload)
        os.replace(temporary, path)
    except OSError:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def load(path: str, transformer: object, lexer: type[Any] | str) -> Any | None:
    """The parser stored at ``path``, with a lexer of its own; ``None`` when there is none or the file is damaged."""
    try:
        with open(path, "rb") as stream:
            stored = stream.read()
    except OSError:
        return None
    if zlib.crc32(stored[4:]).to_bytes(4, "little") != stored[:4]:
        return None
    data, memo = pickle.loads(stored[4:])
    for item in memo.values():
        if isinstance(item, Rule):
            # Rules keep their hash, which is another one in every process.
            item._deserialize()
    _set_lexer(data, lexer)
    return Lark._load_from_dict(data, memo, transformer=transformer, _plugins={"LALR_Parser": RowTableParser})


def _set_lexer(data: Any, lexer: type[Any] | str | None) -> None:
    # The options are those of the parser itself.
    data["options"] = {**data["options"], "lexer": lexer}
    data["parser"]["lexer_conf"]["lexer_type"] = lexer


def _objects(memo: Any) -> dict[int, Any]:
    """Rules and terminals by number, equal symbols and options being one object."""
    objects = {number: _MEMOIZED[item["__type__"]].deserialize(item, {}) for number, item in memo.items()}
    symbols: dict[Any, Any] = {}
    options: dict[str, Any] = {}
    for item in objects.values():
        if isinstance(item, Rule):
            item.origin = symbols.setdefault(item.origin, item.origin)
            item.expansion = [symbols.setdefault(symbol, symbol) for symbol in item.expansion]
            item.options = options.setdefault(repr(vars(item.options)), item.options)
    return objects


def _by_rows(table: dict[str, Any]) -> dict[str, Any]:
    """Lark's serialised table with every action, list of terminals and row stored once."""
    names = table["tokens"]
    actions: dict[tuple[int, int], int] = {}
    columns: dict[tuple[str, ...], int] = {}
    rows: dict[tuple[int, Any], int] = {}
    states: dict[int, int] = {}
    for state, entries in table["states"].items():
        ordered = sorted((names[number], action) for number, action in entries.items())
        numbers = tuple(
            actions.setdefault((reduces, target["@"] if reduces else target), len(actions))
            for _, (reduces, target) in ordered
        )
        column = columns.setdefault(tuple(name for name, _ in ordered), len(columns))
        uniform = len(set(numbers)) == 1
        row = (column, numbers[0] if uniform else numbers)
        states[state] = rows.setdefault(row, len(rows))
    return {
        "actions": list(actions),
        "columns": list(columns),
        "rows": list(rows),
        "states": states,
        "start_states": table["start_states"],
        "end_states": table["end_states"],
    }

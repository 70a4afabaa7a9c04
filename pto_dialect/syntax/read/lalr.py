"""The LALR loop over Lark's parse tables.

Lark's own loop looks up the state, the rule's callback (by a hash computed in Python) and the rule's symbols at each
step. Here each state's row is turned, when it is first reached, into a dictionary that holds the next rows themselves
and for reductions what is needed to carry them out. Everything else, error recovery included, is Lark's.

Lexers that ask for the parser's state while they read (Lark's contextual one) and callbacks of terminals cannot be used
with it.
"""

from __future__ import annotations

from typing import Any

from lark.exceptions import UnexpectedToken
from lark.lexer import Token
from lark.parsers.lalr_analysis import Shift
from lark.parsers.lalr_interactive_parser import InteractiveParser
from lark.parsers.lalr_parser import _Parser

_STATE = None
"""Key under which a row keeps the number of its state; never the name of a symbol."""

Row = dict[Any, Any]
"""By symbol: the next row after a shift, its state number while that row was never reached, or a reduction
``(size, callback, origin)``; the callback is ``None`` where a rule of one symbol has that symbol's value."""


class RowParser(_Parser):
    """Lark's parser with a faster loop."""

    def __init__(self, parse_table: Any, callbacks: Any, debug: bool = False) -> None:
        super().__init__(parse_table, callbacks, debug)
        self.rows: dict[int, Row] = {}
        self.reductions: dict[int, tuple[int, Any, str]] = {}

    def parse_from_state(self, state: Any, last_token: Any = None) -> Any:
        """Parses from the stacks of ``state`` on; they are brought up to date when an error is raised."""
        values: list[Any] = state.value_stack
        rows = [self.row(number) for number in state.state_stack]
        row = rows[-1]
        end = self.parse_table.end_states[state.parse_conf.start]
        token = last_token
        for token in state.lexer.lex(state):
            kind = token.type
            while True:
                action = row.get(kind)
                if type(action) is tuple:
                    size, callback, origin = action
                    if callback is None:
                        del rows[-1]
                    elif size:
                        parts = values[-size:]
                        del rows[-size:], values[-size:]
                        values.append(callback(parts))
                    else:
                        values.append(callback([]))
                    previous = rows[-1]
                    row = previous[origin]
                    if type(row) is int:
                        row = previous[origin] = self.row(row)
                    rows.append(row)
                    continue
                if type(action) is int:
                    action = row[kind] = self.row(action)
                elif action is None:
                    raise self.unexpected(token, rows, state)
                row = action
                rows.append(row)
                values.append(token)
                break
        token = Token.new_borrow_pos("$END", "", token) if token else Token("$END", "", 0, 1, 1)
        while True:
            action = row.get("$END")
            if type(action) is not tuple:
                raise self.unexpected(token, rows, state)
            size, callback, origin = action
            parts = values[len(values) - size :]
            del rows[len(rows) - size :], values[len(values) - size :]
            values.append(parts[0] if callback is None else callback(parts))
            row = self.row(self.parse_table.states[rows[-1][_STATE]][origin][1])
            rows.append(row)
            if row[_STATE] == end:
                return values[-1]

    def unexpected(self, token: Any, rows: list[Row], state: Any) -> UnexpectedToken:
        """The error for a token that no action exists for, with everything Lark needs to resume."""
        state.state_stack[:] = [row[_STATE] for row in rows]
        entries = self.parse_table.states[rows[-1][_STATE]]
        expected = {symbol for symbol in entries if symbol.isupper()}
        return UnexpectedToken(
            token, expected, state=state, interactive_parser=InteractiveParser(self, state, state.lexer)
        )

    def row(self, number: int) -> Row:
        """The row of a state."""
        known = self.rows.get(number)
        if known is None:
            known = self.rows[number] = {_STATE: number}
            for symbol, (action, target) in self.parse_table.states[number].items():
                known[symbol] = target if action is Shift else self.reduction(target)
        return known

    def reduction(self, rule: Any) -> tuple[int, Any, str]:
        """What reducing ``rule`` takes."""
        known = self.reductions.get(id(rule))
        if known is None:
            size = len(rule.expansion)
            passes = size == 1 and rule.options.expand1 and rule.alias is None
            callback = None if passes else self.callbacks[rule]
            known = self.reductions[id(rule)] = (size, callback, rule.origin.name)
        return known

"""The LALR loop over the parse tables that Lark makes from a grammar.

Lark itself is not loaded for it: a start would take some 30 ms longer, and its loop looks up the state, the rule's
callback (by a hash computed in Python) and the rule's symbols at each step. Here each state's row becomes, when it is
first reached, a dictionary that holds the next rows themselves and for reductions their parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

from .tokens import Tok

END = "$END"
"""Type of the token after the last one of a text."""

_STATEMENT = "statement"
"""The symbol at whose start :attr:`Parser.begin` is called."""

_STATE = None
"""Key of the state id of a row; never the name of a symbol."""

Callback = Callable[[list[Any]], Any]

Reduction = tuple[int, Callback | None, str]
"""Number of symbols, callback and name of a rule; the callback is ``None`` where a rule of one symbol has that symbol's
value."""

Row = dict[Any, Any]
"""By symbol: the next row after a shift, its state id while that row was never reached, a ``Begin``, or a reduction."""


class Begin:
    """The shift of a token that starts a statement; ``row`` is the next row, or its id."""

    __slots__ = ("row",)

    def __init__(self, row: Any) -> None:
        self.row = row


class Rule(NamedTuple):
    """A production: its ``symbol``, how many ``size`` symbols it has, and the ``method`` of the builder that is called
    with their values.

    ``single``: a single value is passed on without a call. ``repeated`` are the positions of symbols that represent any
    number of values; Lark makes such symbols of ``*`` and ``+``, and their names start with an underscore.
    """

    symbol: str
    size: int
    method: str
    single: bool
    repeated: tuple[int, ...]


class Tables(NamedTuple):
    """A compiled grammar as plain data.

    ``columns`` are lists of symbols. ``rows`` are pairs of a column and the action for each of its symbols, or the one
    action of all: a state after a shift, or -1 - n for a reduction by ``rules[n]``. ``states`` has the row of each
    state, ``literals`` the terminals of the literal texts in the grammar.
    """

    columns: tuple[tuple[str, ...], ...]
    rows: tuple[tuple[int, int | tuple[int, ...]], ...]
    states: tuple[int, ...]
    rules: tuple[Rule, ...]
    start: int
    end: int
    literals: dict[str, str]

    def actions(self, state: int) -> dict[str, int]:
        """Returns the action for each symbol in a state."""
        column, actions = self.rows[self.states[state]]
        names = self.columns[column]
        return dict.fromkeys(names, actions) if isinstance(actions, int) else dict(zip(names, actions, strict=True))


class Lexer(Protocol):
    """Splits texts into tokens."""

    def lex(self, data: Any) -> Iterator[Tok]:
        """Yields the tokens of ``data`` from its read position."""
        ...


class State:
    """The state of a parse: the stack of states, and the values of the symbols between them."""

    __slots__ = ("stack", "values")

    def __init__(self, start: int) -> None:
        self.stack = [start]
        self.values: list[Any] = []


class UnexpectedToken(Exception):
    """A token that the grammar does not allow in its position; ``expected`` are the terminals that could follow as far
    as one state knows.

    ``state`` may be changed: the parse continues from there.
    """

    def __init__(self, token: Tok, expected: frozenset[str], state: State) -> None:
        super().__init__(token)
        self.token = token
        self.expected = expected
        self.state = state


class _Repetition:
    """The values of a repeated symbol."""

    __slots__ = ("values",)

    def __init__(self, values: list[Any]) -> None:
        self.values = values


class Parser:
    """A grammar with a lexer and a builder, whose methods are called as rules complete."""

    begin: Callable[[Tok], bool | tuple[str, Any]] | None = None
    """Called at each token that starts a statement; returns True when it was read, or a symbol that was read with its
    value, and reading continues at the position of the data."""

    def __init__(self, tables: Tables, lexer: Callable[[dict[str, str]], Lexer], builder: object) -> None:
        self.tables = tables
        self.lexer = lexer(tables.literals)
        self.rows: dict[int, Row] = {}
        self._actions: dict[int, dict[str, int]] = {}
        self.reductions: list[Reduction] = [_reduction(rule, builder) for rule in tables.rules]

    def parse(self, data: Any, on_error: Callable[[UnexpectedToken], bool] | None = None) -> Any:
        """Returns the value of the whole text.

        ``on_error`` may change the state of an error and return True, whereupon reading continues; raises
        :class:`UnexpectedToken` otherwise.
        """
        state = State(self.tables.start)
        while True:
            try:
                return self._run(data, state)
            except UnexpectedToken as error:
                if on_error is None or not on_error(error):
                    raise

    def _run(self, data: Any, state: State) -> Any:
        """Parses from the stacks of ``state`` on; they are updated when an error is raised."""
        values = state.values
        rows = [self.row(number) for number in state.stack]
        row = rows[-1]
        begin = self.begin
        tokens = self.lexer.lex(data)
        while (token := next(tokens, None)) is not None:
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
                if type(action) is Begin:
                    if begin is not None and (read := begin(token)):
                        tokens = self.lexer.lex(data)
                        if read is not True:
                            symbol, value = read
                            row = self.following(row, symbol)
                            rows.append(row)
                            values.append(value)
                        break
                    if type(action.row) is int:
                        action.row = self.row(action.row)
                    action = action.row
                elif type(action) is int:
                    action = row[kind] = self.row(action)
                elif action is None:
                    raise self.unexpected(token, rows, state)
                row = action
                rows.append(row)
                values.append(token)
                break
        while True:
            action = row.get(END)
            if type(action) is not tuple:
                raise self.unexpected(Tok(END, "", 0), rows, state)
            size, callback, origin = action
            parts = values[len(values) - size :]
            del rows[len(rows) - size :], values[len(values) - size :]
            values.append(parts[0] if callback is None else callback(parts))
            row = rows[-1][origin]
            if type(row) is int:
                row = self.row(row)
            rows.append(row)
            if row[_STATE] == self.tables.end:
                return values[-1]

    def following(self, row: Row, symbol: str) -> Row:
        """Returns the row after ``symbol``."""
        found = row[symbol]
        if type(found) is int:
            found = row[symbol] = self.row(found)
        return found

    def unexpected(self, token: Tok, rows: list[Row], state: State) -> UnexpectedToken:
        """Returns the error for a token without an action, with everything that is needed to resume."""
        state.stack[:] = [row[_STATE] for row in rows]
        symbols = self.actions(state.stack[-1])
        return UnexpectedToken(token, frozenset(symbol for symbol in symbols if symbol.isupper()), state)

    def row(self, number: int) -> Row:
        """Returns the row of a state."""
        known = self.rows.get(number)
        if known is None:
            known = self.rows[number] = {_STATE: number}
            reductions = self.reductions
            actions = self.tables.actions(number)
            begins = _STATEMENT in actions
            for symbol, action in actions.items():
                if action < 0:
                    known[symbol] = reductions[-1 - action]
                else:
                    first = begins and (symbol == "RESULTS" or symbol.startswith("OP_"))
                    known[symbol] = Begin(action) if first else action
        return known

    def actions(self, number: int) -> dict[str, int]:
        """Returns the action for each symbol in a state, cached for error handling."""
        known = self._actions.get(number)
        if known is None:
            known = self._actions[number] = self.tables.actions(number)
        return known

    def reduce(self, state: State, action: int) -> None:
        """Performs a reduction that :meth:`actions` names."""
        size, callback, symbol = self.reductions[-1 - action]
        stack, values = state.stack, state.values
        parts = values[len(values) - size :]
        del stack[len(stack) - size :], values[len(values) - size :]
        values.append(parts[0] if callback is None else callback(parts))
        stack.append(self.actions(stack[-1])[symbol])


def _reduction(rule: Rule, builder: object) -> Reduction:
    if rule.size == 1 and rule.single and not rule.repeated:
        return 1, None, rule.symbol
    callback: Callback = _Repetition if rule.method.startswith("_") else getattr(builder, rule.method)
    if rule.single:
        callback = _unless_single(callback)
    if rule.repeated:
        callback = _with_repetitions(callback, frozenset(rule.repeated))
    return rule.size, callback, rule.symbol


def _unless_single(callback: Callback) -> Callback:
    def call(parts: list[Any]) -> Any:
        return parts[0] if len(parts) == 1 else callback(parts)

    return call


def _with_repetitions(callback: Callback, places: frozenset[int]) -> Callback:
    def call(parts: list[Any]) -> Any:
        found: list[Any] = []
        for place, part in enumerate(parts):
            if place not in places:
                found.append(part)
            elif found:
                found += part.values
            else:
                # The list of a repetition is not shared, so that a long one is not copied at each step.
                found = part.values
        return callback(found)

    return call

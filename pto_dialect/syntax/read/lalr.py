"""The LALR loop over the parse tables that Lark makes from a grammar.

Lark itself is not loaded for it: a start would take some 30 ms longer, and its loop looks up the state, the rule's
callback (by a hash computed in Python) and the rule's symbols at each step. Here each state's row becomes, when it is
first reached, a dictionary that holds the next rows themselves and for reductions what is needed to carry them out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

from .tokens import Tok

END = "$END"
"""Type of the token behind the last one of a text."""

_STATEMENT = "statement"
"""The symbol whose beginnings :attr:`Parser.begin` is asked about."""

_STATE = None
"""Key under which a row keeps the number of its state; never the name of a symbol."""

Callback = Callable[[list[Any]], Any]

Reduction = tuple[int, Callback | None, str]
"""Number of symbols, callback and name of a rule; the callback is ``None`` where a rule of one symbol has that symbol's
value."""

Row = dict[Any, Any]
"""By symbol: the next row after a shift, its state number while that row was never reached, a ``Begin``, or a
reduction."""


class Begin:
    """The shift of a token with which a statement begins; ``row`` is the next row, or its number."""

    __slots__ = ("row",)

    def __init__(self, row: Any) -> None:
        self.row = row


class Rule(NamedTuple):
    """A way to write something: its ``symbol``, how many ``size`` symbols it is made of, and the ``method`` of the
    builder that is called with their values.

    ``single``: a single value is passed on without a call. ``repeated`` are the places of symbols that stand for any
    number of values; Lark makes such symbols of ``*`` and ``+``, and their names begin with an underscore.
    """

    symbol: str
    size: int
    method: str
    single: bool
    repeated: tuple[int, ...]


class Tables(NamedTuple):
    """What a grammar says, in plain data.

    ``columns`` are lists of symbols. ``rows`` are pairs of a column and what each of its symbols calls for, or the one
    action of all: a state after a shift, or -1 - n for a reduction by ``rules[n]``. ``states`` has the row of each
    state, ``literals`` the terminals of the texts that stand in the grammar.
    """

    columns: tuple[tuple[str, ...], ...]
    rows: tuple[tuple[int, int | tuple[int, ...]], ...]
    states: tuple[int, ...]
    rules: tuple[Rule, ...]
    start: int
    end: int
    literals: dict[str, str]

    def actions(self, state: int) -> dict[str, int]:
        """What each symbol calls for in a state."""
        column, actions = self.rows[self.states[state]]
        names = self.columns[column]
        return dict.fromkeys(names, actions) if isinstance(actions, int) else dict(zip(names, actions, strict=True))


class Lexer(Protocol):
    """Splits texts into tokens."""

    def lex(self, data: Any) -> Iterator[Tok]:
        """The tokens of ``data`` from where it is to be read on."""
        ...


class State:
    """How far a parse has come: numbers of states, and the values of the symbols between them."""

    __slots__ = ("stack", "values")

    def __init__(self, start: int) -> None:
        self.stack = [start]
        self.values: list[Any] = []


class UnexpectedToken(Exception):
    """A token that the grammar does not allow where it stands; ``expected`` are the terminals that could stand there
    as far as one state knows.

    ``state`` may be changed: the parse goes on from there.
    """

    def __init__(self, token: Tok, expected: frozenset[str], state: State) -> None:
        super().__init__(token)
        self.token = token
        self.expected = expected
        self.state = state


class _Repetition:
    """The values that a symbol for any number of them stands for."""

    __slots__ = ("values",)

    def __init__(self, values: list[Any]) -> None:
        self.values = values


class Parser:
    """A grammar with a lexer and a builder, whose methods are called as rules complete."""

    begin: Callable[[Tok], bool] | None = None
    """Asked at each token with which a statement begins: True when it was read, and reading goes on where the data says
    now."""

    def __init__(self, tables: Tables, lexer: Callable[[dict[str, str]], Lexer], builder: object) -> None:
        self.tables = tables
        self.lexer = lexer(tables.literals)
        self.rows: dict[int, Row] = {}
        self._actions: dict[int, dict[str, int]] = {}
        self.reductions: list[Reduction] = [_reduction(rule, builder) for rule in tables.rules]

    def parse(self, data: Any, on_error: Callable[[UnexpectedToken], bool] | None = None) -> Any:
        """The value of the whole text.

        ``on_error`` may change the state of an error and answer True, whereupon reading goes on; raises
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
        """Parses from the stacks of ``state`` on; they are brought up to date when an error is raised."""
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
                    if begin is not None and begin(token):
                        tokens = self.lexer.lex(data)
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

    def unexpected(self, token: Tok, rows: list[Row], state: State) -> UnexpectedToken:
        """The error for a token that no action exists for, with everything that is needed to resume."""
        state.stack[:] = [row[_STATE] for row in rows]
        symbols = self.actions(state.stack[-1])
        return UnexpectedToken(token, frozenset(symbol for symbol in symbols if symbol.isupper()), state)

    def row(self, number: int) -> Row:
        """The row of a state."""
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
        """What each symbol calls for in a state, kept for the many questions that an error raises."""
        known = self._actions.get(number)
        if known is None:
            known = self._actions[number] = self.tables.actions(number)
        return known

    def reduce(self, state: State, action: int) -> None:
        """Carries out a reduction that :meth:`actions` names."""
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
                # Nobody else sees the list of a repetition, so that a long one is not copied at each step.
                found = part.values
        return callback(found)

    return call

"""Arithmetic over the position of a core, for arguments that differ from core to core: ``block * 2 + subblock``.

Python's own parser parses the text and this module evaluates the tree; nothing of it is executed, and everything
outside the tables below is refused. Source: docs/reference/execution.md, "Launches".
"""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable, Mapping
from typing import Any

VARIABLES = {
    "block": "index of the block",
    "count": "number of blocks",
    "core": "index of the core among those of the launch",
    "cores": "number of cores of the launch",
    "subblock": "index of the vector core in its block, 0 on the cube core",
    "subblocks": "number of vector cores of a block",
    "cube": "1 on the cube core of a block that has vector cores too, else 0",
}
"""Names that an expression may use."""

Number = int | float
Variables = Mapping[str, int]
Evaluate = Callable[[Variables], Number]

_MOST_CHARACTERS = 200
_LARGEST = 1 << 64
_MOST_SHIFT = 64

_BINARY: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_BITWISE: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_UNARY: dict[type[ast.unaryop], Callable[[Number], Number]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}
COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_FUNCTIONS: dict[str, Callable[..., Number]] = {"min": min, "max": max}


class ExpressionError(ValueError):
    """A text that is not an expression, or has no value; the message is for the user."""


class CoreExpression:
    """The expression ``text``; raises ``ExpressionError`` if it is not one."""

    def __init__(self, text: str) -> None:
        self.text = text
        if len(text) > _MOST_CHARACTERS:
            raise ExpressionError(f"the expression has {len(text)} characters, at most {_MOST_CHARACTERS} are read")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(text.strip(), mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise ExpressionError(f"'{text}' is no expression over {', '.join(VARIABLES)}") from None
        self._evaluate = self._built(tree.body)

    def __call__(self, variables: Variables) -> Number:
        """Returns the value for ``variables``; raises ``ExpressionError`` where there is none."""
        try:
            return self._evaluate(variables)
        except ZeroDivisionError:
            raise ExpressionError(f"'{self.text}' divides by zero") from None
        except OverflowError:
            raise ExpressionError(f"'{self.text}' has no number for a value") from None

    def _built(self, node: ast.expr) -> Evaluate:
        match node:
            case ast.Constant(value=int() | float() as value) if abs(value) <= _LARGEST:
                number = int(value) if isinstance(value, bool) else value
                return lambda variables: number
            case ast.Name(id=name) if name in VARIABLES:
                return lambda variables: variables[name]
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
                apply, inner = _UNARY[type(op)], self._built(operand)
                return lambda variables: apply(inner(variables))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                combine = _BINARY[type(op)]
                return self._both(left, right, combine)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BITWISE:
                return self._both(left, right, self._bitwise(_BITWISE[type(op)], type(op)))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARISONS:
                compare = COMPARISONS[type(op)]
                return self._both(left, right, lambda a, b: int(compare(a, b)))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                chosen, then, otherwise = self._built(test), self._built(body), self._built(orelse)
                return lambda variables: then(variables) if chosen(variables) else otherwise(variables)
            case ast.Call(func=ast.Name(id=name), args=[_, _, *_], keywords=[]) if name in _FUNCTIONS:
                function, parts = _FUNCTIONS[name], [self._built(part) for part in node.args]
                return lambda variables: function(*(part(variables) for part in parts))
        raise ExpressionError(
            f"'{ast.unparse(node)}' has no meaning in an expression; there are numbers, + - * / // % << >> & | ^,"
            f" comparisons, a if b else c, min, max, and {', '.join(VARIABLES)}"
        )

    def _both(self, left: ast.expr, right: ast.expr, combine: Callable[[Number, Number], Number]) -> Evaluate:
        first, second = self._built(left), self._built(right)

        def evaluate(variables: Variables) -> Number:
            value = combine(first(variables), second(variables))
            if not abs(value) <= _LARGEST:
                raise OverflowError
            return value

        return evaluate

    def _bitwise(
        self, combine: Callable[[int, int], int], kind: type[ast.operator]
    ) -> Callable[[Number, Number], Number]:
        shifts = kind in (ast.LShift, ast.RShift)

        def apply(a: Number, b: Number) -> Number:
            if not isinstance(a, int) or not isinstance(b, int):
                raise ExpressionError(f"'{self.text}' has bits of a number that is no integer")
            if shifts and not 0 <= b <= _MOST_SHIFT:
                raise ExpressionError(f"'{self.text}' shifts by {b} bits")
            return combine(a, b)

        return apply

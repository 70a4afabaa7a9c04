"""Expressions over the values of a run: a small part of Python's syntax, evaluated over its tree by an allow-list.

No text becomes code: names are looked up by the caller, and everything else is on the lists below. Source:
docs/debugger.md, "Expressions".
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from pto_dialect.runtime.run.core_expression import COMPARISONS

MOST_TEXT = 1000
MOST_ELEMENTS = 1 << 26
"""Characters of an expression, and elements of a value that it makes."""


class ExpressionError(Exception):
    """An expression cannot be evaluated; the text says why."""


_NAME = re.compile(r"%([A-Za-z0-9_$](?:[\w$.]*[\w$])?(?:#\d+)?)")
"""Names of values of a program. The remainder operator is followed by a space."""

_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = MappingProxyType(
    {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.Div: np.true_divide,
        ast.FloorDiv: np.floor_divide,
        ast.Mod: np.mod,
        ast.BitAnd: operator.and_,
        ast.BitOr: operator.or_,
        ast.BitXor: operator.xor,
        ast.MatMult: np.matmul,
    }
)
_UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = MappingProxyType(
    {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert, ast.Not: operator.not_}
)
FUNCTIONS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "abs": np.abs,
        "all": np.all,
        "any": np.any,
        "argmax": np.argmax,
        "argmin": np.argmin,
        "count": np.count_nonzero,
        "exp": np.exp,
        "float": lambda value: np.asarray(value, np.float64),
        "int": lambda value: np.asarray(value).astype(np.int64),
        "isinf": np.isinf,
        "isnan": np.isnan,
        "log": np.log,
        "max": lambda *values: np.max(values[0]) if len(values) == 1 else np.maximum.reduce(values),
        "mean": lambda value: np.mean(np.asarray(value, np.float64)),
        "min": lambda *values: np.min(values[0]) if len(values) == 1 else np.minimum.reduce(values),
        "shape": np.shape,
        "sqrt": np.sqrt,
        "std": lambda value: np.std(np.asarray(value, np.float64)),
        "sum": lambda value: np.sum(np.asarray(value, _wide(value))),
        "T": np.transpose,
    }
)
"""Functions of expressions."""


CONSTANTS: Mapping[str, float] = MappingProxyType({"nan": float("nan"), "inf": float("inf")})
"""Names of expressions that nobody else may give."""


def _wide(value: Any) -> type:
    return np.int64 if np.asarray(value).dtype.kind in "iub" else np.float64


class Expression:
    """An expression that was read; it may be evaluated often."""

    def __init__(self, text: str) -> None:
        if len(text) > MOST_TEXT:
            raise ExpressionError(f"an expression has at most {MOST_TEXT} characters")
        self.text = text.strip()
        self.names: dict[str, str] = {}

        def stand_in(found: re.Match[str]) -> str:
            name = f"_{len(self.names)}_"
            self.names[name] = f"%{found[1]}"
            return name

        try:
            self.tree = ast.parse(_NAME.sub(stand_in, self.text), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise ExpressionError(f"'{self.text}' is no expression") from None
        self._check(self.tree)

    def _check(self, tree: ast.AST) -> None:
        for node in ast.walk(tree):
            kind = type(node)
            if kind in _BINARY or kind in _UNARY or kind in COMPARISONS or kind in _PLAIN or isinstance(node, _NODES):
                continue
            raise ExpressionError(f"'{self.text}': {kind.__name__.lower()} is not possible in expressions")

    def value(self, lookup: Callable[[str], Any]) -> Any:
        """Returns the value; ``lookup`` gives those of names, with ``%`` for the program's. Raises
        ``ExpressionError``."""
        try:
            with np.errstate(all="ignore"):
                return self._value(self.tree, lookup)
        except ExpressionError:
            raise
        except (TypeError, ValueError, IndexError, ZeroDivisionError, OverflowError, RecursionError) as error:
            raise ExpressionError(f"'{self.text}': {error}") from None

    def _value(self, node: ast.AST, lookup: Callable[[str], Any]) -> Any:
        if isinstance(node, ast.Constant):
            if isinstance(node.value, (bool, int, float)):
                return node.value
            raise ExpressionError(f"{node.value!r} is no number")
        if isinstance(node, ast.Name):
            return CONSTANTS[node.id] if node.id in CONSTANTS else lookup(self.names.get(node.id, node.id))
        if isinstance(node, ast.BinOp):
            left, right = self._value(node.left, lookup), self._value(node.right, lookup)
            _check_size(left, right)
            return _BINARY[type(node.op)](left, right)
        if isinstance(node, ast.UnaryOp):
            return _UNARY[type(node.op)](self._value(node.operand, lookup))
        if isinstance(node, ast.Compare):
            return self._comparison(node, lookup)
        if isinstance(node, ast.BoolOp):
            wanted = isinstance(node.op, ast.Or)
            result: Any = not wanted
            for each in node.values:
                result = self._value(each, lookup)
                if bool(result) is wanted:
                    break
            return result
        if isinstance(node, ast.IfExp):
            chosen = node.body if self._value(node.test, lookup) else node.orelse
            return self._value(chosen, lookup)
        if isinstance(node, ast.Subscript):
            return np.asarray(self._value(node.value, lookup))[self._index(node.slice, lookup)]
        if isinstance(node, ast.Call):
            return self._call(node, lookup)
        raise ExpressionError(f"'{self.text}': {type(node).__name__.lower()} is not possible here")

    def _comparison(self, node: ast.Compare, lookup: Callable[[str], Any]) -> Any:
        left = self._value(node.left, lookup)
        result: Any = None
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self._value(right_node, lookup)
            each = COMPARISONS[type(op)](left, right)
            result = each if result is None else result & each
            if np.ndim(result) == 0 and not result:
                # As in Python, operands after a false comparison are not evaluated.
                break
            left = right
        return result

    def _call(self, node: ast.Call, lookup: Callable[[str], Any]) -> Any:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name not in FUNCTIONS or node.keywords:
            raise ExpressionError(f"'{self.text}': functions are {', '.join(FUNCTIONS)}")
        return FUNCTIONS[name](*(self._value(each, lookup) for each in node.args))

    def _index(self, node: ast.AST, lookup: Callable[[str], Any]) -> Any:
        if isinstance(node, ast.Tuple):
            return tuple(self._index(each, lookup) for each in node.elts)
        if isinstance(node, ast.Slice):
            parts = (node.lower, node.upper, node.step)
            return slice(*(None if part is None else operator.index(self._value(part, lookup)) for part in parts))
        return operator.index(self._value(node, lookup))


_NODES = (ast.Constant, ast.Name, ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.Subscript, ast.Call, ast.Tuple,
          ast.IfExp)  # fmt: skip
_PLAIN = frozenset((ast.Load, ast.Slice, ast.And, ast.Or))


def _check_size(left: Any, right: Any) -> None:
    size = np.size(left) if np.size(left) > np.size(right) else np.size(right)
    if np.ndim(left) and np.ndim(right):
        size = int(np.prod(np.broadcast_shapes(*_shapes(left, right)))) if np.shape(left) != np.shape(right) else size
    if size > MOST_ELEMENTS:
        raise ExpressionError(f"the value would have {size} elements")


def _shapes(left: Any, right: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    a, b = np.shape(left), np.shape(right)
    # Operands of a matrix product are not spread over each other.
    fits = all(x == y or 1 in (x, y) for x, y in zip(reversed(a), reversed(b), strict=False))
    return (a, b) if fits else (a, a)

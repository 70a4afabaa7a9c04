"""Allow-list over the syntax tree of generated Python, checked before it runs.

The list has kinds of nodes, attributes, and names; everything else is refused, so that a text of a program that is
inserted into the code cannot become an action. Most lines of generated code have few shapes, and a line is a statement
or the head of one: it is enough to check one line of each shape, where identifiers are replaced by their kind and
digits by zeros. Only when that is not conclusive (a text constant may look like an identifier), the whole tree is
checked.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ..instrumentation import CALLS
from .names import Kind

PARAMETERS = frozenset(("core", "items", "mask"))
"""Parameters that the functions of generated code take besides those of the program."""

BUILTINS: Mapping[str, Any] = MappingProxyType(
    {function.__name__: function for function in (abs, bool, bytes, float, int, len, max, min, range)}
)
"""Built-in functions of Python in generated code."""

ATTRIBUTES = frozenset(
    (
        # cores and the reports to them
        *("core", "cube", "vector", "index", "subblock_count", "block", "count", "state", "get", "signals"),
        *("address_of", "pointer_of", "set_flag", "wait_flag", "queue_set", "queue_wait", "issue"),
        *("join_all", "join_scalar", "reach", "meet", "notify", "until", "look", "holds"),
        *("storing", "stored", "drain", "cache", "enter", "leave"),
        # instrumented cores
        *CALLS,
        # tiles, views, memrefs, pointers, registers
        *("array", "fmt", "shape", "strides", "valid_rows", "valid_cols", "set_valid", "window", "part", "values"),
        *("position", "load", "store", "copy_from", "subview", "reinterpreted", "pointer", "offset", "item_bytes"),
        *("element", "advance", "shifted", "with_dtype", "view", "copy"),
        # queues between cores
        *("wait_slot", "wait_entry", "produced", "consumed", "announce", "hold", "own", "give_back", "release"),
        "local_address",
        # work-items
        *("geometry", "ids", "dims", "lanes", "lane_masks", "both", "but", "whole", "some"),
        *("running", "number", "check"),
    )
)
"""Attributes of run-time objects that generated code uses."""

ASSIGNED_ATTRIBUTES = frozenset(("number",))
KEYWORDS = frozenset(("valid_rows", "valid_cols"))
"""Names of keyword arguments in calls."""

_NODES: frozenset[type[ast.AST]] = frozenset(
    (
        *(ast.Module, ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Pass, ast.Break),
        *(ast.Assign, ast.AugAssign, ast.For, ast.While, ast.If, ast.Expr, ast.Yield, ast.YieldFrom),
        *(ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Call, ast.keyword, ast.Constant),
        *(ast.Tuple, ast.List, ast.Dict, ast.IfExp, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare),
        *(ast.Load, ast.Store, ast.And, ast.Or, ast.Not, ast.USub, ast.Invert),
        *(ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr, ast.BitXor),
        *(ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE),
    )
)
_FUNCTIONS = frozenset((Kind.CONSTANT, Kind.FUNCTION, Kind.SCOPE_FUNCTION, Kind.ITEMS_FUNCTION))
_CONSTANTS: frozenset[type] = frozenset((bool, int, float, str, type(None)))

_IDENTIFIER = re.compile(rf"([{''.join(kind[0] for kind in Kind)}]_(?<!\w..)\w*)", re.ASCII)
"""A letter of a kind, an underscore, the rest; that the letter starts the identifier is tested last: half the time."""
_DIGITS = str.maketrans("123456789", "000000000")
_KINDS = {kind.value: kind.value for kind in Kind}
_MOST_SHAPES = 1 << 16

_known: set[str] = set()
"""Shapes of lines that the allow-list has accepted."""


class ForeignCode(RuntimeError):
    """Generated code that no generator writes: an error of this package, whatever the program is."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(f"generated code may not contain {what} (line {line})")
        self.what = what
        self.line = line


def check_source(source: str, identifiers: Mapping[str, str]) -> None:
    """Accepts code of a generator; ``identifiers`` has the kind of each identifier that it made.

    Raises ForeignCode, naming the node, for everything else, and SyntaxError for invalid Python.
    """
    try:
        if source.isascii() and _shapes_pass(source, identifiers):
            return
    except (KeyError, SyntaxError, ForeignCode):
        pass
    check_tree(ast.parse(source), identifiers)


def _shapes_pass(source: str, identifiers: Mapping[str, str]) -> bool:
    parts = _IDENTIFIER.split(source)
    parts[1::2] = map(identifiers.__getitem__, parts[1::2])
    lines = set("".join(parts).translate(_DIGITS).split("\n"))
    shapes = set(map(str.lstrip, lines)) - _known
    for shape in shapes:
        # A line continues in the next one after a backslash; an open bracket or string does not parse.
        if not shape.isprintable() or shape.endswith("\\"):
            return False
        check_tree(ast.parse(_statement(shape)), _KINDS)
    if len(_known) + len(shapes) > _MOST_SHAPES:
        _known.clear()
    _known.update(shapes)
    return True


def _statement(line: str) -> str:
    """Returns a line of code as code that is complete."""
    if line.startswith(("elif ", "else:")):
        return f"if 0:\n pass\n{line}\n pass"
    return f"{line}\n pass" if line.endswith(":") else line


def check_tree(tree: ast.AST, identifiers: Mapping[str, str]) -> None:
    """Checks a syntax tree as ``check_source`` does."""
    for node in ast.walk(tree):
        if type(node) not in _NODES:
            raise ForeignCode(type(node).__name__, _line(node, tree))
        foreign = _foreign_part(node, identifiers)
        if foreign is not None:
            raise ForeignCode(f"{type(node).__name__} {foreign}", _line(node, tree))


def _line(node: ast.AST, tree: ast.AST) -> int:
    """Returns the line of ``node``, or of the node around it that has one."""
    while not hasattr(node, "lineno"):
        around = next(
            (one for one in ast.walk(tree) if any(child is node for child in ast.iter_child_nodes(one))), None
        )
        if around is None:
            return 0
        node = around
    return int(getattr(node, "lineno", 0))


def _foreign_part(node: ast.AST, identifiers: Mapping[str, str]) -> str | None:
    """Returns the forbidden part of a node of an allowed kind; ``None`` when there is none."""
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            known = name in identifiers or name in BUILTINS or name in PARAMETERS
            return None if known else repr(name)
        case ast.Name(id=name) | ast.FunctionDef(name=name) if not _assignable(name, identifiers):
            return repr(name)
        case ast.FunctionDef(decorator_list=decorators, returns=returns):
            return "with decorators or types" if decorators or returns is not None else None
        case ast.arg(arg=name, annotation=annotation):
            known = name in PARAMETERS or _assignable(name, identifiers)
            return None if known and annotation is None else repr(name)
        case ast.arguments(vararg=None, kwarg=None, kwonlyargs=[], posonlyargs=[]):
            return None
        case ast.arguments():
            return "of a kind that no call gives"
        case ast.Attribute(attr=name, ctx=ctx):
            allowed = ATTRIBUTES if isinstance(ctx, ast.Load) else ASSIGNED_ATTRIBUTES
            return None if name in allowed else repr(name)
        case ast.keyword(arg=name):
            return None if name in KEYWORDS else repr(name)
        case ast.Constant(value=value):
            return None if type(value) in _CONSTANTS else repr(value)
        case ast.Call(func=function):
            return None if _callable(function, identifiers) else f"of {ast.unparse(function)}"
        case ast.Dict(keys=keys):
            return "with parts of another" if None in keys else None
        case ast.BinOp(left=left, right=right) if _is_text(left) or _is_text(right):
            return "on a text"
        case ast.BinOp(op=ast.LShift(), right=right):
            return None if _bounded(right) else "by a number without bounds"
    return None


def _assignable(name: str, identifiers: Mapping[str, str]) -> bool:
    return identifiers.get(name, Kind.CONSTANT) != Kind.CONSTANT


def _callable(function: ast.expr, identifiers: Mapping[str, str]) -> bool:
    """Returns whether a callee is a method, a function of Python, or an identifier that is bound to a function."""
    if isinstance(function, ast.Name):
        return function.id in BUILTINS or identifiers.get(function.id) in _FUNCTIONS
    return isinstance(function, ast.Attribute)


def _is_text(operand: ast.expr) -> bool:
    return isinstance(operand, ast.Constant) and isinstance(operand.value, str)


def _bounded(shift: ast.expr) -> bool:
    return isinstance(shift, ast.Call) and isinstance(shift.func, ast.Name) and shift.func.id == "min"

"""The body of a Python function as operations."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any

from pto_dialect.ir.core import types as t

from ..dialects import arith, scf
from ..ir.context import Location
from ..ir.points import InsertionPoint
from ..ir.structure import Value
from ..pto.classes import op_view
from .calls import call_operation, constant, operand_types
from .surface import Constant, StructureValue, SurfaceType


class KernelError(ValueError):
    """A part of a kernel that cannot be translated, with its position."""


_FOLDED: dict[type[ast.operator], tuple[Callable[[Any, Any], Any], str]] = {
    ast.Add: (operator.add, "addi"),
    ast.Sub: (operator.sub, "subi"),
    ast.Mult: (operator.mul, "muli"),
    ast.FloorDiv: (operator.floordiv, "floordivsi"),
    ast.Mod: (operator.mod, "remsi"),
}
_COMPARED: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "slt",
    ast.LtE: "sle",
    ast.Gt: "sgt",
    ast.GtE: "sge",
}

Names = dict[str, Any]


class Translation:
    """Translates statements of a file; ``first`` is the line of the file before the function."""

    def __init__(self, file: str, first: int, known: Names) -> None:
        self.file = file
        self.first = first
        self.known = known

    def fail(self, node: ast.AST, message: str) -> KernelError:
        """Returns the error for a node."""
        return KernelError(f"{self.file}:{self.first + getattr(node, 'lineno', 1)}: {message}")

    def statements(self, body: Sequence[ast.stmt], names: Names) -> None:
        """Translates statements, which change ``names``."""
        for node in body:
            translate = getattr(self, f"_{type(node).__name__.lower()}", None)
            if translate is None:
                raise self.fail(node, f"a kernel has no statement {type(node).__name__}")
            with Location.file(self.file, self.first + node.lineno, node.col_offset + 1):
                translate(node, names)

    # ------------------------------------------------------------ statements

    def _expr(self, node: ast.Expr, names: Names) -> None:
        if not isinstance(node.value, ast.Constant):
            self.value(node.value, names)

    def _pass(self, node: ast.Pass, names: Names) -> None:
        """Nothing."""

    def _return(self, node: ast.Return, names: Names) -> None:
        if node.value is not None:
            raise self.fail(node, "a kernel returns nothing")

    def _assign(self, node: ast.Assign, names: Names) -> None:
        value = self.value(node.value, names)
        for target in node.targets:
            self._bind(target, value, names)

    def _bind(self, target: ast.expr, value: Any, names: Names) -> None:
        if isinstance(target, ast.Name):
            names[target.id] = value
        elif isinstance(target, ast.Tuple) and isinstance(value, (list, tuple)) and len(value) == len(target.elts):
            for one, part in zip(target.elts, value, strict=True):
                self._bind(one, part, names)
        else:
            raise self.fail(target, "a kernel assigns to names, one for each result")

    def _annassign(self, node: ast.AnnAssign, names: Names) -> None:
        of = self.value(node.annotation, names)
        if node.value is None or not isinstance(of, SurfaceType):
            raise self.fail(node, "a variable with a type has a value, and a type of `pto`")
        value = self.value(node.value, names)
        self._bind(node.target, constant(value, of.x) if isinstance(value, (int, float)) else value, names)

    def _with(self, node: ast.With, names: Names) -> None:
        item = node.items[0]
        call = item.context_expr
        kind = call.func.attr if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else ""
        if len(node.items) != 1 or not isinstance(call, ast.Call) or kind not in ("vecscope", "strict_vecscope"):
            raise self.fail(node, "a kernel has the contexts pto.vecscope and pto.strict_vecscope")
        if kind == "vecscope":
            scope = op_view("pto.vecscope")()
            with InsertionPoint(scope.body.blocks.append()):
                self.statements(node.body, dict(names))
            return
        target = item.optional_vars
        if not isinstance(target, ast.Tuple) or len(target.elts) != len(call.args):
            raise self.fail(node, "pto.strict_vecscope(..) as (..) has a name for each value")
        bound = [one.id for one in target.elts if isinstance(one, ast.Name)]
        demanded = _demanded(node.body)
        values = [self.value(one, names) for one in call.args]
        captures = [
            constant(value, demanded.get(name, t.INDEX)) if isinstance(value, (int, float)) else value
            for name, value in zip(bound, values, strict=True)
        ]
        scope = op_view("pto.strict_vecscope")(captures)
        block = scope.body.blocks.append(*[one.type for one in captures])
        with InsertionPoint(block):
            self.statements(node.body, dict(zip(bound, block.arguments, strict=True)))

    def _index(self, value: Any) -> Any:
        return constant(value, t.INDEX) if isinstance(value, int) else value

    def _for(self, node: ast.For, names: Names) -> None:
        call, target = node.iter, node.target
        is_range = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"
        if not is_range or not isinstance(target, ast.Name) or node.orelse:
            raise self.fail(node, "a loop of a kernel is `for name in range(..)`")
        bounds = [self._index(self.value(one, names)) for one in call.args]  # pyright: ignore[reportAttributeAccessIssue]
        if len(bounds) == 1:
            bounds.insert(0, self._index(0))
        first, last, step = bounds if len(bounds) == 3 else (*bounds, self._index(1))
        carried = [name for name in _assigned(node.body) if isinstance(names.get(name), Value) and name != target.id]
        loop = scf.ForOp(first, last, step, [names[name] for name in carried])
        inside = {**names, target.id: loop.induction_variable, **dict(zip(carried, loop.inner_iter_args, strict=True))}
        with InsertionPoint(loop.body):
            self.statements(node.body, inside)
            scf.YieldOp([inside[name] for name in carried])  # pyright: ignore[reportAttributeAccessIssue]
        names.update(zip(carried, loop.results, strict=True))

    def _if(self, node: ast.If, names: Names) -> None:
        condition = self.value(node.test, names)
        if not isinstance(condition, Value):
            self.statements(node.body if condition else node.orelse, names)
            return
        changed = [name for name in _assigned([*node.body, *node.orelse]) if isinstance(names.get(name), Value)]
        has_else = bool(node.orelse or changed)
        branch = scf.IfOp(condition, [names[name].type for name in changed], hasElse=has_else)
        for block, body in ((branch.then_block, node.body), (branch.else_block, node.orelse)):
            if block is None:
                break
            inside = dict(names)
            with InsertionPoint(block):
                self.statements(body, inside)
                scf.YieldOp([inside[name] for name in changed])  # pyright: ignore[reportAttributeAccessIssue]
        names.update(zip(changed, branch.results, strict=True))

    # ------------------------------------------------------------ expressions

    def value(self, node: ast.expr, names: Names) -> Any:
        """Returns the value of an expression."""
        translate = getattr(self, f"_value_{type(node).__name__.lower()}", None)
        if translate is None:
            raise self.fail(node, f"a kernel has no expression {type(node).__name__}")
        return translate(node, names)

    def _value_constant(self, node: ast.Constant, names: Names) -> Any:
        return node.value

    def _value_name(self, node: ast.Name, names: Names) -> Any:
        if node.id in names:
            return names[node.id]
        if node.id in self.known:
            return self.known[node.id]
        raise self.fail(node, f"name {node.id!r} is not defined")

    def _value_tuple(self, node: ast.Tuple, names: Names) -> Any:
        return [self.value(one, names) for one in node.elts]

    _value_list = _value_tuple

    def _value_attribute(self, node: ast.Attribute, names: Names) -> Any:
        of = self.value(node.value, names)
        if isinstance(of, StructureValue) and node.attr in of.fields:
            found = of.fields[node.attr]
            return found.value if isinstance(found, Constant) else found
        if node.attr == "elem_bytes" and isinstance(of, Value):
            return t.byte_width(of.type.element_type._x)
        if isinstance(of, (Value, StructureValue)):
            raise self.fail(node, f"there is no {node.attr!r} here")
        return getattr(of, node.attr)

    def _value_subscript(self, node: ast.Subscript, names: Names) -> Any:
        return self.value(node.value, names)[self.value(node.slice, names)]

    def _value_unaryop(self, node: ast.UnaryOp, names: Names) -> Any:
        value = self.value(node.operand, names)
        if isinstance(node.op, ast.USub) and isinstance(value, (int, float)):
            return -value
        raise self.fail(node, "a kernel negates numbers only")

    def _pair(self, left: Any, right: Any) -> tuple[Any, Any]:
        if isinstance(left, Value) and not isinstance(right, Value):
            return left, constant(right, left.type._x)
        if isinstance(right, Value) and not isinstance(left, Value):
            return constant(left, right.type._x), right
        return left, right

    def _value_binop(self, node: ast.BinOp, names: Names) -> Any:
        fold, name = _FOLDED.get(type(node.op), (None, ""))
        if fold is None:
            raise self.fail(node, f"a kernel has no operator {type(node.op).__name__}")
        left, right = self.value(node.left, names), self.value(node.right, names)
        if not isinstance(left, Value) and not isinstance(right, Value):
            return fold(left, right)
        return getattr(arith, name)(*self._pair(left, right))

    def _value_compare(self, node: ast.Compare, names: Names) -> Any:
        name = _COMPARED.get(type(node.ops[0]))
        if name is None or len(node.ops) != 1:
            raise self.fail(node, "a kernel compares two numbers")
        left, right = self.value(node.left, names), self.value(node.comparators[0], names)
        if not isinstance(left, Value) and not isinstance(right, Value):
            return getattr(operator, name.lstrip("s"))(left, right)
        predicate = arith.CmpIPredicate[name]
        return arith.cmpi(predicate, *self._pair(left, right))  # pyright: ignore[reportAttributeAccessIssue]

    def _value_call(self, node: ast.Call, names: Names) -> Any:
        arguments = [self.value(one, names) for one in node.args]
        named = {one.arg: self.value(one.value, names) for one in node.keywords if one.arg is not None}
        function = node.func
        if not isinstance(function, ast.Attribute):
            raise self.fail(node, "a kernel calls operations of pto")
        found = self.known.get("pto_names", {}).get(function.attr)
        if found is not None:
            return found(*arguments, **named)
        try:
            return call_operation(function.attr, arguments, named)
        except (TypeError, ValueError) as error:
            raise self.fail(node, f"pto.{function.attr}: {error}") from None


def _assigned(body: Sequence[ast.stmt]) -> list[str]:
    """Returns the names that statements assign to, each once."""
    names = [one for part in body for one in ast.walk(part) if isinstance(one, ast.Name)]
    return list(dict.fromkeys(one.id for one in names if isinstance(one.ctx, ast.Store)))


def _demanded(body: Sequence[ast.stmt]) -> dict[str, Any]:
    """Returns the types that operations demand of names."""
    found: dict[str, Any] = {}
    for node in (one for part in body for one in ast.walk(part) if isinstance(one, ast.Call)):
        if isinstance(node.func, ast.Attribute):
            types = operand_types(node.func.attr, len(node.args))
            for argument, of in zip(node.args, types, strict=False):
                if isinstance(argument, ast.Name) and of is not None:
                    found.setdefault(argument.id, of)
    return found

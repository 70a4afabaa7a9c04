"""The module `mlir.dialects.func`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ..declare import GeneratedOp, build, make_class, results_of
from ..ir.arrays import ArrayAttr
from ..ir.attributes import FlatSymbolRefAttr, StringAttr, TypeAttr, wrap
from ..ir.context import any_context
from ..ir.operations import OperationBase, OpView, register_view
from ..ir.points import InsertionPoint
from ..ir.structure import Block, Value
from ..ir.types import FunctionType
from .tables import add_function, add_ir, add_operations, read_form, to_symbol

_FUNC = read_form("func", "FuncOp func #sym_name #function_type #sym_visibility= #arg_attrs= #res_attrs=")._replace(
    regions=1
)


@register_view
class FuncOp(GeneratedOp):
    """The operation `func.func`: FuncOp(name, type)."""

    FORM = _FUNC
    OPERATION_NAME = "func.func"

    def __init__(
        self,
        name: Any,
        type: Any,
        *,
        visibility: Any = None,
        body_builder: Callable[[FuncOp], None] | None = None,
        loc: Any = None,
        ip: Any = None,
    ) -> None:
        """``type`` is a FunctionType, or the lists of its inputs and results; ``body_builder`` is called with the
        function at the insertion point of its first block."""
        if isinstance(type, tuple):
            type = FunctionType.get(*type)
        stated = {"sym_visibility": visibility, "loc": loc, "ip": ip}
        build(self, _FUNC, (name, TypeAttr.get(type)), stated)
        if body_builder is not None:
            with InsertionPoint(self.add_entry_block()):
                body_builder(self)

    @property
    def name(self) -> StringAttr:
        """The name."""
        return self.attributes["sym_name"]

    @property
    def sym_name(self) -> StringAttr:
        """The name."""
        return self.attributes["sym_name"]

    @property
    def type(self) -> Any:
        """The type."""
        return wrap(self._x.properties["function_type"])

    function_type = type

    @property
    def visibility(self) -> Any:
        """The visibility; ``None`` where it is not stated."""
        return self.attributes.get("sym_visibility")

    @property
    def sym_visibility(self) -> Any:
        """The visibility; ``None`` where it is not stated."""
        return self.visibility

    @sym_visibility.setter
    def sym_visibility(self, value: Any) -> None:
        if value is None:
            self._x.properties.pop("sym_visibility", None)
        else:
            self.attributes["sym_visibility"] = (
                StringAttr.get(value, any_context()) if isinstance(value, str) else value
            )

    @property
    def is_external(self) -> bool:
        """Whether the function has no body."""
        return not len(self.regions[0].blocks)

    @property
    def body(self) -> Any:
        """The region."""
        return self.regions[0]

    @property
    def entry_block(self) -> Block:
        """The first block. Raises ``IndexError`` where there is none."""
        if self.is_external:
            raise IndexError("External function does not have a body")
        return self.regions[0].blocks[0]

    def add_entry_block(self, arg_locs: Sequence[Any] | None = None) -> Block:
        """Adds the first block, with the arguments of the function. Raises ``IndexError`` where there is one."""
        if not self.is_external:
            raise IndexError("The function already has an entry block!")
        return self.regions[0].blocks.append(*self.type.inputs)

    @property
    def arguments(self) -> Any:
        """The arguments."""
        return self.entry_block.arguments

    def _dictionaries(self, name: str) -> Any:
        return self.attributes[name] if name in self.attributes else ArrayAttr.get([])

    @property
    def arg_attrs(self) -> Any:
        """The attributes of the arguments."""
        return self._dictionaries("arg_attrs")

    @arg_attrs.setter
    def arg_attrs(self, value: Any) -> None:
        self.attributes["arg_attrs"] = value if isinstance(value, ArrayAttr) else ArrayAttr.get(value)

    @property
    def result_attrs(self) -> Any:
        """The attributes of the results."""
        return self._dictionaries("res_attrs")

    @result_attrs.setter
    def result_attrs(self, value: Any) -> None:
        self.attributes["res_attrs"] = value

    @classmethod
    def from_py_func(cls, *inputs: Any, results: Sequence[Any] | None = None, name: str | None = None) -> Any:
        """Returns a decorator that makes a function of what a Python function builds; calls of the decorated function
        make calls."""

        def decorate(python: Callable[..., Any]) -> Any:
            made = cls(name or python.__name__, (list(inputs), list(results or ())))
            types = _build_body(made, python, results)

            def call(*arguments: Any) -> Any:
                return results_of(CallOp(types, made.name.value, list(arguments)))

            call.__name__ = python.__name__
            call.func_op = made  # pyright: ignore[reportFunctionMemberAccess]
            return call

        return decorate


func = FuncOp.from_py_func


def _build_body(made: FuncOp, python: Callable[..., Any], results: Sequence[Any] | None) -> list[Any]:
    """Builds the body of a function; returns the types of its results."""
    parameters = inspect.signature(python).parameters.values()
    takes_op = any(one.kind == one.VAR_KEYWORD or one.name == "func_op" for one in parameters)
    with InsertionPoint(made.add_entry_block()):
        found = python(*made.arguments, **({"func_op": made} if takes_op else {}))
        if results is not None:
            if found is not None:
                raise ValueError("a Python function with `results=` returns None, and builds the ReturnOp")
            return list(results)
        returned = _listed(found)
        ReturnOp(returned)
    types = [one.type for one in returned]
    made.attributes["function_type"] = TypeAttr.get(FunctionType.get(made.type.inputs, types))
    return types


def _listed(found: Any) -> list[Any]:
    if found is None:
        return []
    if isinstance(found, OperationBase):
        return list(found.results)
    if isinstance(found, Value):
        return [found]
    return [one.result if isinstance(one, OpView) else one for one in found]


_CALL = read_form("func", "CallOp call @result* #callee operands_*", {"callee": to_symbol})


@register_view
class CallOp(GeneratedOp):
    """The operation `func.call`: CallOp(function, arguments), or CallOp(result types, name, arguments)."""

    FORM = _CALL
    OPERATION_NAME = "func.call"

    def __init__(
        self,
        calleeOrResults: Any,
        argumentsOrCallee: Any,
        arguments: Any = None,
        *,
        loc: Any = None,
        ip: Any = None,
    ) -> None:
        named = {"loc": loc, "ip": ip}
        if isinstance(calleeOrResults, FuncOp):
            if arguments is not None or isinstance(argumentsOrCallee, (str, FlatSymbolRefAttr)):
                raise ValueError("a call of a FuncOp takes the list of its arguments")
            results, callee, values = calleeOrResults.type.results, calleeOrResults.name.value, argumentsOrCallee
        else:
            if not isinstance(argumentsOrCallee, (str, FlatSymbolRefAttr)):
                raise ValueError("a call by name takes result types, the name or a FlatSymbolRefAttr, and arguments")
            results, callee, values = calleeOrResults, argumentsOrCallee, arguments or []
        build(self, _CALL, (results, callee, values), named)

    @property
    def callee(self) -> Any:
        """The name of the function."""
        return self.attributes["callee"]


ReturnOp: Any = register_view(make_class(read_form("func", "ReturnOp return operands_*"), module=__name__))
add_function(globals(), ReturnOp)
add_operations(
    globals(),
    "func",
    "ConstantOp constant @result #value\nCallIndirectOp call_indirect @results_* callee callee_operands*",
    {"value": to_symbol},
)
add_function(globals(), CallOp)
add_ir(globals())

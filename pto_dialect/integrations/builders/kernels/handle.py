"""`pto.vkernel`: a kernel that is a Python function."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

from ..dialects import func
from ..ir.attributes import StringAttr, wrap
from ..ir.context import Context, Location
from ..ir.points import InsertionPoint
from ..ir.program import Module
from .surface import NAMES, Constant, Structure, StructureValue, SurfaceType
from .translate import KernelError, Translation


class VKernelHandle:
    """A kernel; ``mlir_text()`` is its program."""

    def __init__(
        self,
        py_fn: Callable[..., Any],
        target: str = "a5",
        name: str | None = None,
        verify: bool = True,
        specialization: dict[str, Any] | None = None,
    ) -> None:
        self._function = py_fn
        self._target = target
        self._name = name or py_fn.__name__
        self._verify = verify
        self._specialization = specialization or {}
        self._module: Module | None = None

    def jit(self, **kwargs: Any) -> VKernelHandle:
        """Returns the kernel with values for the arguments that are structures."""
        return VKernelHandle(self._function, self._target, self._name, self._verify, kwargs)

    def mlir_module(self) -> Module:
        """Returns the module with the kernel. Raises ``ValueError`` for code that cannot be translated."""
        if self._module is None:
            self._module = self._build()
        return self._module

    def mlir_text(self) -> str:
        """Returns the text of the module."""
        return str(self.mlir_module())

    def verify(self) -> bool:
        """Checks the module. Raises ``MLIRError`` for errors."""
        return self.mlir_module().operation.verify()

    def dump(self) -> None:
        """Prints the text of the module."""
        print(self.mlir_text(), end="")

    def emit(self, path: str) -> None:
        """Writes the text of the module into a file."""
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(self.mlir_text())

    def __str__(self) -> str:
        return self.mlir_text()

    def _build(self) -> Module:
        source, line = inspect.getsourcelines(self._function)
        file = inspect.getsourcefile(self._function) or "<kernel>"
        [tree] = ast.parse(textwrap.dedent("".join(source))).body
        assert isinstance(tree, ast.FunctionDef)
        annotations = inspect.get_annotations(self._function, eval_str=True)
        types: list[Any] = []
        for argument in tree.args.args:
            types += self._types_of(argument.arg, annotations.get(argument.arg))
        with Context() as context, Location.file(file, line, 1):
            module = Module.create()
            module.operation.attributes["pto.target_arch"] = StringAttr.get(self._target, context)
            with InsertionPoint(module.body):
                made = func.FuncOp(self._name, ([wrap(one.x) for one in types], []))
            block = made.add_entry_block()
            values = iter(block.arguments)
            names = {one.arg: self._value_of(one.arg, values) for one in tree.args.args}
            known = {**self._function.__globals__, "pto_names": NAMES}
            with InsertionPoint(block):
                Translation(file, line - 1, known).statements(tree.body, names)
                func.ReturnOp([])
            if self._verify:
                module.operation.verify()
        return module

    def _types_of(self, name: str, stated: Any) -> list[SurfaceType]:
        """Returns the types of the arguments of the function that an argument of the kernel becomes."""
        if isinstance(stated, SurfaceType):
            return [stated]
        if not isinstance(stated, Structure):
            raise KernelError(f"argument {name!r} of {self._name} has no type of pto")
        value = self._specialization.get(name)
        if not isinstance(value, StructureValue) or value.structure is not stated:
            raise KernelError(f"argument {name!r} of {self._name} is a {stated.name}: state it with .jit({name}=..)")
        return [one for one in value.fields.values() if isinstance(one, SurfaceType)]

    def _value_of(self, name: str, values: Any) -> Any:
        stated = self._specialization.get(name)
        if not isinstance(stated, StructureValue):
            return next(values)
        fields = {key: one if isinstance(one, Constant) else next(values) for key, one in stated.fields.items()}
        return StructureValue(stated.structure, fields)


def vkernel(
    py_fn: Callable[..., Any] | None = None, *, target: str = "a5", name: str | None = None, verify: bool = True
) -> Any:
    """Makes a kernel of a Python function; also a decorator with options."""
    if py_fn is None:
        return lambda function: VKernelHandle(function, target, name, verify)
    return VKernelHandle(py_fn, target, name, verify)

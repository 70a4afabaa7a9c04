"""Modules, and the symbols of operations."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import ModuleOp as XModuleOp
from xdsl.ir import Operation as XOperation

from pto_dialect.diagnostics.render import shortened

from .attributes import StringAttr
from .build import locate
from .context import Context, Location, need_location
from .operations import Operation, operation_of, view_of
from .parts import PartOfProgram
from .printing import text_of
from .reading import read_module, state_release
from .structure import CONTEXT, Block, context_of, operation_in


class Module(PartOfProgram):
    """A module."""

    __slots__ = ("_x",)

    def __init__(self, module: XModuleOp) -> None:
        self._x = module

    @staticmethod
    def create(loc: Location | None = None) -> Module:
        """Returns an empty module."""
        where = need_location(loc)
        made = XModuleOp([])
        del made.location
        locate(made, where)
        setattr(made, CONTEXT, where.context)
        state_release(made)
        return Module(made)

    @staticmethod
    def parse(asm: str | bytes, context: Context | None = None) -> Module:
        """Returns the module with this text. Raises ``MLIRError`` for a text with errors."""
        return Module(read_module(asm, context))

    @staticmethod
    def parseFile(path: str, context: Context | None = None) -> Module:
        """Returns the module in a file."""
        with open(path, encoding="utf-8") as stream:
            return Module.parse(stream.read(), context)

    @property
    def operation(self) -> Operation:
        """The operation of the module."""
        return operation_of(self._x)

    @property
    def body(self) -> Block:
        """The block of the module."""
        return Block(self._x.body.block)

    @property
    def context(self) -> Context:
        """The context."""
        return context_of(self._x)

    def dump(self) -> None:
        """Prints the text of the module to the standard error."""
        self.operation.dump()

    def __str__(self) -> str:
        return text_of(self._x)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Module) and self._x is other._x

    def __hash__(self) -> int:
        return id(self._x)


class SymbolTable:
    """The symbols of an operation."""

    def __init__(self, operation: Any) -> None:
        self._x = operation_in(operation, "what has symbols")

    def _symbols(self) -> dict[str, XOperation]:
        found: dict[str, XOperation] = {}
        for region in self._x.regions:
            for op in region.block.ops:
                name: Any = op.properties.get("sym_name") or op.attributes.get("sym_name")
                if name is not None:
                    found[name.data] = op
        return found

    def __getitem__(self, name: str) -> Any:
        found = self._symbols().get(name)
        if found is None:
            raise KeyError(shortened(f"there is no symbol {name!r}"))
        return view_of(found)

    def __contains__(self, name: str) -> bool:
        return name in self._symbols()

    def insert(self, operation: Any) -> Any:
        """Moves an operation into the operation with the symbols."""
        block = self._x.regions[0].block
        if operation_in(operation, "a symbol").parent is not block:
            Block(block).append(operation)
        return operation.attributes["sym_name"]

    def erase(self, operation: Any) -> None:
        """Erases an operation. Raises ``ValueError`` where it is no symbol of this table."""
        if not any(one is operation_in(operation, "a symbol") for one in self._symbols().values()):
            raise ValueError(f"{shortened(str(operation.operation.name))} is no symbol of this table")
        operation.erase()

    @staticmethod
    def get_symbol_name(symbol: Any) -> Any:
        """Returns the name of an operation, as an attribute. Raises ``ValueError`` where it has none."""
        return _symbol(symbol).attributes["sym_name"]

    @staticmethod
    def set_symbol_name(symbol: Any, name: str) -> None:
        """Gives an operation another name; uses of the name stay."""
        _symbol(symbol).attributes["sym_name"] = StringAttr.get(name)

    @staticmethod
    def get_visibility(symbol: Any) -> Any:
        """Returns the visibility of an operation, as an attribute."""
        attributes = _symbol(symbol).attributes
        return attributes["sym_visibility"] if "sym_visibility" in attributes else StringAttr.get("public")

    @staticmethod
    def set_visibility(symbol: Any, visibility: str) -> None:
        """Sets the visibility of an operation.

        Raises:
            ValueError: ``visibility`` is not ``public``, ``private`` or ``nested``.
        """
        if visibility not in ("public", "private", "nested"):
            raise ValueError(f"a visibility is public, private or nested, not {shortened(repr(visibility))}")
        _symbol(symbol).attributes["sym_visibility"] = StringAttr.get(visibility)


def _symbol(operation: Any) -> Any:
    """Returns an operation with a name. Raises ``ValueError`` for others."""
    operation_in(operation, "a symbol")
    if "sym_name" not in operation.attributes:
        raise ValueError(f"{shortened(str(operation.operation.name))} is no symbol: it has no sym_name")
    return operation

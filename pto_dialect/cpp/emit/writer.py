"""The text of one function while it is made: lines, names, and what each value of the program is in C++."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from xdsl.ir import SSAValue

from .ctypes import Aliases, element, pointer
from .errors import fail
from .expression import Expr, integer
from .names import Names

if TYPE_CHECKING:
    from xdsl.ir import Attribute, Block, Operation

from pto_dialect.ir.core import types as t


class View(NamedTuple):
    """A tensor in global memory: where it begins, its sizes and strides."""

    base: Expr
    sizes: tuple[Expr, ...]
    strides: tuple[Expr, ...]
    layout: str
    element: Attribute


Value = Expr | View
"""What a value is: an expression, for tiles and parts of tensors the name of a variable; views are no variables."""
Handler = Callable[["Operation", "Writer"], None]
HANDLERS: dict[str, Handler] = {}
"""What emits an operation, by its name."""
OTHERS = ""
"""The name under which the handler of all other operations is registered."""


def emits(*names: str) -> Callable[[Handler], Handler]:
    """Registers what emits operations."""

    def register(handler: Handler) -> Handler:
        for name in names:
            HANDLERS[name] = handler
        return handler

    return register


_LONGEST = 60
"""Letters of an expression that is written where it is used."""


@dataclass
class Shared:
    """What the functions of a text have in common."""

    target: str
    aliases: Aliases
    names: Names
    functions: dict[str, str] = field(default_factory=dict)
    """Names of C++ functions by symbol."""
    helpers: set[str] = field(default_factory=set)
    """Functions that the text needs before all others."""
    placed: bool = True
    """Whether tiles have addresses."""


class Writer:
    """Emits the operations of one function."""

    def __init__(self, shared: Shared) -> None:
        self.shared = shared
        self.names = Names(shared.names)
        self.lines: list[str] = []
        self._depth = 1
        self._values: dict[SSAValue, Value] = {}
        self.tile_types: dict[SSAValue, t.TileBufType] = {}
        """Types of tiles in C++, where they differ from those of the program."""
        self.parts: dict[SSAValue, View] = {}
        """What tensors are that have a variable."""
        self.queues: dict[int | str, tuple[str, str]] = {}
        """Names and types of queues by their numbers."""
        self.flags = 0
        """The first flag that no queue takes."""

    # ---- lines

    @property
    def indent(self) -> str:
        """The spaces before lines."""
        return "  " * self._depth

    def line(self, text: str) -> None:
        """Emits one line."""
        self.lines.append("  " * self._depth + text if not text.startswith("#") else text)

    def insert(self, position: int, text: str, deeper: int) -> None:
        """Inserts a line before another one, ``deeper`` by so many levels than lines are now."""
        self.lines.insert(position, "  " * (self._depth + deeper) + text)

    @contextmanager
    def block(self, head: str, tail: str = "}") -> Iterator[None]:
        """Emits the lines of a block in braces."""
        self.line(head)
        self._depth += 1
        yield
        self._depth -= 1
        self.line(tail)

    @contextmanager
    def block_after(self) -> Iterator[None]:
        """Emits the lines of a block whose head stands already."""
        self._depth += 1
        yield
        self._depth -= 1
        self.line("}")

    def attempt(self, emit: Callable[[], None]) -> list[str]:
        """Returns the lines that ``emit`` makes, which are not part of the text yet."""
        before, self.lines = self.lines, []
        try:
            emit()
            return self.lines
        finally:
            self.lines = before

    # ---- values

    def bind(self, value: SSAValue, to: Value) -> None:
        """Says what a value is."""
        self._values[value] = to

    def known(self, value: SSAValue) -> Value | None:
        """Returns what a value is, if it has been bound."""
        return self._values.get(value)

    def get(self, value: SSAValue, op: Operation) -> Expr:
        """Returns the expression of a value."""
        found = self._values.get(value)
        if not isinstance(found, Expr):
            fail(op, f"a value of type {t.type_text(value.type)} has no form in C++ here")
        return found

    def view(self, value: SSAValue, op: Operation) -> View:
        """Returns the tensor that a value is."""
        found = self.parts.get(value) or self._values.get(value)
        if not isinstance(found, View):
            fail(op, f"a tensor that is {t.type_text(value.type)} of a branch, loop or function has no form in C++")
        return found

    def name(self, value: SSAValue, otherwise: str = "v") -> str:
        """Returns a new name for a value, after the one it has in the program."""
        return self.names.fresh(value.name_hint or otherwise)

    def tile_type(self, value: SSAValue, op: Operation) -> t.TileBufType:
        """Returns the type that a tile has in C++."""
        found = self.tile_types.get(value, value.type)
        if not isinstance(found, t.TileBufType):
            fail(op, f"{t.type_text(value.type)} has no form in C++", "make a program of level 2 with -p to-level2")
        return found

    def type(self, type_: Attribute, op: Operation) -> str:
        """Returns a type ready for a name: with a space, or the star of a pointer."""
        if isinstance(type_, t.PtrType):
            return pointer(type_, op)
        if isinstance(type_, t.TileBufType):
            return f"{self.shared.aliases.tile(type_, op)} "
        return f"{element(type_, op)} "

    def define(self, op: Operation, expression: Expr, at: int = 0) -> None:
        """Makes an expression the result of an operation: where it is used once in the same block, otherwise in a
        variable."""
        result = op.results[at]
        uses = list(result.uses)
        if not uses:
            return
        is_used_once = len(uses) == 1 and uses[0].operation.parent is op.parent
        if expression.number is not None or (is_used_once and len(expression.text) <= _LONGEST):
            self.bind(result, expression)
            return
        self.declare(op, expression, at)

    def declare(self, op: Operation, expression: Expr, at: int = 0) -> None:
        """Makes a variable of the result of an operation."""
        result = op.results[at]
        name = self.name(result)
        qualifier = "" if isinstance(result.type, t.PtrType) else "const "
        self.line(f"{qualifier}{self.type(result.type, op)}{name} = {expression.text};")
        self.bind(result, Expr(name))

    def variable(self, value: SSAValue, op: Operation, initial: Expr | None) -> Expr:
        """Declares a variable that changes."""
        name = self.name(value)
        tail = "" if initial is None else f" = {initial.text}"
        self.line(f"{self.type(value.type, op)}{name}{tail};")
        return Expr(name)

    # ---- operations

    def operations(self, block: Block) -> None:
        """Emits the operations of a block."""
        for op in block.ops:
            (HANDLERS.get(op.name) or HANDLERS[OTHERS])(op, self)


def zero() -> Expr:
    """Returns the constant 0."""
    return integer(0)


__all__ = ["HANDLERS", "OTHERS", "Shared", "View", "Writer", "emits", "zero"]

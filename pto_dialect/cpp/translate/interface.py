"""What the translation of functions and that of operations know of each other: calls, operands, the emitter.

A kernel's operations are calls of functions whose names start with ``__pto_``. The translation of functions makes a
``Call`` of each and hands it to ``pto_dialect.cpp.operations``, which emits operations through an ``Emitter``.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import NoReturn, Protocol

from ..llvm.location import SourceLocation


@dataclass(frozen=True, slots=True)
class Operand:
    """A value: a constant (``value``) or a value of the ``.pto`` text (``name``).

    ``type`` is the LLVM type: i1, i8, .., half, bfloat, float, double, ptr. ``value`` is a signed integer, a float, or
    the text of a string constant. ``assigned`` is the ``__pto_`` call whose result this is, where it is the result
    itself: not a sum, a choice, or a value of a loop. ``origin`` identifies a pointer inside the translation.
    """

    type: str
    value: int | float | str | None = None
    name: str | None = None
    assigned: Call | None = None
    origin: object = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Group:
    """One argument of an operation: ``descriptor`` is "tile:Vec,f32,..", ``operands`` are the values that follow."""

    kind: str
    fields: tuple[str, ...]
    descriptor: str
    operands: tuple[Operand, ...]


@dataclass(slots=True, eq=False)
class Call:
    """A call of a function ``__pto_..``.

    ``name`` and ``modes`` are the parts of its first argument ("TSTORE;atomic=AtomicAdd") where it has one, otherwise
    ``name`` is that of the function. ``operands`` are all arguments without the name. ``result`` is the LLVM type of
    the result. ``label`` is the C++ name of the first argument, or of the variable that is declared, as the source
    spells it, or "".
    """

    function: str
    name: str
    modes: dict[str, str]
    groups: tuple[Group, ...]
    operands: tuple[Operand, ...]
    result: str | None
    location: SourceLocation | None
    label: str = ""


class Emitter(Protocol):
    """Emits the operations of one function, in program order."""

    target: str
    core: str
    """The core that executes the function: ``vector`` or ``cube``."""
    numbered_queues: Mapping[str, frozenset[str]]
    """For the descriptor of each queue that has a number the names with modes of the pushes that convert."""
    state: dict[str, object]

    def emit(self, line: str) -> None:
        """Emits one operation at the source location of the current call."""
        ...

    def define(self, body: str, hint: str = "v") -> str:
        """Emits an operation with one result and returns the name of it."""
        ...

    def fresh(self, hint: str = "v") -> str:
        """Returns a name that is not used yet: ``%hint``, ``%hint_1``, .."""
        ...

    def constant(self, value: int | float, type: str) -> str:
        """Returns the name of a constant; ``type`` as in ``.pto`` (index, i32, f32). It is visible everywhere."""
        ...

    def head(self, body: str, hint: str) -> str:
        """Emits an operation without operands at the begin of the function and returns the name of its result."""
        ...

    def loop(self, begin: str, end: str, step: str) -> AbstractContextManager[str]:
        """Emits a loop over indices, whose body is what is emitted inside; yields the name of the counter."""
        ...

    def when(self, condition: str) -> AbstractContextManager[None]:
        """Emits a branch, whose body is what is emitted inside."""
        ...

    def element(self, call: Call) -> str:
        """Returns the element type of the pointer that is the result of ``call``."""
        ...

    def cast(self, operand: Operand, type: str) -> str:
        """Returns an integer operand as index or another integer type, with its sign."""
        ...

    def scalar(self, operand: Operand, type: str) -> str:
        """Returns a scalar operand as an element type of ``.pto``."""
        ...

    def pointer(self, operand: Operand, elem: str) -> str:
        """Returns a pointer operand as ``!pto.ptr<elem>``."""
        ...

    def users(self, call: Call) -> list[tuple[Call, Group]]:
        """Returns the groups whose first operand is the result of ``call`` itself, in program order."""
        ...

    def entry_of(self, queue: Group) -> Group | None:
        """Returns the tensor that some call of the function moves through a queue, without its operands."""
        ...

    def is_stored(self, call: Call) -> bool:
        """Returns whether the result of ``call`` is stored in a local array or a field: its users are unknown then."""
        ...

    def is_used(self, call: Call) -> bool:
        """Returns whether anything uses the result of ``call``."""
        ...

    def is_available(self, operand: Operand) -> bool:
        """Returns whether ``operand`` may be named at the current location."""
        ...

    def is_visible(self, call: Call) -> bool:
        """Returns whether a value that was defined at ``call`` may be named at the current location."""
        ...

    def is_argument(self, operand: Operand) -> bool:
        """Returns whether ``operand`` is an argument of the function, which may be named everywhere."""
        ...

    def is_same(self, first: Operand, second: Operand) -> bool:
        """Returns whether two integer operands must be equal, whatever their widths are."""
        ...

    def fail(self, message: str, help: str = "") -> NoReturn:
        """Raises ``TranslationError`` at the current call."""
        ...

"""What the translation of a function knows while it writes: names of values, contents of variables, locations."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from ..errors import TranslationError
from ..llvm.location import SourceLocation
from ..llvm.model import Constant, Global, Value
from ..llvm.model import Operand as IrOperand
from ..llvm.reader import Module
from .elements import Elements, scalar_type
from .flow.tree import Variable
from .interface import Operand
from .memory import LocalMemory
from .ranges import Range
from .writer import Writer, location_text

_IN_C = {"i128": "__int128", "x86_fp80": "long double", "fp128": "__float128"}
_ADDRESS = re.compile(r"(?:inttoptr )?\(i64 (-?\d+) to ptr\)")
_SCALARS = frozenset(("i1", "i8", "i16", "i32", "i64", "half", "bfloat", "float", "double"))


@dataclass(slots=True, eq=False)
class Pointer:
    """A pointer to global memory: ``base`` plus ``index`` elements (an SSA name of type index), not yet added."""

    base: str
    element: str
    index: str | None = None
    added: str = ""
    scope: int = -1


class Frames:
    """Which frames of a location are shown: those outside the folders of headers."""

    def __init__(self, module: Module, headers: Sequence[str]) -> None:
        self._module = module
        self._headers = tuple(headers)
        self._known: dict[str, list[SourceLocation]] = {}
        self._texts: dict[str, str] = {}

    def of(self, debug: str) -> list[SourceLocation]:
        """Returns the frames of a debug location in files of the user, innermost first."""
        known = self._known.get(debug)
        if known is None:
            location = self._module.metadata.location(debug)
            frames = [frame for frame in location.frames() if frame.line] if location is not None else []
            own = [frame for frame in frames if not self._is_header(frame.file)]
            known = self._known[debug] = own or frames[-1:]
        return known

    def text(self, debug: str) -> str:
        """Returns ``loc(..)`` of a debug location."""
        known = self._texts.get(debug)
        if known is None:
            known = self._texts[debug] = location_text(self.of(debug))
        return known

    def location(self, debug: str) -> SourceLocation | None:
        """Returns the innermost frame, whose callers are frames in files of the user as well."""
        found: SourceLocation | None = None
        for frame in reversed(self.of(debug)):
            found = frame._replace(caller=found)
        return found

    def _is_header(self, file: str) -> bool:
        return file.startswith(("<", *self._headers)) or "/ziglang/" in file or "/include/c++/" in file


class Context:
    """The state of the translation of one function."""

    def __init__(self, module: Module, memory: LocalMemory, elements: Elements, frames: Frames) -> None:
        self.module = module
        self.memory = memory
        self.elements = elements
        self.frames = frames
        self.writer = Writer()
        self.values: dict[Value, Operand] = {}
        self.variables: dict[Variable, Operand] = {}
        self.indices: dict[str, str] = {}
        """For the name of an integer the name of the same number as index."""
        self.origins: dict[str, Value] = {}
        """For the name of a result its instruction."""
        self.ranges: dict[Value, Range] = {}
        """The numbers that counters of loops can be."""
        self.checked: dict[object, int] = {}
        """Indices that are asserted to be in range, with the region where they are."""
        self.signal_bases: set[Value] = set()
        """Pointers to the memory of the signals between cores: a store through one sends a signal."""
        self.choose_tile: Callable[[Operand, Operand, Operand], Operand] | None = None
        """Returns one of two tiles without addresses, as a condition says."""
        self._nulls: dict[str, str] = {}
        self._casts: dict[str, tuple[str, int]] = {}
        self.debug = ""

    # ------------------------------------------------------------ locations

    def at(self, debug: str) -> None:
        """Makes ``debug`` the location of what follows."""
        self.debug = debug
        self.writer.location = self.frames.text(debug) if debug else ""

    def fail(self, message: str, help: str = "", debug: str | None = None) -> NoReturn:
        """Raises ``TranslationError`` at the current location."""
        raise TranslationError(message, self.frames.location(self.debug if debug is None else debug), help)

    # ------------------------------------------------------------ operands

    def operand(self, operand: IrOperand) -> Operand:
        """Returns the constant or name of an operand."""
        if isinstance(operand, Constant):
            return Operand(operand.type, 0 if operand.value is None else operand.value)
        if isinstance(operand, Value):
            known = self.values.get(operand)
            if known is None:
                self.fail(f"the value {operand.name!r} is not computed by instructions that can be translated")
            return known
        text = self.module.string(operand) if isinstance(operand, Global) else None
        if text is not None:
            return Operand("ptr", text)
        stated = str(getattr(operand, "text", operand))
        if address := _ADDRESS.fullmatch(stated):
            return Operand("i64", int(address[1]))
        self.fail(f"the constant {stated} cannot be translated")

    def type(self, type: str) -> str:
        """Returns the ``.pto`` type of a scalar type."""
        if type not in _SCALARS:
            shown = "vectors of the compiler" if type.startswith("<") else f"values of type {_IN_C.get(type, type)}"
            self.fail(f"{shown} cannot be translated", "use integers of up to 64 bits, half, float")
        return scalar_type(type)

    def name(self, operand: Operand) -> str:
        """Returns the SSA name of a scalar."""
        if operand.type == "ptr":
            return self.pointer_name(operand, "i8")
        if operand.name is not None:
            return operand.name
        if operand.value is None or isinstance(operand.value, str):
            self.fail("the address of a tile is used as a number", "assign an address to the tile with TASSIGN")
        return self.constant(operand.value, self.type(operand.type))

    def constant(self, value: int | float, type: str) -> str:
        """Returns the name of a constant."""
        return self.writer.constant(constant_text(value, type), type)

    def index(self, operand: Operand) -> str:
        """Returns an integer, with its sign, as index."""
        if isinstance(operand.value, int):
            return self.constant(operand.value, "index")
        name = self.name(operand)
        known = self.indices.get(name)
        if known is not None:
            return known
        cast, scope = self._casts.get(name, ("", -1))
        if not self.writer.is_open(scope):
            cast = self.writer.define(f"arith.index_cast {name} : {operand.type} to index", name[1:], True)
            self._casts[name] = cast, self.writer.scopes[-1]
        return cast

    # ------------------------------------------------------------ pointers

    def pointer_name(self, operand: Operand, element: str) -> str:
        """Returns a pointer as ``!pto.ptr<element>``."""
        pointer = operand.origin
        if not isinstance(pointer, Pointer):
            if operand.value != 0:
                self.fail("a text is used as a pointer")
            return self._null(element)
        name = self._added(pointer)
        if pointer.element == element:
            return name
        return self.writer.define(
            f"pto.castptr {name} : !pto.ptr<{pointer.element}> -> !pto.ptr<{element}>", name[1:], True
        )

    def _null(self, element: str) -> str:
        known = self._nulls.get(element)
        if known is None:
            zero = self.constant(0, "i64")
            known = self._nulls[element] = self.writer.head(f"pto.castptr {zero} : i64 -> !pto.ptr<{element}>", "null")
        return known

    def settled(self, operand: Operand | None, variable: Variable) -> Operand | None:
        """Returns a pointer without an index to add, as ``variable`` holds it; other operands as they are."""
        if operand is None or not isinstance(operand.origin, Pointer):
            return operand
        element = self.variable_element(variable)
        if operand.origin.index is None and operand.origin.element == element:
            return operand
        return self.new_pointer(self.pointer_name(operand, element), element)

    def _added(self, pointer: Pointer) -> str:
        if pointer.index is None:
            return pointer.base
        if not pointer.added or not self.writer.is_open(pointer.scope):
            type = f"!pto.ptr<{pointer.element}>"
            body = f"pto.addptr {pointer.base}, {pointer.index} : {type} -> {type}"
            pointer.added = self.writer.define(body, pointer.base[1:], True)
            pointer.scope = self.writer.scopes[-1]
        return pointer.added

    def new_pointer(self, name: str, element: str, index: str | None = None) -> Operand:
        """Returns the operand of a pointer; its name tells pointers apart and is no SSA name."""
        return Operand("ptr", name=f"{name}[{index}]" if index else name, origin=Pointer(name, element, index))

    # ------------------------------------------------------------ variables

    def variable_type(self, variable: Variable) -> str:
        """Returns the ``.pto`` type of a variable."""
        if variable.type == "ptr":
            return f"!pto.ptr<{self.variable_element(variable)}>"
        return self.type(variable.type)

    def variable_element(self, variable: Variable) -> str:
        """Returns the element type of a variable that holds pointers."""
        return self.elements.of(variable if variable.source is None else variable.source)

    def passed(self, operand: Operand | None, variable: Variable) -> str:
        """Returns the name by which an operand is passed as the content of ``variable``; 0 if it has none."""
        if operand is None:
            operand = Operand(variable.type, 0)
        if variable.type == "ptr":
            return self.pointer_name(operand, self.variable_element(variable))
        return self.name(operand)

    def received(self, name: str, variable: Variable) -> Operand:
        """Returns the operand of a value that was passed as the content of ``variable``."""
        if variable.type == "ptr":
            return self.new_pointer(name, self.variable_element(variable))
        return Operand(variable.type, name=name)

    def bind(self, value: Value, operand: Operand) -> None:
        """Makes ``operand`` the content of a value."""
        self.values[value] = operand
        if operand.name is not None and operand.type != "ptr":
            self.origins.setdefault(operand.name, value)


def constant_text(value: int | float, type: str) -> str:
    """Returns a constant as ``.pto`` writes it."""
    if type == "i1":
        return "true" if value else "false"
    if type.startswith(("i", "u", "s")):
        return str(int(value))
    number = float(value)
    if number != number or number in (float("inf"), float("-inf")):
        return _bits(number, type)
    return repr(number)


def _bits(number: float, type: str) -> str:
    """Returns the bits of an infinite number or of what is none."""
    exponent, mantissa = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}.get(type, (8, 23))
    bits = ((1 << exponent) - 1) << mantissa
    if number != number:
        bits |= 1 << (mantissa - 1)
    elif number < 0:
        bits |= 1 << (exponent + mantissa)
    return f"0x{bits:0{(exponent + mantissa + 1) // 4}X}"

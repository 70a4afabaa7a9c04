"""Attributes: `Attribute` and the builtin attributes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar

from xdsl.dialects import builtin as xb
from xdsl.ir import Attribute as XAttribute
from xdsl.ir import TypeAttribute

from pto_dialect.accel.operations.construct import new_integer
from pto_dialect.diagnostics.refused import RefusedProgram
from pto_dialect.ir.core.attribute_text import attribute_text, text_bytes
from pto_dialect.ir.core.types import PtoType
from pto_dialect.syntax.errors.types import TypeSyntaxError
from pto_dialect.syntax.types.attributes import literals_of, parse_attribute

from . import conventions
from .context import Context, Location, any_context, need_context
from .errors import MLIRError
from .texts import plain_text

A = TypeVar("A", bound="Attribute")

WRAPPERS: dict[type[XAttribute], Callable[[Any], type[Attribute]]] = {}
"""By class of the attribute in the program, what returns the most special class of its wrapper."""


def wraps(*classes: type[XAttribute]) -> Callable[[type[A]], type[A]]:
    """States that attributes of ``classes`` come back as the decorated class."""

    def register(cls: type[A]) -> type[A]:
        cls._classes = classes
        for one in classes:
            WRAPPERS[one] = lambda attribute: cls
        return cls

    return register


def wrap(attribute: XAttribute) -> Any:
    """Returns an attribute or type in its most special class."""
    choose = WRAPPERS.get(type(attribute))
    cls = _plain[isinstance(attribute, TypeAttribute)] if choose is None else choose(attribute)
    made = object.__new__(cls)
    made._x = attribute
    return made


def wrap_type(attribute: XAttribute) -> Any:
    """Returns the type of a value; one of the dialect is a ``Type`` for packages that expect it."""
    if conventions.plain_types and isinstance(attribute, PtoType):
        made = object.__new__(_plain[True])
        made._x = attribute
        return made
    return wrap(attribute)


def unwrap(value: object, what: str = "value") -> XAttribute:
    """Returns the attribute of a wrapper. Raises ``TypeError`` for anything else."""
    if isinstance(value, Attribute):
        return value._x
    attribute = getattr(value, "attr", None)
    if isinstance(attribute, Attribute):
        return attribute._x
    raise TypeError(f"{what} is an Attribute, found {type(value).__name__}")


class Attribute:
    """An attribute of an operation."""

    __slots__ = ("_x",)

    _x: XAttribute
    _classes: ClassVar[tuple[type[XAttribute], ...]] = (XAttribute,)

    def __init__(self, cast_from_attr: Attribute) -> None:
        attribute = unwrap(cast_from_attr, f"the argument of {type(self).__name__}")
        if not self._holds(attribute):
            kind = "type" if isinstance(attribute, TypeAttribute) else "attribute"
            raise ValueError(f"Cannot cast {kind} to {type(self).__name__} (from {wrap(attribute)!r})")
        self._x = attribute

    @classmethod
    def _holds(cls, attribute: XAttribute) -> bool:
        return isinstance(attribute, cls._classes)

    @classmethod
    def isinstance(cls, other: Attribute) -> bool:
        """Returns whether ``other`` can be cast to this class."""
        return cls._holds(unwrap(other, "the argument of isinstance"))

    @staticmethod
    def parse(asm: str, context: Context | None = None) -> Any:
        """Returns the attribute with this text. Raises ``MLIRError`` where there is none."""
        need_context(context)
        return wrap(read_attribute(asm))

    @property
    def context(self) -> Context:
        """The context."""
        return any_context()

    @property
    def type(self) -> Any:
        """The type of a typed attribute; ``none`` for others."""
        found = getattr(self._x, "type", None) if not isinstance(self._x, TypeAttribute) else None
        return wrap(found if isinstance(found, TypeAttribute) else xb.NoneType())

    @property
    def typeid(self) -> object:
        """What identifies the kind of attribute or type."""
        return type(self._x)

    def get_named(self, name: str) -> NamedAttribute:
        """Returns the attribute with a name."""
        return NamedAttribute(name, self)

    def maybe_downcast(self) -> Any:
        """Returns the attribute in its most special class."""
        return wrap(self._x)

    def dump(self) -> None:
        """Prints the attribute."""
        print(self)

    def __str__(self) -> str:
        return attribute_text(self._x)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Attribute) and (self._x is other._x or self._x == other._x)

    def __hash__(self) -> int:
        return hash(self._x)


_plain: list[type[Attribute]] = [Attribute, Attribute]
"""The classes of other attributes, and of other types, which ``types`` sets."""

_BUILTIN = re.compile(r"#\w[\w.]*\s*<|#pto|dense<|array<|strided<")


def read_attribute(text: str) -> XAttribute:
    """Returns the attribute with this text. Raises ``MLIRError`` where there is none."""
    plain = plain_text(text, "asm").strip()
    try:
        if _BUILTIN.match(plain) and not plain.startswith("dense"):
            return parse_attribute(plain)
        return _read_in_module(plain)
    except TypeSyntaxError as error:
        raise MLIRError(f"cannot read the attribute {text!r}: {error}") from None


def _read_in_module(text: str) -> XAttribute:
    from pto_dialect.api import parse  # deferred: start-up

    try:
        module = parse(f"module attributes {{value = {text}}} {{\n}}\n", "<attribute>")
    except RefusedProgram as error:
        raise MLIRError(f"cannot read the attribute {text!r}: {error.diagnostics[0].message}") from None
    value = module.attributes.get("value")
    if value is None or len(module.attributes) != 1 or module.body.block.first_op is not None:
        raise MLIRError(f"cannot read the attribute {text!r}")
    return value


class NamedAttribute:
    """An attribute with its name."""

    def __init__(self, name: str, attr: Attribute) -> None:
        self.name = name
        self.attr = attr

    def __repr__(self) -> str:
        return f"NamedAttribute({self.name}={self.attr})"


def whole(value: object, what: str) -> int:
    """Returns a whole number. Raises ``TypeError`` for anything else."""
    index = getattr(type(value), "__index__", None)
    if index is None:
        raise TypeError(f"{what} is a whole number, found {type(value).__name__}")
    return int(index(value))


def integer_attribute(value: object, type_: xb.IntegerType | xb.IndexType, what: str = "the value") -> xb.IntegerAttr:
    """Returns the attribute of a number that is a literal of its type. Raises ``TypeError`` and ``ValueError``."""
    number = whole(value, what)
    least, most = literals_of(type_)
    if not least <= number <= most:
        shown = number if number.bit_length() <= 128 else f"a number of {number.bit_length()} bits"
        raise ValueError(f"{shown} does not fit into {type_}, which has {least} to {most}")
    if least < 0 and isinstance(type_, xb.IntegerType):
        # A literal of all bits of a type without a sign is the negative number that has them.
        half = 1 << type_.width.data >> 1
        number = (number + half) % (1 << type_.width.data) - half
    return new_integer(number, type_)


@wraps(xb.UnitAttr)
class UnitAttr(Attribute):
    """The attribute without a value."""

    @staticmethod
    def get(context: Context | None = None) -> UnitAttr:
        """Returns the attribute."""
        need_context(context)
        return wrap(_UNIT)


_UNIT = xb.UnitAttr()


@wraps(xb.StringAttr)
class StringAttr(Attribute):
    """A string."""

    @staticmethod
    def get(value: str | bytes, context: Context | None = None) -> StringAttr:
        """Returns the attribute of a string."""
        need_context(context)
        if isinstance(value, bytes):
            return wrap(xb.StringAttr(value.decode(errors="surrogateescape")))
        return wrap(xb.StringAttr(plain_text(value, "the value of StringAttr.get")))

    @staticmethod
    def get_typed(type: Any, value: str) -> StringAttr:
        """Returns the attribute of a string."""
        return StringAttr.get(value, any_context())

    @property
    def value(self) -> str:
        """The string; ``UnicodeDecodeError`` for bytes that are not UTF-8."""
        return self.value_bytes.decode()

    @property
    def value_bytes(self) -> bytes:
        """The bytes of the string."""
        return text_bytes(self._x.data)  # pyright: ignore[reportAttributeAccessIssue]


class _SymbolRef(Attribute):
    __slots__ = ()

    _classes = (xb.SymbolRefAttr,)

    @property
    def value(self) -> Any:
        """The name, or the list of names of a nested symbol."""
        names = _names_of(self._x)
        return names[0] if len(names) == 1 else names


def _names_of(attribute: Any) -> list[str]:
    return [attribute.root_reference.data, *(one.data for one in attribute.nested_references.data)]


class FlatSymbolRefAttr(_SymbolRef):
    """A symbol."""

    @classmethod
    def _holds(cls, attribute: XAttribute) -> bool:
        return isinstance(attribute, xb.SymbolRefAttr) and not attribute.nested_references.data

    @staticmethod
    def get(value: str, context: Context | None = None) -> FlatSymbolRefAttr:
        """Returns the reference to a symbol."""
        need_context(context)
        return wrap(xb.SymbolRefAttr(plain_text(value, "the value of FlatSymbolRefAttr.get")))


class SymbolRefAttr(_SymbolRef):
    """A symbol in a symbol."""

    @staticmethod
    def get(symbols: Sequence[str], context: Context | None = None) -> SymbolRefAttr:
        """Returns the reference to a symbol."""
        need_context(context)
        if not symbols or not all(isinstance(one, str) for one in symbols):
            raise TypeError("SymbolRefAttr.get takes a list of strings")
        first, *others = (plain_text(one, "a name of SymbolRefAttr.get") for one in symbols)
        return wrap(xb.SymbolRefAttr(first, others))


WRAPPERS[xb.SymbolRefAttr] = lambda one: SymbolRefAttr if one.nested_references.data else FlatSymbolRefAttr


class IntegerAttr(Attribute):
    """A whole number with its type."""

    _classes = (xb.IntegerAttr,)

    @staticmethod
    def get(type: Any, value: int) -> IntegerAttr:
        """Returns the attribute of a number."""
        of = unwrap(type, "the type of IntegerAttr.get")
        if not isinstance(of, (xb.IntegerType, xb.IndexType)):
            raise ValueError(f"an IntegerAttr has an integer or index type, found {type}")
        return wrap(integer_attribute(value, of, "the value of IntegerAttr.get"))

    @property
    def value(self) -> int:
        """The number."""
        return self._x.value.data  # pyright: ignore[reportAttributeAccessIssue]

    def __int__(self) -> int:
        return self.value


class BoolAttr(Attribute):
    """A truth value."""

    _classes = (xb.IntegerAttr,)

    @classmethod
    def _holds(cls, attribute: XAttribute) -> bool:
        return isinstance(attribute, xb.IntegerAttr) and attribute.type == xb.i1

    @staticmethod
    def get(value: bool, context: Context | None = None) -> BoolAttr:
        """Returns the attribute of a truth value."""
        need_context(context)
        return wrap(xb.IntegerAttr(1 if value else 0, xb.i1, truncate_bits=True))

    @property
    def value(self) -> bool:
        """The truth value."""
        return bool(self._x.value.data)  # pyright: ignore[reportAttributeAccessIssue]

    def __bool__(self) -> bool:
        return self.value


WRAPPERS[xb.IntegerAttr] = lambda one: BoolAttr if one.type == xb.i1 else IntegerAttr


@wraps(xb.FloatAttr)
class FloatAttr(Attribute):
    """A floating-point number with its type."""

    @staticmethod
    def get(type: Any, value: float, loc: Location | None = None) -> FloatAttr:
        """Returns the attribute of a number."""
        of = unwrap(type, "the type of FloatAttr.get")
        if not isinstance(of, xb.AnyFloat):
            raise MLIRError(f"a FloatAttr has a floating-point type, found {type}")
        return wrap(xb.FloatAttr(float(value), of))

    @staticmethod
    def get_f32(value: float, context: Context | None = None) -> FloatAttr:
        """Returns the attribute of an f32."""
        need_context(context)
        return wrap(xb.FloatAttr(float(value), xb.f32))

    @staticmethod
    def get_f64(value: float, context: Context | None = None) -> FloatAttr:
        """Returns the attribute of an f64."""
        need_context(context)
        return wrap(xb.FloatAttr(float(value), xb.f64))

    @property
    def value(self) -> float:
        """The number."""
        return self._x.value.data  # pyright: ignore[reportAttributeAccessIssue]

    def __float__(self) -> float:
        return self.value


class TypeAttr(Attribute):
    """A type as an attribute."""

    _classes = (TypeAttribute,)

    @staticmethod
    def get(value: Any, context: Context | None = None) -> TypeAttr:
        """Returns the attribute of a type."""
        made = object.__new__(TypeAttr)
        made._x = unwrap(value, "the argument of TypeAttr.get")
        return made

    @property
    def value(self) -> Any:
        """The type."""
        return wrap(self._x)


@wraps(xb.StridedLayoutAttr)
class StridedLayoutAttr(Attribute):
    """Strides and offset of a memref."""

    @staticmethod
    def get(offset: int, strides: Sequence[int], context: Context | None = None) -> Any:
        """Returns the layout; dynamic numbers are ``ShapedType.get_dynamic_stride_or_offset()``."""
        need_context(context)
        known = [None if one == DYNAMIC else whole(one, "a stride") for one in strides]
        return wrap(xb.StridedLayoutAttr(known, None if offset == DYNAMIC else whole(offset, "the offset")))

    @staticmethod
    def get_fully_dynamic(rank: int, context: Context | None = None) -> Any:
        """Returns the layout of ``rank`` strides whose numbers are all dynamic."""
        return StridedLayoutAttr.get(DYNAMIC, [DYNAMIC] * whole(rank, "the rank"), context)

    @property
    def offset(self) -> int:
        """The offset in elements."""
        found = self._x.get_offset()  # pyright: ignore[reportAttributeAccessIssue]
        return DYNAMIC if found is None else found

    @property
    def strides(self) -> list[int]:
        """The strides in elements."""
        return [DYNAMIC if one is None else one for one in self._x.get_strides()]  # pyright: ignore[reportAttributeAccessIssue]


DYNAMIC = -(1 << 63)
"""A size that is known at run time only, as MLIR writes it."""


class OpaqueAttr(Attribute):
    """An attribute of a dialect that is not known."""

    @classmethod
    def _holds(cls, attribute: XAttribute) -> bool:
        return False


class AffineMapAttr(Attribute):
    """An affine map."""

    _classes = (xb.AffineMapAttr,)

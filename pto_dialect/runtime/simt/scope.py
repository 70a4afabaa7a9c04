"""State of the code generator while it writes code that work-items run.

Values that differ between work-items are arrays (see ``items``), the others plain numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, IntegerType, VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.roles import Role, has_role, roles_of

from ..compile.emit import Emitter, Expr
from ..errors import ProgramError
from ..memory.packed_element import part_format, parts_of
from ..memory.spaces import Array
from ..numerics.encode import encode
from ..numerics.formats import Format
from .access import Element
from .code import SimtCode
from .variance import deciding_values, is_private, is_structured


class CodeWriter(Protocol):
    """The part of the code generator that values of work-items need."""

    emitter: Emitter

    def name(self, value: SSAValue) -> Expr:
        """Returns the text of a value."""
        ...

    def argument(self, value: Any) -> str:
        """Returns the text of an object that the code refers to."""
        ...

    def format(self, attr: Attribute) -> Format:
        """Returns the number format of a type."""
        ...

    def error(self, rule: str, message: str, op: Operation | None = None) -> ProgramError:
        """Returns an error at the operation whose code is written."""
        ...


class LaneScope:
    """The code of one function or section that work-items run.

    ``names`` are those of the functions that work-items run, in the generated code; ``mask`` is the local with the mask
    of running work-items.
    """

    def __init__(self, code: SimtCode, names: dict[Operation, str], mask: str = "mask") -> None:
        self.code = code
        self.names = names
        self.mask = mask
        self._constants: dict[tuple[str, str], str] = {}

    @contextmanager
    def masked(self, mask: str) -> Iterator[None]:
        """Context in which only the work-items in the local ``mask`` run."""
        outer, self.mask = self.mask, mask
        yield
        self.mask = outer

    def varies(self, value: SSAValue) -> bool:
        """Returns whether the value differs between work-items."""
        return value in self.code.variance

    def concerns(self, op: Operation) -> bool:
        """Returns whether the operation uses or produces a value that differs between work-items."""
        roles = roles_of(op)
        if roles & (Role.LANE | Role.RETURN) or Role.CALL in roles or is_private(op):
            return True
        if self.code.each_access and Role.ELEMENT_STORE in roles:
            return True
        if is_structured(op):
            return self.code.variance.any(deciding_values(op))
        return self.code.variance.any((*op.operands, *op.results))

    # ------------------------------------------------------------ values

    def passed(self, value: SSAValue, target: SSAValue, g: CodeWriter) -> Expr:
        """Returns ``value`` as an array if ``target`` is one."""
        return self.lane(value, g) if self.varies(target) else g.name(value)

    def lane(self, value: SSAValue, g: CodeWriter) -> Expr:
        """Returns ``value`` as the value of each work-item."""
        name = g.name(value)
        if self.varies(value) or not is_number(value.type):
            return name
        number = constant_of(value)
        if number is not None:
            return Expr(self._constant(value.type, number, g))
        return Expr(f"{g.argument(widener(value.type, g))}({name})")

    def _constant(self, type_: Attribute, number: int | float, g: CodeWriter) -> str:
        """Returns the name of a constant array; equal ones are shared."""
        key = (t.type_text(type_), repr(number))
        known = self._constants.get(key)
        if known is None:
            array = widener(type_, g)(number)
            array.flags.writeable = False
            known = self._constants[key] = g.emitter.constant(array, f"all_{number}")
        return known


def constant_of(value: SSAValue) -> int | float | None:
    """Returns the number of a constant."""
    owner = value.owner
    if not isinstance(owner, Operation) or not has_role(owner, Role.CONSTANT):
        return None
    attribute = owner.properties["value"]
    return attribute.value.data if isinstance(attribute, (IntegerAttr, FloatAttr)) else None


def is_number(type_: Attribute) -> bool:
    """Returns whether a type is an integer, index, float or a vector of them."""
    return isinstance(type_, (IntegerType, IndexType, VectorType)) or t.is_float(type_)


def element_of(type_: Attribute, g: CodeWriter) -> Element:
    """Returns how values of a type are stored in memory, and in arrays of work-items."""
    if isinstance(type_, VectorType):
        try:
            part = part_format(type_)
        except ValueError:
            raise g.error("unmodelled", f"elements of type {t.type_text(type_)} cannot be computed with") from None
        if not part.is_packed:
            return Element(part.storage, parts_of(type_))
        raise g.error("unmodelled", f"elements of type {t.type_text(type_)} cannot be computed with")
    fmt = g.format(type_)
    if fmt.bits < 8 and fmt.name != "i1":
        raise g.error("unmodelled", f"elements of type {t.type_text(type_)} cannot be computed with")
    return Element(fmt.storage)


def number_format(type_: Attribute, g: CodeWriter) -> Format:
    """Returns the format of the numbers in a value."""
    return part_format(type_) if isinstance(type_, VectorType) else g.format(type_)


class Widener:
    """Converts a number that all work-items share to an array, shape [1]."""

    def __init__(self, fmt: Format) -> None:
        self.fmt = fmt
        self.label = f"all_{fmt.name}"

    def __call__(self, value: Any) -> Array:
        """Returns the array."""
        fmt = self.fmt
        if fmt.name == "index":
            value = (value + (1 << 63) & (1 << 64) - 1) - (1 << 63)
        if fmt.storage == fmt.compute:
            return np.array([value], fmt.storage)
        return encode(np.array([value], np.float32), fmt, saturate=False)


_WIDENERS: dict[str, Widener] = {}


def widener(type_: Attribute, g: CodeWriter) -> Widener:
    """Returns the widener of a type."""
    fmt = g.format(type_)
    return _WIDENERS.setdefault(fmt.name, Widener(fmt))

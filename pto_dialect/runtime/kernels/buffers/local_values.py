"""Arrays and structs of the scalar unit. Source: docs/reference/execution.md, "Pointers, tiles and views",
"Synchronisation".
"""

from __future__ import annotations

from math import prod
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerAttr
from xdsl.ir import Attribute

from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.compile.generator import Generator, is_integer
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.numerics.unset import Unset

from ..registry import kernel


class LocalArray:
    """Array of Python numbers in row-major order."""

    __slots__ = ("shape", "values")

    def __init__(self, shape: tuple[int, ...], start: Any) -> None:
        self.shape = shape
        self.values = [start] * prod(shape)

    def position(self, *indices: int) -> int:
        """Returns the position of an element; raises ``Fault`` (``mem-oob``) outside the array."""
        position = 0
        for index, extent in zip(indices, self.shape, strict=True):
            if not 0 <= index < extent:
                shape = t.dims_text(self.shape)
                raise Fault("mem-oob", f"element {list(indices)} of a local array of shape {shape}")
            position = position * extent + index
        return position


class TrackedArray(LocalArray):
    """Array that knows which elements were set; ``name`` is that of the program."""

    __slots__ = ("name",)

    def __init__(self, shape: tuple[int, ...], name: str) -> None:
        super().__init__(shape, None)
        self.name = name

    def element(self, *indices: int) -> Any:
        """Returns an element; one that was never set is a number without a value."""
        value = self.values[self.position(*indices)]
        if value is not None:
            return value
        return Unset(self.name if self.shape == (1,) else f"{self.name}[{', '.join(map(str, indices))}]")


def _start(type_: Attribute) -> Any:
    """Returns the initial value of an element: the contents are undefined."""
    return 0 if is_integer(type_) else 0.0


@kernel("pto.declare_local_array")
def declare_local_array(op: PtoOp, g: Generator) -> None:
    """An array of numbers whose elements are 0 until they are set. A sanitized run reports the use of such an element
    (``mem-uninit``)."""
    type_ = op.results[0].type
    assert isinstance(type_, t.LocalArrayType)
    if g.tracks_numbers:
        name = op.results[0].name_hint or "an array"
        g.define(op.results[0], f"{g.argument(TrackedArray)}({type_.shape!r}, {name!r})")
        return
    g.define(op.results[0], f"{g.argument(LocalArray)}({type_.shape!r}, {_start(type_.element)!r})")


@kernel("pto.declare_eventid_array")
def declare_event_array(op: PtoOp, g: Generator) -> None:
    """An array of flag ids whose elements are 0 until they are set."""
    type_ = op.results[0].type
    assert isinstance(type_, t.EventIdArrayType)
    g.define(op.results[0], f"{g.argument(LocalArray)}(({type_.size},), 0)")


@kernel("pto.local_array_get", "pto.eventid_array_get")
def array_get(op: PtoOp, g: Generator) -> None:
    """The element at the indices. Raises ``Fault`` (``mem-oob``) at run time outside the array."""
    array, *indices = (g.name(v) for v in op.operands)
    if g.tracks_numbers and isinstance(op.operands[0].type, t.LocalArrayType):
        g.define(op.results[0], f"{array}.element({', '.join(indices)})")
        return
    g.define(op.results[0], f"{array}.values[{array}.position({', '.join(indices)})]")


@kernel("pto.local_array_set", "pto.eventid_array_set")
def array_set(op: PtoOp, g: Generator) -> None:
    """Stores a number at the indices. Raises ``Fault`` (``mem-oob``) at run time outside the array."""
    array, *indices, value = (g.name(v) for v in op.operands)
    g.emitter.line(f"{array}.values[{array}.position({', '.join(indices)})] = {value}")


# ------------------------------------------------------------ structs


def _fields(type_: Attribute) -> Any:
    """Returns a struct as a list of its fields, nested like its type."""
    return [_fields(field) for field in type_.fields] if isinstance(type_, t.StructType) else _start(type_)


def _path(op: PtoOp) -> str:
    path = op.attributes["path"]
    if isinstance(path, DenseArrayBase):
        steps = [int(step) for step in path.get_values()]
    else:
        assert isinstance(path, ArrayAttr)
        steps = [step.value.data for step in path.data if isinstance(step, IntegerAttr)]
    return "".join(f"[{step}]" for step in steps)


@kernel("pto.declare_struct")
def declare_struct(op: PtoOp, g: Generator) -> None:
    """A struct whose fields are 0 until they are set."""
    g.define(op.results[0], repr(_fields(op.results[0].type)))


@kernel("pto.struct_get")
def struct_get(op: PtoOp, g: Generator) -> None:
    """The field at a path of field numbers."""
    g.define(op.results[0], f"{g.name(named(op, 's'))}{_path(op)}")


@kernel("pto.struct_set")
def struct_set(op: PtoOp, g: Generator) -> None:
    """Stores a value in the field at a path of field numbers."""
    struct, value = (g.name(named(op, name)) for name in ("s", "value"))
    g.emitter.line(f"{struct}{_path(op)} = {value}")

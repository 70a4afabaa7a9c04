"""Types and constants in the signatures of kernels."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..ir.types import read_type


class SurfaceType(NamedTuple):
    """A type by its text."""

    text: str

    @property
    def x(self) -> Any:
        """The type in programs."""
        return read_type(self.text)


class Constant(NamedTuple):
    """A value that is known when a kernel is translated."""

    value: Any


class Structure:
    """A structure of pointers and constants: the type of an argument that ``jit`` replaces by a value."""

    def __init__(self, name: str, fields: tuple[str, ...]) -> None:
        self.name = name
        self.fields = fields

    def __call__(self, **fields: Any) -> StructureValue:
        unknown = sorted(fields.keys() ^ set(self.fields))
        if unknown:
            raise TypeError(f"{self.name} has the fields {', '.join(self.fields)}; see {', '.join(unknown)}")
        return StructureValue(self, fields)


class StructureValue(NamedTuple):
    """The value of such an argument."""

    structure: Structure
    fields: dict[str, Any]


def ptr(element: SurfaceType, space: str = "gm") -> SurfaceType:
    """Returns the type of pointers into a memory."""
    return SurfaceType(f"!pto.ptr<{element.text}, {space}>")


def vreg(lanes: int, element: SurfaceType) -> SurfaceType:
    """Returns the type of a vector register."""
    return SurfaceType(f"!pto.vreg<{lanes}x{element.text}>")


def const(value: Any) -> Constant:
    """Returns a value that is known when a kernel is translated."""
    return Constant(value)


def struct(cls: type[Any]) -> Structure:
    """Returns the structure with the annotated fields of a class."""
    fields = tuple(vars(cls).get("__annotations__", {}))
    if not fields:
        raise TypeError(f"{cls.__name__} has no annotated fields")
    return Structure(cls.__name__, fields)


Tile = Structure("Tile", ("ub_ptr", "shape"))

NAMES: dict[str, Any] = {
    **{name: SurfaceType(name) for name in ("i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32")},
    "mask": SurfaceType("!pto.mask<b32>"),
    "align": SurfaceType("!pto.align"),
    "Tile": Tile,
    "tile": Tile,
    "ptr": ptr,
    "vreg": vreg,
    "const": const,
    "struct": struct,
}
"""Names of the module `pto` for signatures of kernels."""

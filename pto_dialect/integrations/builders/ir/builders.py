"""Attributes from Python values, by the name of their kind, as generated classes of MLIR make them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .arrays import ArrayAttr, DenseBoolArrayAttr, DenseI32ArrayAttr, DenseI64ArrayAttr, DictAttr
from .attributes import (
    BoolAttr,
    FlatSymbolRefAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TypeAttr,
    UnitAttr,
)
from .types import IndexType, IntegerType

Builder = Callable[..., Any]


def _integer(width: int) -> Builder:
    return lambda value, context: IntegerAttr.get(IntegerType.get_signless(width, context), value)


_builders: dict[str, Builder] = {
    "BoolAttr": BoolAttr.get,
    "DictionaryAttr": DictAttr.get,
    "IndexAttr": lambda value, context: IntegerAttr.get(IndexType.get(context), value),
    **{f"I{width}Attr": _integer(width) for width in (1, 8, 16, 32, 64)},
    "F32Attr": FloatAttr.get_f32,
    "F64Attr": FloatAttr.get_f64,
    "StrAttr": StringAttr.get,
    "SymbolNameAttr": StringAttr.get,
    "SymbolRefAttr": FlatSymbolRefAttr.get,
    "FlatSymbolRefAttr": FlatSymbolRefAttr.get,
    "UnitAttr": lambda value, context: UnitAttr.get(context) if value else None,
    "ArrayAttr": ArrayAttr.get,
    "I64ArrayAttr": lambda value, context: ArrayAttr.get([_integer(64)(one, context) for one in value]),
    "DenseBoolArrayAttr": DenseBoolArrayAttr.get,
    "DenseI32ArrayAttr": DenseI32ArrayAttr.get,
    "DenseI64ArrayAttr": DenseI64ArrayAttr.get,
    "TypeAttr": TypeAttr.get,
}


class AttrBuilder:
    """The functions that make attributes from Python values, by kind."""

    @staticmethod
    def contains(kind: str) -> bool:
        """Returns whether there is a function for a kind."""
        return kind in _builders

    @staticmethod
    def get(kind: str) -> Builder:
        """Returns the function for a kind. Raises ``KeyError`` where there is none."""
        return _builders[kind]

    @staticmethod
    def insert(kind: str, builder: Builder, replace: bool = False) -> None:
        """Adds the function for a kind. Raises ``RuntimeError`` where there is one already."""
        if kind in _builders and not replace:
            raise RuntimeError(f"there is a builder of attributes of kind {kind!r} already")
        _builders[kind] = builder


def register_attribute_builder(kind: str, replace: bool = False) -> Callable[[Builder], Builder]:
    """Returns a decorator that adds the function for a kind."""

    def register(builder: Builder) -> Builder:
        AttrBuilder.insert(kind, builder, replace)
        return builder

    return register


def register_value_caster(typeid: object, replace: bool = False) -> Callable[[Any], Any]:
    """Returns a decorator that does nothing: values have the class ``Value``."""
    return lambda caster: caster

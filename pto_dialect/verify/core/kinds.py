"""Kinds of types and attributes that operations of the core dialects take, as MLIR defines them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from xdsl.dialects import builtin
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, MemRefType, Signedness
from xdsl.ir import Attribute

from pto_dialect.ir.core.attributes import OpaqueAttr
from pto_dialect.ir.core_dialects.affine_maps import affine_text

_CONTAINERS = (builtin.VectorType, builtin.TensorType, builtin.UnrankedTensorType)
_NUMBERS = (IndexType, IntegerType)


@dataclass(frozen=True)
class CoreKind:
    """A set of types or attributes with a phrase that describes it."""

    label: str
    accepts: Callable[[Attribute], bool]


def element_type(type_: Attribute) -> Attribute:
    """Returns the element type of a vector or tensor, and any other type itself."""
    # Compare the class first: isinstance is slow when the answer is no, as for most scalars.
    return type_ if type(type_) in _NUMBERS else type_.element_type if isinstance(type_, _CONTAINERS) else type_


def memref_element(type_: Attribute) -> Attribute:
    """Returns the same as ``element_type``, and the element type of a memref."""
    return type_.element_type if isinstance(type_, MemRefType) else element_type(type_)


def container_shape(type_: Attribute) -> tuple[object, ...]:
    """Returns what two types must share when their values correspond element by element; empty for scalars."""
    if isinstance(type_, builtin.VectorType):
        return "vector", type_.shape, type_.scalable_dims
    if isinstance(type_, builtin.TensorType):
        return "tensor", type_.shape
    return ("tensor",) if isinstance(type_, builtin.UnrankedTensorType) else ()


def is_signless(type_: Attribute) -> bool:
    """Returns whether a type is ``iN``."""
    return isinstance(type_, IntegerType) and type_.signedness.data is Signedness.SIGNLESS


def _signless_or_index(type_: Attribute) -> bool:
    return isinstance(type_, IndexType) or is_signless(type_)


def _float(type_: Attribute) -> bool:
    return isinstance(type_, builtin.AnyFloat)


def _i1(type_: Attribute) -> bool:
    return is_signless(type_) and type_.width.data == 1  # pyright: ignore[reportAttributeAccessIssue]


def bit_width(type_: Attribute) -> int:
    """Returns the bits of a number; 0 for types without a width of their own."""
    if isinstance(type_, IntegerType):
        return type_.width.data
    return type_.bitwidth if isinstance(type_, builtin.AnyFloat) else 0


_MEMREFS = (MemRefType, builtin.UnrankedMemRefType)

TYPES: dict[str, CoreKind] = {
    "any": CoreKind("a value", lambda type_: True),
    "int": CoreKind("a signless integer or index", lambda type_: _signless_or_index(element_type(type_))),
    "fixed": CoreKind("a signless integer", lambda type_: is_signless(element_type(type_))),
    "float": CoreKind("a floating-point number", lambda type_: _float(element_type(type_))),
    "bool": CoreKind("i1", lambda type_: _i1(element_type(type_))),
    "i1": CoreKind("i1", _i1),
    "index": CoreKind("index", lambda type_: isinstance(type_, IndexType)),
    "bound": CoreKind("index or a signless integer", _signless_or_index),
    "integer": CoreKind("an integer", lambda type_: isinstance(type_, IntegerType)),
    "intcast": CoreKind("a signless integer or index", lambda type_: _signless_or_index(memref_element(type_))),
    "bits": CoreKind(
        "a signless integer, index or floating-point number",
        lambda type_: _signless_or_index(memref_element(type_)) or _float(memref_element(type_)),
    ),
    "number": CoreKind(
        "a signless integer or floating-point number", lambda type_: is_signless(type_) or _float(type_)
    ),
    "memref": CoreKind("a memref", lambda type_: isinstance(type_, MemRefType)),
    "anymemref": CoreKind("a memref", lambda type_: isinstance(type_, _MEMREFS)),
    "unranked": CoreKind("a memref of unknown rank", lambda type_: isinstance(type_, builtin.UnrankedMemRefType)),
    "bytes": CoreKind(
        "a memref<..xi8> of one dimension",
        lambda type_: (
            isinstance(type_, MemRefType) and type_.get_num_dims() == 1 and type_.element_type == IntegerType(8)
        ),
    ),
    "row": CoreKind(
        "a memref of one dimension", lambda type_: isinstance(type_, MemRefType) and type_.get_num_dims() == 1
    ),
    "numbers": CoreKind(
        "a memref of signless integers or index of one dimension",
        lambda type_: (
            isinstance(type_, MemRefType) and type_.get_num_dims() == 1 and _signless_or_index(type_.element_type)
        ),
    ),
    "anyinteger": CoreKind("an integer or index", lambda type_: isinstance(type_, (IntegerType, IndexType))),
    "tensor": CoreKind("a tensor", lambda type_: isinstance(type_, builtin.TensorType)),
    "vector": CoreKind("a vector", lambda type_: isinstance(type_, builtin.VectorType)),
    "function": CoreKind("a function", lambda type_: isinstance(type_, builtin.FunctionType)),
}
"""Kinds of operand and result types by the name that the table of constraints uses."""


def _integer_attribute(width: int, allowed: Iterable[int] | None = None) -> Callable[[Attribute], bool]:
    members = None if allowed is None else frozenset(allowed)

    def accepts(attr: Attribute) -> bool:
        return (
            isinstance(attr, IntegerAttr)
            and attr.type == IntegerType(width)
            and (members is None or attr.value.data in members)
        )

    return accepts


def _flags(name: str) -> Callable[[Attribute], bool]:
    return lambda attr: attr.name == name


def _array(width: int) -> Callable[[Attribute], bool]:
    def accepts(attr: Attribute) -> bool:
        return isinstance(attr, builtin.DenseArrayBase) and attr.elt_type == IntegerType(width)

    return accepts


def _of(*classes: Any) -> Callable[[Attribute], bool]:
    return lambda attr: isinstance(attr, classes)


_INDEX_PREDICATE = re.compile(r"#index<cmp_predicate (?:eq|ne|[su](?:lt|le|gt|ge))>|#index\.cmp_predicate<\w+>")


def _affine(word: str) -> Callable[[Attribute], bool]:
    def accepts(attr: Attribute) -> bool:
        return isinstance(attr, OpaqueAttr) and attr.data.startswith(word) and affine_text(attr.data) is not None

    return accepts


def _bool_attribute(attr: Attribute) -> bool:
    return isinstance(attr, IntegerAttr) and attr.type == IntegerType(1)


ATTRIBUTES: dict[str, CoreKind] = {
    "any": CoreKind("an attribute", lambda attr: True),
    "fastmath": CoreKind("#arith.fastmath<..>", _flags("arith.fastmath")),
    "overflow": CoreKind("#arith.overflow<..>", _flags("arith.overflow")),
    "integer_predicate": CoreKind("an i64 from 0 to 9", _integer_attribute(64, range(10))),
    "float_predicate": CoreKind("an i64 from 0 to 15", _integer_attribute(64, range(16))),
    "rounding": CoreKind("an i32 from 0 to 4", _integer_attribute(32, range(5))),
    "atomic": CoreKind("an i64 from 0 to 14", _integer_attribute(64, range(15))),
    "alignment": CoreKind(
        "an i64 that is not negative",
        lambda attr: _integer_attribute(64)(attr) and attr.value.data >= 0,  # pyright: ignore[reportAttributeAccessIssue]
    ),
    "positive": CoreKind(
        "a positive i32",
        lambda attr: _integer_attribute(32)(attr) and attr.value.data > 0,  # pyright: ignore[reportAttributeAccessIssue]
    ),
    "locality": CoreKind("an i32 from 0 to 3", _integer_attribute(32, range(4))),
    "index_attribute": CoreKind(
        "a number of type index", lambda attr: isinstance(attr, IntegerAttr) and isinstance(attr.type, IndexType)
    ),
    "index_predicate": CoreKind(
        "#index<cmp_predicate ..>",
        lambda attr: isinstance(attr, OpaqueAttr) and _INDEX_PREDICATE.fullmatch(attr.data) is not None,
    ),
    "affine_map": CoreKind("affine_map<..>", _affine("affine_map")),
    "affine_set": CoreKind("affine_set<..>", _affine("affine_set")),
    "i32_elements": CoreKind(
        "dense<..> integers of type i32",
        lambda attr: isinstance(attr, builtin.DenseIntOrFPElementsAttr) and attr.get_element_type() == IntegerType(32),
    ),
    "i64_list": CoreKind(
        "an array of i64",
        lambda attr: isinstance(attr, builtin.ArrayAttr) and all(map(_integer_attribute(64), attr.data)),
    ),
    "bool": CoreKind("true or false", _bool_attribute),
    "string": CoreKind("a string", _of(builtin.StringAttr)),
    "symbol": CoreKind("the name of a symbol", _of(builtin.SymbolRefAttr)),
    "flat_symbol": CoreKind(
        "the name of a symbol",
        lambda attr: isinstance(attr, builtin.SymbolRefAttr) and not attr.nested_references.data,
    ),
    "unit": CoreKind("unit", _of(builtin.UnitAttr)),
    "function_type": CoreKind("a function type", _of(builtin.FunctionType)),
    "memref_type": CoreKind("a memref type", _of(MemRefType)),
    "i64_array": CoreKind("array<i64: ..>", _array(64)),
    "i32_array": CoreKind("array<i32: ..>", _array(32)),
    "numbers": CoreKind("dense<..> integers", _of(builtin.DenseIntOrFPElementsAttr)),
    "array": CoreKind("an array", _of(builtin.ArrayAttr)),
}
"""Kinds of attributes by the name that the table of constraints uses."""

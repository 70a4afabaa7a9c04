"""Text of any attribute or type, spelled as ``mlir-opt`` spells it.

Types retain their text; attributes are printed from their fields. Source: docs/reference/language.md, "Attributes",
"Printing".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from xdsl.dialects import builtin
from xdsl.ir import Attribute, TypeAttribute

from ..core_dialects.core_ops import CORE_SHAPES
from .aliases import MNEMONIC_ALIASES
from .attributes import EnumAttr, OpaqueAttr, PlaceholderAttr
from .float_text import float_text
from .index import OPS

_PRINTABLE = re.compile(r"[ !#-\[\]-~]*")
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_$.]*")
_SCALAR_LIKE = re.compile(r"[su]?i\d+|bf16|f\d+\w*|tf32|index|none")
_RESERVED = frozenset(("true", "false", "ins", "outs", "fp"))


def text_bytes(text: str) -> bytes:
    """Returns the bytes of a string of a program: UTF-8, and the bytes of lone surrogates that stand for others."""
    try:
        return text.encode("utf-8", errors="surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", errors="surrogatepass")


def string_literal(text: str) -> str:
    r"""Returns ``text`` as a quoted literal; characters other than printable ASCII become ``\\HH`` escapes of their
    bytes."""
    if _PRINTABLE.fullmatch(text):
        return f'"{text}"'
    parts: list[str] = []
    for byte in text_bytes(text):
        if byte == 0x5C:
            parts.append("\\\\")
        elif 0x20 <= byte < 0x7F and byte != 0x22:
            parts.append(chr(byte))
        else:
            parts.append(f"\\{byte:02X}")
    return '"' + "".join(parts) + '"'


def symbol_name(name: str) -> str:
    """Returns ``@name``, quoted where the name is not an identifier."""
    return "@" + (name if _BARE.fullmatch(name) else string_literal(name))


@cache
def key_text(key: str) -> str:
    """Returns an attribute name as a dictionary key: quoted unless it is an identifier without another meaning."""
    taken = key in _RESERVED or key in OPS or key in MNEMONIC_ALIASES or key in CORE_SHAPES
    plain = _BARE.fullmatch(key) and not taken and not _SCALAR_LIKE.fullmatch(key)
    return key if plain else string_literal(key)


def entry_text(key: str, value: Attribute) -> str:
    """Returns ``key = value``; the key alone for a unit attribute."""
    if isinstance(value, builtin.UnitAttr):
        return key_text(key)
    return f"{key_text(key)} = {attribute_text(value)}"


def dictionary_text(entries: Mapping[str, Attribute]) -> str:
    """Returns ``{a = 1 : i64, b}`` with sorted keys."""
    return "{" + ", ".join([entry_text(key, entries[key]) for key in sorted(entries)]) + "}"


def attribute_text(attr: Attribute) -> str:
    """Returns the full text of an attribute or type; numbers have their type."""
    spell = _SPELLINGS.get(type(attr))
    if spell is not None:
        return spell(attr)
    if isinstance(attr, TypeAttribute):
        return type_text(attr)
    return str(attr)


def _integer(attr: Any) -> str:
    if _is_bool(attr.type):
        return "true" if attr.value.data else "false"
    return f"{attr.value.data} : {type_text(attr.type)}"


def _is_bool(type_: Attribute) -> bool:
    return (
        isinstance(type_, builtin.IntegerType)
        and type_.width.data == 1
        and type_.signedness.data is builtin.Signedness.SIGNLESS
    )


def _float(attr: Any) -> str:
    return f"{float_text(attr.value.data, attr.type)} : {type_text(attr.type)}"


def _element(attr: Attribute) -> str:
    """Returns the text inside an array, where 64-bit numbers need no type."""
    if isinstance(attr, builtin.IntegerAttr) and attr.type == builtin.i64:
        return str(attr.value.data)
    if isinstance(attr, builtin.FloatAttr) and isinstance(attr.type, builtin.Float64Type):
        literal = float_text(attr.value.data, attr.type)
        return literal if not literal.startswith("0x") else f"{literal} : f64"
    return attribute_text(attr)


def _array(attr: Any) -> str:
    # A list: CPython 3.12 limits recursion through C, as that of `map`, whatever limit is set.
    return "[" + ", ".join([_element(one) for one in attr.data]) + "]"


def _symbol(attr: Any) -> str:
    names = [attr.root_reference.data, *(nested.data for nested in attr.nested_references.data)]
    return "::".join(map(symbol_name, names))


def _scalar_speller(type_: Attribute) -> Callable[[Any], str]:
    if isinstance(type_, builtin.ComplexType):
        part = _scalar_speller(type_.element_type)
        return lambda pair: f"({part(pair[0])},{part(pair[1])})"
    if isinstance(type_, builtin.AnyFloat):
        return lambda value: float_text(value, type_)
    if _is_bool(type_):
        return lambda value: "true" if value else "false"
    return str


def _dense_array(attr: Any) -> str:
    head = f"array<{type_text(attr.elt_type)}"
    values = attr.get_values()
    return f"{head}: {', '.join(map(_scalar_speller(attr.elt_type), values))}>" if values else head + ">"


def _dense(attr: Any) -> str:
    element = attr.get_element_type()
    data = attr.data.data
    size = element.compile_time_size
    spell = _scalar_speller(element)
    if data and data == data[:size] * (len(data) // size):
        body = spell(attr.get_values()[0])
    else:
        rows = list(map(spell, attr.get_values()))
        for extent in reversed(attr.get_shape()):
            rows = ["[" + ", ".join(rows[i : i + extent]) + "]" for i in range(0, len(rows), extent or 1)]
        body = rows[0] if rows else ""
    return f"dense<{body}> : {type_text(attr.type)}"


def _strided(attr: Any) -> str:
    strides = ", ".join(_extent(stride) for stride in attr.strides.data)
    offset = _extent(attr.offset)
    return f"strided<[{strides}]>" if offset == "0" else f"strided<[{strides}], offset: {offset}>"


def _extent(attr: Any) -> str:
    return str(attr.data) if isinstance(attr, builtin.IntAttr) else "?"


def _dims(attr: Any) -> str:
    return "".join("?x" if dim < 0 else f"{dim}x" for dim in attr.get_shape())


def _memref(attr: Any) -> str:
    rest = [_element(a) for a in (attr.layout, attr.memory_space) if not isinstance(a, builtin.NoneAttr)]
    return f"memref<{', '.join([_dims(attr) + type_text(attr.element_type), *rest])}>"


def _unranked_memref(attr: Any) -> str:
    space = attr.memory_space
    tail = "" if isinstance(space, builtin.NoneAttr) else f", {_element(space)}"
    return f"memref<*x{type_text(attr.element_type)}{tail}>"


def _vector(attr: Any) -> str:
    scalable = [bool(flag) for flag in attr.scalable_dims]
    dims = "".join(f"[{d}]x" if s else f"{d}x" for d, s in zip(attr.get_shape(), scalable, strict=True))
    return f"vector<{dims}{type_text(attr.element_type)}>"


def _tensor(attr: Any) -> str:
    tail = "" if isinstance(attr.encoding, builtin.NoneAttr) else f", {attribute_text(attr.encoding)}"
    return f"tensor<{_dims(attr)}{type_text(attr.element_type)}{tail}>"


def _function(attr: Any) -> str:
    inputs = ", ".join(map(type_text, attr.inputs.data))
    return f"({inputs}) -> {results_text(attr.outputs.data)}"


def results_text(types: Iterable[Attribute]) -> str:
    """Returns the result part of a function type: one type without parentheses, otherwise a parenthesised list."""
    found = tuple(types)
    if len(found) == 1 and not isinstance(found[0], builtin.FunctionType):
        return type_text(found[0])
    return "(" + ", ".join(map(type_text, found)) + ")"


_SPELLINGS: dict[type[Attribute], Callable[[Any], str]] = {
    EnumAttr: str,
    OpaqueAttr: str,
    PlaceholderAttr: str,
    builtin.IntegerAttr: _integer,
    builtin.FloatAttr: _float,
    builtin.StringAttr: lambda attr: string_literal(attr.data),
    builtin.UnitAttr: lambda attr: "unit",
    builtin.ArrayAttr: _array,
    builtin.DictionaryAttr: lambda attr: dictionary_text(attr.data),
    builtin.SymbolRefAttr: _symbol,
    builtin.DenseArrayBase: _dense_array,
    builtin.DenseIntOrFPElementsAttr: _dense,
    builtin.StridedLayoutAttr: _strided,
}

_TYPE_SPELLINGS: dict[type[Attribute], Callable[[Any], str]] = {
    builtin.MemRefType: _memref,
    builtin.UnrankedMemRefType: _unranked_memref,
    builtin.VectorType: _vector,
    builtin.TensorType: _tensor,
    builtin.UnrankedTensorType: lambda attr: f"tensor<*x{type_text(attr.element_type)}>",
    builtin.ComplexType: lambda attr: f"complex<{type_text(attr.element_type)}>",
    builtin.TupleType: lambda attr: f"tuple<{', '.join(map(type_text, attr.types.data))}>",
    builtin.FunctionType: _function,
}


_texts: dict[Attribute, str] = {}


def type_text(type_: Attribute) -> str:
    """Returns the canonical spelling of a type, cached."""
    text = _texts.get(type_)
    if text is None:
        spell = _TYPE_SPELLINGS.get(type(type_))
        text = _texts[type_] = str(type_) if spell is None else spell(type_)
    return text

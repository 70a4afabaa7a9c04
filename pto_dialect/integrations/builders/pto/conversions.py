"""Attributes of operations from Python values, by the declared kind of the attribute."""

from __future__ import annotations

from typing import Any

from xdsl.dialects import builtin as xb
from xdsl.ir import Attribute as XAttribute

from pto_dialect.ir.core.attributes import ENUM_ALIASES, ENUMS, enum_attr
from pto_dialect.ir.core.base import Slot
from pto_dialect.ir.core.kinds import ARRAY, BOOL, STRING, SYMBOL, UNIT, Kind

from ..declare import Convert
from ..ir.attributes import integer_attribute, unwrap, whole
from ..ir.texts import plain_text
from .enums import PtoEnum

_LISTS = frozenset((("pto.subview", "sizes"),))
"""Attributes that are lists of numbers; others are dense arrays."""


def converter(mnemonic: str, slot: Slot) -> Convert:
    """Returns what makes an attribute of an operation from a Python value."""
    kind = slot.kind
    if kind.enums:
        return lambda value: _enumerator(kind, value)
    if kind.integer is not None:
        return lambda value: _number(kind.integer, value)
    if kind.words or kind.label == STRING.label:
        return _string
    if kind.label == ARRAY.label and (mnemonic, slot.name) in _LISTS:
        return _array
    return _BY_LABEL.get(kind.label, _attribute)


def _attribute(value: Any) -> XAttribute:
    return unwrap(value, "the value")


def _number(type_: Any, value: Any) -> XAttribute:
    return integer_attribute(value, type_)


def _bool(value: Any) -> XAttribute:
    return xb.IntegerAttr(1 if value else 0, xb.i1, truncate_bits=True)


def _unit(value: Any) -> XAttribute | None:
    return xb.UnitAttr() if value else None


def _string(value: Any) -> XAttribute:
    return xb.StringAttr(plain_text(value, "the value"))


def _symbol(value: Any) -> XAttribute:
    return xb.SymbolRefAttr(_string(value))  # pyright: ignore[reportArgumentType]


def _array(value: Any) -> XAttribute:
    return xb.ArrayAttr([xb.IntegerAttr(whole(one, "an element"), xb.i64) for one in value])


def _dense(value: Any) -> XAttribute:
    return xb.DenseArrayBase.from_list(xb.i64, [whole(one, "an element") for one in value])


_BY_LABEL: dict[str, Convert] = {
    BOOL.label: _bool,
    UNIT.label: _unit,
    SYMBOL.label: _symbol,
    ARRAY.label: _dense,
}


def _enumerator(kind: Kind, value: Any) -> XAttribute:
    if isinstance(value, PtoEnum):
        if value.kind not in kind.enums:
            raise TypeError(f"the value is {kind.label}, found {type(value).__name__}.{value.name}")
        return value.attribute
    if isinstance(value, str):
        for name in kind.enums:
            spelled = ENUM_ALIASES.get(name, {}).get(value, value)
            if spelled in ENUMS[name].values:
                return enum_attr(name, spelled)
        raise ValueError(f"the value is {kind.label}, found {value!r}")
    raise TypeError(f"the value is {kind.label}, found {type(value).__name__}")

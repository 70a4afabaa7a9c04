"""Element types of pointers that a kernel does not access, as the C++ text declares its parameters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from ..llvm.model import Function
from .elements import Elements

_ELEMENTS = {
    "float": "f32", "half": "f16", "bfloat16_t": "bf16", "int": "i32",
    "int8_t": "i8", "uint8_t": "i8", "int16_t": "i16", "uint16_t": "i16", "int32_t": "i32", "uint32_t": "i32",
    "int64_t": "i64", "uint64_t": "i64",
}  # fmt: skip
_POINTER = re.compile(rf"\b({'|'.join(_ELEMENTS)})\s*\*\s*(?:__restrict(?:__)?\s+)?(\w+)\s*\Z")


def use_declared(function: Function, elements: Elements, name: str, texts: Iterable[str]) -> None:
    """Gives pointers whose use says nothing the element types of the parameters of ``name``, where a text has it."""
    head = re.compile(rf"\b{re.escape(name)}\s*\(([^(){{}};]*)\)\s*\{{")
    for found in (found for text in texts for found in head.finditer(text)):
        declared = {one[2]: one[1] for one in map(_POINTER.search, found[1].split(",")) if one is not None}
        for argument in function.arguments:
            if argument.type == "ptr" and argument.name in declared and not elements.votes(argument):
                elements.replace_votes(argument, Counter({_ELEMENTS[declared[argument.name]]: 1}))

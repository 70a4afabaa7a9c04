"""Element types of pointers that a kernel does not access, as the C++ text declares its parameters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from ..llvm.model import Function
from ..llvm.types import split_list
from .elements import Elements

_ELEMENTS = {
    "float": "f32", "half": "f16", "bfloat16_t": "bf16", "int": "i32",
    "int8_t": "i8", "uint8_t": "i8", "int16_t": "i16", "uint16_t": "i16", "int32_t": "i32", "uint32_t": "i32",
    "int64_t": "i64", "uint64_t": "i64",
}  # fmt: skip
_SPELLED = {"char": "i8", "short": "i16", "long": "i64", "long long": "i64"}
"""Types of template arguments, as debug information has them without a sign."""
_POINTER = re.compile(r"\b(\w+)\s*\*\s*(?:__restrict(?:__)?\s+)?(\w+)\s*\Z")
_PARAMETER = re.compile(r"\b(?:typename|class)\s+(\w+)\s*\Z")


def use_declared(function: Function, elements: Elements, name: str, texts: Iterable[str]) -> None:
    """Gives pointers whose use says nothing the element types of the parameters of ``name``, where a text has it. A
    type may be a parameter of a template, of which ``name`` states the arguments."""
    plain, _, given = name.partition("<")
    template = r"(?:\btemplate\s*<([^<>(){};]*)>[^<>(){};]*)?"
    head = re.compile(rf"{template}\b{re.escape(plain)}\s*\(([^(){{}};]*)\)\s*\{{")
    for found in (found for text in texts for found in head.finditer(text)):
        known = _ELEMENTS | _arguments(found[1] or "", given.removesuffix(">"))
        declared = {one[2]: one[1] for one in map(_POINTER.search, found[2].split(",")) if one is not None}
        for argument in function.arguments:
            element = known.get(declared.get(argument.name, ""))
            if argument.type == "ptr" and element is not None and not elements.votes(argument):
                elements.replace_votes(argument, Counter({element: 1}))


def _arguments(parameters: str, given: str) -> dict[str, str]:
    """Returns the elements that parameters of a template stand for."""
    found: dict[str, str] = {}
    for parameter, argument in zip(parameters.split(","), split_list(given), strict=False):
        name = _PARAMETER.search(parameter.partition("=")[0])
        element = _ELEMENTS.get(argument) or _SPELLED.get(argument.removeprefix("unsigned ").removeprefix("signed "))
        if name is not None and element is not None:
            found[name[1]] = element
    return found

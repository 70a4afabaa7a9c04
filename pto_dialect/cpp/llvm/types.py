"""Types of LLVM IR: their text, sizes, and the offsets of fields. The layout is that of 64-bit targets."""

from __future__ import annotations

import re

_SIZES = {"half": 2, "bfloat": 2, "float": 4, "double": 8, "ptr": 8, "x86_fp80": 16, "fp128": 16}
_ARRAY = re.compile(r"\[(\d+) x (.*)\]\Z", re.DOTALL)
_VECTOR = re.compile(r"<(\d+) x (.*)>\Z", re.DOTALL)
_PLAIN_LIST = re.compile(r'[^"()\[\]{}<>]*\Z')
_OPENING, _CLOSING = "([{<", ")]}>"
MAX_DEPTH = 64
"""Nested types and constants beyond this depth are not read."""


class TypeReadError(Exception):
    """A type outside the subset."""


def split_list(text: str) -> list[str]:
    """Returns the parts of a comma list; commas in brackets and quotes belong to a part."""
    if _PLAIN_LIST.match(text):
        return [part.strip() for part in text.split(",")] if text.strip() else []
    parts: list[str] = []
    depth = start = 0
    quoted = False
    for position, letter in enumerate(text):
        if letter == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif letter in _OPENING:
            depth += 1
        elif letter in _CLOSING:
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    last = text[start:].strip()
    return [*parts, last] if last or parts else []


class Types:
    """The named types of a module, and the layout of all types."""

    def __init__(self) -> None:
        self.named: dict[str, str] = {}
        self._layouts: dict[str, tuple[int, int]] = {}
        self._fields: dict[str, tuple[str, ...]] = {}

    def resolve(self, type: str) -> str:
        """Returns the definition of a named type, or ``type`` itself."""
        return self.named.get(type, type)

    def size(self, type: str) -> int:
        """Returns the bytes that an element of ``type`` takes in an array. Raises ``TypeReadError``."""
        return self._layout(type, 0)[0]

    def _layout(self, type: str, depth: int) -> tuple[int, int]:
        """Returns size and alignment."""
        known = self._layouts.get(type)
        if known is None:
            if depth > MAX_DEPTH:
                raise TypeReadError(f"types are nested deeper than {MAX_DEPTH}")
            known = self._layouts[type] = self._compute(self.resolve(type), depth + 1)
        return known

    def _compute(self, type: str, depth: int) -> tuple[int, int]:
        if type in _SIZES:
            return _SIZES[type], _SIZES[type]
        if type.startswith("i") and type[1:].isdigit():
            size = 1
            while size * 8 < int(type[1:]):
                size *= 2
            return size, min(size, 16)
        if match := _ARRAY.match(type):
            size, alignment = self._layout(match[2], depth)
            return int(match[1]) * size, alignment
        if match := _VECTOR.match(type):
            size = int(match[1]) * self._layout(match[2], depth)[0]
            return size, max(size, 1)
        if type.startswith(("{", "<{")):
            return self._struct(type, depth)
        raise TypeReadError(f"type {type!r} is not read")

    def _struct(self, type: str, depth: int) -> tuple[int, int]:
        position, widest = 0, 1
        for item in self.fields(type):
            size, alignment = self._layout(item, depth)
            alignment = 1 if type.startswith("<") else alignment
            position = -(-position // alignment) * alignment + size
            widest = max(widest, alignment)
        return -(-position // widest) * widest, widest

    def fields(self, type: str) -> tuple[str, ...]:
        """Returns the types of the fields of a struct."""
        type = self.resolve(type)
        known = self._fields.get(type)
        if known is None:
            inner = type[2:-2] if type.startswith("<{") else type[1:-1]
            known = self._fields[type] = tuple(split_list(inner))
        return known

    def element(self, type: str) -> tuple[int, str] | None:
        """Returns number and type of the elements of an array or vector, ``None`` for other types."""
        type = self.resolve(type)
        match = _ARRAY.match(type) or _VECTOR.match(type)
        return (int(match[1]), match[2]) if match else None

    def field_offset(self, type: str, index: int) -> int:
        """Returns the offset of a field of a struct."""
        packed = self.resolve(type).startswith("<")
        position = 0
        for number, item in enumerate(self.fields(type)):
            size, alignment = self._layout(item, 0)
            if not packed:
                position = -(-position // alignment) * alignment
            if number == index:
                return position
            position += size
        raise TypeReadError(f"type {type!r} has no field {index}")

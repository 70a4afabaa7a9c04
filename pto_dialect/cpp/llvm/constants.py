"""Constants of LLVM IR."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import TypeAlias

from .model import Constant, Global, Unread
from .types import MAX_DEPTH, TypeReadError, Types, split_list

_EMPTY = frozenset(("null", "undef", "poison", "zeroinitializer", "none"))
_INTEGER = re.compile(r"-?\d+\Z")
_DECIMAL = re.compile(r"[-+]?\d+\.\d*(?:[eE][-+]?\d+)?\Z")
_HEXADECIMAL = re.compile(r"0x([HR]?)([0-9A-Fa-f]+)\Z")
_ADDRESS = re.compile(r"getelementptr (?:(?:inbounds|nuw|nusw|inrange\([^)]*\)) )*\((.*)\)\Z", re.DOTALL)
_ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2}|\\)")
_ONLY_FIELD = re.compile(r'\{ \[\d+ x i8\] (c"[^"]*") \}\Z')
_SCALAR_TYPE = re.compile(r"(?:i\d+|ptr|half|bfloat|float|double)\Z")
ConstantOperand: TypeAlias = Constant | Global | Unread


def symbol_name(text: str) -> str:
    """Returns the name of ``@name``, ``%name`` or a label without mark and quotes."""
    name = text[1:] if text[:1] in "@%" else text
    return name[1:-1] if name.startswith('"') else name


def _float(kind: str, digits: str) -> float | None:
    bits = int(digits, 16)
    try:
        if kind == "H":
            return struct.unpack("<e", struct.pack("<H", bits))[0]
        if kind == "R":
            return struct.unpack("<f", struct.pack("<I", bits << 16))[0]
        return struct.unpack("<d", struct.pack("<Q", bits))[0]
    except struct.error:
        return None


def read_constant(type: str, text: str, types: Types, depth: int = 0) -> ConstantOperand:
    """Returns the constant ``text`` of ``type``."""
    if _INTEGER.match(text):
        return Constant(type, int(text) if type.startswith("i") else float(text))
    if text in _EMPTY:
        return Constant(type, None)
    if text in ("true", "false"):
        return Constant(type, int(text == "true"))
    if text.startswith("@"):
        return Global(symbol_name(text))
    if _DECIMAL.match(text):
        return Constant(type, float(text))
    if match := _HEXADECIMAL.match(text):
        value = _float(match[1], match[2])
        return Unread(type, text) if value is None else Constant(type, value)
    if (match := _ADDRESS.match(text)) and depth < MAX_DEPTH:
        return _read_address(match[1], text, types, depth)
    return Unread(type, text)


def _read_address(inner: str, text: str, types: Types, depth: int) -> ConstantOperand:
    element, base, *indices = split_list(inner)
    if not base.startswith("ptr "):
        return Unread("ptr", text)
    origin = read_constant("ptr", base[4:], types, depth + 1)
    numbers = [index.rpartition(" ")[2] for index in indices]
    if not isinstance(origin, Global) or not all(_INTEGER.match(number) for number in numbers):
        return Unread("ptr", text)
    try:
        offset = constant_offset(element, [int(number) for number in numbers], types)
    except TypeReadError:
        return Unread("ptr", text)
    return Global(origin.name, origin.offset + offset)


def constant_offset(element: str, indices: list[int], types: Types) -> int:
    """Returns the bytes that constant indices of an address computation add. Raises ``TypeReadError``."""
    offset = indices[0] * types.size(element)
    for index in indices[1:]:
        inner = types.element(element)
        if inner is not None:
            element = inner[1]
            offset += index * types.size(element)
        else:
            offset += types.field_offset(element, index)
            element = types.fields(element)[index]
    return offset


def string_bytes(text: str) -> bytes | None:
    """Returns the bytes of ``c"..."``, also as the only field of a struct; ``None`` for other constants."""
    if text == "zeroinitializer":
        return b""
    if match := _ONLY_FIELD.match(text):
        text = match[1]
    if not text.startswith('c"'):
        return None
    raw = text[2 : text.rindex('"')].encode("utf-8", "surrogateescape")
    return _ESCAPE.sub(lambda m: b"\\" if m[1] == b"\\" else bytes([int(m[1], 16)]), raw)


def cells(type: str, text: str, types: Types, offset: int = 0, depth: int = 0) -> Iterator[tuple[int, ConstantOperand]]:
    """Yields the scalar parts of an initial value with their offsets. Raises ``TypeReadError``."""
    if depth > MAX_DEPTH:
        raise TypeReadError(f"constants are nested deeper than {MAX_DEPTH}")
    type = types.resolve(type)
    if _SCALAR_TYPE.match(type):
        constant = read_constant(type, text, types)
        yield offset, Constant(type, 0) if constant == Constant(type, None) and type != "ptr" else constant
        return
    string = string_bytes(text) if text.startswith('c"') else None
    if string is not None:
        for position, byte in enumerate(string):
            yield offset + position, Constant("i8", byte - 256 if byte > 127 else byte)
        return
    for place, item, part in _parts(type, text, types):
        yield from cells(item, part, types, offset + place, depth + 1)


def _parts(type: str, text: str, types: Types) -> Iterator[tuple[int, str, str]]:
    """Yields offset, type and text of the parts of an array or struct."""
    inner = types.element(type)
    if inner is not None:
        count, item = inner
        size = types.size(item)
        written = _items(text, item)
        for index in range(count):
            yield index * size, item, written[index] if index < len(written) else "zeroinitializer"
    elif type.startswith(("{", "<{")):
        fields = types.fields(type)
        pieces = split_list(text.strip("<>")[1:-1]) if text.startswith(("{", "<{")) else []
        for index, item in enumerate(fields):
            part = pieces[index].removeprefix(item).strip() if index < len(pieces) else "zeroinitializer"
            yield types.field_offset(type, index), item, part
    else:
        raise TypeReadError(f"type {type!r} is not read")


def _items(text: str, item: str) -> list[str]:
    if text.startswith("splat ("):
        raise TypeReadError(f"constant {text!r} is not read")
    if not text.startswith(("[", "<")):
        return []
    return [part.removeprefix(item).strip() for part in split_list(text[1:-1])]

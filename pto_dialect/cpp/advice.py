"""What to write where a compiler does not know a name or does not find a header. Source: docs/cpp.md, "What messages
say"."""

from __future__ import annotations

import os
import re
from functools import cache

from .includes import INCLUDE, content
from .missing import advice_for as folder_for

_HEADER = re.compile(r"#\s*include\s*[<\"]pto/")
_NO_NAMESPACE = re.compile(r"expected namespace name|use of undeclared identifier 'pto'")
_NO_MEMBER = re.compile(r"no member named '\w+' in '(?:pto::)?(\w+)'")
_NO_NAME = re.compile(r"use of undeclared identifier '(\w+)'")
_LISTED = re.compile(r"#define PTO_LIST\(X, E\)((?:.*\\\n)*.*)\n(?:PTO_ENUM|PTO_PLAIN_ENUM)\((\w+)")
_MEMBER = re.compile(r"X\(E, (\w+),")
_PLAIN = re.compile(r"^enum (\w+) \{ (.*) \};", re.MULTILINE)
_BY_HAND = "-I DIR names the folder that has it"
_WORD = re.compile(r"[A-Z]+_(?:ID(?=\d))?")
_FILES = ("pto_device.hpp", "pto/common/type.hpp")
_LONGEST = 16
"""Enumerations with more names are not listed."""


def advice_for(message: str, text: str, kernel: str, target: str) -> str | None:
    """Returns what helps against a message of the compiler about the kernel with a text in a file; ``None`` where
    nothing is known to."""
    if _NO_NAMESPACE.fullmatch(message) and not _HEADER.search(text):
        return "#include <pto/pto-inst.hpp> declares the interface"
    if member := _NO_MEMBER.fullmatch(message):
        names = _enumerations().get(member[1], ())
        return f"{member[1]} has {', '.join(names)}" if 0 < len(names) <= _LONGEST else None
    if name := _NO_NAME.fullmatch(message):
        near = [names for names in _enumerations().values() if name[1].startswith(_prefix(names))]
        return f"there are {', '.join(near[0])}" if len(near) == 1 and len(near[0]) <= _LONGEST else None
    found = folder_for(message, kernel, target)
    return _BY_HAND if found is None and message.endswith("file not found") else found


@cache
def _enumerations() -> dict[str, tuple[str, ...]]:
    """Returns the names of each enumeration of the headers."""
    text = "\n".join(content(os.path.join(INCLUDE, *file.split("/"))) for file in _FILES)
    found = {match[2]: tuple(_MEMBER.findall(match[1])) for match in _LISTED.finditer(text)}
    for match in _PLAIN.finditer(text):
        found[match[1]] = tuple(one.partition(" ")[0] for one in match[2].split(", "))
    return found


def _prefix(names: tuple[str, ...]) -> str:
    """Returns what all names begin with, ``PIPE_`` or ``EVENT_ID``; a line break where there is no such word."""
    word = _WORD.match(names[0])
    return word[0] if word is not None and all(name.startswith(word[0]) for name in names) else "\n"


__all__ = ["advice_for"]

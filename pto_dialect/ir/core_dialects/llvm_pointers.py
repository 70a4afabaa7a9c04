"""Facts about pointers of LLVM. Source: docs/reference/core-dialects.md, "Pointers and vectors of LLVM"."""

from __future__ import annotations

import re

from xdsl.ir import Attribute

from pto_dialect.ir.core.types import type_text

LLVM_SPACES = {1: "gm", 2: "l1", 3: "l0a", 4: "l0b", 5: "l0c", 6: "ub"}
"""Memories by the numbers that the compiler has for them."""

_POINTER = re.compile(r"!llvm\.ptr(?:<(\d{1,9})>)?\Z")


def is_llvm_pointer(type_: Attribute) -> bool:
    """Returns whether a type is a pointer of LLVM."""
    return _POINTER.match(type_text(type_)) is not None


def llvm_space(type_: Attribute) -> str | None:
    """Name (``gm``, ``ub`` ...) of the memory that a pointer names by its number; ``None`` where it names none."""
    found = _POINTER.match(type_text(type_))
    return LLVM_SPACES.get(int(found[1])) if found and found[1] else None


def llvm_memories(type_: Attribute) -> tuple[str, ...]:
    """Returns the memories that a pointer of LLVM may point into: the one that it names, or all of them."""
    space = llvm_space(type_)
    return tuple(LLVM_SPACES.values()) if space is None else (space,)

"""Names of C++: those of the values of a program, apart from keywords and names of the interface."""

from __future__ import annotations

import re
from functools import cache

from ..operations.table import MISSING, rows

_WORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept const consteval
constexpr constinit continue decltype default delete do double dynamic_cast else enum explicit export extern false
float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private
protected public register reinterpret_cast requires return short signed sizeof static static_cast struct switch
template this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t
while xor xor_eq
half bfloat16_t pto cce min max main block_idx block_num get_block_idx get_block_num get_subblockid get_subblockdim
set_flag wait_flag pipe_barrier pipe_t event_t trap dsb dcci Tile GlobalTensor Shape Stride Layout Event Op comm
TASSIGN TRESHAPE TSUBVIEW TSYNC TPUSH TPOP TFREE TPipe NULL assert
"""
_UNSAFE = re.compile(r"\W", re.ASCII)


@cache
def reserved() -> frozenset[str]:
    """Returns keywords and names of the interface, which no value is called."""
    return frozenset(_WORDS.split()) | frozenset(rows()) | frozenset(MISSING)


def identifier(text: str, otherwise: str = "v") -> str:
    """Returns a text as a name of C++: itself if possible, because launches name arguments. Digits at its beginning get
    the prefix ``otherwise``; names like ``__gm__`` belong to compilers."""
    name = _UNSAFE.sub("_", text)
    if name.startswith("__") and name.endswith("__"):
        name = name.strip("_")
    if not name or name[0].isdigit():
        name = f"{otherwise}{name}"
    return f"{name}_" if name in reserved() else name


class Names:
    """The names of one scope: each is given once."""

    def __init__(self, outer: Names | None = None) -> None:
        self._outer = outer
        self._taken: set[str] = set()

    def fresh(self, hint: str) -> str:
        """Returns the hint itself, or with a number if it is taken."""
        base = identifier(hint)
        name, number = base, 1
        while self.has(name):
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name)
        return name

    def has(self, name: str) -> bool:
        """Returns whether a name is taken here or outside."""
        return name in self._taken or (self._outer is not None and self._outer.has(name))


__all__ = ["Names", "identifier"]

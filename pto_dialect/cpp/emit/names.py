"""Names of C++: those of the values of a program, apart from keywords and names of the interface."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from ..compiler import INCLUDE
from ..operations.table import MISSING, rows

_WORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept const consteval
constexpr constinit continue decltype default delete do double dynamic_cast else enum explicit export extern false
float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private
protected public register reinterpret_cast requires return short signed sizeof static static_cast struct switch
template this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t
while xor xor_eq
half bfloat16_t pto cce std min max main block_idx block_num get_block_idx get_block_num get_subblockid get_subblockdim
set_flag wait_flag pipe_barrier pipe_t event_t trap dsb dcci comm NULL assert
int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t intmax_t uintmax_t size_t ssize_t
ptrdiff_t va_list errno signed unsigned
abort abs acos asin atan atan2 atof atoi bcmp bzero calloc cbrt ceil copysign cos cosh erf exit exp exp2 expm1 fabs
floor fma fmax fmin fmod fputs free frexp fwrite getenv hypot index isalnum isalpha isdigit isfinite isinf isnan
isspace labs ldexp llabs lgamma log log10 log1p log2 logb lround malloc memchr memcmp memcpy memmove memset modf nan
nearbyint pow printf putchar puts qsort rand realloc remainder rint rindex round scanf signbit sin sinh snprintf
sprintf sqrt srand sscanf stderr stdin stdout stpcpy strcat strchr strcmp strcpy strlen strncmp strncpy strtod strtol
system tan tanh tgamma time trunc vprintf
"""
_UNSAFE = re.compile(r"\W", re.ASCII)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_DECLARED = re.compile(r"#[ \t]*define[ \t]+(\w+)|\b(?:struct|class|union|using|namespace|enum(?:[ ]class)?)\s+(\w+)")
_ENUMERATORS = re.compile(r"\benum\b[^{;]*\{([^}]*)\}")
_ENUMERATOR = re.compile(r"(?:^|,)\s*(\w+)")
_MADE = re.compile(r"(?:Gm|Queue|Vec|Mat|Left|Right|Acc|Bias|Scaling|ScaleLeft|ScaleRight)(?:_.*)?")
"""What the types of a text are called."""
_MACRO = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]*|[A-Z][A-Z0-9]{4,}")
"""Names that are macros or enumerators in some header of the chip."""


@cache
def reserved() -> frozenset[str]:
    """Returns keywords and names of the interface and of the C library, which no value is called."""
    return frozenset(_WORDS.split()) | frozenset(rows()) | frozenset(MISSING) | _declared()


def _declared() -> frozenset[str]:
    """Returns the macros, types and enumerators of the headers of this package."""
    names: set[str] = set()
    for path in sorted(Path(INCLUDE).rglob("*.h*")):
        text = _COMMENT.sub("", path.read_text(encoding="utf-8"))
        names.update(name for found in _DECLARED.findall(text) for name in found if name)
        names.update(name for body in _ENUMERATORS.findall(text) for name in _ENUMERATOR.findall(body))
    return frozenset(names)


def identifier(text: str, otherwise: str = "v") -> str:
    """Returns a text as a name of C++: itself if possible, because launches name arguments. Digits at its beginning get
    the prefix ``otherwise``; names like ``__gm__`` belong to compilers."""
    name = _UNSAFE.sub("_", text)
    if name.startswith("__") and name.endswith("__"):
        name = name.strip("_")
    if not name or name[0].isdigit():
        name = f"{otherwise}{name}"
    return f"{name}_" if name in reserved() or _MADE.fullmatch(name) or _MACRO.fullmatch(name) else name


class Names:
    """The names of one scope: each is given once."""

    def __init__(self, outer: Names | None = None) -> None:
        self._outer = outer
        self._taken: set[str] = set()

    def fresh(self, hint: str) -> str:
        """Returns the hint as a name, with a number if it is taken."""
        return self.take(identifier(hint))

    def take(self, base: str) -> str:
        """Returns a name of C++ itself, or with a number if it is taken."""
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

"""Similar names of types, in the spellings of other languages."""

from __future__ import annotations

from pto_dialect.diagnostics.suggest import did_you_mean
from pto_dialect.ir.core import types as t

from ..types.forms import PTO_FORMS
from .element_names import element_suggestion

_BUILTIN_HEADS = ("memref", "vector", "tensor", "complex", "tuple")


def type_suggestion(word: str) -> str | None:
    """Returns the type that ``word`` (with or without ``!`` and dialect) was probably meant to be; the names of PTO
    types include their ``!``."""
    bare = word.removeprefix("!")
    names = (*PTO_FORMS, *t.PLAIN_TYPES)
    for name in (bare, f"pto.{bare}"):
        if name in names:
            return f"!{name}"
    if "." not in bare:
        found = element_suggestion(bare)
        if found is not None:
            return found
    close = did_you_mean(bare, [*names, *_BUILTIN_HEADS])
    if not close:
        return None
    return close[0] if close[0] in _BUILTIN_HEADS else f"!{close[0]}"

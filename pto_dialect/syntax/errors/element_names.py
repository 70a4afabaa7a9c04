"""Similar names of element types, in the spellings of other languages."""

from __future__ import annotations

import re

from pto_dialect.diagnostics.suggest import did_you_mean
from pto_dialect.ir.core import types as t

_OTHER_SPELLINGS = {
    **dict.fromkeys(("fp32", "float32", "float", "single"), "f32"),
    **dict.fromkeys(("fp16", "float16", "half"), "f16"),
    **dict.fromkeys(("bfloat16", "bfloat", "bfp16"), "bf16"),
    **dict.fromkeys(("fp64", "float64", "double"), "f64"),
    **dict.fromkeys(("bool", "boolean"), "i1"),
    "int": "i32",
    "uint": "ui32",
    "size_t": "index",
    "fp8": "f8E4M3FN",
}
_INTEGER = re.compile(r"(u?)int(\d+)(?:_t)?|u(\d+)|s(\d+)")


def element_suggestion(word: str) -> str | None:
    """Returns the number type that ``word`` was probably meant to be."""
    lower = word.lower()
    found = _OTHER_SPELLINGS.get(lower)
    integer = _INTEGER.fullmatch(lower)
    if found is None and integer is not None:
        unsigned = bool(integer[1] or integer[3])
        found = ("ui" if unsigned else "i") + (integer[2] or integer[3] or integer[4])
    if found is not None:
        return found if found in t.BUILTIN_SCALARS else None
    close = did_you_mean(word, t.BUILTIN_SCALARS)
    return close[0] if close else None

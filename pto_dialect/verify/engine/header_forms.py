"""Forms of operations that the headers of the C++ interface accept and the dialect does not.

A C++ kernel is compiled with these headers, not by the compiler of the dialect: such a form is a warning in a kernel
that was translated, and an error in a `.pto` program. Source: docs/cpp.md, "Rules of the headers".
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from pto_dialect.ir.core.placement import element_of, location

HEADER_RULES = frozenset(
    ("reduce-arg-dst", "tile-same-shape", "gather-mask-count", "scatter-mask-cols", "matmul-shape", "extract-bounds")
)
"""Rules of shapes and positions that the headers do not have."""

DTYPE_RULE = "tile-dtype"

_WIDE = "tadd tadds tcmp tcmps tcolexpand tcolmax tcolmin tcolsum tdiv tdivs texpands tmax tmaxs tmin tmins"
_WIDE += " tmul tmuls tpartadd tpartmax tpartmin trowexpand trowmax trowmin trowsum tscatter tsel tsels tshl"
_WIDE += " tshls tshr tshrs tsub tsubs ttri"
_BFLOAT = "tcmps tmax tmul tsub trowexpandadd trowexpanddiv trowexpandmax trowexpandmin trowexpandmul trowexpandsub"

_WINDOWS = frozenset(("textract", "tinsert"))
"""Operations whose vector tiles have other types than the tiles of L1 and of the matrix unit."""
_SHORT_AND_WIDE = frozenset(("i16", "ui16", "i32", "ui32"))

HEADER_DTYPES: dict[str, tuple[tuple[frozenset[str], frozenset[str]], ...]] = {
    "a5": (
        (frozenset(_WIDE.split()), frozenset(("i64", "ui64"))),
        (frozenset(("trem", "trems")), frozenset(("ui64",))),
        (frozenset(_BFLOAT.split()), frozenset(("bf16",))),
        (frozenset(("tabs",)), frozenset(("i8", "i16", "i32"))),
        (frozenset(("textract",)), _SHORT_AND_WIDE),
    ),
    "a2a3": (
        (frozenset(("texpands",)), frozenset(("i8", "ui8"))),
        (frozenset(("tands", "tors", "txors", "tnot")), frozenset(("i8", "ui8", "i32", "ui32"))),
        (_WINDOWS, _SHORT_AND_WIDE),
    ),
}
"""For each chip family: operations, and element types that the headers have beyond those of the dialect."""

ADVICE = "the headers have this form, the compiler of the dialect refuses it in a .pto program"


def headers_accept(rule: str, op: Operation, at: object, family: str) -> bool:
    """Returns whether the headers of the chip ``family`` (``"a2a3"`` or ``"a5"``) accept what breaks ``rule`` in
    ``op``. ``at`` is the operand that a finding points at."""
    if rule in HEADER_RULES:
        return True
    if rule != DTYPE_RULE or not isinstance(at, SSAValue):
        return False
    name, element = op.name.removeprefix("pto."), element_of(at)
    if name in _WINDOWS and location(at) != "vec":
        return False
    return any(name in names and element in elements for names, elements in HEADER_DTYPES.get(family, ()))


__all__ = ["ADVICE", "DTYPE_RULE", "HEADER_DTYPES", "HEADER_RULES", "headers_accept"]

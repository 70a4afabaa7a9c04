"""Reads one attribute token: ``#pto.pipe<PIPE_V>``, ``#pto<cmp gt>``, ``dense<..>``, ``array<..>``, ``strided<..>``.

Attributes are cached by spelling. Source: docs/reference/language.md, "Attributes".
"""

from __future__ import annotations

import re
from functools import cache

from xdsl.dialects import builtin
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, FloatAttr, IntegerAttr, StridedLayoutAttr
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from pto_dialect.diagnostics.remedies.names import attribute_form, choose, own_precision, replace
from pto_dialect.diagnostics.suggest import did_you_mean, near_hint, near_terms
from pto_dialect.ir.core.attribute_text import text_bytes
from pto_dialect.ir.core.attributes import ENUM_ALIASES, ENUMS, EnumAttr, OpaqueAttr, enum_attr
from pto_dialect.ir.core.float_text import float_from_bits, nearest_float
from pto_dialect.ir.core.types import BUILTIN_SCALARS, is_float, type_text
from pto_dialect.ir.core_dialects.affine_maps import repeated_name
from pto_dialect.nesting import LIMIT, too_deep
from pto_dialect.nesting import RULE as NESTING

from ..errors.types import TypeSyntaxError
from ..read.tokens import integer
from .tile_config import check_tile_config

_BRACKETED = re.compile(r"#pto\.(\w+)<\s*([\w]+)\s*>")
_SPACED = re.compile(r"#pto<\s*(\w+)\s+(\w+)\s*>")
_ESCAPE = re.compile(r"\\(?:([nt\"\\])|([0-9A-Fa-f]{2}))")
_NUMBER = re.compile(r"-?(?:0x[0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)|true|false")
_STRIDE = re.compile(r"-?\d{1,18}|\?")
_DIGITS = re.compile(r'"0[xX]((?:[0-9a-fA-F]{2})*)"')
_WHOLE = re.compile(r"-?\d+|true|false")
_Number = builtin.IntegerType | builtin.IndexType | builtin.AnyFloat
LARGEST_LITERAL = 1 << 20
"""Maximum number of elements of a dense literal, including a splat."""

_SHARED_PRECISION = "precision_mode"
"""An enumeration of precisions that pages of the instruction set show for several operations."""

STRUCTURED = frozenset(("tile_buf_config", "acc_push_epilogue", "vmi.layout", "op"))


def unescape(text: str) -> str:
    r"""Returns the value of a string literal written with its quotes; ``\\HH`` escapes are bytes.

    Bytes that are not UTF-8 become lone surrogates, as in names of files, so that they are written as they were.
    """
    if "\\" not in text:
        return text[1:-1]
    data = bytearray()
    position = 1
    for found in _ESCAPE.finditer(text, 1, len(text) - 1):
        data += text_bytes(text[position : found.start()])
        simple, code = found.groups()
        data += {"n": b"\n", "t": b"\t", '"': b'"', "\\": b"\\"}[simple] if simple else bytes([int(code, 16)])
        position = found.end()
    data += text_bytes(text[position:-1])
    return data.decode("utf-8", errors="surrogateescape")


_UNITS = {"PIPE_VECTOR": "PIPE_V", "PIPE_SCALAR": "PIPE_S", "PIPE_MATRIX": "PIPE_M"}
"""Pipes under the names of their units, which differ too much for a suggestion by distance."""
_ROUNDINGS = {
    **dict.fromkeys(("NEAREST", "NEAREST_EVEN", "EVEN", "RNE", "RTNE", "R"), "RINT"),
    **dict.fromkeys(("ZERO", "TOWARD_ZERO", "TRUNCATE", "RTZ", "RZ", "Z"), "TRUNC"),
    **dict.fromkeys(("AWAY", "RNA", "A"), "ROUND"),
    **dict.fromkeys(("DOWN", "RD", "F"), "FLOOR"),
    **dict.fromkeys(("UP", "RU", "C"), "CEIL"),
    "O": "ODD",
}
"""Round modes under the names of other languages."""


def _meant(kind: str, value: str) -> str | None:
    """Returns the enumerator that a name of another vocabulary means."""
    if kind == "event":
        number = re.fullmatch(r"(?i)(?:event)?_?(?:id)?_?(\d)", value)
        return f"EVENT_ID{number[1]}" if number is not None else None
    if kind != "round_mode":
        return _UNITS.get(value)
    plain = value.upper().removeprefix("CAST_").removeprefix("ROUND_")
    return plain if plain in ENUMS[kind].values else _ROUNDINGS.get(plain)


_NO_ALIASES: dict[str, str] = {}


def pto_enum(kind: str, value: str, start: int, end: int) -> EnumAttr:
    """Returns the enumerator; raises ``TypeSyntaxError`` with the allowed enumerators for an unknown one."""
    value = ENUM_ALIASES.get(kind, _NO_ALIASES).get(value, value)
    try:
        return enum_attr(kind, value)
    except KeyError:
        allowed = ENUMS[kind].values
        meant = _meant(kind, value)
        near = [meant] if meant is not None and meant in allowed else near_terms(value, allowed)
        hint = f"; {near_hint(near)}" if near else ""
        mended = ((replace(value, *near),) if near else ()) + (choose(value, *allowed),)
        rule = ENUM_RULES.get(kind, "attr-enum")
        shown = ", ".join(allowed) if len(allowed) <= 16 else ", ".join(allowed[:12]) + ", ..."
        raise TypeSyntaxError(rule, f"unknown {kind} {value!r}{hint}", start, end, f"one of {shown}", mended) from None


ENUM_RULES = {
    "pipe": "sync-pipe-token",
    "event": "sync-flag-range",
    "membar": "sync-membar-kind",
    "cmp": "tile-cmp-mode",
    "acc_phase": "matmul-phase",
    "atomic_type": "tstore-atomic",
}
"""Rule id of an unknown enumerator, where the enumeration has one of its own."""


@cache
def parse_attribute(text: str, type_: Attribute | None = None) -> Attribute:
    """Returns the attribute with this spelling; ``type_`` is the type written after ``dense<..>``."""
    deep = too_deep(text, LIMIT)
    if deep is not None:
        raise TypeSyntaxError(NESTING, deep[0], deep[1], deep[1] + 1)
    if text[0] == "#":
        found = _BRACKETED.fullmatch(text)
        if found is not None and found.group(1) in ENUMS:
            kind, value = found.groups()
            if not ENUMS[kind].bracketed:
                raise _wrong_form(text, kind, value)
            return pto_enum(kind, value, *found.span(2))
        found = _SPACED.fullmatch(text)
        if found is not None and found.group(1) in ENUMS:
            kind, value = found.groups()
            if ENUMS[kind].bracketed:
                raise _wrong_form(text, kind, value)
            return pto_enum(kind, value, *found.span(2))
        if text.startswith("#pto") and text[4:5] in ".<":
            name = re.match(r"#pto[.<]\s*([\w.]+)", text)
            known = name.group(1) if name else ""
            if known == _SHARED_PRECISION:
                raise _shared_precision(text)
            if known not in STRUCTURED:
                close = did_you_mean(known, [*ENUMS, *STRUCTURED])
                meant = f"{text[: name.start(1)]}{close[0]}" if close and name else None
                help = f"did you mean {meant}?" if meant else None
                mended = (replace(known, close[0]),) if meant else ()
                raise TypeSyntaxError("attr-enum", f"unknown attribute {text!r}", 0, len(text), help, mended)
            if known == "tile_buf_config" and "<" in text:
                check_tile_config(text)
        return OpaqueAttr(_on_one_line(text))
    if text.startswith("dense<"):
        return _dense(text, type_)
    if text.startswith("array<"):
        return _array(text)
    if text.startswith("strided<"):
        return _strided(text)
    if text.startswith(("affine_map<", "affine_set<")):
        _check_names(text)
    return OpaqueAttr(text if type_ is None else f"{text} : {type_text(type_)}")


def _shared_precision(text: str) -> TypeSyntaxError:
    """Returns the error of one enumeration for the precision of all operations: each of them has its own."""
    suffix = "_precision"
    operations = tuple(kind.removesuffix(suffix) for kind in ENUMS if kind.endswith(suffix))
    help = (
        "each operation has an enumeration of its own: precisionType = #pto<exp_precision high_precision> of pto.texp"
    )
    message = f"unknown attribute {text!r}"
    return TypeSyntaxError("attr-enum", message, 0, len(text), help, (own_precision(suffix, *operations),))


def _check_names(text: str) -> None:
    """Checks that an affine map or set defines each name once."""
    name = repeated_name(text)
    if name is not None:
        raise TypeSyntaxError("type-syntax", f"{text.partition('<')[0]} defines {name} twice", 0, len(text))


def _on_one_line(text: str) -> str:
    """Returns ``text`` with single spaces, and none directly inside of its brackets."""
    text = " ".join(text.split())
    return text if '"' in text else text.replace("< ", "<").replace(" >", ">")


def _wrong_form(text: str, kind: str, value: str) -> TypeSyntaxError:
    right = ENUMS[kind].spell(value)
    message, mended = f"{kind} is not written in this form", (replace(None, right), attribute_form(right))
    return TypeSyntaxError("attr-form", message, 0, len(text), f"write {right}", mended)


def _scalar(word: str, element: Attribute) -> int | float:
    if word in ("true", "false"):
        return int(word == "true")
    if isinstance(element, builtin.AnyFloat):
        if word.startswith("0x"):
            return float_from_bits(integer(word) % (1 << element.bitwidth), element)
        return nearest_float(float(word), element).value.data
    value = integer(word)
    width = element.width.data if isinstance(element, builtin.IntegerType) else 64
    sign = element.signedness.data if isinstance(element, builtin.IntegerType) else None
    least = 0 if sign is builtin.Signedness.UNSIGNED else -(1 << max(width - 1, 0))
    if not least <= value < 1 << (width - 1 if sign is builtin.Signedness.SIGNED else width):
        raise ValueError(word)
    # Elements of type index are stored with a sign.
    return value - (1 << 64) if isinstance(element, builtin.IndexType) and value >> 63 == 1 else value


def _dense(text: str, type_: Attribute | None) -> Attribute:
    if not isinstance(type_, (builtin.VectorType, builtin.TensorType)):
        raise TypeSyntaxError("literal-type", "dense<..> needs a vector or tensor type", 0, len(text))
    body = text[len("dense<") : -1].strip()
    element = type_.element_type
    if '"' in body and isinstance(element, _Number):
        numbers = _raw_numbers(text, body, _literal_size(text, type_), element)
        return builtin.DenseIntOrFPElementsAttr.from_list(type_, numbers)
    if re.search(r"\"|\(|affine|@", body):
        return OpaqueAttr(f"{text} : {type_text(type_)}")
    words = _NUMBER.findall(body)
    whole = next((word for word in words if _WHOLE.fullmatch(word)), None) if is_float(element) else None
    if whole is not None:
        message = f"{type_text(element)} literals have a decimal point, found {whole}"
        raise TypeSyntaxError("literal-type", message, 0, len(text), f"{whole}.0")
    try:
        values = [_scalar(word, element) for word in words]
    except (ValueError, VerifyException):
        raise TypeSyntaxError("literal-type", f"literals do not fit {type_text(element)}", 0, len(text)) from None
    size = _literal_size(text, type_)
    if len(values) == 1 and not body.startswith("["):
        values = values * size
    if len(values) != size:
        raise TypeSyntaxError("literal-type", f"{len(values)} values for {size} elements", 0, len(text))
    return builtin.DenseIntOrFPElementsAttr.from_list(type_, values)


def _literal_size(text: str, type_: builtin.VectorType | builtin.TensorType) -> int:
    """Returns the number of elements of a literal."""
    size = 1
    for dim in type_.get_shape():
        size *= max(dim, 0)
    if size > LARGEST_LITERAL:
        message = f"a literal has at most {LARGEST_LITERAL:,} elements, {type_text(type_)} has {size:,}"
        raise TypeSyntaxError("literal-range", message, 0, len(text))
    return size


def _raw_numbers(text: str, body: str, size: int, element: _Number) -> list[int | float]:
    """Returns the numbers whose bytes ``dense<"0x..">`` has, or ``size`` times the only one. Single bits are packed,
    the first one lowest."""
    digits = _DIGITS.fullmatch(body)
    if digits is None:
        message = f"the bytes of a literal are pairs of hexadecimal digits after 0x, found {body}"
        raise TypeSyntaxError("literal-type", message, 0, len(text))
    data = bytes.fromhex(digits[1])
    bits = 64 if isinstance(element, builtin.IndexType) else element.bitwidth
    width = (bits + 7) // 8
    wanted = (size + 7) // 8 if bits == 1 else size * width
    if len(data) == width and (bits > 1 or data in (b"\x00", b"\xff")):
        data *= wanted // width
    if len(data) != wanted:
        message = f"{len(data)} bytes for {size} elements, which have {wanted} bytes"
        raise TypeSyntaxError("literal-type", message, 0, len(text))
    if bits == 1:
        return [_number_of_bits(data[index // 8] >> index % 8 & 1, element, bits) for index in range(size)]
    mask = (1 << bits) - 1
    parts = (int.from_bytes(data[at : at + width], "little") for at in range(0, wanted, width))
    return [_number_of_bits(part & mask, element, bits) for part in parts]


def _number_of_bits(value: int, element: _Number, bits: int) -> int | float:
    if isinstance(element, builtin.AnyFloat):
        return float_from_bits(value, element)
    signed = isinstance(element, builtin.IndexType) or element.signedness.data == builtin.Signedness.SIGNED
    return value - (1 << bits) if signed and value >> bits - 1 else value


def _array(text: str) -> Attribute:
    head, _, body = text[len("array<") : -1].partition(":")
    element = BUILTIN_SCALARS.get(head.strip())
    if not isinstance(element, builtin.IntegerType | builtin.AnyFloat):
        raise TypeSyntaxError("type-syntax", f"unknown element type {head.strip()!r}", 0, len(text))
    try:
        values = [_scalar(word, element) for word in _NUMBER.findall(body)]
    except ValueError:
        raise TypeSyntaxError("literal-type", f"literals do not fit {type_text(element)}", 0, len(text)) from None
    return DenseArrayBase.from_list(element, values)  # pyright: ignore[reportArgumentType,reportCallIssue]


def _strided(text: str) -> Attribute:
    found = re.fullmatch(r"strided<\s*\[([^\]]*)\]\s*(?:,\s*offset:\s*(-?\d{1,18}|\?)\s*)?>", text)
    strides = [s.strip() for s in found.group(1).split(",") if s.strip()] if found is not None else []
    if found is None or not all(_STRIDE.fullmatch(stride) for stride in strides):
        raise TypeSyntaxError("type-syntax", "strided layouts are written strided<[s0, s1], offset: o>", 0, len(text))
    offset = found.group(2)
    dims = [None if stride == "?" else int(stride) for stride in strides]
    return StridedLayoutAttr(dims, None if offset == "?" else int(offset or 0))


def number_of(attr: Attribute | None) -> int | float | bool | None:
    """Returns the Python value of a number attribute, ``None`` for anything else."""
    if isinstance(attr, (IntegerAttr, FloatAttr)):
        return attr.value.data
    return None


def int_list(attr: Attribute | None) -> list[int] | None:
    """Returns the integers of an array attribute, ``None`` for anything else."""
    if isinstance(attr, ArrayAttr):
        values = [number_of(a) for a in attr.data]
        return [int(v) for v in values if v is not None] if None not in values else None
    if isinstance(attr, DenseArrayBase):
        return [int(v) for v in attr.get_values()]
    return None


_INDICES = -(1 << 63), (1 << 64) - 1


def literals_of(type_: builtin.IntegerType | builtin.IndexType) -> tuple[int, int]:
    """Returns the least and the greatest literal of an integer type; one without a sign has those of both kinds."""
    if isinstance(type_, builtin.IndexType):
        return _INDICES
    width, signedness = type_.width.data, type_.signedness.data
    least = 0 if signedness is builtin.Signedness.UNSIGNED else -(1 << max(width - 1, 0))
    bits = max(width - 1, 0) if signedness is builtin.Signedness.SIGNED else width
    return least, (1 << bits) - 1

"""Small readers of token texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from xdsl.dialects import builtin
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, IntegerType, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, SSAValue

from pto_dialect.diagnostics.remedies.names import append, replace
from pto_dialect.diagnostics.remedies.types import wider_integer
from pto_dialect.ir.core.float_text import float_from_bits, nearest_float

from .builder.error import at
from .read.tokens import COMMENT, SPACE, Tok, integer
from .types.attributes import literals_of, unescape

_ALIAS_USE = re.compile(r'"(?:[^"\\\n]|\\.)*"|(?P<arrow>->\s*)?(?P<name>[!#][A-Za-z_][\w$]*)(?![\w$.<])')
_LEADING = re.compile(SPACE)
_BLANKS = re.compile(r"[ \t]*")
_NUMERIC_NAME = re.compile(r"\d+")


def strip_comments(part: str) -> str:
    """Returns ``part`` without comments and surrounding space."""
    return COMMENT.sub("", part).strip()


def expand_aliases(text: str, aliases: Mapping[str, str], limit: int) -> str:
    """Returns ``text`` with the names of ``aliases`` (``!name``, ``#name``) outside strings replaced by their
    definitions.

    Raises OverflowError when these are more than ``limit`` characters.
    """
    total = 0

    def meaning(found: re.Match[str]) -> str:
        nonlocal total
        known = aliases.get(found["name"]) if found["name"] else None
        if known is None:
            return found.group()
        total += len(known)
        if total > limit:
            raise OverflowError
        arrow = found["arrow"] or ""
        # A function type that is a result is in parentheses.
        return f"{arrow}({known})" if arrow and known[0] == "(" else arrow + known

    return _ALIAS_USE.sub(meaning, text)


def alias_uses(text: str) -> Iterator[str]:
    """Returns the names in ``text`` that may be aliases."""
    return (found["name"] for found in _ALIAS_USE.finditer(text) if found["name"])


def split_types(text: str) -> list[tuple[str, int]]:
    """Returns the spellings of a comma list of types with their offsets."""
    result: list[tuple[str, int]] = []
    depth = start = 0
    previous = ""
    for position, char in enumerate(text):
        if char in "<([":
            depth += 1
        elif char in ")]" or (char == ">" and previous != "-"):
            depth -= 1
        elif char == "," and depth == 0:
            result.append(_trimmed(text, start, position))
            start = position + 1
        previous = char
    result.append(_trimmed(text, start, len(text)))
    return result


def _trimmed(text: str, start: int, end: int) -> tuple[str, int]:
    leading = _LEADING.match(text, start, end)
    return strip_comments(text[start:end]), leading.end() if leading else start


def result_names(token: Tok) -> tuple[list[tuple[str, int]], list[str]]:
    """Returns the names that a RESULTS token defines with their offsets (``%p:2`` gives ``%p#0``, ``%p#1``), and the
    pack names."""
    names: list[tuple[str, int]] = []
    packs: list[str] = []
    offset = token.start
    for part in token.text.rstrip().removesuffix("=").split(","):
        name = strip_comments(part)
        position = offset + part.index(name)
        base, _, size = name.partition(":")
        if size:
            packs.append(base)
            names.extend((f"{base}#{i}", position) for i in range(int(size)))
        else:
            names.append((name, position))
        offset += len(part) + 1
    return names, packs


def set_name(value: SSAValue, name: str) -> None:
    """Sets the written name (with ``%``) of ``value`` for printing; numbers and pack members are numbered again.

    xDSL's own setter drops ``_<digits>`` suffixes, which real programs use throughout.
    """
    label = name[1:]
    if not _NUMERIC_NAME.fullmatch(label) and "#" not in label:
        value._name = label


def symbol(text: str) -> SymbolRefAttr:
    """Returns the symbol reference written ``@root::@nested``."""
    root, *nested = (unescape(p) if p.startswith('"') else p for p in re.findall(r'@("(?:[^"\\]|\\.)*"|[\w$.]+)', text))
    return SymbolRefAttr(root, [StringAttr(n) for n in nested])


def signed_integer(token: Tok, width: int = 64) -> int:
    """Returns the value of an INTEGER token that is stored in ``width`` bits with a sign."""
    value = integer(token.text)
    if not -(1 << (width - 1)) <= value < 1 << (width - 1):
        raise at(token, "literal-range", f"{token.text} does not fit into {width} bits with a sign")
    return value


def number_attribute(token: Tok, type_: Attribute) -> Attribute:
    """Returns the attribute of a typed literal; a hexadecimal literal of a float type is a bit pattern."""
    text = token.text
    # Compare the class: isinstance is slow when the answer is no, and most literals are integers.
    integral = type(type_) is IntegerType or type(type_) is builtin.IndexType
    if not integral and isinstance(type_, builtin.AnyFloat):
        if token.type == "FLOAT":
            return nearest_float(float(text), type_)
        if text.lstrip("-").startswith("0x"):
            return FloatAttr(_from_bits(token, type_), type_)
        raise at(token, "literal-type", f"{type_} literals have a decimal point", f"{text}.0", append(".0"))
    if isinstance(type_, (IntegerType, builtin.IndexType)):
        if token.type == "FLOAT":
            whole = re.fullmatch(r"(-?\d+)\.0*", text)
            mended = (replace(None, whole[1]),) if whole is not None else ()
            raise at(token, "literal-type", f"{text} is not an integer, but the type is {type_}", None, *mended)
        value = integer(text)
        if isinstance(type_, IntegerType):
            width = type_.width.data
            unsigned = type_.signedness.data is builtin.Signedness.UNSIGNED
            least, most = literals_of(type_)
            if not least <= value <= most:
                mended = (wider_integer(width),)
                raise at(token, "literal-range", f"{text} does not fit into {type_}", None, *mended)
            if width and value >= 1 << (width - 1) and not unsigned:
                value -= 1 << width
        return IntegerAttr(value, type_)
    if isinstance(type_, builtin.VectorType):
        raise at(token, "literal-type", "a vector literal is written dense<..>")
    raise at(token, "literal-type", f"{type_} has no literals")


def _from_bits(token: Tok, type_: builtin.AnyFloat) -> float:
    bits = integer(token.text)
    if not 0 <= bits < 1 << type_.bitwidth:
        raise at(token, "literal-range", f"{token.text} has more bits than {type_}")
    return float_from_bits(bits, type_)


def starts_line(text: str, position: int) -> bool:
    """Returns whether only blanks precede ``position`` on its line."""
    while position and text[position - 1].isspace():
        position -= 1
        if text[position] == "\n":
            return True
    return not position


def indentation(text: str, position: int) -> int:
    """Returns the blanks at the start of the line of ``position``."""
    begin = text.rfind("\n", 0, position) + 1
    found = _BLANKS.match(text, begin)
    return found.end() - begin if found else 0

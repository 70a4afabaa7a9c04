"""Formatting of the number that ``pto.print`` writes, in the C format that the program states."""

from __future__ import annotations

import math
import re
from typing import Final

from ..faults import Fault

_CONVERSION: Final = re.compile(r"%(?:%|([-+ #0]*)(\d*)(?:\.(\d*))?(?:hh|h|ll|l|L|q|z|j|t)?([a-zA-Z]?))")
_INTEGERS: Final = frozenset("diouxXc")
_FLOATS: Final = frozenset("eEfFgG")
_UNSIGNED: Final = frozenset("ouxX")
_WIDEST: Final = 1000
"""Maximum width of a number; C promises 4095 characters in all."""


def split_format(text: str) -> tuple[str, str, str]:
    """Returns the text before the one conversion of ``text``, the conversion for Python, and the text after it; the
    latter two are empty where there is no conversion.

    Raises ``Fault`` (``print-format``) for a second conversion, one that C does not have, and a width above 1,000.
    """
    parts: list[str] = [""]
    result, end = "", 0
    for match in _CONVERSION.finditer(text):
        parts[-1] += text[end : match.start()]
        end = match.end()
        if match[0] == "%%":
            parts[-1] += "%"
            continue
        flags, width, precision, letter = match[1], match[2], match[3], match[4]
        if letter not in _INTEGERS | _FLOATS:
            raise Fault("print-format", f"'{match[0]}' is no conversion of a number; %d, %u, %x, %f, %e and %g are")
        if result:
            raise Fault("print-format", f"the format {text!r} has a second conversion '{match[0]}' for the one number")
        if int(width or 0) > _WIDEST or int(precision or 0) > _WIDEST:
            raise Fault("print-format", f"'{match[0]}' is wider than {_WIDEST} characters")
        result = f"%{flags}{width}{'' if precision is None else '.' + precision}{letter}"
        parts.append("")
    parts[-1] += text[end:]
    return (parts[0], result, parts[1]) if result else (parts[0], "", "")


def format_number(conversion: str, value: float) -> str:
    """Returns ``value`` as ``conversion`` (a result of :func:`split_format`) writes it; integers of unsigned
    conversions are taken modulo 2^32, or 2^64 where they need it, NaN and infinities are written by name."""
    letter = conversion[-1:]
    if letter in _FLOATS:
        return conversion % value
    if not math.isfinite(value):
        return str(value)
    number = int(value)
    if letter in _UNSIGNED and number < 0:
        number &= (1 << 32) - 1 if number >= -(1 << 31) else (1 << 64) - 1
    return conversion % (chr(number & 0xFF) if letter == "c" else number)

"""The error that reading a type raises; the program parser turns it into a diagnostic at the right location."""

from __future__ import annotations

from typing import Any

from xdsl.ir import Attribute

from .located import LocatedError


class TypeSyntaxError(LocatedError):
    """A spelling that is not a valid type; the extent is relative to the spelling."""


def parameter_text(parameter: Any) -> str:
    """Returns a parameter as it is written, for messages."""
    from pto_dialect.ir.core.types import type_text  # deferred: start-up

    value = parameter.value
    if parameter.form == "keyed":
        return f"{parameter.key}={parameter_text(value)}"
    if isinstance(value, Attribute):
        return type_text(value)
    if parameter.form == "typed_integer":
        return f"{value[0]} : {type_text(value[1])}"
    if isinstance(value, tuple):
        *dims, element = value if parameter.form == "extent" else (*value[0], value[1])
        last = type_text(element) if isinstance(element, Attribute) else str(element)
        return "x".join("?" if part == "-1" else part for part in (*map(str, dims), last))
    return str(value)

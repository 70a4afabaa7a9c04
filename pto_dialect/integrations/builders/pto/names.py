"""The message for a name that `pto` does not have."""

from __future__ import annotations

from pto_dialect.diagnostics.render import shortened
from pto_dialect.diagnostics.suggest import did_you_mean

from .classes import ALIASES
from .enums import ATTRIBUTE_CLASSES, ENUM_CLASSES
from .helpers import FUNCTIONS
from .signatures import class_names, function_names
from .types import TYPES


def unknown_name(name: str) -> str:
    """Returns what is wrong with a name, and similar names."""
    known = (*TYPES, *ENUM_CLASSES, *ATTRIBUTE_CLASSES, *FUNCTIONS, *class_names(), *function_names(), *ALIASES)
    near = did_you_mean(name, known)
    hint = f"; did you mean {' or '.join(near[:2])}?" if near else ""
    return shortened(f"pto has no operation, type or enumeration {name!r}{hint}")

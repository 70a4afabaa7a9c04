"""The two libraries that compute tile operations, and the selection between them.

``emitc``: the header library, on every target. ``vpto``: templates over vector micro-operations, on a5 only. Where
their results differ, ``RunOptions.backend`` selects; docs/semantics.md lists the differences.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

Backend = Literal["emitc", "vpto"]
BACKENDS: Final[tuple[Backend, ...]] = ("emitc", "vpto")
ATTRIBUTE: Final = "pto.backend"
"""Attribute of a module that names its library."""


SORT_FILLERS: Final[Mapping[str, float]] = MappingProxyType({"f16": float(0xFC00), "f32": float(0xFF80_0000)})
"""Bits of −inf, which the templates of ``vpto`` store to incomplete groups of scores."""


def backend_named(text: str) -> Backend | None:
    """Returns the library called ``text``."""
    return next((backend for backend in BACKENDS if backend == text), None)


def backend_of(function: Operation, option: Backend | None, arch: str) -> Backend:
    """Returns the library of a function: the option, then the attribute of the nearest module, then ``emitc``.

    a2a3 has ``emitc`` only.
    """
    if arch == "a2a3":
        return "emitc"
    if option is not None:
        return option
    parent = function.parent_op()
    while parent is not None:
        stated = parent.attributes.get(ATTRIBUTE)
        if isinstance(stated, StringAttr):
            return backend_named(stated.data) or "emitc"
        parent = parent.parent_op()
    return "emitc"

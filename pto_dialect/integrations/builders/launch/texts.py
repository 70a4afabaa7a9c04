"""Texts of modules with the Python lines that statements come from."""

from __future__ import annotations

from typing import Any


def located_text(module: Any) -> str | None:
    """The text of a module with locations, if it is one of the modules that this package provides."""
    operation = getattr(module, "operation", None)
    get = getattr(operation, "get_asm", None)
    return None if get is None else str(get(enable_debug_info=True))

"""Packages whose calls make operations for the user's program."""

from __future__ import annotations

import os
from types import ModuleType

from ..ir.places import hide_folder


def hide_package(module: ModuleType, levels: int) -> None:
    """Has operations that a package makes come from the lines that call it; its folder is ``levels`` above a file."""
    folder = module.__file__ or ""
    for _ in range(levels):
        folder = os.path.dirname(folder)
    if folder:
        hide_folder(folder)

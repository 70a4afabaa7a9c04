"""Packages that a folder in PYTHONPATH provides until they are replaced."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from types import ModuleType

from . import install_as_wanted


def replace_stub(stub: ModuleType) -> None:
    """Replaces a package of the folder ``path`` by what the environment selects: an installed one, or this one."""
    name, folder = stub.__name__, os.path.dirname(os.path.dirname(os.path.abspath(stub.__file__ or "")))
    if "." in name:
        # It is imported as a part of this package.
        return
    del sys.modules[name]
    places, sys.path[:] = sys.path[:], [one for one in sys.path if os.path.abspath(one) != folder]
    try:
        if not install_as_wanted():
            import_module(name)
    finally:
        sys.path[:] = places
    if name not in sys.modules:
        raise ImportError(f"there is no package {name!r}")

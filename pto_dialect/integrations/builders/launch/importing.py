"""Changes modules of other packages when they are imported."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.abc import Loader, MetaPathFinder
else:
    # The module of the base classes takes longer to import than all else here.
    Loader = MetaPathFinder = object

CHANGED = {
    "ptodsl._runtime.launch": "ptoas_handle",
    "ptodsl.compiler.jit": "csl_wrapper",
    "torch": "npu.device",
    "ctypes": "aot.library",
    "subprocess": "aot.tools",
}
"""Modules of other packages, and the module of this one whose function ``change`` changes each after its import."""

STAND_INS = {"torch_npu": "npu.module"}
"""Modules that are provided where they are not installed, and the module of this package whose ``make`` makes each."""


def _here(name: str) -> ModuleType:
    return import_module(f".{name}", __package__)


class _Changing(Loader):
    """Loads a module as ``loader`` does, and changes it."""

    def __init__(self, loader: Loader) -> None:
        self.loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Returns the module, before it is executed."""
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Executes the module and changes it."""
        spec = module.__spec__
        module.__loader__ = self.loader
        if spec is not None:
            spec.loader = self.loader
        self.loader.exec_module(module)
        _here(CHANGED[module.__name__]).change(module)


class _StandIn(Loader):
    """Makes a module that is not installed."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Returns the module."""
        return _here(STAND_INS[spec.name]).make()

    def exec_module(self, module: ModuleType) -> None:
        """Everything is there."""


class _Finder(MetaPathFinder):
    """Finds the modules of both tables."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """How a module of the tables is loaded; ``None`` for all others."""
        if fullname in CHANGED:
            spec = PathFinder.find_spec(fullname, path, target)
            if spec is not None and spec.loader is not None:
                spec.loader = _Changing(spec.loader)
            return spec
        if fullname in STAND_INS and PathFinder.find_spec(fullname, path) is None:
            return ModuleSpec(fullname, _StandIn(), origin="pto-dialect")
        return None


def is_stand_in(name: str) -> bool:
    """Returns whether the module ``name`` is provided by this package, because it is not installed."""
    return name in STAND_INS and PathFinder.find_spec(name) is None


def install() -> None:
    """Changes what is imported already, and what will be; once."""
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    sys.meta_path.insert(0, _Finder())
    for name, changer in CHANGED.items():
        if name in sys.modules:
            _here(changer).change(sys.modules[name])

"""The launch of the package `ptodsl` of huawei-csl: kernels decorated with its `jit`."""

from __future__ import annotations

from inspect import signature
from types import ModuleType
from typing import Any

from .kernels import Launched
from .packages import hide_package
from .texts import located_text

TARGETS = {"dav-2201": "a2a3", "dav-c220": "a2a3", "dav-3101": "a5", "dav-3510": "a5", "dav-c310": "a5"}
"""Chips by the beginning of the name that compilers of C++ have for their cores."""


class Library:
    """Replaces the shared library of a kernel."""

    def __init__(self, launched: Launched) -> None:
        self._launched = launched

    def call_kernel(self, blocks: Any, stream: Any, *args: Any) -> None:
        """Launches the kernel; there is one stream."""
        self._launched(int(getattr(blocks, "value", blocks)), args)


def change(module: ModuleType) -> None:
    """Replaces the build of `JitWrapper`, in the module of that class."""
    hide_package(module, 2)

    def build(self: Any) -> None:
        """Makes the program, writes it where the package does, and keeps it for launches."""
        self._arg_types = self._resolve_runtime_arg_types()
        built = module.to_ir_module(meta_data=self._meta_data)(self._fn)
        self._output_dir.mkdir(parents=True, exist_ok=True)
        path = self._artifact_paths()[0]
        path.write_text(f"{built}\n", encoding="utf-8")
        name = self._fn.__name__
        text = located_text(built, name, list(signature(self._fn).parameters)) or str(built)
        self._lib = Library(Launched(text, name, str(path), target_of(self._npu_arch), self._enable_insert_sync))
        self._compiled = True

    module.JitWrapper._build = build


def target_of(arch: str) -> str | None:
    """Returns the chip whose cores are called ``arch``; ``None`` for unknown names."""
    return next((target for name, target in TARGETS.items() if arch.startswith(name)), None)

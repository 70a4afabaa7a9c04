"""The module `mlir.dialects.pto`: classes, functions, enumerations, types and attributes of the dialect.

Everything follows from the declarations of the operations, and from the tables of this package for what differs.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .classes import ALIASES, FUNCTION_ALIASES, find_class, find_function
from .enums import ATTRIBUTE_CLASSES, ENUM_CLASSES
from .helpers import FUNCTIONS, TileConfig
from .signatures import class_names, function_names
from .types import TYPES

_KNOWN: dict[str, Any] = {
    **TYPES,
    **ENUM_CLASSES,
    **ATTRIBUTE_CLASSES,
    **FUNCTIONS,
    **{one.name: one for name in ("SyncOpType", "EVENT") for one in ENUM_CLASSES[name]},
    "TileConfig": TileConfig,
}


_PACKAGE = __name__.rpartition(".")[0]
_KERNELS = frozenset(
    (
        *("vkernel", "VKernelHandle", "struct", "Tile", "tile", "const", "ptr", "vreg", "mask", "align"),
        *("i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32"),
    )
)
"""Names for kernels that are Python functions, which need a module of their own."""


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    found = _KNOWN.get(name)
    if name in _KERNELS:
        found = getattr(import_module(".kernels.handle", _PACKAGE), name, None)
        found = import_module(".kernels.surface", _PACKAGE).NAMES[name] if found is None else found
    if found is None:
        found = find_class(name) or find_function(name) or find_class(f"{name}Op")
    if found is None:
        from .names import unknown_name  # deferred: start-up

        raise AttributeError(unknown_name(name))
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*_KNOWN, *class_names(), *function_names(), *ALIASES, *FUNCTION_ALIASES, *_KERNELS})


__all__ = __dir__()  # pyright: ignore[reportUnsupportedDunderAll]

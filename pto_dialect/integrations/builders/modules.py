"""Which modules stand for which: `ptoas.mlir` and `mlir` on this package."""

from __future__ import annotations

import importlib.util
import os
import sys
from importlib import import_module
from types import ModuleType

_HERE = __name__.rpartition(".")[0]

DIALECTS = ("arith", "builtin", "cf", "func", "index", "llvm", "math", "memref", "scf", "vector")
"""Dialects of MLIR's core."""

_MODULES: dict[str, str] = {
    "ir": ".ir",
    "dialects": ".dialects",
    "dialects.pto": ".pto",
    "dialects._ods_common": ".dialects.ods_common",
    **{f"dialects.{name}": f".dialects.{name}" for name in DIALECTS},
}
"""Modules below `mlir`, with those of this package."""

ROOTS = ("ptoas.mlir", "mlir")


_NO_PTODSL = (
    "there is no package 'ptodsl': pto-dialect runs it, but it is not part of pto-dialect; get it from "
    "https://github.com/hw-native-sys/PTOAS, and put the folder ptodsl of that checkout on PYTHONPATH"
)


class _Missing:
    """Says which modules there are where one is imported that no other finder knows."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        """Raises ``ModuleNotFoundError`` for modules of `mlir` that are not provided, and for a missing PTODSL."""
        if fullname == "ptodsl" and sys._getframe(2).f_code.co_name == "_find_and_load_unlocked":
            # Not for a query whether there is one, with find_spec.
            raise ModuleNotFoundError(_NO_PTODSL, name=fullname)
        above, _, name = fullname.rpartition(".")
        if above in (f"{_HERE}.dialects", *(f"{root}.dialects" for root in ROOTS)):
            raise ModuleNotFoundError(f"there is no dialect {name!r} here; there are {', '.join((*DIALECTS, 'pto'))}")
        if above in ROOTS:
            raise ModuleNotFoundError(f"there is no module {name!r} of mlir here; there are dialects and ir")


def put_modules() -> None:
    """Puts the modules into ``sys.modules`` under both names."""
    ours = {name: import_module(path, _HERE) for name, path in _MODULES.items()}
    for name in (*DIALECTS, "pto", "_ods_common"):
        setattr(ours["dialects"], name, ours[f"dialects.{name}"])
    for root in ROOTS:
        package = _package(root)
        package.ir, package.dialects = ours["ir"], ours["dialects"]  # pyright: ignore[reportAttributeAccessIssue]
        for name, module in ours.items():
            sys.modules[f"{root}.{name}"] = module
    sys.meta_path.append(_Missing())
    # A package `ptoas` without bindings has other modules, which are used.
    try:
        above = import_module("ptoas")
    except ImportError:
        above = _package("ptoas")
    above.mlir = sys.modules["ptoas.mlir"]  # pyright: ignore[reportAttributeAccessIssue]


def _package(name: str) -> ModuleType:
    """Makes a package."""
    package = ModuleType(name, f"Stands for `{name}`: see docs/builders.md of pto-dialect.")
    package.__path__ = []
    package.__package__ = name
    sys.modules[name] = package
    return package


def find_installed() -> str | None:
    """Returns the folder of an installed `ptoas` or `mlir` with compiled bindings of the dialect; ``None`` without."""
    for name in ("ptoas", "mlir"):
        known = sys.modules.get(name)
        try:
            spec = importlib.util.find_spec(name) if known is None else known.__spec__
        except (ImportError, ValueError):
            continue
        folders = [] if spec is None else list(spec.submodule_search_locations or ())
        for folder in folders:
            below = os.path.join(folder, "mlir") if name == "ptoas" else folder
            if os.path.isdir(os.path.join(below, "_mlir_libs")) and os.path.isfile(
                os.path.join(below, "dialects", "pto.py")
            ):
                return below
    return None


def start_installed(folder: str) -> str:
    """Imports the installed bindings; returns why they do not start, empty where they do."""
    name = "ptoas.mlir.ir" if os.path.basename(os.path.dirname(folder)) == "ptoas" else "mlir.ir"
    try:
        import_module(name)
    except ImportError as error:
        return str(error)
    return ""

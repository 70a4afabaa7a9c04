"""The launch of PTODSL, the package `ptodsl` of PTOAS: `compiled[grid, stream](arguments)`."""

from __future__ import annotations

from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from ..ir.conventions import follow_bindings
from .kernels import Launched
from .packages import hide_package
from .pointers import addresses
from .texts import located_text

_launched: WeakKeyDictionary[Any, Launched] = WeakKeyDictionary()
"""What has been launched of the kernels that PTODSL has compiled."""


def change(module: ModuleType) -> None:
    """Replaces the call of `LaunchHandle`, in the module of that class."""
    hide_package(module, 2)
    follow_bindings()
    marshal = module._marshal_launch_args

    def call(self: Any, *args: Any) -> None:
        """Launches the kernel on numpy."""
        kernel = launched(self._compiled)
        with addresses(args, kernel.pointers) as plain:
            kernel(self._grid, marshal(self._compiled._kernel_signature, plain))

    module.LaunchHandle.__call__ = call


def launched(compiled: Any) -> Launched:
    """Returns the program of a kernel that PTODSL has compiled; once for each."""
    found = _launched.get(compiled)
    if found is None:
        spec = compiled._module_spec
        given = getattr(spec, "insert_sync", None)
        ordered = spec.mode != "explicit" if given is None else bool(given)
        name = spec.function_name
        text = located_text(compiled.mlir_module(), name, names_of(compiled._kernel_signature)) or compiled.mlir_text()
        found = _launched[compiled] = Launched(text, name, f"{name}.pto", spec.target_arch, ordered)
    return found


def names_of(signature: Any) -> list[str]:
    """Returns the names of the parameters of a Python function, as far as PTODSL states them."""
    return [parameter.name for parameter in getattr(signature, "positional_parameters", ())]

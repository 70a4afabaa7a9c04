"""The device `npu` of PyTorch in the memory of the host: its tensors are CPU tensors, whose addresses are known."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from ..importing import is_stand_in
from .runtime import make

NAME = "npu"
_HOST = "cpu"
_COPIES = frozenset(("cpu", "to", NAME))
"""Methods whose result is a tensor of its own, because it is in another memory on a board."""


def is_device(value: Any) -> bool:
    """Returns whether ``value`` names the device."""
    if isinstance(value, str):
        return value == NAME or value.startswith(NAME + ":")
    return type(value).__name__ == "device" and getattr(value, "type", None) == NAME


def on_host(value: Any) -> Any:
    """Returns ``value`` with the memory of the host instead of the device."""
    return _HOST if is_device(value) else value


def change(torch: ModuleType) -> None:
    """Adds the device to PyTorch, where its extension for it is not installed."""
    if not is_stand_in("torch_npu") or hasattr(torch, NAME):
        return
    library: Any = torch
    library.utils.rename_privateuse1_backend(NAME)
    runtime = make()
    runtime.__dict__["manual_seed"] = library.manual_seed
    library.npu = runtime
    sys.modules["torch.npu"] = runtime
    library.Tensor.npu = lambda tensor, *_, **__: tensor.to(NAME)
    library.Tensor.is_npu = property(lambda _: True)
    set_default = library.set_default_device
    library.set_default_device = lambda device: set_default(on_host(device))
    _mode_class()().__enter__()


def _mode_class() -> Any:
    overrides: Any = import_module("torch.overrides")
    torch: Any = import_module("torch")
    data_ptr = torch.Tensor.data_ptr
    from ..pointers import note_tensor  # deferred: start-up

    class OnHost(overrides.TorchFunctionMode):
        """Calls functions of PyTorch with the memory of the host instead of the device."""

        def __torch_function__(
            self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
        ) -> Any:
            if func is data_ptr:
                note_tensor(args[0])
                return func(*args)
            return _call(func, args, kwargs or {})

    return OnHost


def _call(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    plain = [on_host(value) for value in args]
    named = {name: on_host(value) for name, value in kwargs.items() if name != "pin_memory"}
    name = getattr(func, "__name__", "")
    if name == "pin_memory":
        return args[0]
    result = func(*plain, **named)
    # Copies between memories are tensors of their own.
    if name in _COPIES and result is args[0] and _names_memory(name, args, kwargs):
        return result.clone()
    return result


def _names_memory(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    given = [*args[1:2], kwargs.get("device")]
    return name != "to" or any(is_device(one) or str(one) == _HOST for one in given)

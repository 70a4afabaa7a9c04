"""The module `torch_npu`, where it is not installed."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from .runtime import NpuModule


def make() -> ModuleType:
    """Returns the module. Raises ``ImportError`` where PyTorch is not installed."""
    torch: Any = import_module("torch")
    made = NpuModule("torch_npu", "PyTorch on Ascend devices, in the memory of the host.")
    made.__dict__["__version__"] = f"{torch.__version__.partition('+')[0]}+pto_dialect"
    made.__dict__["npu"] = torch.npu
    made.__path__ = []
    sys.modules["torch_npu.npu"] = torch.npu
    return made

"""xDSL's class of functions, loaded as the classes of all core operations are."""

from __future__ import annotations

from pto_dialect.accel.operations.deferred_formats import deferred_formats
from pto_dialect.accel.operations.shared_unions import shared_unions

with deferred_formats(), shared_unions():
    from xdsl.dialects.func import FuncOp

__all__ = ["FuncOp"]

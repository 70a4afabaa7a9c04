"""xDSL's class of functions, loaded as the classes of all core operations are."""

from __future__ import annotations

from pto_dialect.accel.operations.deferred_formats import deferred_formats

with deferred_formats():
    from xdsl.dialects.func import FuncOp

__all__ = ["FuncOp"]

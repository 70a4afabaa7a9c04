"""The module `mlir.dialects.vector`: the type. Programs of `pto` have no operations of this dialect."""

from __future__ import annotations

from ..ir.types import VectorType

__all__ = ["VectorType"]

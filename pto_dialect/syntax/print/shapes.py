"""Printers of PTO operations by shape; their modules are loaded for the first operation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from xdsl.ir import Operation

from pto_dialect.ir.core.base import PtoOp, op_spec

from .pto import LEAVES
from .writer import Composite, Leaf


def pto_leaf(op: Operation) -> Leaf | None:
    """Returns the printer of the shape of a PTO operation without regions; ``None`` for other operations."""
    return _tables()[0].get(op_spec(type(op)).shape) if isinstance(op, PtoOp) else None


def pto_composite(op: Operation) -> Composite | None:
    """Returns the printer of the shape of a PTO operation with regions; ``None`` for other operations."""
    return _tables()[1].get(op_spec(type(op)).shape) if isinstance(op, PtoOp) else None


@cache
def _tables() -> tuple[Mapping[Any, Leaf], Mapping[Any, Composite]]:
    for module in ("flat", "micro", "sync", "tile"):
        import_module(f".{module}", __package__)
    from .structure import REGIONS  # deferred: start-up

    return LEAVES, REGIONS

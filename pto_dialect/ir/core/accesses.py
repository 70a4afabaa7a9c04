"""Accesses to one element of memory that several families share."""

from __future__ import annotations

from .base import PtoOp, Shape
from .roles import Role


class ElementLoadOp(PtoOp, shape=Shape.INDEXED, reads=("ptr",), typed=("ptr",), roles=Role.ELEMENT_LOAD):
    """Reads one element of memory, ``offset`` elements behind ``ptr``."""


class ElementStoreOp(
    PtoOp, shape=Shape.INDEXED_STORE, writes=("ptr",), typed=("ptr", "value"), roles=Role.ELEMENT_STORE
):
    """Writes one element of memory, ``offset`` elements behind ``ptr``."""

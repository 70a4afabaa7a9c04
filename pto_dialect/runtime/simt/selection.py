"""Merges values of work-items at the join of divergent control-flow paths."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..faults import Fault
from ..memory.spaces import Array, Pointer
from .addresses import Pointers, choose_pointers


def choose(condition: Array, a: Any, b: Any) -> Any:
    """Returns ``a`` where ``condition`` holds, otherwise ``b``: values or addresses of work-items."""
    if isinstance(a, (Pointer, Pointers)):
        return choose_pointers(condition, a, b)
    if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)):
        if a is b:
            return a
        raise Fault("unmodelled", f"values of kind {type(a).__name__} that differ between work-items")
    if a.ndim > condition.ndim:
        condition = condition.reshape(*condition.shape, *(1,) * (a.ndim - condition.ndim))
    return np.where(condition, a, b)


def merge(condition: Array, new: Any, old: Any) -> Any:
    """Returns ``new`` where ``condition`` holds, otherwise ``old``; ``None`` stands for a value that no
    work-item has."""
    if old is None:
        return new
    return old if new is None else choose(condition, new, old)

"""Sizes and strides by dimension index, as a running program queries them. Source: docs/reference/layouts.md, "Views of
global memory"."""

from __future__ import annotations

from collections.abc import Sequence

from pto_dialect.runtime.faults import Fault


def entry_of(numbers: Sequence[int], axis: int) -> int:
    """Returns the size or stride of dimension ``axis``; raises :class:`Fault` where there is no such dimension."""
    if not 0 <= axis < len(numbers):
        raise Fault("view-dim", f"there is no dimension {axis}, only 0 to {len(numbers) - 1}")
    return numbers[axis]

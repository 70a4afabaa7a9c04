"""Several numbers as one element of memory: ``vector<2xf16>``. Source: docs/reference/work-items.md, "Operations"."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from xdsl.dialects.builtin import VectorType

from pto_dialect.ir.core import types as t

from ..numerics.formats import Format, format_of


def part_format(type_: VectorType) -> Format:
    """Returns the format of the numbers in a vector. Raises ``ValueError`` for one that cannot be computed with."""
    return format_of(t.element_name(type_.element_type))


def parts_of(type_: VectorType) -> int:
    """Returns how many numbers a vector has."""
    return int(np.prod(type_.get_shape()))


def pair_format(type_: VectorType) -> Format:
    """Returns the numbers of a vector as one unit of memory; raises ``ValueError`` as ``part_format``."""
    return _unit(part_format(type_), parts_of(type_), t.type_text(type_))


@cache
def _unit(part: Format, count: int, name: str) -> Format:
    nbytes = part.bytes * count
    storage = np.dtype(f"u{nbytes}" if nbytes in (1, 2, 4, 8) else f"V{nbytes}")
    return replace(part, name=name, storage=storage, elements=count)

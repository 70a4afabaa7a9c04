"""What is known of two accesses that are compared."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import NamedTuple

from xdsl.ir import SSAValue

from pto_dialect.analysis.affine import AffineAnalysis

Range = tuple[float, float]
ANY: Range = (-inf, inf)


class Iteration(NamedTuple):
    """A loop of which the later access is in a later iteration: its counter, the step of that and the most trips."""

    counter: SSAValue
    step: int
    trips: float


class Setting(NamedTuple):
    """What is known of two accesses: which values are the same for both, the loop that lies between them, and the
    ranges of indices."""

    fixed: Callable[[SSAValue], bool]
    iteration: Iteration | None
    ranges: Callable[[SSAValue], Range]
    sums: AffineAnalysis

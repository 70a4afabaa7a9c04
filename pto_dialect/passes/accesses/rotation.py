"""Slots of multi-buffers that go round: the index is a sum of loop counters modulo a number.

Two such indices are the same slot only in iterations whose distance is known.
Source: docs/reference/synchronisation.md, "Multi-buffers".
"""

from __future__ import annotations

from math import gcd
from typing import NamedTuple

from pto_dialect.analysis.affine import AffineAnalysis, AffineExpr

from .locations import MemoryLocation
from .setting import Setting

SLOTS = "slots"


class Rotation(NamedTuple):
    """An index: what is left of ``total`` divided by ``modulus``."""

    total: AffineExpr
    modulus: int


def rotation_of(location: MemoryLocation, sums: AffineAnalysis) -> Rotation | None:
    """Returns the index of a rotating slot; ``None`` for other locations, and for a slot with a constant index."""
    frame = location.frame
    if not isinstance(frame, tuple) or frame[0] != SLOTS or not location.sides:
        return None
    rotation = sums.as_remainder(location.sides[0].start)
    return None if rotation is None else Rotation(*rotation)


def iteration_distance(earlier: MemoryLocation, later: MemoryLocation, setting: Setting) -> int | None:
    """Returns the fewest iterations from ``earlier`` to ``later`` in which both are the same slot, 0 where that cannot
    be: of the loop of ``setting``; within one iteration 1 says that they may be the same. ``None`` where nothing is
    known."""
    one, other = rotation_of(earlier, setting.sums), rotation_of(later, setting.sums)
    if one is None or other is None or one.modulus != other.modulus or earlier.frame != later.frame:
        return None
    constant = other.total.constant - one.total.constant
    after, before = dict(other.total.terms), dict(one.total.terms)
    common, forward = one.modulus, 0
    iteration = setting.iteration
    for term in {**after, **before}:
        mine, its = after.get(term, 0), before.get(term, 0)
        if all(setting.fixed(value) for value in setting.sums.sources(term)):
            common = gcd(common, mine - its)
        elif iteration is not None and term == (iteration.counter,) and mine == its:
            forward += mine * iteration.step
        else:
            common = gcd(common, mine, its)
    if iteration is None:
        return int(constant % common == 0)
    distances = (number for number in range(1, common + 1) if (constant + forward * number) % common == 0)
    distance = next(distances, 0)
    return distance if distance < iteration.trips else 0

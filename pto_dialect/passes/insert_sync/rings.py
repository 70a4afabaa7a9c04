"""Flags with rotating ids, for slots that are filled some iterations before they are used.

Where the indices of the slots rotate with the induction variable, two accesses are of the same slot in iterations of a
known distance. The producer of a slot that is filled ``ahead`` iterations early sets the id of the iteration that uses
it; ``ahead`` ids are set before the loop, and those without a wait in the loop are waited for after it. An id is set
again for the next use of its slot, which follows all uses of the slot. Source: docs/reference/synchronisation.md,
"Multi-buffers".
"""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd

from pto_dialect.analysis.affine import AffineAnalysis
from pto_dialect.analysis.constants import constant_of
from pto_dialect.ir.core.attributes import ENUMS
from pto_dialect.ir.core_dialects.structured import is_for
from pto_dialect.passes.accesses.items import Flag, Loop, Ring
from pto_dialect.passes.accesses.rotation import Rotation, iteration_distance, rotation_of
from pto_dialect.passes.accesses.setting import Setting

from .follow import Need

EVENTS = len(ENUMS["event"].values)
"""Numbers between two pipes."""


NOT_THE_COUNTER = "which slot an iteration uses does not follow from the counter of its loop alone"
SET_TOO_EARLY = "an iteration might set the flag of its slot again before the last wait for it"


MORE_SLOTS = f"there are more slots than the {EVENTS} event ids of two pipes"
TOO_MANY = f"more event ids are needed than the {EVENTS} of two pipes"


def rotations(needs: Iterable[Need], later: Setting) -> tuple[int, Rotation] | None:
    """Of needs that are all about slots that go round in the same way: the fewest iterations between both sides, and
    the index of the later side."""
    candidates: list[tuple[int, Rotation]] = []
    for need in needs:
        distance = iteration_distance(need.access.location, need.location, later)
        index = rotation_of(need.location, later.sums)
        if not distance or index is None:
            return None
        candidates.append((distance, index))
    if not candidates or len({index.modulus for _, index in candidates}) > 1:
        return None
    return min(candidates, key=lambda pair: pair[0])


def about(needs: Iterable[Need], sums: AffineAnalysis, carried: bool) -> tuple[int, int] | None:
    """Returns how many slots go round, if all of ``needs`` are about such, and how many iterations a flag leads on."""
    candidates = {rotation_of(location, sums) for need in needs for location in (need.access.location, need.location)}
    counts = {index.modulus if index is not None else 0 for index in candidates}
    return (counts.pop(), int(carried)) if len(counts) == 1 and 0 not in counts else None


def ring_of(loop: Loop, index: Rotation, ahead: int) -> Ring | None:
    """Returns the numbers that go round as ``index`` does, if each iteration in turn has another one."""
    iteration = loop.iteration
    if iteration is None or not is_for(loop.op) or index.modulus > EVENTS or not 0 < ahead <= index.modulus:
        return None
    terms = dict(index.total.terms)
    factor = terms.pop((iteration.counter,), 0)
    first, step = constant_of(loop.op.lb), constant_of(loop.op.step)
    if terms or gcd(factor * iteration.step, index.modulus) != 1 or factor <= 0:
        return None
    if not isinstance(first, int) or not isinstance(step, int) or first < 0 or step <= 0:
        return None
    return Ring(loop.op, iteration.counter, factor, index.total.constant, first, step, ahead)


def assign_ring_ids(loop: Loop) -> None:
    """Gives the flags that order the same slots inside of an iteration, and from one to the next, numbers that go round
    too: an iteration may be ahead of the one before."""
    rings = [flag for flag in loop.carried if flag.ring is not None and flag.ring.ahead > 1]
    if not rings:
        return
    ring, count = rings[0].ring, rings[0].count
    assert ring is not None
    for flag in loop.body.flags:
        if flag.slot is None and flag.about is not None and flag.about[0] == count:
            flag.ring, flag.slot, flag.count = ring._replace(ahead=flag.about[1]), ring.counter, count
            flag.chosen = ("ahead", flag.about[1])


def use_single_id(flag: Flag, loop: Loop, reason: str) -> None:
    """Replaces a flag with several ids by a stricter one with a single id."""
    ring = flag.ring
    if flag.slot is not None:
        flag.shared, flag.about_slots = reason, True
    flag.slot, flag.count, flag.ring = None, 1, None
    if ring is not None and flag.carried and flag.after < flag.before:
        # It would be set again before it is waited for; inside of an iteration it orders more.
        flag.carried = False
        loop.carried.remove(flag)

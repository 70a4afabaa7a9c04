"""Alias analysis of two accesses by affine expressions of their addresses.

Source: docs/reference/synchronisation.md, "Dependences".
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from math import inf
from operator import neg, pos

from xdsl.ir import Block, SSAValue

from pto_dialect.analysis.affine import AffineExpr, Term
from pto_dialect.analysis.alias import Alias
from pto_dialect.ir.core.roles import Role, has_role

from .locations import GLOBAL, MemoryLocation
from .rotation import iteration_distance
from .setting import ANY, Range, Setting


def may_overlap(earlier: MemoryLocation, later: MemoryLocation, setting: Setting) -> bool:
    """Returns whether some byte may belong to both."""
    return alias_of(earlier, later, setting).is_possible


def as_one_array(one: MemoryLocation, other: MemoryLocation) -> MemoryLocation | None:
    """Returns ``other`` as if the two different arguments that both are parts of were one array; ``None`` for parts of
    anything else. Arguments count as different memory: what follows from this location depends on that."""
    roots = (one.root, other.root)
    if one.space != GLOBAL or other.space != GLOBAL or roots[0] == roots[1] or not all(map(is_argument, roots)):
        return None
    frame = other.frame
    if isinstance(frame, tuple) and frame[:2] == ("view", other.root):
        frame = ("view", one.root, *frame[2:])
    return other._replace(root=one.root, frame=frame)


def is_argument(root: Hashable) -> bool:
    """Returns whether an object is the memory of an argument of a function."""
    block = root.owner if isinstance(root, SSAValue) else None
    parent = block.parent_op() if isinstance(block, Block) else None
    return parent is not None and has_role(parent, Role.FUNCTION)


def alias_of(earlier: MemoryLocation, later: MemoryLocation, setting: Setting) -> Alias:
    """How two accesses relate: ``MUST`` where they have a byte in common in every run."""
    if earlier.space != later.space:
        return Alias.NO
    if earlier.root is None or later.root is None:
        return Alias.UNKNOWN
    if earlier.root != later.root:
        # Pointers made of numbers may be anywhere in global memory; planned memory and queues keep apart.
        unknown = earlier.space == GLOBAL and "bytes" in (earlier.root, later.root)
        return Alias.UNKNOWN if unknown else Alias.NO
    if _apart(earlier, later):
        return Alias.NO
    if earlier.must() is not None and later.must() is not None:
        return Alias.MUST
    if earlier.frame is None or earlier.frame != later.frame:
        return Alias.MAY
    if iteration_distance(earlier, later, setting) == 0:
        return Alias.NO
    sides = zip(earlier.sides, later.sides, strict=False)
    return Alias.NO if any(_must_follow(one, other, setting) for one, other in sides) else Alias.MAY


def _apart(one: MemoryLocation, other: MemoryLocation) -> bool:
    return (one.stop is not None and one.stop <= other.start) or (other.stop is not None and other.stop <= one.start)


def _must_follow(
    earlier: tuple[AffineExpr, AffineExpr], later: tuple[AffineExpr, AffineExpr], setting: Setting
) -> bool:
    """Returns whether one of two intervals ends before the other begins."""
    (first, first_size), (second, second_size) = earlier, later
    return (
        _least(second, first.plus(first_size), pos, setting) >= 0
        or _least(second.plus(second_size), first, neg, setting) >= 0
    )


def _least(later: AffineExpr, earlier: AffineExpr, sign: Callable[[int], int], setting: Setting) -> float:
    """Returns the least that ``later`` minus ``earlier`` can be, or, with the other ``sign``, ``earlier`` minus
    ``later``."""
    least: float = sign(later.constant - earlier.constant)
    after, before = dict(later.terms), dict(earlier.terms)
    for term in {**after, **before}:
        one, other = sign(after.get(term, 0)), sign(before.get(term, 0))
        least += _term(term, one, other, setting)
        if least == -inf:
            break
    return least


def _term(term: Term, after: int, before: int, setting: Setting) -> float:
    """Returns the least of ``after`` times the term where the later access is, minus ``before`` times the term at the
    other."""
    sources = setting.sums.sources(term)
    if all(setting.fixed(value) for value in sources):
        return _lowest(after - before, _range(term, setting))
    iteration = setting.iteration
    if iteration is not None and term == (iteration.counter,) and after == before:
        return _lowest(after * iteration.step, (1, max(1, iteration.trips - 1)))
    both = _range(term, setting)
    return _lowest(after, both) + _lowest(-before, both)


def _lowest(factor: int, limits: Range) -> float:
    return 0 if factor == 0 else min(factor * limits[0], factor * limits[1])


def _range(term: Term, setting: Setting) -> Range:
    """Returns what a term may be."""
    if len(term) == 1:
        (value,) = term
        return setting.ranges(value) if isinstance(value, SSAValue) else ANY
    return ANY

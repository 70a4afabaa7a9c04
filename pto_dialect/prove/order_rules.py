"""Which accesses of a core need an order, besides being on different pipes.

Source: docs/reference/synchronisation.md, "Dependences", "Order inside one pipe".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from xdsl.ir import Operation

from pto_dialect.analysis.streaming import is_streamed
from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.ir.core.facts.pipe import Pipe
from pto_dialect.ir.core.facts.unit_flags import unit_check

from .model import Access, Statement
from .overlap import Overlap, are_apart, share_object
from .places import GLOBAL

LOCAL_STORES = "ub"
"""The memory to which stores of the scalar unit are asynchronous."""


CUBE = 0
"""The number of the cube core in a block; those of vector cores follow."""


class _Position(NamedTuple):
    op: Operation
    number: int


def kind_of(first: Access, second: Access) -> str | None:
    """Returns ``raw``, ``war`` or ``waw``; ``None`` for two reads."""
    if second.writes:
        return "waw" if first.writes else "war"
    return "raw" if first.writes else None


def needs_order(earlier: Statement, later: Statement, first: Access, second: Access, arch: str) -> bool:
    """Returns whether flags or barriers must order two accesses that touch the same bytes, ``first`` being the earlier
    one in the text. Two iterations of one pipe may differ: see :func:`streams`."""
    kind = kind_of(first, second)
    if kind is None or first.space != second.space:
        return False
    if earlier.core != later.core:
        return _is_shared(first.space, earlier, later) and not _both_add(first, second)
    if earlier.pipe is not later.pipe:
        if earlier.pipe is Pipe.S:
            return earlier.asynchronous and first.writes and first.space == LOCAL_STORES
        return (earlier.handed is None or earlier.handed is not later.handed) and not _both_add(first, second)
    if earlier.pipe is Pipe.V:
        return arch == "a2a3"
    if kind != "waw" or _both_add(first, second):
        return False
    if first.space == GLOBAL:
        return earlier.pipe in (Pipe.MTE3, Pipe.FIX)
    return earlier.pipe is Pipe.MTE2


def competing(earlier: Statement, later: Statement, arch: str) -> Iterator[tuple[Access, Access]]:
    """Yields the accesses of two statements that need an order, if they meet; those that never do are left out."""
    for first in earlier.accesses:
        for second in later.accesses:
            if (
                needs_order(earlier, later, first, second, arch)
                and share_object(first, second) is not Overlap.NEVER
                and not (first.root == second.root is not None and are_apart(first, second))
            ):
                yield first, second


def _is_shared(space: str, one: Statement, other: Statement) -> bool:
    """Returns whether two cores of a block may access the same bytes of a memory: global memory, or that of one of
    them."""
    owners = {CUBE} if space != LOCAL_STORES else {one.core, other.core} - {CUBE}
    return space == GLOBAL or (len(owners) == 1 and {one.core, other.core} != owners)


def may_refute(earlier: Statement, later: Statement, access: Access) -> bool:
    """Returns whether it is certain that two accesses are out of order if nothing orders them.

    Unit flags that do not alternate may order them. Between cores it is certain of transfers of global memory alone:
    how the scalar units and the memories of others take part is widened.
    """
    if unit_check(earlier.op) and unit_check(later.op):
        return False
    return earlier.core == later.core or (access.space == GLOBAL and Pipe.S not in (earlier.pipe, later.pipe))


def streams(earlier: Statement, later: Statement, first: Access, second: Access, arch: str) -> bool:
    """Returns whether the vector unit streams the result of ``earlier`` into ``later`` of the same iteration."""
    if earlier.pipe is not Pipe.V or later.pipe is not Pipe.V or arch != "a2a3" or earlier.loops != later.loops:
        return False
    kind = kind_of(first, second)
    one, other = _Position(earlier.op, earlier.number), _Position(later.op, later.number)
    return kind is not None and is_streamed(one, other, kind)


def _both_add(first: Access, second: Access) -> bool:
    """Returns whether both operations combine atomically with what is there, in the same way."""
    modes = [enumerator(access.op, "atomicType") for access in (first, second)]
    return modes[0] == modes[1] and modes[0] not in ("", "atomic_none")

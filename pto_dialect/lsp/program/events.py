"""Flags: which waits take what which sets give, and which numbers are free."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types
from xdsl.ir import Operation

from pto_dialect.analysis.target import profile_of
from pto_dialect.ir.core.attributes import ENUMS
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.passes.accesses.items import Signal
from pto_dialect.passes.accesses.program import UnsupportedError
from pto_dialect.passes.accesses.signals import signal_of

from .document import Document
from .lookup import location_of, operation_at, operations_at

Key = tuple[bool, int, int, int]
"""Whether it is a lock, the two pipes, the number."""

EVENTS = ENUMS["event"].values
_FLAGS = ("set", "wait")


def signal(op: Operation, arch: str) -> Signal | None:
    """Returns what an operation does with a flag or lock; ``None`` for others, and where only a run knows which one."""
    if not has_role(op, Role.PIPES | Role.LOCK) or has_role(op, Role.BARRIER):
        return None
    try:
        return signal_of(op, (), arch)
    except UnsupportedError:
        return None


def _key(found: Signal) -> Key:
    return found.kind in ("get", "release"), found.source, found.target, found.number


def partners(op: Operation, operations: Iterable[Operation]) -> list[Operation]:
    """Sets for a wait and waits for a set, of the same pipes and number."""
    arch = profile_of(op, None).arch
    own = signal(op, arch)
    if own is None:
        return []
    found = ((other, signal(other, arch)) for other in operations)
    return [other for other, other_signal in found if _is_partner(own, other_signal)]


def _is_partner(own: Signal, other: Signal | None) -> bool:
    return other is not None and other.kind != own.kind and _key(other) == _key(own)


def partner_locations(document: Document, offset: int) -> list[types.Range]:
    """Returns the ranges of the partners of the flag at an offset; empty elsewhere."""
    op = operation_at(document, offset)
    if op is None or not has_role(op, Role.PIPES | Role.LOCK):
        return []
    places = (location_of(document, other) for other in partners(op, operations_at(document, offset)))
    return [document.range(place.start, place.end) for place in places if place is not None]


def describe_partners(document: Document, op: Operation, operations: Iterable[Operation]) -> str:
    """Returns the lines of the partners of a flag, as text; empty for other operations."""
    own = signal(op, profile_of(op, None).arch) if has_role(op, Role.PIPES | Role.LOCK) else None
    if own is None:
        return ""
    places = [location_of(document, other) for other in partners(op, operations)]
    lines = ", ".join(str(document.lines.line_of(place.start) + 1) for place in places if place is not None)
    word = {"set": "waited for", "wait": "set", "get": "released", "release": "taken"}[own.kind]
    return f"{word} in line {lines}" if lines else f"nowhere {word} in this function"


def used_ids(operations: Iterable[Operation], source: int, target: int) -> set[int]:
    """Returns the numbers of flags between two pipes that a function uses."""
    arch = ""
    used: set[int] = set()
    for op in operations:
        if has_role(op, Role.PIPES):
            arch = arch or profile_of(op, None).arch
            found = signal(op, arch)
            if found is not None and found.kind in _FLAGS and (found.source, found.target) == (source, target):
                used.add(found.number)
    return used

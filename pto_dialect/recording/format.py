"""The file format of recordings: names of members and types of columns. Source: docs/reference/recording.md,
"Members"."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

VERSION = 4
"""Grows when a reader of the version before would misread a file."""

LAST_WITH_ACTORS = 3
"""The last version that calls threads actors: ``actors`` in the header and the column ``step.actor``."""

MEMBER_EACH = 1
"""The last version that has a member for each column."""

HEADER = "recording.json"
"""The member with everything that is no column."""

MAGIC = "pto-recording"

KINDS = ("operation", "part", "set", "wait")
"""Kinds of steps; columns hold indices into this list."""

COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "issue.statement": "<i4",
        "issue.order": "<i8",
        "issue.loops": "<i8",
        "issue.integers": "<i8",
        "issue.floats": "<f8",
        "issue.handles": "<i4",
        "step.issue": "<i8",
        "step.thread": "<i4",
        "step.kind": "|u1",
        "step.start": "<f8",
        "step.end": "<f8",
        "access.step": "<i8",
        "access.memory": "<i4",
        "access.writes": "|u1",
        "access.first": "<i8",
        "access.pattern": "<i4",
        "access.size": "<i8",
        "gather.count": "<i8",
        "gather.item": "<i4",
        "gather.starts": "<i8",
        "signal.step": "<i8",
        "signal.waits": "|u1",
        "signal.key": "<i4",
        "signal.peer": "<i8",
        "handle.memory": "<i4",
        "handle.address": "<i8",
        "handle.form": "<i4",
    }
)
"""Columns by name, with the types that readers see."""

GROWING = frozenset(
    (
        "issue.order",
        "issue.loops",
        "issue.integers",
        "step.issue",
        "access.step",
        "access.first",
        "gather.starts",
        "signal.step",
        "handle.address",
    )
)
"""Columns whose numbers are kept as differences to the number before: they grow, mostly in equal steps."""

PACKED = "columns.npy"
"""The member with all columns, and with the bytes of small recordings."""

TOGETHER = 1 << 15
"""Bytes of memories and writes up to which they are stored in the member of the columns: copies between memories then
compress once, within the window of deflate."""

DATA = "data/{}.npy"
"""Members, or parts of the columns' one, with the bytes that accesses have written, in order; each begins where an
access does."""

INITIAL = "initial/{}.npy"
"""The same with the content of memories at the first step, by number."""

NO_PATTERN = -1
"""Pattern of accesses to single elements, which have a row in ``gather``."""

FLOATS = frozenset(("f16", "bf16", "f32", "f64"))
"""Types of numbers that are in ``issue.floats``; the others are in ``issue.integers``, as 64 bits."""

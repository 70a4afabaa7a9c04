"""Writes that may leave elements of a buffer as they were.

A value has nothing in it but what its operation writes, so a buffer that keeps something of an earlier write has no
form with values. Source: docs/reference/language.md, "Level 1 and Level 2".
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, SSAValue

from pto_dialect.ir.core.base import PtoOp, op_spec
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import shape_of
from pto_dialect.ir.core.walk import walk

from .contents import Contents, is_buffer
from .operands import Use, is_tile_operation
from .rebuild import RefusedError, name_of

_LINES = frozenset(("tile_reduce",))
"""Families whose operations write one row or one column."""
_COMMON = frozenset(("tile_partial",))
"""Families whose operations write where one of their sources has elements."""


def refuse_remains(function: Operation, contents: Contents) -> None:
    """Raises :class:`RefusedError` where a buffer that is written by operations of several kinds, or that a caller
    gives, is not written as a whole."""
    kinds: dict[SSAValue, set[str]] = {}
    writes = list(_writes(function, contents))
    for op, use in writes:
        kinds.setdefault(use.value, set()).add(op.name)
    for op, use in writes:
        maker = use.value.owner
        again = not isinstance(maker, Operation) or len(kinds[use.value]) > 1
        if has_role(op, Role.SCATTERS):
            sites = [other for other, write in writes if write.value is use.value]
            again = len(sites) > 1 or op.parent is not maker.parent
        if again and not _fills(op, use, contents):
            raise RefusedError(
                op, f"it may leave elements of {name_of(use.value)} as they were, and a value has no earlier content"
            )


def _writes(function: Operation, contents: Contents) -> Iterator[tuple[PtoOp, Use]]:
    for op in walk(function):
        if is_tile_operation(op):
            for use in contents.accesses(op).writes:
                if use.name not in op_spec(type(op)).in_place:
                    yield op, use


def _fills(op: PtoOp, use: Use, contents: Contents) -> bool:
    """Whether ``op`` writes all elements of a destination."""
    family = OPS[op.name][0]
    shape = shape_of(use.value.type)
    if family in _LINES:
        return 1 in shape
    if family in _COMMON:
        sources = contents.accesses(op).reads
        return all(shape_of(source.value.type) == shape for source in sources if is_buffer(source.value))
    line = shape[0] == 1 and not op_spec(type(op)).reads
    return line or not has_role(op, Role.PARTIAL)

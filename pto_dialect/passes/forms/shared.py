"""Buffers with addresses that share bytes.

Values share none, so a program becomes one of values only where nothing is read that was written through another
buffer. Source: docs/reference/language.md, "Level 1 and Level 2".
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation, SSAValue

from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.extents import tile_extent
from pto_dialect.ir.core.roles import RUNS, Role, has_role
from pto_dialect.ir.core.types import PtrType, TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.targets.profile import Profile
from pto_dialect.verify.buffers.alloc import space_of

from .contents import Contents
from .operands import accumulator, is_tile_operation
from .rebuild import RefusedError, name_of


def share(one: TileBufType, at: int, other: TileBufType, slot: int, profile: Profile) -> bool:
    """Returns whether a buffer at ``at`` and another one at ``slot`` have common bytes."""
    if space_of(one, profile) != space_of(other, profile):
        return False
    return at < slot + tile_extent(other, profile.arch) and slot < at + tile_extent(one, profile.arch)


def refuse_shared(function: Operation, contents: Contents, addresses: Mapping[SSAValue, int], profile: Profile) -> None:
    """Raises :class:`RefusedError` where what a buffer holds depends on a write to another one."""
    sharing = _sharing(contents, addresses, profile)
    if not addresses:
        return
    for op in walk(function):
        if has_role(op, RUNS) or any(isinstance(v.type, PtrType) and v.type.space != "gm" for v in op.results):
            raise RefusedError(op, "it may reach the bytes of tiles with addresses, and values have none")
        if has_role(op, Role.TILE_ALLOCATION):
            buffer = op.results[0]
            if sharing.get(buffer) and contents.after[op] & contents.bits([buffer]):
                raise RefusedError(
                    op, f"{name_of(buffer)} may be read before it is written, and shares its bytes", buffer
                )
        elif sharing and is_tile_operation(op):
            _refuse_write(op, contents, sharing)


def _sharing(contents: Contents, addresses: Mapping[SSAValue, int], profile: Profile) -> dict[SSAValue, int]:
    """For each buffer those that have common bytes with it."""
    slots: dict[SSAValue, int] = {}
    types = {buffer: buffer.type for buffer in addresses if isinstance(buffer.type, TileBufType)}
    for one, type_ in types.items():
        others = [
            other
            for other, other_type in types.items()
            if other is not one and share(type_, addresses[one], other_type, addresses[other], profile)
        ]
        if others:
            slots[one] = contents.bits(others)
    return slots


def _refuse_write(op: PtoOp, contents: Contents, sharing: Mapping[SSAValue, int]) -> None:
    accesses = contents.accesses(op)
    over = accumulator(op, accesses)
    free = has_role(op, Role.LANEWISE)
    read = contents.bits(use.value for use in accesses.reads if not free and use != over)
    for use in (*accesses.writes, *accesses.scratch):
        lost = sharing.get(use.value, 0) & (contents.after[op] | read)
        for other in contents.of(lost):
            raise RefusedError(
                op, f"it writes bytes that {name_of(use.value)} shares with {name_of(other)}, which is needed", other
            )

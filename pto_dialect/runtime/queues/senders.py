"""Senders of signals between cores. Source: docs/reference/execution.md, "Synchronisation"."""

from __future__ import annotations

from typing import Any

from xdsl.ir import Operation

from pto_dialect.analysis.queues import action_of
from pto_dialect.analysis.type_facts import integer_attribute
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.targets.sync_resources import A5_SYNC

from ..compile.program import enclosing_kind
from ..run.machine import Core, block_cores

Key = tuple[Any, ...]
_IDS = A5_SYNC.aiv1_offset or 1
"""Ids of one vector core; those of the cube core continue with the ids of the second one."""


def sender_of(core: Core, key: Key) -> Core | None:
    """Returns the core that sends the signal ``key`` to ``core``; ``None`` for its own flags, and where one core runs
    the whole program."""
    kind = key[0]
    cube, vector = block_cores(core)
    if core.kind == "all":
        return None
    if kind == "p2p":
        return _numbered(vector, key[1] // _IDS) if core.kind == "aic" else cube
    if kind == "block":
        return _numbered(vector, key[2]) if core.kind == "aic" else cube
    if kind == "vectors":
        return _numbered(vector, key[2])
    if kind in ("slot", "entry"):
        return _numbered(vector, key[3]) if core.kind == "aic" else cube
    if key[0] != "blocks":
        return None
    same = (one for block in core.block.device for one in block.cores if one.kind == core.kind)
    return next((one for one in same if (one.block.index, one.index) == key[2:]), None)


def sends(op: Operation, key: Key, sender: Core) -> bool:
    """Returns whether ``sender`` may send the signal ``key`` by the operation ``op``."""
    kind = enclosing_kind(op)
    if sender.kind != "all" and kind is not None and kind != ("cube" if sender.cube else "vector"):
        return False
    action = action_of(op)
    if action is not None:
        return action.role in ({"entry": ("push",), "slot": ("free",)}.get(str(key[0]), ()))
    if not has_role(op, Role.SETS) or not has_role(op, Role.CORES | Role.BLOCKS):
        return False
    number = integer_attribute(op, "event_id")
    return number is None or number % _IDS == key[1] % _IDS


def _numbered(cores: list[Core], number: int) -> Core | None:
    return next((core for core in cores if core.index == number), None)


def awaited(core: Core, key: Key) -> str:
    """Returns what ``core`` waits for, as text."""
    if isinstance(key[0], str) and key[0].startswith("PIPE_"):
        return f"a flag from {key[0]}, EVENT_ID{key[2]}"
    text = getattr(key, "text", None)
    if isinstance(text, str):
        return text
    sender = sender_of(core, key)
    return f"signal {key[1]} of {'another core' if sender is None else name_of(sender, core)}"


def name_of(sender: Core, core: Core) -> str:
    """Returns the name of ``sender`` from the view of ``core``."""
    return sender.name if sender.block is core.block else f"{sender.name} of block {sender.block.index}"

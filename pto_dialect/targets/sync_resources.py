"""Flags, buffers and semaphores of a core.  Source: docs/reference/targets.md, "Synchronisation resources"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_SIGNAL_PIPES = frozenset({"PIPE_FIX", "PIPE_MTE1", "PIPE_MTE2", "PIPE_MTE3", "PIPE_V"})


@dataclass(frozen=True, slots=True)
class SyncResources:
    """Synchronisation resources of a profile; id fields are inclusive ranges.

    ``None`` for an id range means that the profile has no such resource, ``None`` for a set of pipes that
    every pipe is allowed.
    """

    flag_ids: tuple[int, int]
    """Ids of set_flag and wait_flag, per ordered pair of pipes."""
    buf_ids: tuple[int, int] | None
    """Ids of get_buf and rls_buf."""
    aic_ids: tuple[int, int]
    """Cross-core ids on the cube side."""
    aiv_ids: tuple[int, int]
    """Cross-core ids on the vector side."""
    aiv1_offset: int | None
    """Cube-side id of the second vector core = its own id + this; ``None`` where ids do not name a core."""
    ffts_ids: tuple[int, int]
    ffts_modes: tuple[int, int]
    counter_bits: int
    """Width of a cross-core counter."""
    set_pipes: frozenset[str] | None
    """Pipes of sync.set."""
    wait_pipes: frozenset[str] | None
    """Pipes of sync.wait."""
    block_pipes: frozenset[str] | None
    """Pipes of the set_* and wait_* operations between blocks."""
    barrier_v_orders: bool
    """Whether a barrier on PIPE_V alone has an effect."""
    wait_stalls_core: bool
    """Whether a cross-core wait stalls the whole core instead of the named pipe."""
    pipe_flag_budget: int = 16
    """Hardware ids that the pipes of one function share."""
    flags_one_way: int = 2
    flags_two_way: int = 4


A2A3_SYNC: Final = SyncResources(
    flag_ids=(0, 7),
    buf_ids=None,
    aic_ids=(0, 15),
    aiv_ids=(0, 15),
    aiv1_offset=None,
    ffts_ids=(0, 15),
    ffts_modes=(0, 2),
    counter_bits=4,
    set_pipes=None,
    wait_pipes=None,
    block_pipes=_SIGNAL_PIPES,
    barrier_v_orders=True,
    wait_stalls_core=True,
)
A5_SYNC: Final = SyncResources(
    flag_ids=(0, 7),
    buf_ids=(0, 31),
    aic_ids=(0, 31),
    aiv_ids=(0, 15),
    aiv1_offset=16,
    ffts_ids=(0, 15),
    ffts_modes=(0, 2),
    counter_bits=4,
    set_pipes=_SIGNAL_PIPES,
    wait_pipes=_SIGNAL_PIPES,
    block_pipes=_SIGNAL_PIPES,
    barrier_v_orders=False,
    wait_stalls_core=False,
)

"""Names of the operations that order the pipes of a core, by which a function scan finds them."""

from __future__ import annotations

from typing import Final

SETS: Final = ("pto.set_flag", "pto.set_flag_dyn")
WAITS: Final = ("pto.wait_flag", "pto.wait_flag_dyn")
LOCKS: Final = ("pto.get_buf", "pto.rls_buf", "pto.get_buf_dyn", "pto.rls_buf_dyn")
"""Operations on buffer ids."""

PIPE_ORDER: Final = (*SETS, *WAITS, *LOCKS, "pto.barrier", "pto.barrier_sync")
"""All operations that name pipes themselves."""

EVENTS: Final = ("pto.record_event", "pto.wait_event")
"""The first and the second of a pair that names operations instead of pipes."""

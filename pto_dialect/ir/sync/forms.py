"""Base classes that operations of synchronization share."""

from __future__ import annotations

from ..core.base import Effect, PtoOp


class NamedPipeOp(PtoOp, effect=Effect.SYNC):
    """Runs on the pipe that one of its attributes names, ``pipe_from`` of its declaration."""

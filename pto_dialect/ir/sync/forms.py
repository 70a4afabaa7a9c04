"""Forms that operations of synchronisation share."""

from __future__ import annotations

from ..core.base import Effect, Pipe, PtoOp, op_spec
from ..core.placement import named_pipe


class NamedPipeOp(PtoOp, effect=Effect.SYNC):
    """Runs on the pipe that one of its attributes names, ``pipe_from`` of its declaration."""

    def active_pipe(self, target: str = "a5") -> Pipe | None:
        """The pipe on ``target``, which the operation names."""
        return named_pipe(self.seen_attributes().get(op_spec(type(self)).pipe_from))

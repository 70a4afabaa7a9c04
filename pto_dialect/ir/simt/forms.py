"""Base classes that operations of work-items share."""

from __future__ import annotations

from ..core.base import Effect, Pipe, PtoOp, Shape
from ..core.roles import Role


class WorkItemValueOp(PtoOp, shape=Shape.FLAT_VALUE, pipe=Pipe.V, effect=Effect.PURE):
    """Computes a value of one work-item."""


class GroupValueOp(WorkItemValueOp, roles=Role.LANE | Role.VARIES):
    """Computes a value of one work-item from those of its group."""

"""The facts that the functions of one compiled program share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from xdsl.ir import Operation, SSAValue

from pto_dialect.targets.profile import Profile

from ..queues.plan import FifoPlan
from ..simt.code import SimtCode
from .held import held_tiles
from .placement import place_program
from .program import Program, writes_control


@dataclass
class Unit:
    """One program while it is compiled: names of its functions in Python, addresses of its buffers, its queues.

    ``inner_names`` are the names of functions that vector scopes call, where a scope is one instruction among others,
    ``body_names`` those of functions that work-items run.
    """

    program: Program
    profile: Profile
    names: dict[Operation, str]
    inner_names: dict[Operation, str]
    code: SimtCode
    body_names: dict[Operation, str]
    holds: bool = False
    """Whether the code holds tiles as arrays."""

    @cached_property
    def placement(self) -> dict[Operation, int]:
        """Returns the byte address of every allocation without one."""
        return place_program(self.program, self.profile)

    @cached_property
    def held(self) -> frozenset[SSAValue]:
        """Returns the tiles that code may hold as arrays."""
        return held_tiles(self.program, self.profile, self.placement)

    @cached_property
    def fifos(self) -> FifoPlan:
        """Returns the queues between cores."""
        return FifoPlan(self.program.functions, self.profile.arch)

    @cached_property
    def sets_control(self) -> bool:
        """Returns whether an operation writes the control register."""
        return any(writes_control(op) for op in self.program.operations)

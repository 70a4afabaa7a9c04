"""The code of a program that work-items run. Source: docs/reference/work-items.md, "Operations";
docs/reference/execution.md, "Which core runs what"."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from xdsl.ir import Operation

from pto_dialect.analysis.type_facts import is_simt_entry
from pto_dialect.ir.core.base import section_of, symbol_of
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.roles import RUNS, Role, has_role
from pto_dialect.ir.core.walk import walk

from ..compile.program import Program
from ..errors import ProgramError
from .variance import Variance

SIMT = "simt"
"""Kind of the sections that work-items run."""


def is_body(function: Operation) -> bool:
    """Returns whether a function is written for work-items."""
    return is_simt_entry(function)


@dataclass(frozen=True)
class SimtCode:
    """``scalar``: the functions that cores run; ``bodies``: those that work-items run; a helper may be both.
    ``sections``: the regions that work-items run; ``each_access`` states that every work-item makes its own accesses,
    also where all of them make the same."""

    program: Program
    scalar: tuple[Operation, ...]
    bodies: tuple[Operation, ...]
    sections: tuple[Operation, ...]
    each_access: bool = False

    @cached_property
    def variance(self) -> Variance:
        """Returns which values differ between work-items."""
        return Variance(self.program.symbols, self.bodies, self.sections, self.each_access)


def find_code(program: Program, each_access: bool = False) -> SimtCode:
    """Returns the code of a program by who runs it.

    Raises ``ProgramError`` (``unmodelled``) when the program starts with a body.
    """
    scalar: dict[Operation, None] = {}
    bodies: dict[Operation, None] = {}
    sections: dict[Operation, None] = {}
    pending = [(root.function, False) for root in program.roots.values()]
    for function, _ in pending:
        if is_body(function):
            message = f"@{symbol_of(function)} is a SIMT body; run a kernel that launches it"
            raise ProgramError("unmodelled", message, span_of(function))
    while pending:
        function, by_items = pending.pop(0)
        known = bodies if by_items else scalar
        if function in known:
            continue
        known[function] = None
        for op in walk(function):
            if section_of(op) == SIMT:
                sections[op] = None
            elif has_role(op, RUNS):
                callee = program.symbols.callee(op)
                if callee is not None:
                    items = by_items or _section(op, function) or has_role(op, Role.LAUNCH) or is_body(callee)
                    pending.append((callee, items))
    return SimtCode(program, tuple(scalar), tuple(bodies), tuple(sections), each_access)


def _section(op: Operation, function: Operation) -> bool:
    ancestor = op.parent_op()
    while ancestor is not None and ancestor is not function:
        if section_of(ancestor) == SIMT:
            return True
        ancestor = ancestor.parent_op()
    return False

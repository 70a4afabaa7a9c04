"""Limit on the nesting of regions in a function that is executed.

CPython compiles at most 20 nested loops and 100 levels of indentation in one function.
"""

from __future__ import annotations

from xdsl.ir import Operation

from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.nesting import EXECUTED, LOOPS, RULE

from ..errors import ProgramError


def refuse_deep(function: Operation) -> None:
    """Raises ``ProgramError`` for the first operation of ``function`` that is nested too deep to be executed."""
    stack: list[tuple[Operation | None, int, int]] = [
        (block.first_op, 0, 0) for region in function.regions for block in region.blocks
    ]
    while stack:
        op, loops, regions = stack.pop()
        while op is not None:
            if op.regions:
                inner = loops + (has_role(op, Role.LOOP))
                if inner > LOOPS or regions + 1 > EXECUTED:
                    what, limit = ("loops", LOOPS) if inner > LOOPS else ("regions", EXECUTED)
                    message = f"{what} that are executed nest at most {limit} deep; call a function for the inner ones"
                    raise ProgramError(RULE, message, span_of(op))
                stack += [(block.first_op, inner, regions + 1) for region in op.regions for block in region.blocks]
            op = op.next_op

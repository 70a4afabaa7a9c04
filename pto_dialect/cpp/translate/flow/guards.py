"""Counted loops without the condition around them, where this only states that the loop makes an iteration."""

from __future__ import annotations

from ...llvm.model import Operand, Value
from .tree import Bind, Do, For, If, Loop, Set, Statement, Variable

_PURE = frozenset(
    (
        *("add", "sub", "mul", "shl", "lshr", "ashr", "and", "or", "xor", "icmp", "select"),
        *("sext", "zext", "trunc", "getelementptr", "freeze"),
    )
)


def merge_guards(statements: list[Statement]) -> None:
    """Replaces branches around counted loops by the loops, everywhere in a tree."""
    found: list[Statement] = []
    for statement in statements:
        if isinstance(statement, If):
            merge_guards(statement.then)
            merge_guards(statement.otherwise)
            merged = _merge(statement, statement.then, statement.otherwise)
            merged = merged or _merge(statement, statement.otherwise, statement.then)
            found.extend(merged or [statement])
            continue
        if isinstance(statement, Loop | For):
            merge_guards(statement.body)
        found.append(statement)
    statements[:] = found


def _merge(guard: If, inside: list[Statement], outside: list[Statement]) -> list[Statement] | None:
    """Returns the loop ``inside`` with what surrounds it, as it is without the condition."""
    position = next((n for n, s in enumerate(inside) if isinstance(s, For)), None)
    if position is None or not all(isinstance(s, Set) for s in outside):
        return None
    loop = inside[position]
    before, after = inside[:position], inside[position + 1 :]
    if not isinstance(loop, For) or loop.counted.guard is None or loop.counted.guard is not guard.condition:
        return None
    if not all(isinstance(s, Set | Bind) or (isinstance(s, Do) and s.instruction.opcode in _PURE) for s in before):
        return None
    if not all(isinstance(s, Set | Bind) for s in after):
        return None
    else_values = {variable: operand for s in outside if isinstance(s, Set) for variable, operand in s.pairs}
    initial = _initial_values(after, else_values)
    if initial is None:
        return None
    loop.may_be_empty = True
    return [*before, Set(initial), loop, *after]


def _initial_values(
    after: list[Statement], else_values: dict[Variable, Operand]
) -> list[tuple[Variable, Operand]] | None:
    """Returns what variables contain before the loop, so that without an iteration they give ``else_values``."""
    carriers: dict[Value, Variable] = {}
    initial: dict[Variable, Operand] = {}
    given: set[Variable] = set()
    for statement in after:
        if isinstance(statement, Bind):
            carriers[statement.value] = statement.variable
        elif isinstance(statement, Set):
            for variable, operand in statement.pairs:
                wanted = else_values.get(variable)
                given.add(variable)
                if isinstance(operand, Value) and operand in carriers:
                    carrier = carriers[operand]
                    if wanted is None or initial.setdefault(carrier, wanted) != wanted:
                        return None
                elif wanted != operand and wanted is not None:
                    return None
    return list(initial.items()) if given.issuperset(else_values) else None

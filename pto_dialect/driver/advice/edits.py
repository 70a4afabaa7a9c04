"""Changes of a module that advice consists of: removing synchronization and addresses, moving signals.

None of them checks whether the meaning of the program is preserved; ``trial.py`` does. Source: docs/cycles.md, "Waits
and advice".
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from pto_dialect.diagnostics.origins import shown_line
from pto_dialect.ir.core.base import PtoOp, operand_groups, segment_sizes
from pto_dialect.ir.core.facts.operation_form import form_of
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.roles import Role, has_role, roles_of
from pto_dialect.ir.core.walk import walk
from pto_dialect.verify.buffers.alloc import address_operand, is_view


def orders(op: Operation) -> bool:
    """Returns whether ``op`` orders the pipes of its core and does nothing else."""
    roles = roles_of(op)
    if roles & (Role.CORES | Role.BLOCKS | Role.PEERS | Role.SIGNAL):
        return False
    return bool(roles & (Role.PIPES | Role.LOCK))


def without_order(module: ModuleOp) -> bool:
    """Takes out all flags, locks and barriers of pipes; whether there were some."""
    found = [op for op in walk(module) if orders(op) and not op.results]
    for op in found:
        op.detach()
        op.erase()
    return bool(found)


def without_addresses(module: ModuleOp) -> bool:
    """Takes out the addresses of all tiles that own their bytes; whether there were some."""
    found = [
        op
        for op in walk(module)
        if isinstance(op, PtoOp) and has_role(op, Role.TILE_ALLOCATION) and address_operand(op) and not is_view(op)
    ]
    for op in found:
        groups = {**operand_groups(op), "addr": ()}
        operands: list[SSAValue] = [value for values in groups.values() for value in values]
        properties = {name: value for name, value in op.properties.items() if name != "operandSegmentSizes"}
        attributes = {name: value for name, value in op.attributes.items() if name != "operandSegmentSizes"}
        holder = properties if "operandSegmentSizes" in op.properties else attributes
        holder["operandSegmentSizes"] = segment_sizes(tuple(len(values) for values in groups.values()))
        types, hint = [op.results[0].type], op.results[0].name_hint
        new = type(op).create(operands=operands, result_types=types, attributes=attributes, properties=properties)
        Rewriter.replace_op(op, new)
        new.results[0].name_hint = hint
        new.location = op.location
    return bool(found)


def at_line(module: ModuleOp, line: int | None, name: str | None, role: Role) -> list[Operation]:
    """Returns the operations with ``role`` in a line of the text, those called ``name`` if it is stated."""
    return [
        op
        for op in walk(module)
        if has_role(op, role)
        and name in (None, op.name)
        and (span := span_of(op)) is not None
        and shown_line(span) == line
    ]  # fmt: skip


def moved_down(op: Operation, pipe: str, arch: str, over: int) -> bool:
    """Moves ``op``, a wait of ``pipe``, after ``over`` further operations of that pipe in its block; returns whether
    there are so many."""
    return _moved(op, pipe, arch, over, forward=True)


def moved_up(op: Operation, pipe: str, arch: str, over: int) -> bool:
    """Moves ``op``, a signal of ``pipe``, before ``over`` earlier operations of that pipe in its block."""
    return _moved(op, pipe, arch, over, forward=False)


def _moved(op: Operation, pipe: str, arch: str, over: int, forward: bool) -> bool:
    block = op.parent
    assert block is not None
    place = op.next_op if forward else op.prev_op
    while place is not None and over:
        if has_role(place, Role.YIELD) or has_role(place, Role.RETURN) or place.regions or place in _owners(op):
            return False
        if not orders(place) and isinstance(place, PtoOp) and _pipe(place, arch) == pipe:
            over -= 1
            if not over:
                op.detach()
                if forward:
                    block.insert_ops_after([op], place)
                else:
                    block.insert_ops_before([op], place)
                return True
        place = place.next_op if forward else place.prev_op
    return False


def _owners(op: Operation) -> set[Operation]:
    return {value.owner for value in op.operands if isinstance(value.owner, Operation)}


def _pipe(op: PtoOp, arch: str) -> str | None:
    pipe = form_of(op, arch).pipe
    return None if pipe is None else pipe.value

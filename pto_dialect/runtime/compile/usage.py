"""Possible accesses of a program to the buffers of its arguments, determined from its text.

A launch copies only buffers that may be written; blocks that combine values in one location, or report in order, do not
run in parallel.  Source: docs/reference/execution.md, "Launches"; docs/reference/instrumentation.md, "Order of events".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.type_facts import space_of
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.attributes import EnumAttr
from pto_dialect.ir.core.base import Effect, PtoOp, op_spec, operand_name
from pto_dialect.ir.core.roles import RUNS, Role, has_role
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.scalar.config import AtomicModeOp, GetCtrlOp, Sbitset0Op, Sbitset1Op, SetAtomicNoneOp, SetCtrlOp

from .program import Program, Symbols, call_arguments, writes_control

QUEUE_MEMORY = ("gm_slot_tensor", "gm_slot_buffer", "gm_addr")
"""Operands of a queue that may be the global memory of its entries."""

_PLAIN = frozenset(("atomic_none", "none"))

_MODE_BITS = range(6, 9)
"""Bits of the control register with the element type of atomic stores; 0 for none."""


@dataclass(frozen=True)
class Usage:
    """``written``: positions of arguments whose buffers may be written. ``combines``: several blocks may change one
    location, or the order of blocks is observable."""

    written: frozenset[int]
    combines: bool


def buffer_usage(program: Program) -> Usage:
    """Returns the accesses of ``program`` to its arguments; in doubt an argument is written."""
    written: set[int] = set()
    for root in program.roots.values():
        arguments = root.function.regions[0].blocks[0].args
        for position, argument in zip(root.positions, arguments, strict=True):
            tile = isinstance(argument.type, (t.TileType, t.TileBufType))
            if isinstance(argument.type, (t.VRegType, t.VmiVRegType, t.VmiMaskType)):
                continue
            if position not in written and (tile or _written(argument, program)):
                written.add(position)
    return Usage(frozenset(written), any(_combines(op) for op in program.operations))


@dataclass(frozen=True)
class Access:
    """The possible accesses of a function to the memory of an argument."""

    reads: bool
    writes: bool

    @property
    def direction(self) -> str:
        """``in``, ``out``, ``inout``, or ``unused``."""
        if self.reads and self.writes:
            return "inout"
        return "in" if self.reads else "out" if self.writes else "unused"


def access_of(value: SSAValue, symbols: Symbols, program: Iterable[Operation] | None = None) -> Access:
    """Returns the possible accesses through a pointer, view or tile, and through all values made from it; both in
    doubt.

    ``program`` are the operations that run, by default those of all functions.
    """
    reads = writes = transfers = False
    pending, seen = [value], {value}
    while pending:
        for use in pending.pop().uses:
            aliases, one = _use(use.operation, use.index, symbols)
            reads, writes = reads or one.reads, writes or one.writes
            transfers = transfers or (one.writes and obeys_mode(use.operation, use.index))
            pending += [other for other in aliases if other not in seen]
            seen.update(aliases)
    if transfers and not reads:
        if program is None:
            program = (op for function in symbols.first.values() for op in walk(function))
        reads = any(sets_mode(op) for op in program)
    return Access(reads, writes)


def obeys_mode(op: Operation, index: int) -> bool:
    """Returns whether an operation stores to global memory, at operand ``index``, under the atomic mode."""
    scalar = has_role(op, Role.ELEMENT_STORE | Role.ATOMIC | Role.LANE)
    return isinstance(op, PtoOp) and not scalar and (space_of(op.operands[index].type) or "gm") == "gm"


def sets_mode(op: Operation) -> bool:
    """Returns whether later stores may combine with the content of memory after an operation."""
    if isinstance(op, SetCtrlOp):
        return not _keeps_mode(op.value)
    return isinstance(op, AtomicModeOp) and not isinstance(op, SetAtomicNoneOp)


def _keeps_mode(value: SSAValue) -> bool:
    """Returns whether a control word sets no type of atomic stores."""
    while isinstance(value.owner, Sbitset0Op | Sbitset1Op):
        bit = constant_of(value.owner.second)
        if isinstance(value.owner, Sbitset1Op) and (not isinstance(bit, int) or bit in _MODE_BITS):
            return False
        value = value.owner.first
    if isinstance(value.owner, GetCtrlOp):
        return True
    known = constant_of(value)
    return isinstance(known, int) and not any(known >> bit & 1 for bit in _MODE_BITS)


def directions_of(program: Program) -> list[str]:
    """Returns the accesses of all functions that a launch starts to each of its arguments: a direction, or
    ``unused``."""
    accesses = [Access(False, False)] * len(program.arguments)
    for root in program.roots.values():
        arguments = root.function.regions[0].blocks[0].args
        for position, argument in zip(root.positions, arguments, strict=True):
            one, other = accesses[position], access_of(argument, program.symbols, program.operations)
            accesses[position] = Access(one.reads or other.reads, one.writes or other.writes)
    return [access.direction for access in accesses]


def slot_arguments(program: Program) -> frozenset[int]:
    """Returns the positions of the arguments that are nothing but memory for the entries of queues."""
    found: dict[int, bool] = {}
    for root in program.roots.values():
        arguments = root.function.regions[0].blocks[0].args
        for position, argument in zip(root.positions, arguments, strict=True):
            found[position] = found.get(position, True) and _holds_slots(argument, program.symbols)
    return frozenset(position for position, alone in found.items() if alone)


def _holds_slots(value: SSAValue, symbols: Symbols) -> bool:
    """Returns whether all that uses a pointer, or one made from it, are queues that keep their entries there."""
    pending, seen = [value], {value}
    queues = False
    while pending:
        for use in pending.pop().uses:
            aliases, access = _use(use.operation, use.index, symbols)
            queue = _is_slot_memory(use.operation, use.index)
            if access != _NOTHING and not queue:
                return False
            queues = queues or queue
            pending += [other for other in aliases if other not in seen]
            seen.update(aliases)
    return queues


_NOTHING, _READ, _WRITTEN, _BOTH = Access(False, False), Access(True, False), Access(False, True), Access(True, True)


def _use(op: Operation, index: int, symbols: Symbols) -> tuple[list[SSAValue], Access]:
    """Returns the values that alias operand ``index`` of ``op`` after it, and the access of ``op`` itself
    through it."""
    if has_role(op, RUNS):
        first = len(op.operands) - len(call_arguments(op))
        callee = symbols.callee(op)
        if index < first:
            return [], _NOTHING
        return ([], _BOTH) if callee is None else ([callee.regions[0].blocks[0].args[index - first]], _NOTHING)
    if not isinstance(op, PtoOp):
        if has_role(op, Role.VIEW | Role.SELECT):
            return list(op.results), _NOTHING
        if has_role(op, Role.ELEMENT_LOAD):
            return [], _READ
        if has_role(op, Role.ELEMENT_STORE):
            return [], _WRITTEN
        return [], _NOTHING if has_role(op, Role.EXTENT | Role.RETURN) else _BOTH
    spec = op_spec(type(op))
    name = operand_name(op, index)
    if _is_slot_memory(op, index):
        # Entries are written and read by the operations on the queue, on both ends.
        return [], _BOTH
    if spec.effect in (Effect.HANDLE, Effect.PURE):
        return list(op.results), _NOTHING
    reads, writes = name in spec.reads, name in spec.writes
    if writes and has_role(op, Role.TILE_STORE):
        # Stores read the values that they combine with.
        reads = _combines(op)
    return _moved_on(op, op.operands[index]), Access(reads, writes) if reads or writes else _NOTHING


def _is_slot_memory(op: Operation, index: int) -> bool:
    """Returns whether operand ``index`` of ``op`` is the memory of the entries of a queue."""
    if not isinstance(op, PtoOp):
        return False
    queue = op_spec(type(op)).queue
    return queue is not None and queue.role == "init" and operand_name(op, index) in QUEUE_MEMORY


def _moved_on(op: Operation, value: SSAValue) -> list[SSAValue]:
    """Returns the pointers that an access yields after what it has read or written."""
    pointer = isinstance(value.type, t.PtrType)
    return [result for result in op.results if result.type == value.type] if pointer else []


def _combines(op: Operation) -> bool:
    return has_role(op, Role.REPORT | Role.PEERS) or updates(op)


def updates(op: Operation) -> bool:
    """Returns whether an operation may combine a value with the content of memory, or make stores do so."""
    if writes_control(op):
        return sets_mode(op)
    if has_role(op, Role.ATOMIC):
        return True
    return any("atomic" in name and _active(attr) for name, attr in op.attributes.items())


def _active(attr: object) -> bool:
    return not isinstance(attr, EnumAttr) or attr.value not in _PLAIN


def _written(value: SSAValue, program: Program) -> bool:
    """Returns whether something may be stored through ``value`` or a pointer made from it."""
    return unwritten_aliases(value, program) is None


def unwritten_aliases(value: SSAValue, program: Program) -> set[SSAValue] | None:
    """Returns ``value`` and the pointers and views made from it, ``None`` if something may be stored through one."""
    pending, seen = [value], {value}
    while pending:
        for use in pending.pop().uses:
            followed = _followed(use.operation, use.index, program)
            if followed is None:
                return None
            pending += [other for other in followed if other not in seen]
            seen.update(followed)
    return seen


def _followed(op: Operation, index: int, program: Program) -> list[SSAValue] | None:
    """Returns the values that alias operand ``index`` after ``op``; ``None`` when ``op`` may write through it."""
    if has_role(op, RUNS):
        first = len(op.operands) - len(call_arguments(op))
        if index < first:
            return []
        callee = program.symbols.callee(op)
        return None if callee is None else [callee.regions[0].blocks[0].args[index - first]]
    if not isinstance(op, PtoOp):
        if has_role(op, Role.VIEW | Role.SELECT):
            return list(op.results)
        return [] if has_role(op, Role.ELEMENT_LOAD | Role.EXTENT) else None
    spec = op_spec(type(op))
    name = operand_name(op, index)
    if spec.effect in (Effect.HANDLE, Effect.PURE):
        return list(op.results)
    return _moved_on(op, op.operands[index]) if name in spec.reads and name not in spec.writes else None

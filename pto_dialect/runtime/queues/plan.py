"""Static facts about the queues between the cores of a program: identity, sizes, and popped types.

Source: docs/reference/execution.md, "Queues between cores".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from xdsl.ir import Operation, SSAValue

from pto_dialect.analysis import queues as facts
from pto_dialect.analysis.queues import C2V, V2C
from pto_dialect.analysis.type_facts import integer_attribute
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.attributes import OpaqueAttr
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.operands import find
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import ancestors, walk

from ..compile.program import enclosing_kind
from ..errors import ProgramError
from .identity import identity, reservation

DIRECTIONS = (C2V, V2C)
_PRODUCES = frozenset(("push", "alloc"))
_FIELD = re.compile(r"(\w+)\s*=\s*(\w+)")


class Epilogue(NamedTuple):
    """Conversion of pushed accumulators: quantization mode and relu, by name."""

    quant: str
    relu: str


@dataclass(frozen=True)
class FifoFacts:
    """One end of a queue as its initialization states it.

    Both ends have the same ``key``. ``slot_size`` is in bytes; ``steps`` maps a direction to the bytes between the
    local slots of its consumer. ``through_gm`` states that entries are in global memory, ``pop_frees`` that popping a
    tile returns its slot there; ``number`` is the id that quantization setters name.
    """

    key: tuple[Any, ...]
    label: str
    mask: int
    slot_size: int
    slots: int
    local_slots: int
    through_gm: bool
    pop_frees: bool
    steps: dict[int, int]
    epilogue: Epilogue | None


@dataclass(frozen=True)
class Transfer:
    """The operation on a queue: push, alloc, pop or free, and the direction of the entry."""

    init: Operation
    facts: FifoFacts
    role: str
    direction: int
    split: int

    @property
    def on_cube(self) -> bool:
        """Returns whether the operation is at the cube core's end."""
        return (self.direction == C2V) == (self.role in _PRODUCES)


class FifoPlan:
    """The queues of the functions of one program."""

    def __init__(self, functions: Iterable[Operation], arch: str) -> None:
        self.arch = arch
        self.ends: dict[Operation, FifoFacts] = {}
        self._numbered: dict[tuple[Operation, str, int], Operation] = {}
        self._popped: dict[tuple[tuple[Any, ...], int], dict[t.TileBufType, None]] = {}
        transfers: list[Operation] = []
        for function in functions:
            handles = 0
            for op in walk(function):
                action = facts.action_of(op)
                if action is None:
                    continue
                if action.transfers:
                    transfers.append(op)
                elif action.role == "init" and action.core is not None:
                    self._numbered[function, action.core, facts.queue_id(op)] = op
                    self.ends[op] = self._facts(op, 0)
                elif action.role == "init":
                    self.ends[op] = self._facts(op, handles)
                    handles += 1
        ends: dict[tuple[tuple[Any, ...], int], tuple[bool, bool]] = {}
        for op in transfers:
            transfer = self.transfer(op)
            way = (transfer.on_cube, transfer.split == 0)
            on_cube, entire = ends.setdefault((transfer.facts.key, transfer.direction), way)
            if transfer.on_cube != on_cube and (transfer.split == 0) != entire:
                message = f"{transfer.facts.label} has {'whole' if entire else 'split'} entries at the other end"
                raise ProgramError("pipe-split", f"{message}, found split = {transfer.split}", span_of(op))
            entry = facts.entry(op)
            if transfer.role == "pop" and entry is not None and isinstance(entry.type, t.TileBufType):
                self._popped.setdefault((transfer.facts.key, transfer.direction), {})[entry.type] = None

    def popped(self, transfer: Transfer) -> list[t.TileBufType]:
        """Returns the types of the tiles that are popped in the direction of ``transfer``."""
        return list(self._popped.get((transfer.facts.key, transfer.direction), ()))

    def transfer(self, op: Operation) -> Transfer:
        """Returns the transfer of ``op``; raises ``ProgramError`` (``pipe-id``) when its queue is not initialized in
        its function."""
        init = self._init(op)
        if init is None:
            raise ProgramError("pipe-id", "the queue is not initialised in this function", span_of(op))
        end = self.ends[init]
        split = integer_attribute(op, "split") or 0
        action = facts.action_of(op)
        assert action is not None
        if action.direction:
            return Transfer(init, end, action.role, action.direction, split)
        produces = action.role in _PRODUCES
        return Transfer(init, end, action.role, C2V if self._on_cube(op, end, produces) == produces else V2C, split)

    def init_of_setter(self, op: Operation) -> Operation | None:
        """Returns the initialization of the queue whose scale ``op`` sets."""
        return self._numbered.get((_function(op), "cube", facts.queue_id(op)))

    def _init(self, op: Operation) -> Operation | None:
        action = facts.action_of(op)
        assert action is not None
        if action.core is None:
            return facts.initialization_of_handle(op)
        return self._numbered.get((_function(op), action.core, facts.queue_id(op)))

    @staticmethod
    def _on_cube(op: Operation, end: FifoFacts, produces: bool) -> bool:
        """Returns the side of an operation on a handle: that of its section or function, otherwise that implied by
        direction or tile."""
        kind = enclosing_kind(op)
        if kind is not None:
            return kind == "cube"
        if end.mask in (C2V, V2C):
            return (end.mask == C2V) == produces
        entry = facts.entry(op)
        loc = entry.type.loc if entry is not None and isinstance(entry.type, t.TileBufType) else "vec"
        return loc != "vec"

    def _facts(self, init: Operation, order: int) -> FifoFacts:
        mask = facts.direction_mask(init)
        slot_size, slots = integer_attribute(init, "slot_size") or 0, facts.slot_count(init)
        local_slots = integer_attribute(init, "local_slot_num") or slots
        through_gm = facts.uses_global_memory(init, self.arch)
        counts = local_slots if through_gm else slots
        steps: dict[int, int] = {}
        for direction, name in local_buffers(init).items():
            share = _share(slot_size, counts, find(init, name))
            steps[direction] = share if through_gm else max(share, slot_size)
        key, label = identity(init, order)
        epilogue = _epilogue(init)
        frees = facts.is_freed_by_pop(init, self.arch)
        return FifoFacts(key, label, mask, slot_size, slots, local_slots, through_gm, frees, steps, epilogue)


def local_buffers(init: Operation) -> dict[int, str]:
    """Returns the operand with the address of the consumer's slots, by direction."""
    if not facts.has_handle(init):
        return {C2V: "c2v_consumer_buf", V2C: "v2c_consumer_buf"}
    mask = facts.direction_mask(init)
    return {C2V: "local_addr", V2C: "peer_local_addr"} if mask == C2V | V2C else {mask: "local_addr"}


def gm_operand(init: Operation) -> SSAValue | None:
    """Returns the operand with the slots in global memory."""
    names = ("gm_addr",) if facts.has_handle(init) else ("gm_slot_tensor", "gm_slot_buffer")
    return next((value for name in names if (value := find(init, name)) is not None), None)


def _share(slot_size: int, count: int, address: SSAValue | None) -> int:
    """Returns the bytes of each of ``count`` equal parts of the reserved buffer; the size of a slot where that is
    unknown."""
    reserved = reservation(address)
    size = None if reserved is None else integer_attribute(reserved, "size")
    return slot_size if size is None or size < 32 * count else size // count // 32 * 32


def _epilogue(init: Operation) -> Epilogue | None:
    value = init.attributes.get("acc_push_epilogue")
    if not isinstance(value, OpaqueAttr):
        return None
    fields = dict(_FIELD.findall(value.data))
    return Epilogue(fields.get("quant", "no_convert"), fields.get("relu", "no_relu"))


def _function(op: Operation) -> Operation:
    return next(one for one in (op, *ancestors(op)) if has_role(one, Role.FUNCTION))

"""Functions with their own flags, barriers and locks as items, and all that they may order.

What a pass does not see in the operands of an operation it must not take for unordered: registers count as memory,
and whatever another core, a queue or a reader outside may look at counts as everything. Source:
docs/reference/execution.md, "Synchronisation", "Registers of a core".
"""

from __future__ import annotations

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Operation

from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.type_facts import enumerator, integer_attribute
from pto_dialect.ir.core.base import Effect, Pipe, PtoOp, op_spec
from pto_dialect.ir.core.facts.operation_form import form_of, pipe_of
from pto_dialect.ir.core.placement import named_pipe
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk

from .items import NUMBER, SCALAR, Item, Leaf, Sequence, Signal, UnsupportedError, pipe_id
from .locations import REGISTERS, MemoryLocation
from .program import SHARED, Reader

Path = tuple[tuple[Sequence, int], ...]
_EVERYTHING = tuple(MemoryLocation(space, None) for space in SHARED)
_REGISTERS = MemoryLocation(REGISTERS, "all")
_ISSUED = ("valid_shape",)
"""State that work takes along when it is issued."""
_ORDERS = Role.PIPES | Role.LOCK
_HIDDEN = Role.SIGNAL | Role.PEERS
_SIGNALS = Role.CORES | Role.BLOCKS | Role.PEERS | Role.SIGNAL
_OUTSIDE = (Effect.CHANNEL, Effect.REPORT)


class SignalReader(Reader):
    """Makes sequences in which the signals of the program stand."""

    registers = False

    def function(self, op: Operation) -> Sequence:
        """Returns the sequence of a function. Raises :class:`UnsupportedError`."""
        self.registers = any(_sets_registers(inner) for inner in walk(op))
        return super().function(op)

    def _item(self, op: Operation, path: Path, mine: bool) -> Item | None:
        if has_role(op, _ORDERS):
            if not mine:
                raise UnsupportedError(op, "cores of both kinds run it")
            return signal_of(op, path, self.arch)
        if isinstance(op, UnregisteredOp):
            raise UnsupportedError(op, "nobody knows what it does")
        return super()._item(op, path, mine)

    def _leaf(self, op: PtoOp, path: Path) -> Leaf | None:
        leaf = super()._leaf(op, path)
        sets = (_REGISTERS,) if _sets_registers(op) else ()
        reads, writes = implicit_locations(op), (*sets, *implicit_locations(op))
        if leaf is None and writes:
            pipe = form_of(op, self.arch).pipe
            leaf = Leaf(op, SCALAR if pipe is None else NUMBER[pipe], (), (), path=path)
        if leaf is not None:
            # The receiver of a signal that memory is free may write what was read before.
            leaf.writes = (*leaf.writes, *writes, *(leaf.reads if leaf.shows else ()))
            leaf.reads = (*leaf.reads, *reads, *((_REGISTERS,) if self.registers else ()))
        return leaf


def implicit_locations(op: PtoOp) -> tuple[MemoryLocation, ...]:
    """Returns all shared memory for an operation whose effects its operands do not say."""
    spec = op_spec(type(op))
    hidden = spec.queue is not None or spec.effect in _OUTSIDE
    return _EVERYTHING if hidden or has_role(op, _HIDDEN) else ()


def signals_others(op: Operation) -> bool:
    """Returns whether other cores, blocks or ranks, a queue or a reader outside learn from an operation how far the
    core is."""
    return isinstance(op, PtoOp) and (has_role(op, _SIGNALS) or bool(implicit_locations(op)))


def _sets_registers(op: Operation) -> bool:
    """Returns whether an operation changes machine state that work of any pipe may look at when it runs."""
    return isinstance(op, PtoOp) and any(name not in _ISSUED for name in op_spec(type(op)).state_writes)


def signal_of(op: Operation, path: Path, arch: str) -> Signal:
    """Returns the item for an operation that orders pipes. Raises :class:`UnsupportedError` where only a run knows
    which pipes or numbers it means."""
    if has_role(op, Role.LOCK):
        return _lock(op, path)
    if has_role(op, Role.BARRIER):
        pipe = pipe_of(op, arch)
        if pipe is Pipe.ALL:
            return Signal(op, "join", SCALAR, SCALAR, 0, path)
        if pipe is None:
            raise UnsupportedError(op, "its pipe is not known")
        return Signal(op, "barrier", NUMBER[pipe], NUMBER[pipe], 0, path)
    ends = ("src_pipe", "dst_pipe") if "src_pipe" in op.attributes else ("src_op", "dst_op")
    source, target = (pipe_id(named_pipe(op.attributes.get(name))) for name in ends)
    if source is None or target is None:
        raise UnsupportedError(op, "its pipes are not known")
    kind = "set" if has_role(op, Role.SETS) else "wait"
    return Signal(op, kind, source, target, _number(op, enumerator(op, "event_id").removeprefix("EVENT_ID")), path)


def _lock(op: Operation, path: Path) -> Signal:
    pipe = pipe_id(named_pipe(op.attributes.get("op_type")))
    if pipe is None:
        raise UnsupportedError(op, "its pipe is not known")
    if integer_attribute(op, "mode"):
        raise UnsupportedError(op, "locks of another mode than 0 are not followed")
    kind = "get" if has_role(op, Role.SETS) else "release"
    buffer_id = integer_attribute(op, "buf_id")
    return Signal(op, kind, pipe, pipe, _number(op, "" if buffer_id is None else str(buffer_id)), path)


def _number(op: Operation, text: str) -> int:
    if text.isdecimal():
        return int(text)
    numbers = [constant_of(value) for value in op.operands]
    if len(numbers) != 1 or not isinstance(numbers[0], int):
        raise UnsupportedError(op, "only a run knows its number")
    return numbers[0]

"""The two ends of a queue: initializations in different functions that share a consumer buffer.

Source: docs/reference/execution.md, "Queues between cores"; docs/reference/operations.md, "Queues between cores".
"""

from __future__ import annotations

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from pto_dialect.analysis.queues import (
    action_of,
    definition,
    direction_mask,
    peer_function,
    queue_id,
    string_attribute,
)
from pto_dialect.analysis.type_facts import integer_attribute
from pto_dialect.ir.core.operands import find
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.sync.pipes import (
    AicInitializePipeOp,
    AivInitializePipeOp,
    ImportReservedBufferOp,
    InitializeL2g2lPipeOp,
    InitializeL2lPipeOp,
    ReserveBufferOp,
)

from ..engine.context import Context

BUFFERS = ("c2v_consumer_buf", "v2c_consumer_buf")
_CORE_INITS = frozenset((AicInitializePipeOp, AivInitializePipeOp))
_HANDLE_INITS = frozenset((InitializeL2g2lPipeOp, InitializeL2lPipeOp))


def _flags(init: Operation) -> tuple[int, int]:
    base = integer_attribute(init, "flag_base")
    return -1 if base is None else base, direction_mask(init)


class Queues:
    """The queue operations of a program by function, collected in one walk."""

    def __init__(self, program: Operation, ctx: Context) -> None:
        """Collects the operations of ``program``, a module with all modules around it; symbols are those of ``ctx``."""
        self.inits: dict[FuncOp, list[Operation]] = {}
        self.transfers: dict[FuncOp, list[Operation]] = {}
        self.imports: dict[tuple[str, FuncOp], list[Operation]] = {}
        self.handles: dict[tuple[int, int], list[Operation]] = {}
        """Initialisations of queues that are known by a handle, by their first flag and their directions."""
        self._ctx = ctx
        # Compare the class first, because isinstance is slow when the answer is no: this runs for every operation of a
        # program.
        for function in (op for op in walk(program) if type(op) is FuncOp):
            for op in walk(function):
                if type(op) in _CORE_INITS:
                    self.inits.setdefault(function, []).append(op)
                elif type(op) in _HANDLE_INITS:
                    self.handles.setdefault(_flags(op), []).append(op)
                elif (action := action_of(op)) is not None and action.core is not None and action.transfers:
                    self.transfers.setdefault(function, []).append(op)
                elif type(op) is ImportReservedBufferOp and (consumer := self.exporter(op)) is not None:
                    self.imports.setdefault((string_attribute(op, "name"), consumer), []).append(op)

    def exporter(self, imported: Operation) -> FuncOp | None:
        """Returns the function that reserves the buffer of an import."""
        return peer_function(imported, self._ctx.symbols.find)

    def users(self, init: Operation) -> list[Operation]:
        """Returns the transfers of the queue that ``init`` sets up."""
        function = function_of(init)
        transfers = self.transfers.get(function, []) if function is not None else []
        return [op for op in transfers if queue_id(op) == queue_id(init)]

    def peers_of_import(self, init: Operation, buffer: str) -> list[Operation]:
        """Returns the initializations of the other end where ``init`` imports ``buffer``: those with the buffer of that
        name."""
        source = definition(find(init, buffer))
        function = self.exporter(source) if isinstance(source, ImportReservedBufferOp) else None
        if source is None or function is None:
            return []
        wanted = string_attribute(source, "name")
        found: list[Operation] = []
        for other in self.inits.get(function, []):
            place = definition(find(other, buffer))
            if place is not None and string_attribute(place, "name") == wanted:
                found.append(other)
        return found

    def peers_of_reservation(self, init: Operation, buffer: str) -> list[Operation]:
        """Returns the initializations of the other end where ``init`` reserves ``buffer``: those that import it."""
        source = definition(find(init, buffer))
        function = function_of(init)
        if not isinstance(source, ReserveBufferOp) or function is None:
            return []
        found: list[Operation] = []
        for imported in self.imports.get((string_attribute(source, "name"), function), []):
            place = function_of(imported)
            others = self.inits.get(place, []) if place is not None else []
            found += [op for op in others if definition(find(op, buffer)) is imported]
        return found

    def peer_of_handle(self, init: Operation) -> Operation | None:
        """Returns the first end of a queue that is known by a handle, where ``init`` is the second one: the only other
        one with its flags, in another function."""
        ends = self.handles.get(_flags(init), []) if type(init) in _HANDLE_INITS else []
        is_second = len(ends) == 2 and ends[1] is init and function_of(ends[0]) is not function_of(init)
        return ends[0] if is_second else None

    def peer(self, init: Operation) -> Operation | None:
        """Returns the other end of a queue with an imported buffer, if there is exactly one."""
        for buffer in BUFFERS:
            found = self.peers_of_import(init, buffer)
            if len(found) == 1:
                return found[0]
        return None


def queues_of(op: Operation, ctx: Context) -> Queues:
    """Returns the queues of the program around ``op``."""
    program = op
    while (outer := program.parent_op()) is not None:
        program = outer
    return ctx.cached(Queues, lambda: Queues(program, ctx))


def function_of(op: Operation) -> FuncOp | None:
    """Returns the function around ``op``."""
    place = op.parent_op()
    while place is not None and not isinstance(place, FuncOp):
        place = place.parent_op()
    return place

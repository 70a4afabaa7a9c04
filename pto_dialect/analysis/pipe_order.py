"""Whether the program synchronizes the pipes of a core itself, or leaves that to the compiler.

A program synchronizes its pipes if it has flags, locks, or barriers between operations. A barrier on all pipes that
only ends a part of the program does not count: one after which no operation follows, one after operations of several
pipes that only stores to global memory follow, or one next to communication, which compilers leave to the program.

A C++ kernel that states the addresses of its tiles synchronizes its pipes too: a compiler orders those of kernels
without addresses only.

Source: docs/reference/execution.md, "Who orders the pipes".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.ir import Operation

from pto_dialect.diagnostics.origins import is_translated
from pto_dialect.families import FAMILIES
from pto_dialect.ir.buffers.views import AllocTileOp
from pto_dialect.ir.core.base import Effect, Pipe, PtoOp, op_spec, section_around
from pto_dialect.ir.core.facts.operation_form import pipe_of
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.placement import named_pipe
from pto_dialect.ir.core.registry import family_of_name
from pto_dialect.ir.core.roles import Role, enclosing, has_role
from pto_dialect.ir.core.walk import walk

_STORES = (Pipe.MTE3, Pipe.FIX)
_IDLE = (Effect.PURE, Effect.HANDLE, Effect.QUERY, Effect.REGION, Effect.REPORT)
_COMMUNICATION_PREFIXES = ("pto.comm.", "pto.cmo.", "pto.fence.")


def has_flags(operations: Iterable[Operation]) -> bool:
    """Returns whether the operations include flags or locks; the program then synchronizes its pipes itself."""
    return any(
        (has_role(op, Role.PIPES) and not has_role(op, Role.BARRIER)) or has_role(op, Role.LOCK) for op in operations
    )


def pipe_barriers(operations: Iterable[Operation]) -> list[Operation]:
    """Returns the pipe barriers among the operations."""
    return [op for op in operations if _is_barrier(op)]


def has_manual_synchronization(operations: Sequence[Operation]) -> bool:
    """Returns whether the program with these operations synchronizes its pipes itself."""
    if has_flags(operations) or any(_is_placed_in_cpp(op) for op in operations):
        return True
    barriers = pipe_barriers(operations)
    # Compilers synchronize tile operations; the author synchronizes micro-instructions.
    return bool(barriers) and (
        any(isinstance(op, PtoOp) and FAMILIES[family_of_name(op.name)].level is not None for op in operations)
        or any(not is_closing_barrier(barrier) for barrier in barriers)
    )


def _is_placed_in_cpp(op: Operation) -> bool:
    """Returns whether an operation is the ``TASSIGN`` of a C++ kernel."""
    if not isinstance(op, AllocTileOp) or op.addr is None:
        return False
    span = span_of(op)
    return span is not None and is_translated(span.source)


def is_closing_barrier(barrier: Operation) -> bool:
    """Returns whether a barrier is on all pipes, and at the end of the program or next to communication."""
    if named_pipe(barrier.attributes.get("pipe")) is not Pipe.ALL:
        return False
    if _is_beside_communication(barrier):
        return True
    before, after = _work_around(barrier)
    return not after or (len(before - {Pipe.S}) > 1 and all(pipe in _STORES for pipe in after))


def _is_barrier(op: Operation) -> bool:
    return has_role(op, Role.PIPES) and has_role(op, Role.BARRIER)


def _does_work(op: Operation) -> bool:
    """Returns whether an operation executes on a pipe; operations of other dialects do so if they are calls."""
    if not isinstance(op, PtoOp):
        return has_role(op, Role.CALL)
    return op_spec(type(op)).effect not in _IDLE and pipe_of(op) is not None and not _is_barrier(op)


def _communicates(op: Operation) -> bool:
    return op.name.startswith(_COMMUNICATION_PREFIXES) or has_role(op, Role.SIGNAL) or has_role(op, Role.CORES)


def _is_beside_communication(barrier: Operation) -> bool:
    """Returns whether the adjacent operation before or after the barrier in its block is communication."""
    before, after = barrier.prev_op, barrier.next_op
    while before is not None and not _is_work_or_communication(before):
        before = before.prev_op
    while after is not None and not _is_work_or_communication(after):
        after = after.next_op
    return any(op is not None and _communicates(op) for op in (before, after))


def _is_work_or_communication(op: Operation) -> bool:
    return bool(op.regions) or _communicates(op) or _does_work(op)


def _work_around(barrier: Operation) -> tuple[set[Pipe | None], set[Pipe | None]]:
    """Returns the pipes that execute between the previous barrier and this one, and those that execute after it, on the
    same core."""
    before, after = set[Pipe | None](), set[Pipe | None]()
    function = enclosing(barrier, Role.FUNCTION)
    section, reached = section_around(barrier), False
    for op in walk(function) if function is not None else ():
        if op is barrier:
            reached = True
        elif _is_barrier(op) and not reached:
            before.clear()
        elif _does_work(op) and section_around(op) in ("", section) and not (reached and _communicates(op)):
            (after if reached else before).add(pipe_of(op))
    return before, after

"""How large a number may be that the text uses to number a flag, a buffer, a semaphore or a slot.

Source: docs/reference/targets.md, "Synchronisation resources".
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.scf import ForOp
from xdsl.ir import SSAValue

from pto_dialect.analysis.arithmetic import CASTS
from pto_dialect.ir.buffers.views import MultiTileGetOp
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import PtoOp, operand_name
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.sync.flags import EventidArrayGetOp, EventidArraySetOp, SetFlagDynOp, WaitFlagDynOp
from pto_dialect.runtime.compile.program import Symbols, call_arguments
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.targets.sync_resources import SyncResources


def largest_numbers(kernel: Kernel) -> dict[int, int]:
    """Returns the largest value that is valid for all uses of an argument, by its position, where the text states one.

    The uses include conversions, calls, and counted loops up to the argument.
    """
    found: dict[int, int] = {}
    for root in kernel.program.roots.values():
        values = root.function.regions[0].blocks[0].args
        for position, value in zip(root.positions, values, strict=True):
            bounds = list(_bounds(value, kernel.program.symbols, kernel.profile.sync))
            if bounds:
                found[position] = min(*bounds, found.get(position, bounds[0]))
    return found


def _bounds(argument: SSAValue, symbols: Symbols, sync: SyncResources) -> Iterator[int]:
    """Yields the bounds of all uses of an argument."""
    # Values that hold the argument, each with how much smaller than that they are at most.
    waiting = [(argument, 0)]
    seen: set[tuple[SSAValue, int]] = set()
    while waiting:
        value, less = waiting.pop()
        if (value, less) in seen:
            continue
        seen.add((value, less))
        for use in value.uses:
            op, index = use.operation, use.index
            if isinstance(op, PtoOp):
                bound = _bound(op, operand_name(op, index), sync)
                if bound is not None:
                    yield bound + less
            elif CASTS.get(op.name) is not None:
                waiting.append((op.results[0], less))
            elif isinstance(op, ForOp) and index == 1 and not less:
                waiting.append((op.regions[0].blocks[0].args[0], 1))
            elif has_role(op, Role.CALL):
                first = len(op.operands) - len(call_arguments(op))
                callee = symbols.callee(op)
                if index >= first and callee is not None and callee.regions[0].blocks:
                    waiting.append((callee.regions[0].blocks[0].args[index - first], less))


def _bound(op: PtoOp, operand: str, sync: SyncResources) -> int | None:
    """Returns the largest number of an operation's operand; ``None`` where it is no such number."""
    match op, operand:
        case (SetFlagDynOp() | WaitFlagDynOp(), "event_id") | (EventidArraySetOp(), "value"):
            return sync.flag_ids[1]
        case _, "buf_id":
            return None if sync.buf_ids is None else sync.buf_ids[1]
        case _, "event_id_dyn":
            return min(sync.aic_ids[1], sync.aiv_ids[1])
        case MultiTileGetOp(), "slot":
            source = SSAValue.get(op.source).type
            return source.count - 1 if isinstance(source, t.MultiTileBufType) else None
        case (EventidArrayGetOp() | EventidArraySetOp(), "index"):
            array = SSAValue.get(op.array).type
            return array.size - 1 if isinstance(array, t.EventIdArrayType) else None
        case _:
            return None

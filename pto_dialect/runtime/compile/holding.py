"""Generated code that reports stores of the scalar unit to the unified buffer, for schedules that hold stores back.

Source: docs/reference/execution.md, "Scheduling".
"""

from __future__ import annotations

from xdsl.ir import Operation

from pto_dialect.analysis.scalar_cache import MEMORY, stores_asynchronously
from pto_dialect.analysis.type_facts import space_of
from pto_dialect.ir.core.base import Pipe
from pto_dialect.ir.core.placement import named_pipe
from pto_dialect.ir.sync.flags import BarrierOp, BarrierSyncOp

from .generator import Generator


class HoldingGenerator(Generator):
    """Writes the body of one function, with a mark around each store of the scalar unit that is visible to others
    later."""

    def operation(self, op: Operation) -> None:
        """Writes one operation, with its marks."""
        stores = self.queued and self.stores(op)
        if stores:
            self.emitter.current = op
            self.emitter.line("core.storing()")
        super().operation(op)
        if stores:
            self.emitter.line("core.stored()")
        if self.queued and isinstance(op, BarrierOp | BarrierSyncOp):
            pipe = named_pipe(op.attributes.get("pipe") or op.attributes.get("op_type"))
            if pipe is Pipe.S:
                self.emitter.line("core.drain()")

    def stores(self, op: Operation) -> bool:
        """Returns whether ``op`` stores to the unified buffer on the scalar unit."""
        if not stores_asynchronously(op, self.profile.arch):
            return False
        return any(space_of(value.type) == MEMORY for value in op.operands)

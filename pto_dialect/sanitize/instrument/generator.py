"""The instrumented code generation variant: it reports the next operation, and exposes no memory.

The plain variant is independent of it.  Source: docs/reference/instrumentation.md, "Order of events".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.ir import Operation, SSAValue

from pto_dialect.analysis.scalar_cache import maintenance_of
from pto_dialect.analysis.streaming import waits_for_vector_unit
from pto_dialect.analysis.type_facts import integer_attribute
from pto_dialect.ir.core.base import Effect, PtoOp, op_spec, operand_groups
from pto_dialect.ir.core.facts.pipe import Pipe
from pto_dialect.ir.core.facts.unit_flags import unit_check
from pto_dialect.ir.core.operands import find, named
from pto_dialect.ir.core.placement import named_pipe
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import PtrType, TileBufType
from pto_dialect.ir.core.walk import ancestors
from pto_dialect.ir.core_dialects.structured import is_for
from pto_dialect.ir.scalar.regions import SectionSimtOp
from pto_dialect.ir.sync.flags import BarrierOp, BarrierSyncOp
from pto_dialect.ir.vector.memory import VGatherbOp
from pto_dialect.runtime.compile.generator import Expr, Generator
from pto_dialect.verify.buffers.alloc import is_view

from ..checks.alignment import alignment, base_operand
from ..checks.streams import stream_use
from ..report.sites import Site, Sites, root_of

_SILENT = frozenset((Effect.PURE, Effect.HANDLE, Effect.QUERY, Effect.REGION))
_INSTRUMENTED = Role.ELEMENT_LOAD | Role.ELEMENT_STORE | Role.COPY | Role.TILE_ALLOCATION | Role.SCOPE


class InstrumentedGenerator(Generator):
    """Writes the body of one function, with a mark before each operation that accesses memory or orders others."""

    def __init__(self, *arguments: Any, sites: Sites, tracks_numbers: bool = False) -> None:
        super().__init__(*arguments, tracks_numbers=tracks_numbers)
        self.sites = sites
        sites.arch, sites.backend = self.profile.arch, self.options.backend or "emitc"

    def prepare_view(self, value: SSAValue) -> None:
        """Does nothing: memory is not exposed."""

    def view(self, value: SSAValue) -> Expr | None:
        """Returns the view as for tiles whose valid region changes: they are accessed through their handle."""
        return None

    def operation(self, op: Operation) -> None:
        """Writes one operation, with reports before and after it."""
        if is_instrumented(op):
            indices = self._loop_indices(op)
            names = tuple(value.name_hint or str(number) for number, value in enumerate(indices))
            site = self.sites.add(op, names)
            self.emitter.current = op
            self.announce(site.number, "".join(f"{self.names[value]}, " for value in indices))
            if self.queued:
                self.through(op, site)
            self._unit_flag(op)
            self._fence(op)
            self.aligned(op)
            self.stream(op)
        self.part(op)
        super().operation(op)
        if (use := stream_use(op)) is not None and use.stores:
            self.emitter.line(f"core.streams.goes_on({self.names[op.results[0]]})")
        if has_role(op, Role.TILE_ALLOCATION) and not is_view(op):
            self.allocated(op)

    def call(self, function: Callable[..., Any] | Expr, *arguments: Any, pipe: Pipe | None = None) -> None:
        """Writes a call, after a report of the tiles that the scalar unit accesses at once."""
        if pipe is Pipe.S:
            self.accessed(arguments)
        super().call(function, *arguments, pipe=pipe)

    def value_of_call(self, result: SSAValue, function: Callable[..., Any], *arguments: Any) -> None:
        """Writes a call with a result, after a report of the tiles that it accesses."""
        self.accessed(arguments)
        super().value_of_call(result, function, *arguments)

    def accessed(self, arguments: Sequence[Any]) -> None:
        """Writes the report of the tiles among the arguments of an operation of the scalar unit."""
        values = [value for value in arguments if isinstance(value, SSAValue)]
        tiles = "".join(f"{self.argument(value)}, " for value in values if isinstance(value.type, TileBufType))
        if tiles and self.queued:
            self.emitter.line(f"core.accesses(({tiles}))")

    def announce(self, site: int, loops: str) -> None:
        """Writes the report of the next operation, with the indices of the loops around it."""
        # The body of a scope is one instruction; its contents do not concern the scalar unit.
        method = "at" if self.queued else "inside" if self.lanes is None else "in_body"
        self.emitter.line(f"core.{method}({site}, ({loops}))")

    def through(self, op: Operation, site: Site) -> None:
        """Writes the report of the handles of those tiles whose allocation the text leaves open."""
        numbers = dict.fromkeys((*site.travelled(False), *site.travelled(True)))
        handles = [(number, self.names.get(root_of(op.operands[number]))) for number in numbers]
        known = ", ".join(f"{number}: {name}" for number, name in handles if name is not None)
        if known:
            self.emitter.line(f"core.through({{{known}}})")

    def allocated(self, op: Operation) -> None:
        """Writes the report of the allocated tile, which may return another handle for it."""
        name = self.names[op.results[0]]
        self.emitter.line(f"{name} = core.allocated({name})")

    def aligned(self, op: Operation) -> None:
        """Writes the report of a vector access whose address must be aligned."""
        if isinstance(op, VGatherbOp):
            source, offsets, mask = (self.names[value] for value in op.operands)
            self.emitter.line(f"core.aligned_blocks({source}, {offsets}, {mask})")
        base = base_operand(op)
        if base is None or not isinstance(op, PtoOp):
            return
        groups = operand_groups(op)
        value = groups[base][0]
        name = str(self.names[value])
        address = name if isinstance(value.type, PtrType) else f"core.pointer_of({name})"
        # With a result for the updated base the access is at the base itself.
        moves = "offset" in groups and not any(isinstance(result.type, type(value.type)) for result in op.results)
        step = f"{self.names[groups['offset'][0]]} * {address}.item_bytes" if moves else "0"
        self.emitter.line(f"core.aligned({address}, {step}, {alignment(op)})")

    def stream(self, op: Operation) -> None:
        """Writes the report of where an operation continues or ends an unaligned stream."""
        use = stream_use(op)
        if use is None:
            return
        state, base = named(op, use.state), named(op, use.address)
        address = str(self.names[base]) if isinstance(base.type, PtrType) else f"core.pointer_of({self.names[base]})"
        step = "core.state.get('ar', 0)" if use.counted else "0"
        if use.moved and (offset := find(op, "offset")) is not None:
            step = f"{self.names[offset]} * {address}.item_bytes"
        self.emitter.line(f"core.streams.reach({self.names[state]}, {address}, {step})")

    def part(self, op: Operation) -> None:
        """Writes the report of the next part of a view."""
        if not isinstance(op, PtoOp) or not has_role(op, Role.PART) or not self.queued:
            return
        groups = operand_groups(op)
        site = self.sites.add(op, ())
        offsets, sizes = ("".join(f"{self.names[value]}, " for value in groups[name]) for name in ("offsets", "sizes"))
        self.emitter.current = op
        self.emitter.line(f"core.parts.check({site.number}, {self.names[groups['source'][0]]}, ({offsets}), ({sizes}))")

    def _loop_indices(self, op: Operation) -> list[SSAValue]:
        """Returns the indices of the loops around ``op`` in its function, outermost first."""
        indices: list[SSAValue] = [parent.regions[0].block.args[0] for parent in ancestors(op) if is_for(parent)]
        known = [value for value in reversed(indices) if value in self.names]
        return known if self.lanes is None else [value for value in known if not self.lanes.varies(value)]

    def _fence(self, op: Operation) -> None:
        """Writes the report of barriers on single pipes, of operations that wait like one, and of buffer ids that a
        pipe acquires or releases."""
        if isinstance(op, BarrierOp | BarrierSyncOp):
            pipe = named_pipe(op.attributes.get("pipe") or op.attributes.get("op_type"))
            if pipe is not None:
                self.emitter.line(f"core.fence({pipe.value!r})")
        elif self.sites.arch == "a2a3" and waits_for_vector_unit(op):
            self.emitter.line(f"core.fence({Pipe.V.value!r})")
        elif (maintained := maintenance_of(op)) is not None:
            pointer = maintained.pointer
            argument = None if pointer is None else f"core.pointer_of({self.names[pointer]})"
            self.emitter.line(f"core.maintain({argument})")
        elif has_role(op, Role.LOCK):
            pipe = named_pipe(op.attributes["op_type"])
            static = integer_attribute(op, "buf_id")
            number = str(static) if static is not None else str(self.names[named(op, "buf_id")])
            if pipe is not None:
                self.emitter.line(f"core.signals.lock({pipe.value!r}, {number}, {has_role(op, Role.SETS)})")

    def _unit_flag(self, op: Operation) -> None:
        """Writes the report of the range of the accumulator whose hand-over an instruction checks."""
        word = unit_check(op)
        if not word or not isinstance(op, PtoOp):
            return
        groups = operand_groups(op)
        tile = groups.get("src" if "stPhase" in op.attributes else "dst", ())
        if tile and isinstance(tile[0].type, TileBufType):
            self.emitter.line(f"core.hand_over_tile({word!r}, {self.names[tile[0]]})")
            return
        memory = groups.get("dst") if "lhs" in groups else groups.get("source")
        sizes = [groups.get(key, ()) for key in ("m", "n")]
        if memory and all(sizes):
            stride = groups.get("src_stride") if "lhs" not in groups else ()
            step = self.names[stride[0]] if stride else "None"
            pointer, m, n = (self.names[value] for value in (memory[0], sizes[0][0], sizes[1][0]))
            self.emitter.line(f"core.hand_over({word!r}, {pointer}, {m}, {n}, {step})")


def is_instrumented(op: Operation) -> bool:
    """Returns whether an operation is instrumented: it accesses memory or orders others."""
    # A scope runs as one instruction, which has a slice of its own in a timeline.
    if has_role(op, _INSTRUMENTED) or isinstance(op, SectionSimtOp):
        return True
    return isinstance(op, PtoOp) and op_spec(type(op)).effect not in _SILENT

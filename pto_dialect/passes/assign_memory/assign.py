"""``assign-memory``: an address for every tile and queue buffer that has none.

Source: docs/reference/memory-planning.md, "Live ranges", "Packing".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i1, i32, i64
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.facts import integer
from pto_dialect.analysis.facts import space_of as space_of_type
from pto_dialect.analysis.target import profile_of
from pto_dialect.diagnostics.diagnostic import Diagnostic, Note
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.ir.core.attributes import EnumAttr
from pto_dialect.ir.core.base import PtoOp, operand_groups, section_of, segment_sizes
from pto_dialect.ir.core.location import set_location, span_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import MultiTileBufType, TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.sync.pipes import ReserveBufferOp
from pto_dialect.passes.accesses.items import UnsupportedError
from pto_dialect.passes.accesses.places import Places
from pto_dialect.passes.accesses.program import Reader
from pto_dialect.passes.base import PtoPass
from pto_dialect.targets.memory import BASE_ALIGNMENT, SPACE_ALIASES
from pto_dialect.targets.profile import Profile
from pto_dialect.verify.buffers.alloc import address_operand, is_view, space_of, tile_bytes
from pto_dialect.verify.engine.rule import ASSIGN_MEMORY, ERROR, rule

from .live import Buffer, Lives
from .pack import bound, pack

_PAGE = 'docs/reference/memory-planning.md, "What is not planned"'
_MANY = "!pto.tile_buf<vec, 256x256xf32>"
_GOOD = """func.func @f(%one: f32) {
  %a = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  pto.texpands ins(%one : f32) outs(%a : !pto.tile_buf<vec, 16x16xf32>)
  return
}
"""
_FULL = f"""func.func @f(%one: f32) {{
  %a = pto.alloc_tile : {_MANY}
  %b = pto.alloc_tile : {_MANY}
  pto.texpands ins(%one : f32) outs(%a : {_MANY})
  pto.texpands ins(%one : f32) outs(%b : {_MANY})
  pto.tadd ins(%a, %b : {_MANY}, {_MANY}) outs(%b : {_MANY})
  return
}}
"""

UNSUPPORTED = rule(
    "assign-memory-unsupported",
    ERROR,
    ASSIGN_MEMORY,
    "addresses are given in functions whose control flow and accesses are followed",
    source=_PAGE,
    bad=_GOOD.replace("return", "func.call @g() : () -> ()\n  return", 1) + "func.func private @g() {\n  return\n}",
    good=_GOOD,
)
FULL = rule(
    "assign-memory-full",
    ERROR,
    ASSIGN_MEMORY,
    "what is needed at one time fits into its memory",
    source='docs/reference/memory-planning.md, "Packing"; docs/reference/targets.md, "Memories"',
    bad=_FULL,
    good=_FULL.replace("256x256", "64x64"),
)


@dataclass(frozen=True)
class AssignMemoryPass(PtoPass):
    """Gives addresses. ``reuse``: ``max`` packs tightly, ``none`` gives every buffer bytes of its own."""

    name: ClassVar[str] = "assign-memory"
    reuse: str = "max"

    def run(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        """Changes ``module``; after an error nothing changes."""
        planned: list[dict[Buffer, int]] = []
        for function in walk(module):
            if has_role(function, Role.FUNCTION) and function.regions[0].blocks and any(lacking(function)):
                try:
                    planned += plans(function, self.target, engine, self.reuse != "none")
                except UnsupportedError as error:
                    message = f"assign-memory cannot follow this: {error.reason}"
                    engine.report(Diagnostic(UNSUPPORTED.id, UNSUPPORTED.severity, message, span_of(error.op)))
        if not engine.has_errors:
            for plan in planned:
                for buffer, address in plan.items():
                    if buffer.address is None:
                        _give(buffer.op, address)


def lacking(function: Operation) -> Iterator[Operation]:
    """The operations of a function that need an address."""
    for op in walk(function):
        tile = has_role(op, Role.TILE_ALLOCATION) and address_operand(op) is None and not is_view(op)
        if tile or (isinstance(op, ReserveBufferOp) and integer(op, "autoAlloc")):
            yield op


def plans(
    function: Operation, target: str | None, engine: DiagnosticEngine, reuse: bool = True
) -> list[dict[Buffer, int]]:
    """The addresses of the buffers of a function, for each memory. Raises :class:`UnsupportedError`; what does not fit
    is told to ``engine``."""
    profile = profile_of(function, target)
    buffers = {op.results[0]: buffer for op in walk(function) if (buffer := _buffer(op, profile)) is not None}
    end = 0
    for side in [name for name in ("cube", "vector") if name in {section_of(op) for op in walk(function)}] or [None]:
        reader = Reader(Places(profile), side)
        lives = Lives()
        lives.follow(reader.function(function))
        lives.settle({value: buffer for value, buffer in buffers.items() if buffer.address is None})
        end = max(end, lives.time)
    by_space: dict[str, list[Buffer]] = defaultdict(list)
    for buffer in buffers.values():
        if buffer.address is not None or isinstance(buffer.op, ReserveBufferOp):
            buffer.first, buffer.last = 0, end
        by_space[buffer.space].append(buffer)
    found: list[dict[Buffer, int]] = []
    for space, members in by_space.items():
        plan = pack(members, reuse)
        found.append(plan)
        _check(space, plan, profile, engine)
    return found


def _buffer(op: Operation, profile: Profile) -> Buffer | None:
    if isinstance(op, ReserveBufferOp):
        place = op.attributes["location"]
        word = place.value if isinstance(place, EnumAttr) else ""
        space = SPACE_ALIASES.get(word, word)
        base = None if integer(op, "autoAlloc") else integer(op, "base")
        return Buffer(op, space, integer(op, "size") or 0, BASE_ALIGNMENT[space].warning, base)
    if not has_role(op, Role.TILE_ALLOCATION) or is_view(op):
        return None
    kind = op.results[0].type
    tile = kind.slot if isinstance(kind, MultiTileBufType) else kind
    if not isinstance(tile, TileBufType):
        raise UnsupportedError(op, f"nobody knows where {space_of_type(kind) or 'it'} lies")
    space = space_of(tile, profile)
    size = tile_bytes(tile) * (kind.count if isinstance(kind, MultiTileBufType) else 1)
    given = address_operand(op)
    address = None if given is None else constant_of(given)
    if given is not None and not isinstance(address, int):
        raise UnsupportedError(op, "only a run knows its address")
    return Buffer(op, space, size, BASE_ALIGNMENT[space].warning, address if isinstance(address, int) else None)


def _check(space: str, plan: dict[Buffer, int], profile: Profile, engine: DiagnosticEngine) -> None:
    capacity = profile.capacity_of(space)
    peak = max((at + buffer.size for buffer, at in plan.items()), default=0)
    if capacity is None or peak <= capacity:
        return
    least = bound(list(plan))
    times = {buffer.first for buffer in plan}
    worst = max(times, key=lambda time: sum(b.size for b in plan if b.first <= time <= b.last))
    alive = sorted((b for b in plan if b.first <= worst <= b.last), key=lambda b: -b.size)
    message = f"the tiles of {space} need {peak} bytes and there are {capacity}"
    if least <= capacity:
        message += f"; {least} of them are needed at one time, but no place for all was found"
    notes = tuple(Note(f"{_name(b.op)} needs {b.size} bytes at the peak", span_of(b.op)) for b in alive)
    help_ = f"make {_name(alive[0].op)} smaller, or use it later or less long"
    engine.report(Diagnostic(FULL.id, FULL.severity, message, span_of(alive[0].op), notes, help_))


def _name(op: Operation) -> str:
    hint = op.results[0].name_hint
    return f"%{hint}" if hint else "a tile"


def _give(op: Operation, address: int) -> None:
    """Writes an address into an allocation."""
    if isinstance(op, ReserveBufferOp):
        op.attributes["autoAlloc"] = IntegerAttr(0, i1)
        op.attributes["base"] = IntegerAttr(address, i32)
        return
    assert isinstance(op, PtoOp)
    constant = ConstantOp(IntegerAttr(address, i64))
    constant.result.name_hint = f"c{address}_i64"
    groups = {**operand_groups(op), "addr": (constant.result,)}
    operands: list[SSAValue] = [value for values in groups.values() for value in values]
    attributes = {name: value for name, value in op.attributes.items() if name != "operandSegmentSizes"}
    properties = {name: value for name, value in op.properties.items() if name != "operandSegmentSizes"}
    sizes = segment_sizes(tuple(len(values) for values in groups.values()))
    holder = properties if "operandSegmentSizes" in op.properties else attributes
    holder["operandSegmentSizes"] = sizes
    result = op.results[0]
    hint = result.name_hint
    new = type(op).create(operands=operands, result_types=[result.type], attributes=attributes, properties=properties)
    span = span_of(op)
    if span is not None:
        set_location(constant, span)
        set_location(new, span)
    Rewriter.insert_op(constant, InsertPoint.before(op))
    Rewriter.replace_op(op, new)
    new.results[0].name_hint = hint

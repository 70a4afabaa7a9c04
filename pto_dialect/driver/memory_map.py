"""Where the buffers of a program lie and when they are needed: ``pto-opt --memory-report``.

Source: docs/reference/memory-planning.md, "Live ranges", "Packing".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from pto_dialect.analysis.release import release_of
from pto_dialect.analysis.target import profile_of
from pto_dialect.diagnostics.origins import shown_line
from pto_dialect.ir.core.location import label_of, span_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.accesses.program import UnsupportedError
from pto_dialect.passes.assign_memory.live_ranges import Buffer
from pto_dialect.passes.assign_memory.plan import Plan, memory_plans

from .aligned import aligned


@dataclass(frozen=True)
class MappedBuffer:
    """A buffer: its bytes ``begin`` to ``end``, the line where it is allocated, those of its first and last use
    (``None``: needed in the whole function, or never if ``unused``), and whether it is needed at the peak."""

    name: str
    begin: int
    end: int
    line: int | None
    first: int | None
    last: int | None
    at_peak: bool
    unused: bool


@dataclass(frozen=True)
class MemoryMap:
    """One memory of a function. ``peak`` is the highest end of a buffer, ``bound`` what no plan can do without,
    ``line`` where most bytes are needed."""

    memory: str
    capacity: int | None
    peak: int
    bound: int
    line: int | None
    buffers: tuple[MappedBuffer, ...]


@dataclass(frozen=True)
class FunctionMap:
    """A function; ``problem`` says why it cannot be planned."""

    name: str
    target: str
    memories: tuple[MemoryMap, ...]
    problem: str | None = None


@dataclass(frozen=True)
class ProgramMap:
    """All functions of a program that use on-chip memory."""

    file: str
    functions: tuple[FunctionMap, ...]
    release: str


def collect(module: ModuleOp, file: str, target: str | None, reuse: str) -> ProgramMap:
    """Returns the map of a program; buffers without addresses lie where ``assign-memory`` with ``reuse`` would put
    them."""
    functions: list[FunctionMap] = []
    for function in walk(module):
        if not has_role(function, Role.FUNCTION) or not function.regions[0].blocks:
            continue
        name = str(getattr(function.properties.get("sym_name"), "data", "?"))
        arch = profile_of(function, target).name
        try:
            plans = memory_plans(function, target, reuse)
        except UnsupportedError as error:
            span = span_of(error.op)
            where = f"line {shown_line(span)}: " if span is not None else ""
            functions.append(FunctionMap(name, arch, (), f"{where}{error.reason}"))
            continue
        if plans:
            functions.append(FunctionMap(name, arch, tuple(_memory(plan) for plan in plans)))
    return ProgramMap(file, tuple(functions), str(release_of(module)))


def _memory(plan: Plan) -> MemoryMap:
    alive = set(plan.alive(plan.worst))
    places = sorted(plan.addresses.items(), key=lambda one: (one[1], one[0].first))
    buffers = tuple(_buffer(buffer, at, buffer in alive) for buffer, at in places)
    return MemoryMap(plan.space, plan.capacity, plan.peak, plan.bound, plan.line(plan.worst), buffers)


def _buffer(buffer: Buffer, at: int, at_peak: bool) -> MappedBuffer:
    name = label_of(buffer.op.results[0]) if buffer.op.results else ""
    lines = [shown_line(span) for time in sorted(buffer.uses) if (span := span_of(buffer.uses[time])) is not None]
    span = span_of(buffer.op)
    return MappedBuffer(
        name or buffer.op.name,
        at,
        at + buffer.size,
        shown_line(span) if span is not None else None,
        lines[0] if lines else None,
        lines[-1] if lines else None,
        at_peak,
        buffer.last < 0,
    )


def as_data(programs: Iterable[ProgramMap]) -> dict[str, Any]:
    """Returns one document for all programs."""
    return {"version": 1, "programs": [asdict(program) for program in programs]}


def render(programs: Iterable[ProgramMap]) -> str:
    """Returns the text of all programs, with an empty line between functions."""
    return "\n".join(_text(program, function) for program in programs for function in program.functions)


def _text(program: ProgramMap, function: FunctionMap) -> str:
    lines = [f"{program.file}: @{function.name} ({function.target}, release {program.release})"]
    if function.problem is not None:
        lines.append(f"  not planned: {function.problem}")
    for memory in function.memories:
        capacity = f" of {memory.capacity}" if memory.capacity is not None else ""
        where = f", most in line {memory.line}" if memory.line is not None else ""
        lines.append(f"  {memory.memory}: {memory.peak}{capacity} bytes, no plan below {memory.bound}{where}")
        rows = [("bytes", "buffer", "size", "line", "used", ""), *map(_row, memory.buffers)]
        lines += aligned(rows, "<<>><<", "    ")
    return "".join(f"{line}\n" for line in lines)


def _row(buffer: MappedBuffer) -> tuple[str, ...]:
    used = "never" if buffer.unused else "always" if buffer.first is None else f"{buffer.first}-{buffer.last}"
    line = "" if buffer.line is None else str(buffer.line)
    bytes_ = f"[{buffer.begin}, {buffer.end})"
    return bytes_, buffer.name, str(buffer.end - buffer.begin), line, used, "at the peak" if buffer.at_peak else ""

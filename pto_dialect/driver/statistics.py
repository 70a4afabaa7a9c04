"""Counts the contents of a program: operations, on-chip memory, synchronisation; per function and for the module.

Counted as written: a statement in a loop counts once. Memory is what the program requests itself, by allocations and
reservations; a memory planner may need less.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, MemRefType, ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation

from pto_dialect.analysis.addresses import address_of
from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.release import release_of
from pto_dialect.analysis.target import profile_of
from pto_dialect.analysis.type_facts import space_of as memory_of
from pto_dialect.ir.core.attributes import EnumAttr
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.extents import buffer_extent
from pto_dialect.ir.core.registry import family_of_name
from pto_dialect.ir.core.roles import Role, has_role, roles_of
from pto_dialect.ir.core.types import MultiTileBufType, PtrType, TileBufType, TileType, byte_width
from pto_dialect.targets.profile import Profile
from pto_dialect.verify.buffers.alloc import address_operand, space_of
from pto_dialect.versions import NEWEST_RELEASE

VALUES = "values"
"""Replaces a memory for tiles that are values (assembly, Level 1): a planner chooses their addresses."""

FLAG, CORE, LOCK, BARRIER = "flag", "core", "lock", "barrier"

_KINDS = {Role.BARRIER: BARRIER, Role.LOCK: LOCK, Role.CORES: CORE, Role.PIPES: FLAG}
"""Kinds of synchronisation by the roles of its operations; a barrier counts as one whatever it orders."""

DYNAMIC_ID = "?"
"""The id of a flag that is computed at run time."""


@dataclass
class MemoryUse:
    """What a program uses of one memory.

    ``tiles``: buffers of tiles, each slot of a multi-buffer counted. ``buffers``: memrefs and reserved ranges.
    ``bytes``: sizes of both together; sizes known at run time only are left out. ``pointers``: pointers made from
    constant addresses. ``end``: the highest end of a buffer with a constant address, 0 without such a buffer; a
    pointer, whose extent is unknown, counts with its own address.
    """

    tiles: int = 0
    buffers: int = 0
    bytes: int = 0
    pointers: int = 0
    end: int = 0


@dataclass
class Synchronisation:
    """Flags between two pipes, semaphores between cores, locks or barriers of one pipe.

    ``ids``: the numbers used. ``first``: statements that set a flag or take a lock, or barriers; ``second``: those that
    wait for a flag or release a lock.
    """

    ids: set[str] = field(default_factory=set[str])
    first: int = 0
    second: int = 0


@dataclass
class Statistics:
    """Counts of one function (``function`` is its name) or of the whole module (``None``)."""

    function: str | None
    operations: Counter[str] = field(default_factory=Counter)
    memory: dict[str, MemoryUse] = field(default_factory=dict)
    sync: dict[tuple[str, str], Synchronisation] = field(default_factory=dict)

    def families(self) -> dict[str, Counter[str]]:
        """Operations by family, the largest first; operations of other dialects go under the dialect's name."""
        found: dict[str, Counter[str]] = {}
        for name, count in self.operations.items():
            family = family_of_name(name)
            found.setdefault(family, Counter())[name] = count
        return dict(sorted(found.items(), key=lambda item: (-item[1].total(), item[0])))


@dataclass
class ModuleStatistics:
    """Counts of one program, read from ``file``, for the chip ``target`` and a ``release`` of the reference;
    ``capacity`` is the bytes of each memory."""

    file: str
    target: str
    capacity: dict[str, int | None]
    module: Statistics
    functions: list[Statistics]
    release: str = NEWEST_RELEASE


def collect(module: ModuleOp, file: str, target: str | None) -> ModuleStatistics:
    """Counts ``module`` for the chip that ``target`` names, or that of the module."""
    profile = profile_of(module, target)
    whole = Statistics(None)
    functions: list[Statistics] = []
    for op, function in _with_function(module):
        if has_role(op, Role.FUNCTION):
            function.function = _text(op, "sym_name") or ""
            functions.append(function)
        for statistics in (whole, function):
            _count(op, statistics, profile)
    return ModuleStatistics(file, profile.name, dict(profile.capacity), whole, functions, str(release_of(module)))


def _with_function(module: ModuleOp) -> Iterator[tuple[Operation, Statistics]]:
    """Yields every operation inside ``module`` but modules, with the statistics of its function."""
    outside = Statistics(None)
    stack: list[tuple[Operation, Statistics]] = [(module, outside)]
    while stack:
        op, function = stack.pop()
        if not isinstance(op, ModuleOp):
            if has_role(op, Role.FUNCTION):
                function = Statistics("")
            yield op, function
        for region in reversed(op.regions):
            for block in reversed(region.blocks):
                stack.extend((inner, function) for inner in reversed(list(block.ops)))


def _text(op: Operation, key: str) -> str | None:
    value = op.properties.get(key) or op.attributes.get(key)
    return value.data if isinstance(value, StringAttr) else None


def _count(op: Operation, statistics: Statistics, profile: Profile) -> None:
    statistics.operations[op.name] += 1
    for space, use in _memory(op, profile):
        total = statistics.memory.setdefault(space, MemoryUse())
        total.tiles += use.tiles
        total.buffers += use.buffers
        total.bytes += use.bytes
        total.pointers += use.pointers
        total.end = max(total.end, use.end)
    roles = roles_of(op)
    kind = next((kind for role, kind in _KINDS.items() if role in roles), None)
    if kind is not None:
        between, ids = _ends(op, kind)
        entry = statistics.sync.setdefault((kind, between), Synchronisation())
        entry.ids |= ids
        entry.first += Role.WAITS not in roles
        entry.second += Role.WAITS in roles


# ------------------------------------------------------------ memory


def _memory(op: Operation, profile: Profile) -> Iterator[tuple[str, MemoryUse]]:
    """Memories that ``op`` takes something of, and how much."""
    roles = roles_of(op)
    if Role.ALLOCATION in roles and isinstance(op, PtoOp):
        kind = op.results[0].type
        slots = kind.count if isinstance(kind, MultiTileBufType) else 1
        tile = kind.slot if isinstance(kind, MultiTileBufType) else kind
        if isinstance(tile, TileBufType):
            size = buffer_extent(kind, profile.arch)
            address = address_operand(op)
            start = None if address is None else constant_of(address)
            end = start + size if isinstance(start, int) else 0
            yield space_of(tile, profile), MemoryUse(tiles=slots, bytes=size, end=end)
    elif Role.ALLOCATION in roles:
        space = memory_of(op.results[0].type)
        yield space or "unnamed", MemoryUse(buffers=1, bytes=_memref_bytes(op.results[0].type))
    elif Role.RESERVATION in roles:
        yield from _reserved(op, profile)
    elif Role.ADDRESS in roles:
        kind = op.results[0].type
        start = address_of(op.results[0])
        if (
            isinstance(kind, PtrType)
            and start is not None
            and not any(isinstance(value.type, PtrType) for value in op.operands)
        ):
            yield kind.space, MemoryUse(pointers=1, end=start)
    else:
        for result in op.results:
            if isinstance(result.type, TileType):
                tile = result.type
                yield VALUES, MemoryUse(tiles=1, bytes=tile.rows * tile.cols * (byte_width(tile.element) or 0))


def _memref_bytes(type_: Attribute) -> int:
    if not isinstance(type_, MemRefType):
        return 0
    size = byte_width(type_.element_type) or 0
    for extent in type_.get_shape():
        size *= max(extent, 0)
    return size


def _reserved(op: Operation, profile: Profile) -> Iterator[tuple[str, MemoryUse]]:
    size, location, base = (op.attributes.get(key) for key in ("size", "location", "base"))
    if isinstance(size, IntegerAttr) and isinstance(location, EnumAttr):
        bytes = size.value.data
        end = base.value.data + bytes if isinstance(base, IntegerAttr) else 0
        yield profile.space_aliases.get(location.value, location.value), MemoryUse(buffers=1, bytes=bytes, end=end)


# ------------------------------------------------------------ synchronisation


def _ends(op: Operation, kind: str) -> tuple[str, set[str]]:
    """Returns what an operation synchronises, and the numbers it uses for that."""
    words = [_word(op.attributes.get(key)) for key in ("src_pipe", "dst_pipe", "src_op", "dst_op", "pipe", "op_type")]
    known = [word for word in words if word]
    id_ = _word(op.attributes.get("event_id")) or _word(op.attributes.get("buf_id"))
    id_ = id_.removeprefix("EVENT_ID") or DYNAMIC_ID
    if kind == BARRIER:
        named = known or [_word(op.attributes.get(key)) for key in ("kind", "mem", "mode")]
        return next((word for word in named if word), op.name.removeprefix("pto.")), set()
    # The ends of a semaphore name different pipes, so that only its number says which belong together.
    return "cores" if kind == CORE else " -> ".join(known), {id_}


def _word(attr: Attribute | None) -> str:
    if isinstance(attr, EnumAttr):
        return attr.value
    if isinstance(attr, IntegerAttr):
        return str(attr.value.data)
    return attr.data if isinstance(attr, StringAttr) else ""


def _number(id_: str) -> tuple[int, str]:
    """Sorts numbers by value."""
    return (int(id_) if id_.isdecimal() else 1 << 30, id_)


def sorted_ids(entry: Synchronisation) -> list[str]:
    """Returns the numbers used, in order."""
    return sorted(entry.ids, key=_number)


def as_data(programs: Iterable[ModuleStatistics]) -> dict[str, Any]:
    """Returns the machine form: plain lists, dictionaries, strings and numbers."""
    return {"version": 1, "programs": [_program(program) for program in programs]}


def _program(program: ModuleStatistics) -> dict[str, Any]:
    return {
        "file": program.file,
        "target": program.target,
        "release": program.release,
        "capacity": program.capacity,
        "module": _entry(program.module),
        "functions": [{"name": each.function, **_entry(each)} for each in program.functions],
    }


def _entry(statistics: Statistics) -> dict[str, Any]:
    return {
        "operations": {
            "total": statistics.operations.total(),
            "families": {family: dict(counts.most_common()) for family, counts in statistics.families().items()},
        },
        "memory": {space: dict(vars(use)) for space, use in sorted(statistics.memory.items())},
        "sync": [
            {"kind": kind, "between": between, "ids": sorted_ids(entry), "first": entry.first, "second": entry.second}
            for (kind, between), entry in sorted(statistics.sync.items())
        ],
    }

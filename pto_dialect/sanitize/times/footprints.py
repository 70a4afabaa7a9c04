"""Footprints of instructions: the bytes that an instruction accesses, learned from its first execution.

An instruction whose accesses do not depend on contents accesses the same bytes whenever its operands are the same, and
bytes at the same distance from its global-memory operand where only that one has moved. Source:
docs/reference/cycles.md, "Times without contents".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import CodeType, FunctionType, MethodType
from typing import Any, NamedTuple

import numpy as np

from pto_dialect.analysis.cycles.work import Work
from pto_dialect.runtime.memory.atomic import AtomicMode
from pto_dialect.runtime.memory.memref import MemRef
from pto_dialect.runtime.memory.spaces import Pointer
from pto_dialect.runtime.memory.values import GmTensor, Tile
from pto_dialect.runtime.run.machine import Core

from ..state.arena import InstrumentedArena
from ..state.regions import Bytes, Elements, Region

Access = tuple[InstrumentedArena, Bytes, bool]
"""Memory, bytes, and whether they are written."""

_ALIGNMENT = 512
"""Instructions whose global-memory operands differ in the address modulo this have footprints of their own."""

_MOST = 1 << 16
"""Maximum number of footprints."""

_PLAIN = (int, float, bool, str, type(None), np.generic)
_GENERATED = "<pto "
"""Beginning of the file names of generated code."""


class Operands(NamedTuple):
    """What the accesses of an instruction depend on: ``key``, and the byte addresses of its operands in global
    memory, with these memories."""

    key: tuple[Any, ...]
    moving: tuple[tuple[InstrumentedArena, int], ...]


class Footprint:
    """The accesses of one execution of an instruction.

    ``anchors`` has for each access the number of the moving operand that it follows, -1 for none. ``parted`` states
    that the instruction has reported parts of itself, whose marks have no time.
    """

    __slots__ = ("accesses", "anchors", "events", "kept", "moving", "nbytes", "parted", "works")

    def __init__(self, operands: Operands, accesses: Sequence[Access], kept: Any) -> None:
        self.accesses = tuple(accesses)
        self.moving = operands.moving
        self.kept = kept
        self.nbytes = self.events = 0
        self.parted = False
        self.works: dict[int, Work] = {}
        self.anchors = tuple(self._anchor(arena) for arena, _, _ in accesses)

    def _anchor(self, arena: InstrumentedArena) -> int:
        numbers = [number for number, (own, _) in enumerate(self.moving) if own is arena]
        return numbers[0] if numbers else -1

    @property
    def is_clear(self) -> bool:
        """Returns whether each access follows one moving operand, or none."""
        arenas = [id(arena) for arena, _ in self.moving]
        return len(set(arenas)) == len(arenas)

    def at(self, moving: Sequence[tuple[InstrumentedArena, int]]) -> Sequence[Access] | None:
        """Returns the accesses with moving operands at other addresses; ``None`` where some leave their memory."""
        if all(new[1] == old[1] for new, old in zip(moving, self.moving, strict=True)):
            return self.accesses
        shifted: list[Access] = []
        for access, anchor in zip(self.accesses, self.anchors, strict=True):
            distance = moving[anchor][1] - self.moving[anchor][1] if anchor >= 0 else 0
            if distance:
                arena, region, writes = access
                region = shifted_region(region, distance)
                if region.offset < 0 or region.stop > arena.capacity:
                    return None
                access = arena, region, writes
            shifted.append(access)
        return shifted


def shifted_region(region: Bytes, distance: int) -> Bytes:
    """Returns the same bytes ``distance`` bytes further."""
    if isinstance(region, Elements):
        return Elements(region.starts + distance, region.item)
    return Region(region.offset + distance, region.run, region.dims)


class Footprints:
    """The footprints of the instructions of a run."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], Footprint | None] = {}

    def find(self, operands: Operands) -> Footprint | None:
        """Returns the footprint of an instruction, ``None`` where it is not known."""
        return self._known.get(operands.key)

    def is_refused(self, operands: Operands) -> bool:
        """Returns whether the instruction has to be executed each time."""
        return self._known.get(operands.key, self) is None

    def learn(self, operands: Operands, footprint: Footprint | None) -> None:
        """Stores a footprint, ``None`` for an instruction that has to be executed each time."""
        if len(self._known) < _MOST:
            if footprint is not None and not footprint.is_clear:
                # Only the same addresses give the same accesses.
                footprint = None
            self._known[operands.key] = footprint


def operands_of(action: Callable[..., Any], arguments: Sequence[Any]) -> Operands | None:
    """Returns what the accesses of an instruction depend on; ``None`` where that is not known."""
    moving: list[tuple[InstrumentedArena, int]] = []
    own = _action(action, moving)
    if own is None:
        return None
    key: list[Any] = [own]
    for argument in arguments:
        one = _key(argument, moving)
        if one is None:
            return None
        key.append(one)
    return Operands(tuple(key), tuple(moving))


def _action(action: Callable[..., Any], moving: list[tuple[InstrumentedArena, int]]) -> Any:
    """Returns the identity of an instruction: a prepared kernel, or a generated scope with what it captures."""
    if isinstance(action, MethodType):
        return id(action.__self__), id(action.__func__)
    if not isinstance(action, FunctionType):
        return id(action)
    code: CodeType = action.__code__
    if not code.co_filename.startswith(_GENERATED):
        return None if action.__closure__ else id(action)
    captured: list[Any] = [id(code)]
    cells = [cell.cell_contents for cell in action.__closure__ or ()]
    for value in (*(action.__defaults__ or ()), *cells):
        one = _key(value, moving)
        if one is None:
            return None
        captured.append(one)
    return tuple(captured)


def _key(value: Any, moving: list[tuple[InstrumentedArena, int]]) -> Any:
    kind = type(value)
    make = _KEYS.get(kind)
    if make is not None:
        return make(value, moving)
    if isinstance(value, _PLAIN):
        return kind, value
    if isinstance(value, Tile):
        return _tile(value, moving)
    if isinstance(value, Core):
        state = _state(value.state)
        return None if state is None else (id(value), state)
    return _state(value) if kind is dict else None


def _plain(value: Any, moving: list[tuple[InstrumentedArena, int]]) -> Any:
    return value.__class__, value


def _tile(tile: Tile, moving: list[tuple[InstrumentedArena, int]]) -> Any:
    pointer: Any = tile.pointer
    if type(pointer) is not Pointer:
        return None
    return (
        *(Tile, _pointer(pointer, moving), id(tile.layout), id(tile.fmt), tile.rows, tile.cols),
        *(tile.valid_rows, tile.valid_cols, tile.row0, tile.col0, tile.pad),
    )


def _tensor(view: GmTensor, moving: list[tuple[InstrumentedArena, int]]) -> Any:
    pointer: Any = view.pointer
    if type(pointer) is not Pointer:
        return None
    return GmTensor, _pointer(pointer, moving), view.shape, view.strides, id(view.fmt), view.layout


def _memref(value: MemRef, moving: list[tuple[InstrumentedArena, int]]) -> Any:
    tensor = _tensor(value, moving)
    return None if tensor is None else (MemRef, tensor, value.offset)


def _pointer(pointer: Pointer, moving: list[tuple[InstrumentedArena, int]]) -> Any:
    arena, offset = pointer.arena, pointer.offset
    if not isinstance(arena, InstrumentedArena):
        return None
    if arena.public:
        moving.append((arena, offset))
        offset %= _ALIGNMENT
    return id(arena), offset, pointer.dtype, pointer.item_bytes


def _several(values: Sequence[Any], moving: list[tuple[InstrumentedArena, int]]) -> Any:
    keys: list[Any] = []
    for value in values:
        one = _key(value, moving)
        if one is None:
            return None
        keys.append(one)
    return tuple(keys)


def _mode(mode: AtomicMode, moving: list[tuple[InstrumentedArena, int]]) -> Any:
    return AtomicMode, mode.element, mode.operation


def _state(state: Mapping[Any, Any]) -> Any:
    """Returns the control state of a core, ``None`` where its values cannot be compared. Ends of queues between cores,
    whose names are tuples, concern no instruction."""
    found: list[Any] = []
    for name, value in state.items():
        if type(name) is not tuple:
            if not isinstance(value, _PLAIN):
                return None
            found.append((name, value))
    return tuple(found)


_KEYS: dict[type, Callable[[Any, list[tuple[InstrumentedArena, int]]], Any]] = {
    **dict.fromkeys((int, float, bool, str, type(None)), _plain),
    **dict.fromkeys((tuple, list), _several),
    Tile: _tile,
    GmTensor: _tensor,
    MemRef: _memref,
    Pointer: _pointer,
    AtomicMode: _mode,
}

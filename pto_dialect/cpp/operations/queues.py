"""Queues of tiles between the cube core and the vector cores: ``TPipe``, ``TPUSH``, ``TPOP``, ``TFREE``.

Source: docs/reference/execution.md, "Queues between cores".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, NoReturn

from .addresses import as_address
from .statement import Named
from .tiles import Origin, identity, number_of, tile_of, tile_type

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..translate.interface import Call, Emitter, Group, Operand
    from .operands import Operands

_PIPE = "!pto.pipe"
_BOTH = 3
_THROUGH_MEMORY = 4
"""Bit of directions on a5 whose slots are in global memory."""
SPLITS = ("TILE_NO_SPLIT", "TILE_UP_DOWN", "TILE_LEFT_RIGHT", "TILE_UP_DOWN_ODD", "TILE_LEFT_RIGHT_ODD")


class _Queue(NamedTuple):
    """A queue of a call: what its type states, and its buffers."""

    flag: int
    direction: int
    slot_size: int
    slots: int
    local_slots: int
    is_whole: bool
    memory: Operand
    to_vector: Operand
    to_cube: Operand

    @property
    def key(self) -> str:
        """What the queue of a push or pop has in common with its definition."""
        buffers = (identity(one) for one in (self.to_vector, self.to_cube))
        return f"queue {self[:6]} {list(buffers)}"


def _queue(group: Group) -> _Queue:
    flag, direction, slot_size, slots, local_slots, whole, *_ = (int(one) for one in group.fields)
    memory, to_vector, to_cube = group.operands[:3]
    return _Queue(flag, direction, slot_size, slots, local_slots, bool(whole), memory, to_vector, to_cube)


def define_queue(call: Call, emitter: Emitter, known: Operands) -> None:
    """Emits the definition of a queue: the constructor of ``TPipe``."""
    queue = _queue(call.groups[0])
    direction, through_memory = queue.direction, emitter.target == "a2a3"
    if direction > _THROUGH_MEMORY:
        if emitter.target != "a5":
            emitter.fail("a TPipe whose direction ends with _GM is one of a5", "compile for it: --target a5")
        direction, through_memory = direction - _THROUGH_MEMORY, True
    if not 0 < direction <= _BOTH:
        emitter.fail("a TPipe for control words has no counterpart in .pto")
    buffers = {1: [queue.to_vector], 2: [queue.to_cube], _BOTH: [queue.to_vector, queue.to_cube]}[direction]
    values = [Named(emitter.cast(one, "i32"), "i32") for one in buffers]
    fields = [f"dir_mask = {direction}", f"slot_size = {queue.slot_size}", f"slot_num = {queue.slots}"]
    name = "initialize_l2l_pipe"
    if through_memory:
        name = "initialize_l2g2l_pipe"
        values.insert(0, Named(emitter.pointer(queue.memory, "ui8"), "!pto.ptr<ui8, gm>"))
        fields.append(f"local_slot_num = {min(queue.local_slots, queue.slots)}")
    fields += [f"flag_base = {queue.flag}", f"nosplit = {'true' if queue.is_whole else 'false'}"]
    listed = ", ".join(f"{one.name} : {one.type}" for one in values)
    text = f"pto.{name} {{{', '.join(fields)}}}({listed}) -> {_PIPE}"
    emitter.state[queue.key] = emitter.define(text, call.label or "pipe")


def _handle(call: Call, emitter: Emitter) -> tuple[_Queue, str]:
    group = next((one for one in call.groups if one.kind == "pipe"), None)
    if group is None:
        emitter.fail(f"{call.name} of an entry in global memory has no counterpart in .pto")
    queue = _queue(group)
    name = emitter.state.get(queue.key)
    if not isinstance(name, str):
        emitter.fail(f"the TPipe of {call.name} is not defined in this kernel")
    return queue, name


def _split(call: Call, queue: _Queue) -> int:
    whole = queue.is_whole or "layout" in call.modes
    default = "TILE_NO_SPLIT" if whole else "TILE_UP_DOWN"
    return SPLITS.index(call.modes.get("split", default))


def _push(call: Call, emitter: Emitter, known: Operands) -> None:
    queue, name = _handle(call, emitter)
    if any(call.modes.get(mode, "NoRelu") != "NoRelu" for mode in ("quant", "relu")):
        emitter.fail("TPUSH with quantisation or relu is not translated", "convert the tile after TPOP")
    tile = known.value(tile_of(_tile_group(call, emitter), emitter), call)
    text = f"pto.tpush({tile.name}, {name} : {tile.type}, {_PIPE}) {{split = {_split(call, queue)}}}"
    emitter.emit(text + _core(call, emitter))


def _free(call: Call, emitter: Emitter, known: Operands) -> None:
    queue, name = _handle(call, emitter)
    if any(group.kind == "global" for group in call.groups):
        _refuse(call, emitter)
    emitter.emit(f"pto.tfree({name} : {_PIPE}) {{split = {_split(call, queue)}}}")


def pop(call: Call, emitter: Emitter, known: Operands) -> Origin:
    """Emits ``TPOP``, which gives a tile the address of a slot."""
    queue, name = _handle(call, emitter)
    tile = tile_of(_tile_group(call, emitter), emitter)
    row, col = (number_of(size) for size in tile.valid)
    if row is None or col is None:
        # The valid sizes determine where the part of a core begins, which the dialect takes from the type.
        emitter.fail("TPOP of a tile whose valid sizes are not constant is not translated", "write them in the type")
    tile = tile._replace(valid=(row, col))
    type_ = tile_type(tile, emitter)
    value = Named(emitter.define(f"pto.declare_tile -> {type_}", call.label or "tile"), type_)
    text = f"pto.tpop({value.name}, {name} : {type_}, {_PIPE}) {{split = {_split(call, queue)}}}"
    emitter.emit(text + _core(call, emitter))
    known.handles.define(as_address(tile, call), value, call)
    return Origin(value, tile)


def _core(call: Call, emitter: Emitter) -> str:
    """Returns the clause with the vector core that a call states."""
    number = next((group.operands[0] for group in call.groups if group.kind == "scalar"), None)
    return "" if number is None else f" aiv_subblockid({emitter.cast(number, 'i64')})"


def _tile_group(call: Call, emitter: Emitter) -> Group:
    group = next((one for one in call.groups if one.kind == "tile"), None)
    return group if group is not None else _refuse(call, emitter)


def _refuse(call: Call, emitter: Emitter) -> NoReturn:
    emitter.fail(f"{call.name} of an entry in global memory is not translated", "push and pop tiles")


QUEUE_CALLS: dict[str, Callable[[Call, Emitter, Operands], None]] = {
    "TPipe": define_queue,
    "TPUSH": _push,
    "TFREE": _free,
}
"""Functions of queues without a result."""

__all__ = ["QUEUE_CALLS", "SPLITS", "define_queue", "pop"]

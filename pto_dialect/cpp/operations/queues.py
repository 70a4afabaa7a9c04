"""Queues between the cube core and the vector cores: ``TPipe``, ``TALLOC``, ``TPUSH``, ``TPOP``, ``TFREE``.

A queue has a handle, or a number where its pushes convert or its pops state valid sizes (``numbered_queues``). A tensor
that a queue gives its address is an entry in global memory. Its handle is declared once for each queue and
type of tensor, and each ``TALLOC`` or ``TPOP`` binds it again; transfers use the pointer that they return.

Source: docs/reference/execution.md, "Queues between cores".
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from .addresses import as_address
from .numbered_queues import (
    NumberedQueue,
    define_numbered,
    free_numbered,
    numbered,
    pop_numbered,
    push_numbered,
    set_scale,
)
from .statement import Named
from .tensors import Tensor, tensor_of, view_type
from .tiles import DYNAMIC, Origin, identity, number_of, tile_of, tile_type

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
    entry = emitter.entry_of(call.groups[0]) if through_memory else None
    # Entries in global memory have no slots in local memory.
    values = [] if entry is not None else [Named(emitter.cast(one, "i32"), "i32") for one in buffers]
    memory = identity(queue.memory)
    if emitter.state.setdefault(f"memory of {queue.key}", memory) != memory:
        emitter.fail("another TPipe of this type has other memory, and shares its flags", "give each flags of its own")
    pushes = emitter.numbered_queues.get(call.groups[0].descriptor)
    if pushes is not None:
        _define_by_number(queue, direction, through_memory, sorted(pushes), emitter)
        return
    fields = [f"dir_mask = {direction}", f"slot_size = {queue.slot_size}", f"slot_num = {queue.slots}"]
    name = "initialize_l2l_pipe"
    if through_memory:
        name = "initialize_l2g2l_pipe"
        if entry is None:
            values.insert(0, Named(emitter.pointer(queue.memory, "ui8"), "!pto.ptr<ui8, gm>"))
            fields.append(f"local_slot_num = {min(queue.local_slots, queue.slots)}")
        else:
            values.append(_first_slot(queue, entry, call, emitter, known))
    fields += [f"flag_base = {queue.flag}", f"nosplit = {'true' if queue.is_whole else 'false'}"]
    listed = ", ".join(f"{one.name} : {one.type}" for one in values)
    text = f"pto.{name} {{{', '.join(fields)}}}({listed}) -> {_PIPE}"
    emitter.state[queue.key] = emitter.define(text, call.label or "pipe")


def _define_by_number(queue: _Queue, direction: int, through_memory: bool, pushes: list[str], emitter: Emitter) -> None:
    fields = {"dir_mask": str(direction), "slot_size": str(queue.slot_size), "slot_num": str(queue.slots)}
    buffers: dict[str, Named] = {}
    if through_memory:
        if emitter.target != "a2a3":
            emitter.fail("a TPipe in global memory with such tiles is not translated for a5", "use local memory")
        fields["local_slot_num"] = str(min(queue.local_slots, queue.slots))
        buffers["gm_slot_buffer"] = Named(emitter.pointer(queue.memory, "ui8"), "!pto.ptr<ui8, gm>")
    for bit, name, buffer in ((1, "c2v", queue.to_vector), (2, "v2c", queue.to_cube)):
        if direction & bit:
            buffers[f"{name}_consumer_buf"] = Named(emitter.cast(buffer, "i32"), "i32")
    fields["nosplit"] = "true" if queue.is_whole else "false"
    if queue.key not in emitter.state:
        emitter.state[queue.key] = define_numbered(numbered(queue.flag, pushes, emitter), fields, buffers, emitter)


def _first_slot(queue: _Queue, entry: Group, call: Call, emitter: Emitter, known: Operands) -> Named:
    """Returns a view of the first slot, with the shape of the entries."""
    element, _, shape = entry.fields[:3]
    sizes = tuple(int(size) for size in shape.split("x"))
    if DYNAMIC in sizes:
        emitter.fail("an entry of a queue whose sizes are not constant is not translated", "write them in the type")
    strides = tuple(prod(sizes[axis + 1 :]) for axis in range(len(sizes)))
    return known.tensors.whole(Tensor(element, "ND", queue.memory, sizes, strides), call)


def _handle(call: Call, emitter: Emitter) -> tuple[_Queue, str | NumberedQueue]:
    """Returns a queue, and its handle or number."""
    queue = _queue(next(one for one in call.groups if one.kind == "pipe"))
    name = emitter.state.get(queue.key)
    if not isinstance(name, str | NumberedQueue):
        emitter.fail(f"the TPipe of {call.name} is not defined in this kernel")
    return queue, name


def _split(call: Call, queue: _Queue) -> int:
    whole = queue.is_whole or "layout" in call.modes
    default = "TILE_NO_SPLIT" if whole else "TILE_UP_DOWN"
    return SPLITS.index(call.modes.get("split", default))


def _entry(call: Call, queue: _Queue, emitter: Emitter) -> Named | None:
    """Returns the handle of an entry in global memory: one for each queue and type; ``None`` if a tile is moved."""
    group = next((one for one in call.groups if one.kind == "global"), None)
    if group is None:
        return None
    if emitter.target == "a5" and queue.direction <= _THROUGH_MEMORY:
        emitter.fail(f"{call.name} of a tensor needs a queue in global memory", "end the direction of TPipe with _GM")
    type_ = view_type(tensor_of(group, emitter))
    key = f"entry {queue.key} {type_}"
    name = emitter.state.get(key)
    if not isinstance(name, str):
        emitter.state[key] = name = emitter.head(f"pto.declare_global -> {type_}", "entry")
    return Named(name, type_)


def bind_entry(call: Call, emitter: Emitter, known: Operands) -> str:
    """Emits ``TALLOC`` and ``TPOP`` of an entry in global memory, and returns the pointer to the entry."""
    queue, name = _handle(call, emitter)
    entry = _entry(call, queue, emitter)
    assert entry is not None
    if not isinstance(name, str):
        _refuse_entry(call, emitter)
    operation = "talloc" if call.name == "TALLOC" else "tpop"
    emitter.emit(f"pto.{operation}({entry.name}, {name} : {entry.type}, {_PIPE}) {{split = {_split(call, queue)}}}")
    element = entry.type.rpartition("x")[2].removesuffix(">")
    pointer = emitter.define(f"pto.tensor_view_addr {entry.name} : {entry.type} -> !pto.ptr<{element}>", "slot")
    wanted = emitter.element(call)
    if wanted == element:
        return pointer
    return emitter.define(f"pto.castptr {pointer} : !pto.ptr<{element}> -> !pto.ptr<{wanted}>", "slot")


def _refuse_entry(call: Call, emitter: Emitter) -> NoReturn:
    emitter.fail(
        f"{call.name} of a tensor in a queue that converts, or whose tiles have open sizes, is not translated",
        "move either tensors or tiles",
    )


def _push(call: Call, emitter: Emitter, known: Operands) -> None:
    queue, name = _handle(call, emitter)
    entry = _entry(call, queue, emitter)
    if entry is not None:
        if not isinstance(name, str):
            _refuse_entry(call, emitter)
        emitter.emit(f"pto.tpush({entry.name}, {name} : {entry.type}, {_PIPE}) {{split = {_split(call, queue)}}}")
        return
    tile = known.value(tile_of(_tile_group(call), emitter), call)
    if not isinstance(name, str):
        push_numbered(name, tile, _split(call, queue), _core(call, emitter), emitter)
        return
    text = f"pto.tpush({tile.name}, {name} : {tile.type}, {_PIPE}) {{split = {_split(call, queue)}}}"
    emitter.emit(text + _core(call, emitter))


def _free(call: Call, emitter: Emitter, known: Operands) -> None:
    queue, name = _handle(call, emitter)
    entry = _entry(call, queue, emitter)
    if not isinstance(name, str):
        if entry is not None:
            _refuse_entry(call, emitter)
        free_numbered(name, _split(call, queue), emitter)
        return
    operands = f"{name} : {_PIPE}" if entry is None else f"{entry.name}, {name} : {entry.type}, {_PIPE}"
    emitter.emit(f"pto.tfree({operands}) {{split = {_split(call, queue)}}}")


def pop(call: Call, emitter: Emitter, known: Operands) -> Origin:
    """Emits ``TPOP``, which gives a tile the address of a slot."""
    queue, name = _handle(call, emitter)
    tile = tile_of(_tile_group(call), emitter)
    if not isinstance(name, str):
        tile = tile.with_known_sizes()
        type_, split = tile_type(tile, emitter), _split(call, queue)
        value = pop_numbered(name, type_, tile.valid, split, _core(call, emitter), call.label, emitter)
        known.handles.define(as_address(tile, call), value, call)
        return Origin(value, tile)
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


def _tile_group(call: Call) -> Group:
    return next(one for one in call.groups if one.kind == "tile")


QUEUE_CALLS: dict[str, Callable[[Call, Emitter, Operands], None]] = {
    "TPipe": define_queue,
    "TPUSH": _push,
    "TFREE": _free,
    "SET_QUANT_SCALAR": set_scale,
    "SET_QUANT_VECTOR": set_scale,
}
"""Functions of queues without a result."""

__all__ = ["QUEUE_CALLS", "SPLITS", "bind_entry", "define_queue", "pop"]

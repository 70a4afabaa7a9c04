"""Queues of tiles between the cube core and the vector cores. Source: docs/reference/execution.md, "Queues between
cores".
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from pto_dialect.analysis.queues import (
    CORE_INITS,
    HANDLE_INITS,
    direction_mask,
    nosplit,
    peer_function,
    queue_id,
    slot_count,
    string_attribute,
    uses_global_memory,
)
from pto_dialect.ir.core import types as t

from ..operations.queues import SPLITS
from .buffers import declare_tensor, declare_tile, groups_of, number_of
from .errors import fail
from .expression import Expr, cast, integer
from .writer import View, Writer, emits

if TYPE_CHECKING:
    from xdsl.ir import Operation, SSAValue

_DIRECTIONS = {1: "DIR_C2V", 2: "DIR_V2C", 3: "DIR_BOTH"}
_BOTH = 3
_FLAGS = {1: 2, 2: 2, _BOTH: 4}
"""Flags that a queue takes, by its directions."""
_LOCAL_SLOTS = 2


def _buffers(op: Operation, w: Writer) -> tuple[Expr | None, list[Expr]]:
    """Returns the slots in global memory, and the buffers of the vector and the cube core."""
    groups = groups_of(op)
    if groups.get("gm_slot_tensor"):
        fail(op, "a queue whose slots are a view has no form in C++", "give it the pointer: gm_slot_buffer")
    memory = next((_start(groups[name][0], op, w) for name in ("gm_slot_buffer", "gm_addr") if groups.get(name)), None)
    mask = direction_mask(op)
    if op.name in CORE_INITS:
        names = ("c2v_consumer_buf", "v2c_consumer_buf")
        return memory, [w.get(groups[name][0], op) if groups[name] else integer(0) for name in names]
    stated = [w.get(groups[name][0], op) for name in ("local_addr", "peer_local_addr") if groups[name]]
    found = {1: stated, 2: [integer(0), *stated], _BOTH: stated}[mask]
    return memory, [*found, integer(0), integer(0)][:2]


def _start(value: SSAValue, op: Operation, w: Writer) -> Expr:
    """Returns the address of the slots in global memory."""
    return w.view(value, op).base if isinstance(value.type, t.TensorViewType) else w.get(value, op)


@emits(*CORE_INITS, *HANDLE_INITS)
def emit_queue(op: Operation, w: Writer) -> None:
    """One end of a queue."""
    mask = direction_mask(op)
    if mask not in _DIRECTIONS:
        fail(op, f"a queue with dir_mask {mask} has no form in C++")
    memory, buffers = _buffers(op, w)
    through_memory = w.shared.target == "a5" and uses_global_memory(op, w.shared.target)
    direction = f"Direction::{_DIRECTIONS[mask]}{'_GM' if through_memory else ''}"
    flag = number_of(op.attributes.get("flag_base"))
    if flag is None:
        flag = w.flags
    w.flags = max(w.flags, flag + _FLAGS[mask])
    size, slots = number_of(op.attributes["slot_size"]), slot_count(op)
    local = number_of(op.attributes.get("local_slot_num")) or min(_LOCAL_SLOTS, slots)
    whole = nosplit(op)
    if whole is None:
        whole = not _is_split(op, w)
    text = f"TPipe<{flag}, {direction}, {size}, {slots}, {local}, {'true' if whole else 'false'}>"
    alias = w.shared.aliases.queue(text)
    name = w.names.fresh(op.results[0].name_hint or "queue" if op.results else "queue")
    slots_in_memory = "(__gm__ void *)nullptr" if memory is None else f"(__gm__ void *){memory.at(8)}"
    w.line(f"{alias} {name}({slots_in_memory}, {', '.join(one.text for one in buffers)});")
    w.queues["" if op.results else queue_id(op)] = (name, alias)
    if op.results:
        w.bind(op.results[0], Expr(name))


def _is_split(op: Operation, w: Writer) -> bool:
    """Returns whether a transfer of the function splits its entries."""
    function: Operation = op
    while (parent := function.parent_op()) is not None and parent.name != "builtin.module":
        function = parent
    return any(number_of(one.attributes.get("split")) for one in function.walk())


def _queue(op: Operation, w: Writer) -> tuple[str, str]:
    """Returns the name of the queue of a transfer, and a text for its type."""
    handle = groups_of(op).get("pipe_handle", ())
    if handle:
        name = w.get(handle[0], op).text
        return name, f"decltype({name})"
    known = w.queues.get(queue_id(op))
    if known is None:
        fail(op, f"the queue {queue_id(op)} is not initialised in this function, so it has no form in C++")
    return known


def _split(op: Operation) -> str:
    number = number_of(op.attributes.get("split")) or 0
    return f"TileSplitAxis::{SPLITS[number]}"


def _core(op: Operation, w: Writer) -> str:
    stated = groups_of(op).get("aiv_subblockid", ())
    return f", {cast('int32_t', w.get(stated[0], op)).text}" if stated else ""


def _transfer(function: str, op: Operation, moved: SSAValue, w: Writer) -> None:
    name, type_ = _queue(op, w)
    moved_name = w.get(moved, op).text
    w.line(f"{function}<{type_}, decltype({moved_name}), {_split(op)}>({name}, {moved_name}{_core(op, w)});")


@emits("pto.tpush", "pto.tpush_to_aic", "pto.tpush_to_aiv")
def emit_push(op: Operation, w: Writer) -> None:
    """Stores a tile in a queue."""
    _transfer("TPUSH", op, groups_of(op)["tile"][0], w)


@emits("pto.declare_tile")
def emit_declaration(op: Operation, w: Writer) -> None:
    """A tile that a queue gives its address."""
    declare_tile(op, w, None, None)


@emits("pto.declare_global")
def emit_entry(op: Operation, w: Writer) -> None:
    """A tensor in global memory that a queue gives its address."""
    entry = op.results[0]
    assert isinstance(entry.type, t.TensorViewType)
    shape = entry.type.shape
    if t.DYNAMIC in shape:
        fail(op, "an entry with sizes that are not constant has no form in C++")
    sizes = tuple(integer(size) for size in shape)
    strides = tuple(integer(prod(shape[axis + 1 :])) for axis in range(len(shape)))
    view = View(Expr("nullptr"), sizes, strides, "nd", entry.type.element)
    declare_tensor(op, view, w)
    w.parts[entry] = view._replace(base=Expr(f"{w.get(entry, op).text}.data()"))


@emits("pto.talloc")
def emit_allocation(op: Operation, w: Writer) -> None:
    """Gives an entry in global memory the address of a free slot."""
    _transfer("TALLOC", op, groups_of(op)["entry"][0], w)


@emits("pto.tpop")
def emit_pop(op: Operation, w: Writer) -> None:
    """Takes a tile out of a queue."""
    _transfer("TPOP", op, groups_of(op)["tile"][0], w)


@emits("pto.tpop_from_aic", "pto.tpop_from_aiv")
def emit_numbered_pop(op: Operation, w: Writer) -> None:
    """Takes a tile out of a queue that is known by its number."""
    groups = groups_of(op)
    if not isinstance(op.results[0].type, t.TileBufType):
        fail(op, f"{op.name} of an entry in global memory has no form in C++", "push and pop tiles")
    row, col = (w.get(groups[name][0], op) if groups[name] else None for name in ("valid_row", "valid_col"))
    declare_tile(op, w, row, col)
    _transfer("TPOP", op, op.results[0], w)


@emits("pto.tfree", "pto.tfree_from_aic", "pto.tfree_from_aiv")
def emit_release(op: Operation, w: Writer) -> None:
    """Gives a slot back."""
    entry = groups_of(op).get("entry", ())
    if entry:
        _transfer("TFREE", op, entry[0], w)
        return
    name, type_ = _queue(op, w)
    w.line(f"TFREE<{type_}, {_split(op)}>({name});")


@emits("pto.reserve_buffer")
def emit_reservation(op: Operation, w: Writer) -> None:
    """The address of the slots of a queue."""
    base = number_of(op.attributes.get("base"))
    if base is None:
        fail(op, "this buffer has no address", "run -p assign-memory first")
    w.bind(op.results[0], Expr(hex(base), number=base))


@emits("pto.import_reserved_buffer")
def emit_import(op: Operation, w: Writer) -> None:
    """The address of a buffer that the function of the other core reserves."""
    peer = peer_function(op)
    name = string_attribute(op, "name")
    for one in peer.walk() if peer is not None else ():
        if one.name == "pto.reserve_buffer" and string_attribute(one, "name") == name:
            base = number_of(one.attributes.get("base"))
            if base is not None:
                w.bind(op.results[0], Expr(hex(base), number=base))
                return
    fail(op, f"the buffer {name} has no address", "run -p assign-memory first, with both functions in one module")


__all__: list[str] = []

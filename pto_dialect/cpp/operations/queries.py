"""Calls with a result: where a kernel runs, elements of tiles, numbers of events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .calls import number, translate_operation
from .queues import bind_entry
from .statement import Named, group
from .tiles import tile_of
from .transfers import TRANSFERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..translate.interface import Call, Emitter
    from .operands import Operands

MACHINE = {
    "block_idx": "pto.get_block_idx",
    "block_num": "pto.get_block_num",
    "subblock_idx": "pto.get_subblock_idx",
    "subblock_num": "pto.get_subblock_num",
}
"""Facts about the launch, which are i64."""
_EVENTS = 8
_LISTS = 4


def translate_query(call: Call, emitter: Emitter, known: Operands) -> str:
    """Emits what gives the result of a call, and returns its name."""
    if call.name in MACHINE:
        return _as_result(emitter.define(MACHINE[call.name], call.name), "i64", call, emitter)
    translate = QUERIES.get(call.name)
    if translate is not None:
        return translate(call, emitter, known)
    result = translate_operation(call, emitter, known)
    if result is None:
        emitter.fail(f"{call.name} has no result in .pto")
    return _as_result(*result, call, emitter)


def _as_result(name: str, type_: str, call: Call, emitter: Emitter) -> str:
    wanted = _RESULTS.get(call.result or "", type_)
    if wanted == type_:
        return name
    if not (type_.startswith("i") and wanted.startswith("i")):
        emitter.fail(f"the result of {call.name} is {wanted}, found {type_}")
    cast = "trunci" if int(wanted[1:]) < int(type_[1:]) else "extui" if type_ == "i1" else "extsi"
    return emitter.define(f"arith.{cast} {name} : {type_} to {wanted}")


_RESULTS = {
    "half": "f16",
    "bfloat": "bf16",
    "float": "f32",
    "double": "f64",
    **{f"i{n}": f"i{n}" for n in (1, 8, 16, 32, 64)},
}
"""Types of results as the dialect spells them."""


def _element(call: Call, emitter: Emitter, known: Operands) -> str:
    """Returns ``tile.GetValue(offset)``."""
    tile = tile_of(call.groups[0], emitter)
    handle = known.value(tile, call)
    offset = emitter.cast(call.groups[1].operands[0], "index")
    type_ = tile.element.removeprefix("u")
    name = emitter.define(f"pto.tgetval ins({handle.name}, {offset} : {handle.type}, index) outs : {type_}", "value")
    return _as_result(name, type_, call, emitter)


def _event(call: Call, emitter: Emitter, known: Operands) -> str:
    """Returns the flag id of an event: the events of a pair of pipes take the ids one after the other."""
    pair = ("event", *(one.value for one in call.operands))
    used = emitter.state.get(str(pair), 0)
    assert isinstance(used, int)
    emitter.state[str(pair)] = used + 1
    return emitter.constant(used % _EVENTS, _RESULTS[call.result or "i32"])


def _unset(call: Call, emitter: Emitter, known: Operands) -> str:
    """Returns the value of a variable that nothing has set: an element of a local array that nothing sets."""
    type_ = _RESULTS[call.result or "i32"]
    array = emitter.define(f"pto.declare_local_array -> !pto.local_array<1x{type_}>", call.modes["variable"])
    first = emitter.constant(0, "index")
    return emitter.define(f"pto.local_array_get {array}[{first}] : !pto.local_array<1x{type_}> -> {type_}", "unset")


def set_element(call: Call, emitter: Emitter, known: Operands) -> None:
    """Emits ``tile.SetValue(offset, value)``."""
    tile = tile_of(call.groups[0], emitter)
    handle = known.value(tile, call)
    offset = emitter.cast(call.groups[1].operands[0], "index")
    value = number(call.groups[2].operands[0], tile.element.removeprefix("u"), emitter)
    operands = group([Named(offset, "index"), value])
    emitter.emit(f"pto.tsetval ins({operands}) outs({group([handle])})")


def _control(call: Call, emitter: Emitter, known: Operands) -> str:
    return _as_result(emitter.define("pto.get_ctrl : i64", "ctrl"), "i64", call, emitter)


def _merged(call: Call, emitter: Emitter, known: Operands) -> str:
    """Returns the records that the last merge took from each of four lists, the first in the lowest 16 bits."""
    counts = [emitter.fresh("taken") for _ in range(_LISTS)]
    emitter.emit(f"{', '.join(counts)} = pto.get_vms4_sr : {', '.join(['i16'] * _LISTS)}")
    packed = ""
    for position, count in enumerate(counts):
        wide = emitter.define(f"arith.extui {count} : i16 to i64", "wide")
        if position:
            wide = emitter.define(f"arith.shli {wide}, {emitter.constant(16 * position, 'i64')} : i64", "wide")
        packed = emitter.define(f"arith.ori {packed}, {wide} : i64", "packed") if packed else wide
    return _as_result(packed, "i64", call, emitter)


QUERIES: dict[str, Callable[[Call, Emitter, Operands], str]] = {
    "GetValue": _element,
    "TALLOC": bind_entry,
    "TPOP": bind_entry,
    "event_id": _event,
    "get_ctrl": _control,
    "get_vms4_sr": _merged,
    "unset": _unset,
    **TRANSFERS,
}

__all__ = ["MACHINE", "set_element", "translate_query"]

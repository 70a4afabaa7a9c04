"""Asynchronous transfers between ranks: sessions, transfers, and the events that say that they have ended.

A session and an event of C++ are numbers, which identify the values of the dialect that they are. An event that is not
waited for in the block where its transfer begins is waited for there at once.
Source: docs/reference/execution.md, "Communication".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pto_dialect.ir.core.registry import op_class

from .statement import Named, dictionary, group
from .tensors import Tensor, tensor_of
from .tiles import number_of, tile_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..translate.interface import Call, Emitter, Operand
    from .operands import Operands

_SESSION, _EVENT = "!pto.async_session", "!pto.async_event"
_SETTINGS = ("sync_id", "block_bytes", "comm_block_offset", "queue_num", "channel_group_idx")
_ANY_CHANNEL = 0xFFFFFFFF
_TRANSFERS = {"TPUT_ASYNC": "pto.comm.tput_async", "TGET_ASYNC": "pto.comm.tget_async"}


def _keep(value: Named, call: Call, emitter: Emitter) -> str:
    """Returns the number of a value, which is not 0."""
    number = emitter.state.get("transfers", 0)
    assert isinstance(number, int)
    emitter.state["transfers"] = number + 1
    emitter.state[f"transfer {number + 1}"] = (value, call)
    return emitter.constant(number + 1, "i64")


def _kept(operand: Operand, type_: str, emitter: Emitter) -> Named | None:
    """Returns the value with a number; nothing where the number is not constant."""
    found = emitter.state.get(f"transfer {operand.value}")
    if isinstance(found, tuple) and found[0].type == type_ and emitter.is_visible(found[1]):
        return found[0]
    return None


def _session_of(operand: Operand, emitter: Emitter) -> Named:
    found = _kept(operand, _SESSION, emitter)
    if found is None:
        emitter.fail("the session is chosen at run time", "build the session in the function that uses it")
    return found


def _session(call: Call, emitter: Emitter, known: Operands) -> str:
    """``BuildAsyncSession``: settings that are constant are attributes; the others only choose channels."""
    if len(call.groups) != len(_SETTINGS) + 2:
        emitter.fail("BuildAsyncSession without a scratch tile has no counterpart in .pto")
    scratch = known.value(tile_of(call.groups[0], emitter), call)
    workspace = Named(emitter.pointer(call.groups[1].operands[0], "ui8"), "!pto.ptr<ui8, gm>")
    attributes: dict[str, str] = {}
    for name, setting in zip(_SETTINGS, call.groups[2:], strict=True):
        value = setting.operands[0].value
        if isinstance(value, int) and value not in (-1, _ANY_CHANNEL):
            kind = "i32" if name in ("sync_id", "queue_num", "channel_group_idx") else "i64"
            attributes[name] = f"{value} : {kind}"
    text = f"pto.comm.build_async_session({group([scratch, workspace])}){dictionary(attributes)} -> {_SESSION}"
    return _keep(Named(emitter.define(text, "session"), _SESSION), call, emitter)


def _transfer(call: Call, emitter: Emitter, known: Operands) -> str:
    destination, source, session, *rest = call.groups
    if rest or session.kind != "session" or not session.operands:
        emitter.fail(f"{call.name} with a peer has no counterpart in .pto")
    tensors = [known.value(_with_known_sizes(tensor_of(one, emitter)), call) for one in (destination, source)]
    owner = _session_of(session.operands[0], emitter)
    text = f"{op_class(_TRANSFERS[call.name]).name}({group([*tensors, owner])}) -> {_EVENT}"
    event = Named(emitter.define(text, "event"), _EVENT)
    if not any(user.name.startswith("AsyncEvent.") for user, _ in emitter.users(call)):
        # The event leaves its block, for example as the last one of a loop.
        emitter.define(f"pto.comm.wait_async_event({group([event, owner])}) -> i1", "done")
    return _keep(event, call, emitter)


def _with_known_sizes(tensor: Tensor) -> Tensor:
    """Returns a tensor whose type states the sizes that are constant."""
    return tensor._replace(
        sizes=tuple(size if (number := number_of(size)) is None else number for size in tensor.sizes)
    )


def _ended(word: str) -> Callable[[Call, Emitter, Operands], str]:
    def emit(call: Call, emitter: Emitter, known: Operands) -> str:
        session, handle = call.groups
        event, owner = _kept(handle.operands[0], _EVENT, emitter), _session_of(session.operands[0], emitter)
        if event is None:
            return emitter.constant(1, "i1")
        return emitter.define(f"pto.comm.{word}_async_event({group([event, owner])}) -> i1", "done")

    return emit


TRANSFERS: dict[str, Callable[[Call, Emitter, Operands], str]] = {
    "BuildAsyncSession": _session,
    **dict.fromkeys(_TRANSFERS, _transfer),
    "AsyncEvent.Wait": _ended("wait"),
    "AsyncEvent.Test": _ended("test"),
}
"""Calls with a result."""

__all__ = ["TRANSFERS"]

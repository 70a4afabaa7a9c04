"""Asynchronous transfers between ranks, and the events that say that they have ended.

An event of C++ is a number, which identifies the value of the dialect that it is. An event that leaves the block where
its transfer begins is waited for there at once; one that nothing uses is not waited for. A transfer of as many elements
as a value says becomes transfers of constant numbers of them, which the dialect has alone.
Source: docs/reference/execution.md, "Communication".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pto_dialect.ir.core.registry import op_class

from .sessions import build_session, choices_of, context_at, prepare, session_at, value_of
from .statement import Named, group
from .tensors import Tensor, tensor_of
from .tiles import index_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..translate.interface import Call, Emitter, Operand
    from .operands import Operands

_EVENT = "!pto.async_event"
_TRANSFERS = {"TPUT_ASYNC": "pto.comm.tput_async", "TGET_ASYNC": "pto.comm.tget_async"}
_BLOCKS = (4096, 64, 1)
"""Elements of the transfers that a transfer of an open number of elements becomes, one loop for each."""


def _keep(event: Named, call: Call, emitter: Emitter) -> str:
    """Returns the number of an event, which is not 0."""
    number = emitter.state.get("transfers", 0)
    assert isinstance(number, int)
    emitter.state["transfers"] = number + 1
    emitter.state[f"transfer {number + 1}"] = (event, call)
    return emitter.constant(number + 1, "i64")


def _kept(operand: Operand, emitter: Emitter) -> Named | None:
    """Returns the event with a number; nothing where the number is not constant, or the event has ended."""
    found = emitter.state.get(f"transfer {operand.value}")
    if isinstance(found, tuple) and emitter.is_visible(found[1]):
        return found[0]
    return None


def _transfer(call: Call, emitter: Emitter, known: Operands) -> str:
    """Returns ``TPUT_ASYNC`` and ``TGET_ASYNC``; the rank of the other side only chooses a channel."""
    destination, source, session, *_ = call.groups
    number = session.operands[0]
    tensors = [tensor_of(one, emitter).with_known_sizes() for one in (destination, source)]
    owner = session_at(number, call, emitter, known)
    if owner is not None:
        return _moved(tensors, owner, call, emitter, known)
    _prepare(tensors, call, known)
    choices = choices_of(number, emitter)
    for choice in choices:
        prepare(choice.session, call, emitter, known)
    for choice in choices:
        with emitter.when(choice.condition):
            chosen = value_of(choice.session, call, emitter, known)
            _move(tensors, chosen, call, emitter, known)
    return _ended_at_once(emitter)


def _moved(tensors: list[Tensor], owner: Named, call: Call, emitter: Emitter, known: Operands) -> str:
    if not all(_is_constant(one) for one in tensors):
        _move(tensors, owner, call, emitter, known)
        return _ended_at_once(emitter)
    event = _begun([known.value(one, call) for one in tensors], owner, call, emitter)
    if not any(user.name.startswith("AsyncEvent.") for user, _ in emitter.users(call)):
        # The event leaves its block, for example as the last one of a loop.
        _wait(event, owner, call, emitter)
    return _keep(event, call, emitter)


def _prepare(tensors: list[Tensor], call: Call, known: Operands) -> None:
    """Makes the views of tensors, so that branches do not."""
    for one in tensors:
        if _is_constant(one):
            known.value(one, call)
        else:
            known.tensors.whole(one, call)


def _move(tensors: list[Tensor], owner: Named, call: Call, emitter: Emitter, known: Operands) -> None:
    """Emits a transfer, in parts where the number of elements is open; each of them is waited for where the event is
    used."""
    if all(_is_constant(one) for one in tensors):
        parts = [known.value(one, call) for one in tensors]
        _wait(_begun(parts, owner, call, emitter), owner, call, emitter)
        return
    lines = [_line(one, call, emitter) for one in tensors]
    length = index_name(lines[1].sizes[-1], emitter)
    _prepare(lines, call, known)
    begin = emitter.constant(0, "index")
    for count in _BLOCKS:
        step = emitter.constant(count, "index")
        end = length
        if count > 1:
            rest = emitter.define(f"arith.remui {length}, {step} : index", "rest")
            end = emitter.define(f"arith.subi {length}, {rest} : index", "end")
        with emitter.loop(begin, end, step) as first:
            parts = [known.tensors.elements_at(one, first, count, call) for one in lines]
            _wait(_begun(parts, owner, call, emitter), owner, call, emitter)
        begin = end


def _is_constant(tensor: Tensor) -> bool:
    return all(isinstance(size, int) for size in tensor.sizes)


def _line(tensor: Tensor, call: Call, emitter: Emitter) -> Tensor:
    """Returns a tensor of one line, which is all that an engine moves."""
    if any(size != 1 for size in tensor.sizes[:-1]):
        emitter.fail(f"{call.name} of several lines has no counterpart in .pto", "move one line, of any length")
    return tensor


def _begun(tensors: list[Named], owner: Named, call: Call, emitter: Emitter) -> Named:
    text = f"{op_class(_TRANSFERS[call.name]).name}({group([*tensors, owner])}) -> {_EVENT}"
    return Named(emitter.define(text, "event"), _EVENT)


def _wait(event: Named, owner: Named, call: Call, emitter: Emitter) -> None:
    if emitter.is_used(call):
        emitter.define(f"pto.comm.wait_async_event({group([event, owner])}) -> i1", "done")


def _prefetch(call: Call, emitter: Emitter, known: Operands) -> str:
    """``TPREFETCH_ASYNC``: a hint, which is left out where the number of elements or the session is open."""
    source, session = call.groups
    tensor = tensor_of(source, emitter).with_known_sizes()
    context = context_at(session.operands[0], emitter)
    if context is None or not _is_constant(tensor):
        return _ended_at_once(emitter)
    text = f"pto.tprefetch_async({group([known.value(tensor, call), context])}) -> {_EVENT}"
    return _keep(Named(emitter.define(text, "event"), _EVENT), call, emitter)


def _ended_at_once(emitter: Emitter) -> str:
    """Returns the number of an event that nobody waits for."""
    number = emitter.state.get("transfers", 0)
    assert isinstance(number, int)
    emitter.state["transfers"] = number + 1
    return emitter.constant(number + 1, "i64")


def _ended(word: str) -> Callable[[Call, Emitter, Operands], str]:
    def emit(call: Call, emitter: Emitter, known: Operands) -> str:
        session, handle = call.groups
        event = _kept(handle.operands[0], emitter)
        owner = None if event is None else session_at(session.operands[0], call, emitter, known)
        if event is None or owner is None:
            return emitter.constant(1, "i1")
        return emitter.define(f"pto.comm.{word}_async_event({group([event, owner])}) -> i1", "done")

    return emit


TRANSFERS: dict[str, Callable[[Call, Emitter, Operands], str]] = {
    "BuildAsyncSession": build_session,
    **dict.fromkeys(_TRANSFERS, _transfer),
    "TPREFETCH_ASYNC": _prefetch,
    "AsyncEvent.Wait": _ended("wait"),
    "AsyncEvent.Test": _ended("test"),
}
"""Calls with a result."""

__all__ = ["TRANSFERS"]

"""Operations of the C++ interface as operations of the dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .addresses import give_address, translate_address, translate_assignment
from .calls import translate_operation
from .control import CONTROL_CALLS
from .copies import MOVES
from .operands import operands_of
from .queries import set_element, translate_query
from .queues import QUEUE_CALLS, pop
from .sync import CALLS, NO_EFFECT, translate_barrier, translate_flag

if TYPE_CHECKING:
    from ..translate.interface import Call, Emitter


def translate_call(call: Call, emitter: Emitter) -> str | None:
    """Emits what a call of the interface does, and returns the name of its result, if it has one."""
    known = operands_of(emitter)
    match call.function:
        case "__pto_assign":
            return translate_assignment(call, emitter, known)
        case "__pto_alias":
            if call.name == "TPOP":
                return give_address(call, pop(call, emitter, known), emitter, known)
            return translate_address(call, emitter, known)
        case "__pto_query" | "__pto_constant":
            return translate_query(call, emitter, known)
        case "__pto_set_flag" | "__pto_wait_flag":
            translate_flag(call, emitter)
        case "__pto_pipe_barrier":
            translate_barrier(call, emitter)
        case _ if call.name == "SetValue":
            set_element(call, emitter, known)
        case _ if call.name in QUEUE_CALLS:
            QUEUE_CALLS[call.name](call, emitter, known)
        case _ if call.name in CONTROL_CALLS:
            CONTROL_CALLS[call.name](call, emitter)
        case _ if call.name in MOVES:
            MOVES[call.name](call, emitter)
        case _ if call.name in CALLS:
            CALLS[call.name](call, emitter)
        case _ if call.name in NO_EFFECT:
            pass
        case _:
            translate_operation(call, emitter, known)
    return None


__all__ = ["translate_call"]

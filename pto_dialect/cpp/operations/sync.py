"""Flags, barriers, signals between cores, caches: what orders operations, and what the machine state is.

Source: docs/reference/execution.md, "Synchronisation".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pto_dialect.verify.sync.flow import SIGNAL_BASE

from ..translate.signals import signal_text
from .operands import operands_of
from .statement import Named
from .statement import group as group_text
from .tensors import tensor_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..translate.interface import Call, Emitter, Operand

_NUMBERED = ("PIPE_S", "PIPE_V", "PIPE_M", "PIPE_MTE1", "PIPE_MTE2", "PIPE_MTE3", "PIPE_ALL")
_FIX = 10
PIPES = dict(enumerate(_NUMBERED)) | {_FIX: "PIPE_FIX"}
"""Pipes by the number that the headers give them, which is that of the device's compiler."""
_EVENTS = 8


def pipe_name(operand: Operand, call: Call, emitter: Emitter) -> str:
    """Returns the name of a pipe, which must be constant."""
    if not isinstance(operand.value, int):
        emitter.fail(f"the pipe of {call.name} is not constant", "write the pipe in the call")
    if operand.value not in PIPES:
        emitter.fail(f"no pipe has the number {operand.value}, which {call.name} names")
    return PIPES[operand.value]


def translate_flag(call: Call, emitter: Emitter) -> None:
    """Emits ``set_flag`` or ``wait_flag``."""
    source, destination, event = call.operands
    pipes = f"<{pipe_name(source, call, emitter)}>, <{pipe_name(destination, call, emitter)}>"
    name = "set_flag" if call.function == "__pto_set_flag" else "wait_flag"
    if isinstance(event.value, int) and 0 <= event.value < _EVENTS:
        emitter.emit(f"pto.{name}[{pipes}, <EVENT_ID{event.value}>]")
    else:
        emitter.emit(f"pto.{name}_dyn[{pipes}, {emitter.cast(event, 'index')}]")


def translate_barrier(call: Call, emitter: Emitter) -> None:
    """Emits ``barrier``; the vector unit of a5 keeps its order by itself and has none."""
    name = pipe_name(call.operands[0], call, emitter)
    if not (emitter.target == "a5" and name == "PIPE_V"):
        emitter.emit(f"pto.barrier <{name}>")


class Numbers(NamedTuple):
    """The values of a call without their descriptors."""

    call: Call
    values: tuple[Operand, ...]

    def constant(self, position: int, what: str, emitter: Emitter) -> int:
        """Returns a value that must be constant."""
        value = self.values[position].value
        if not isinstance(value, int):
            emitter.fail(f"{what} of {self.call.name} is not constant")
        return value


def numbers_of(call: Call) -> Numbers:
    """Returns the values of a call, with groups or without."""
    values: Sequence[Operand] = call.operands
    if call.groups:
        values = [one for group in call.groups for one in group.operands]
    return Numbers(call, tuple(values))


def _signal(call: Call, emitter: Emitter) -> None:
    """Emits a signal between cores: its pipe, the mode and the id of the flag."""
    numbers = numbers_of(call)
    pipe = pipe_name(numbers.values[0], call, emitter)
    mode, flag = numbers.constant(1, "the mode", emitter), _flag(numbers.values[2], emitter)
    emitter.emit(signal_text(pipe, flag, mode, has_base=SIGNAL_BASE in emitter.state))


def _wait(call: Call, emitter: Emitter) -> None:
    numbers = numbers_of(call)
    pipe = "PIPE_S" if len(numbers.values) == 1 else pipe_name(numbers.values[0], call, emitter)
    base = f" {{{SIGNAL_BASE}}}" if SIGNAL_BASE in emitter.state else ""
    emitter.emit(f"pto.sync.wait <{pipe}>, {_flag(numbers.values[-1], emitter)}{base}")


def _intra_block(word: str) -> Callable[[Call, Emitter], None]:
    def emit(call: Call, emitter: Emitter) -> None:
        numbers = numbers_of(call)
        pipe = pipe_name(numbers.values[0], call, emitter)
        emitter.emit(f"pto.{word} <{pipe}>, {_flag(numbers.values[1], emitter)}")

    return emit


def _flag(operand: Operand, emitter: Emitter) -> str:
    return str(operand.value) if isinstance(operand.value, int) else emitter.cast(operand, "index")


def _base_address(call: Call, emitter: Emitter) -> None:
    """Notes that the kernel sets the memory of its signals: a number that only the machine reads."""
    emitter.state[SIGNAL_BASE] = True


def _clean(call: Call, emitter: Emitter) -> None:
    """Emits ``dcci``: a cache line, or all of them, written back and forgotten."""
    numbers = numbers_of(call)
    elements = [group.fields[0] for group in call.groups if group.kind in ("ptr", "pointer")]
    element = elements[0] if elements and elements[0] != "void" else "ui8"
    pointer = emitter.pointer(numbers.values[0], element)
    lines = ("SINGLE_CACHE_LINE", "ENTIRE_DATA_CACHE")
    line = lines[numbers.constant(1, "the extent", emitter)] if len(numbers.values) > 1 else lines[0]
    emitter.emit(f'pto.dcci {pointer} "{line}", "CACHELINE_OUT" : !pto.ptr<{element}, gm>')


def _barrier_of_memory(call: Call, emitter: Emitter) -> None:
    kinds = ("ALL", "DDR", "UB", "SEQ")
    kind = kinds[numbers_of(call).constant(0, "the memory", emitter)]
    emitter.emit(f'pto.dsb "{kind}"')


SYNC_CORES = {"AIVOnly": "aiv_only", "AICOnly": "aic_only", "Mix": "mix"}
"""Cores that a barrier of all cores joins, as C++ and the dialect name them."""


def _all_cores(call: Call, emitter: Emitter) -> None:
    """Emits ``syncall``; the soft form counts in a workspace in global memory."""
    core = SYNC_CORES[call.modes.get("core", "AIVOnly")]
    mode = call.modes.get("mode", "Hard").lower()
    known = operands_of(emitter)
    values: list[Named] = []
    for group in call.groups:
        if group.kind == "global":
            values.append(known.tensors.part(tensor_of(group, emitter), call))
        elif group.kind == "scalar" and group.operands[0].value != 0:
            # C++ means all cores by 0.
            values.append(Named(emitter.cast(group.operands[0], "i32"), "i32"))
    listed = group_text(values) if values else ""
    words_of_mode = f"mode = #pto.sync_all_mode<{mode}>, core_type = #pto.sync_core_type<{core}>"
    emitter.emit(f"pto.syncall({listed}) {words_of_mode}")


CALLS: dict[str, Callable[[Call, Emitter], None]] = {
    "ffts_cross_core_sync": _signal,
    "wait_flag_dev": _wait,
    "set_intra_block": _intra_block("set_intra_block"),
    "wait_intra_block": _intra_block("wait_intra_block"),
    "set_ffts_base_addr": _base_address,
    "dcci": _clean,
    "dsb": _barrier_of_memory,
    "SYNCALL": _all_cores,
}
"""Functions below the interface that order operations."""

NO_EFFECT = frozenset(
    (
        "set_mask_norm",
        "set_mask_count",
        "set_vector_mask",
        "set_atomic_none",
        "TSYNC",
        "SetKAligned",
        "ResetMadMode",
        "set_padding",
        "mem_bar",
    )
)
"""Functions that change nothing for operations on tiles, which set masks and modes themselves."""

__all__ = [
    "CALLS",
    "NO_EFFECT",
    "PIPES",
    "SYNC_CORES",
    "numbers_of",
    "pipe_name",
    "translate_barrier",
    "translate_flag",
]

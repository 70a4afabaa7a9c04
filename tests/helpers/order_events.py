"""Events of an unrolled function in program order, and what each operation of a program contributes.

An event is one execution of an operation on one pipe.  The table below is a second statement of what the operations
of test programs access; it is deliberately not derived from the declarations of the package.
Source: docs/reference/execution.md, "Pipes of operations", "Synchronisation".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from order_values import Bytes, Pointer, Tile, Unmodelled, View
from xdsl.ir import Operation

CLASSES = {
    "TLOAD": "MTE2",
    "TSTORE_ACC": "FIX",
    "TSTORE_VEC": "MTE3",
    "TMOV_M2L": "MTE1",
    "TMOV_M2S": "FIX",
    "TMOV_M2B": "MTE1",
    "TMOV_M2V": "V",
    "TMOV_V2M": "MTE3",
    "TMATMUL": "M",
    "TVEC": "V",
    "TVECWAIT_EVENT": "V",
}
_PIPE = re.compile(r"PIPE_(\w+)")
_CLASS = re.compile(r"<(\w+)>")
_NUMBER = re.compile(r"-?\d+")
_LOCAL = {"left": "MTE1", "right": "MTE1", "bias": "MTE1", "scaling": "FIX"}


@dataclass(frozen=True, eq=False)
class Event:
    """``kind`` is work, read (of the scalar unit), store (of the scalar unit to the UB), set, wait, get, rls, barrier,
    post or take (signals between cores); ``key`` is the flag, buffer id, pipe of a barrier or signal: an id for a pair
    of cores, else the group of cores and an id."""

    kind: str
    pipe: str
    op: Operation
    iteration: tuple[int, ...]
    ordinals: tuple[int, ...]
    reads: tuple[Bytes, ...] = ()
    writes: tuple[Bytes, ...] = ()
    key: Any = None
    core: str = "core"


@dataclass(frozen=True)
class Effect:
    """What an operation does: see ``Event``."""

    kind: str
    pipe: str
    reads: tuple[Bytes, ...] = ()
    writes: tuple[Bytes, ...] = ()
    key: Any = None


@lru_cache(256)
def pipe_of(text: str) -> str:
    """The pipe that an attribute names, directly or by the class of operations that runs on it."""
    match = _PIPE.search(text)
    if match:
        return match[1]
    name = _CLASS.search(text)
    if name is None or name[1] not in CLASSES:
        raise Unmodelled(f"pipe {text}")
    return CLASSES[name[1]]


@lru_cache(4096)
def facts_of(op: Operation) -> dict[str, str]:
    """The attributes of an operation as text."""
    return {key: str(value) for key, value in (*op.attributes.items(), *op.properties.items())}


@lru_cache(256)
def number_of(text: str) -> int:
    match = _NUMBER.search(text.removesuffix(": i32"))
    if match is None:
        raise Unmodelled(f"id {text}")
    return int(match[0])


def _bytes(values: Iterable[Any]) -> tuple[Bytes, ...]:
    return tuple(value.bytes() for value in values if isinstance(value, Tile | View))


def _tile_pipe(name: str, operands: list[Any]) -> str:
    """The pipe of a tile operation whose last operand is its destination."""
    tiles = [value for value in operands if isinstance(value, Tile)]
    if name == "tload":
        return "MTE2"
    if name == "tstore":
        return "FIX" if tiles[0].memory == "acc" else "MTE3"
    if name.startswith(("tmatmul", "tgemv")):
        return "M"
    if tiles[0].memory == "acc":
        return "FIX"
    if tiles[0].memory == "mat":
        return _LOCAL[tiles[-1].memory]
    return "V"


def _tile_effect(name: str, operands: list[Any]) -> Effect:
    *sources, target = operands
    if not isinstance(target, Tile | View):
        raise Unmodelled(name)
    return Effect("work", _tile_pipe(name, operands), _bytes(sources), _bytes([target]))


def _transfer(name: str, operands: list[Any]) -> Effect:
    """A copy with one or more bursts: the operands from the length of a burst on."""
    source, target, *numbers = operands
    length = numbers[-4] if name != "mte_ub_ub" else numbers[-4] * 32
    count, from_stride, to_stride = numbers[-3:]
    if name == "mte_ub_ub":
        from_stride, to_stride = length + from_stride * 32, length + to_stride * 32
    pipe = {"mte_gm_ub": "MTE2", "mte_ub_gm": "MTE3", "mte_ub_ub": "V"}[name]
    return Effect("work", pipe, (source.burst(count, length, from_stride),), (target.burst(count, length, to_stride),))


def _scalar(name: str, operands: list[Any]) -> Effect:
    """Accesses of the scalar unit: those to global memory and its reads complete at issue, other stores do not."""
    if name in ("tgetval", "tsetval"):
        place = (operands[0].element(operands[1]),)
    else:
        position = next(k for k, value in enumerate(operands) if isinstance(value, Pointer))
        place = (operands[position].ahead(operands[position + 1]).burst(1, operands[position].width, 0),)
    if name in ("tgetval", "load_scalar"):
        return Effect("read", "S", place)
    return Effect("store" if place[0].memory == "vec" else "read", "S", (), place)


def _vector_memory(name: str, operands: list[Any]) -> Effect:
    """A whole-register load or store of the vector unit; each moves 256 bytes."""
    position = next(k for k, value in enumerate(operands) if isinstance(value, Pointer))
    place = (operands[position].ahead(operands[position + 1]).burst(1, 256, 0),)
    return Effect("work", "V", place) if name == "vlds" else Effect("work", "V", (), place)


def _flag(op: Operation, name: str, operands: list[Any]) -> Effect:
    facts = facts_of(op)
    named = ("src_pipe", "dst_pipe") if "src_pipe" in facts else ("src_op", "dst_op")
    source, target = (pipe_of(facts[key]) for key in named)
    event = operands[0] if name.endswith("_dyn") else number_of(facts["event_id"])
    raised = name.startswith(("set", "record"))
    return Effect("set" if raised else "wait", source if raised else target, key=(source, target, event))


def _lock(op: Operation, name: str, operands: list[Any]) -> Effect:
    facts = facts_of(op)
    if number_of(facts.get("mode", "0")):
        raise Unmodelled("buffer ids with mode 1")
    event = operands[0] if name.endswith("_dyn") else number_of(facts["buf_id"])
    return Effect(name[:3], pipe_of(facts["op_type"]), key=event)


def _barrier(op: Operation, name: str, operands: list[Any]) -> Effect:
    facts = facts_of(op)
    pipe = "S" if name == "dsb" else pipe_of(facts["pipe" if "pipe" in facts else "op_type"])
    return Effect("barrier", pipe, key=pipe)


_MODES = {0: "blocks", 1: "vectors", 2: "block"}


def _signal(op: Operation, name: str, operands: list[Any]) -> Effect:
    facts = facts_of(op)
    event = operands[0] if operands else number_of(facts["event_id"])
    if name.startswith("sync."):
        event = (_MODES[number_of(facts.get("ffts_mode", "2"))], event)
    return Effect("post" if "set" in name else "take", pipe_of(facts["pipe"]), key=event)


_BY_OP = {
    **dict.fromkeys(("set_flag", "wait_flag", "set_flag_dyn", "wait_flag_dyn", "record_event", "wait_event"), _flag),
    **dict.fromkeys(("get_buf", "rls_buf", "get_buf_dyn", "rls_buf_dyn"), _lock),
    **dict.fromkeys(("barrier", "barrier_sync", "dsb"), _barrier),
    **dict.fromkeys(("set_intra_block", "wait_intra_block", "sync.set", "sync.wait"), _signal),
}
_BY_OPERANDS = {
    **dict.fromkeys(("mte_gm_ub", "mte_ub_gm", "mte_ub_ub"), _transfer),
    **dict.fromkeys(("tgetval", "tsetval", "load_scalar", "store_scalar"), _scalar),
    **dict.fromkeys(("vlds", "vsts"), _vector_memory),
}


def effect_of(op: Operation, operands: list[Any]) -> Effect:
    """What an operation of the dialect does with these operand values."""
    name = op.name.removeprefix("pto.")
    if name in _BY_OP:
        return _BY_OP[name](op, name, operands)
    if name in _BY_OPERANDS:
        return _BY_OPERANDS[name](name, operands)
    if name.startswith("t"):
        return _tile_effect(name, operands)
    raise Unmodelled(op.name)

"""Functions and classes of `pto` that take their arguments in several forms."""

from __future__ import annotations

from typing import Any

from xdsl.dialects import builtin as xb

from ..ir.attributes import Attribute, IntegerAttr, wrap
from ..ir.operations import Operation
from ..ir.structure import value_of, wrap_value
from .classes import op_function
from .enums import ENUM_CLASSES, PtoEnum, enumerator

PIPE, EVENT, SYNC = "PIPE", "EVENT", "SyncOpType"


def _wrapped(value: Any, enum: str) -> Any:
    return wrap(enumerator(value, enum))


def _event(value: Any) -> Any:
    """Returns the attribute of an event id from its number, its name, an enumerator or the attribute."""
    if isinstance(value, int) and not isinstance(value, PtoEnum):
        if not 0 <= value <= 7:
            raise ValueError(f"an event id is 0 to 7, found {value}")
        return wrap(ENUM_CLASSES[EVENT](value).attribute)
    return _wrapped(value, EVENT)


def _i32(value: Any, name: str) -> Any:
    """Returns a number as an attribute of type i32."""
    if isinstance(value, Attribute):
        return value
    if not isinstance(value, int):
        raise TypeError(f"{name} is a number or an IntegerAttr, found {type(value).__name__}")
    return IntegerAttr.get(wrap(xb.i32), value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, IntegerAttr)) and not isinstance(value, PtoEnum)


def _make(mnemonic: str, *arguments: Any, **named: Any) -> Any:
    return op_function(mnemonic)(*arguments, **named)


def record_event(src_op: Any, dst_op: Any, event_id: Any, *, loc: Any = None, ip: Any = None) -> Any:
    """Records an event between two kinds of operations."""
    return _between("pto.record_event", src_op, dst_op, event_id, loc, ip)


def wait_event(src_op: Any, dst_op: Any, event_id: Any, *, loc: Any = None, ip: Any = None) -> Any:
    """Waits for an event between two kinds of operations."""
    return _between("pto.wait_event", src_op, dst_op, event_id, loc, ip)


def _between(mnemonic: str, source: Any, target: Any, event: Any, loc: Any, ip: Any) -> Any:
    return _make(mnemonic, _wrapped(source, SYNC), _wrapped(target, SYNC), _event(event), loc=loc, ip=ip)


def barrier(op: Any, *, loc: Any = None, ip: Any = None) -> Any:
    """Makes a barrier of a pipe, or of the pipe of a kind of operations; both may be names."""
    if isinstance(op, str) and op.upper() in ENUM_CLASSES[PIPE].__members__:
        op = _wrapped(op, PIPE)
    is_sync = isinstance(op, (str, ENUM_CLASSES[SYNC])) or getattr(getattr(op, "_x", None), "kind", "") in (
        "sync_op_type",
        "pipe_event_type",
    )
    if is_sync:
        return _make("pto.barrier_sync", _wrapped(op, SYNC), loc=loc, ip=ip)
    return _make("pto.barrier", op, loc=loc, ip=ip)


def _flag(mnemonic: str, src_pipe: Any, dst_pipe: Any, event_id: Any, loc: Any, ip: Any) -> Any:
    source, target = _wrapped(src_pipe, PIPE), _wrapped(dst_pipe, PIPE)
    if isinstance(event_id, (int, str, PtoEnum, Attribute)):
        return _make(mnemonic, source, target, _event(event_id), loc=loc, ip=ip)
    return _make(f"{mnemonic}_dyn", source, target, event_id, loc=loc, ip=ip)


def set_flag(src_pipe: Any, dst_pipe: Any, event_id: Any, *, loc: Any = None, ip: Any = None) -> Any:
    """Sets a flag; the event id is a number, its name, an enumerator, an attribute or a value."""
    return _flag("pto.set_flag", src_pipe, dst_pipe, event_id, loc, ip)


def wait_flag(src_pipe: Any, dst_pipe: Any, event_id: Any, *, loc: Any = None, ip: Any = None) -> Any:
    """Waits for a flag; the event id is a number, its name, an enumerator, an attribute or a value."""
    return _flag("pto.wait_flag", src_pipe, dst_pipe, event_id, loc, ip)


def set_flag_dyn(src_pipe: Any, dst_pipe: Any, event_id: Any, *, loc: Any = None, ip: Any = None) -> Any:
    """Sets a flag whose event id is a value."""
    return _make("pto.set_flag_dyn", _wrapped(src_pipe, PIPE), _wrapped(dst_pipe, PIPE), event_id, loc=loc, ip=ip)


def wait_flag_dyn(src_pipe: Any, dst_pipe: Any, event_id: Any, *, loc: Any = None, ip: Any = None) -> Any:
    """Waits for a flag whose event id is a value."""
    return _make("pto.wait_flag_dyn", _wrapped(src_pipe, PIPE), _wrapped(dst_pipe, PIPE), event_id, loc=loc, ip=ip)


def _signal(mnemonic: str, pipe: Any, event_id: Any, loc: Any, ip: Any, mode: Any = None) -> Any:
    named: dict[str, Any] = {"loc": loc, "ip": ip}
    named["event_id" if _is_number(event_id) else "event_id_dyn"] = (
        _i32(event_id, "event_id") if _is_number(event_id) else event_id
    )
    if mode is not None and mode != 2:
        named["ffts_mode"] = _i32(mode, "ffts_mode")
    return _make(mnemonic, _wrapped(pipe, PIPE), **named)


def sync_set(
    pipe: Any,
    event_id: Any = None,
    ffts_mode: Any = 2,
    *,
    event_id_dyn: Any = None,
    loc: Any = None,
    ip: Any = None,
) -> Any:
    """Signals other cores; the event id is a number or a value."""
    return _signal("pto.sync.set", pipe, event_id if event_id_dyn is None else event_id_dyn, loc, ip, ffts_mode)


def sync_wait(
    pipe: Any,
    event_id: Any = None,
    ffts_mode: Any = 2,
    *,
    event_id_dyn: Any = None,
    loc: Any = None,
    ip: Any = None,
) -> Any:
    """Waits for other cores; the event id is a number or a value."""
    return _signal("pto.sync.wait", pipe, event_id if event_id_dyn is None else event_id_dyn, loc, ip, ffts_mode)


def sync_set_dyn(pipe: Any, event_id: Any, ffts_mode: Any = 2, *, loc: Any = None, ip: Any = None) -> Any:
    """Signals other cores; the event id is a value."""
    return _signal("pto.sync.set", pipe, event_id, loc, ip, ffts_mode)


def sync_wait_dyn(pipe: Any, event_id: Any, ffts_mode: Any = 2, *, loc: Any = None, ip: Any = None) -> Any:
    """Waits for other cores; the event id is a value."""
    return _signal("pto.sync.wait", pipe, event_id, loc, ip, ffts_mode)


def set_cross_block(pipe: Any, event_id: Any, *, loc: Any = None, ip: Any = None) -> Any:
    """Signals another block; the event id is a number or a value."""
    return _signal("pto.set_cross_block", pipe, event_id, loc, ip)


def wait_cross_block(pipe: Any, event_id: Any, *, loc: Any = None, ip: Any = None) -> Any:
    """Waits for another block; the event id is a number or a value."""
    return _signal("pto.wait_cross_block", pipe, event_id, loc, ip)


def set_intra_block(pipe: Any, event_id: Any, *, loc: Any = None, ip: Any = None) -> Any:
    """Signals another core of the block; the event id is a number or a value."""
    return _signal("pto.set_intra_block", pipe, event_id, loc, ip)


def wait_intra_block(pipe: Any, event_id: Any, *, loc: Any = None, ip: Any = None) -> Any:
    """Waits for another core of the block; the event id is a number or a value."""
    return _signal("pto.wait_intra_block", pipe, event_id, loc, ip)


def set_ffts(ffts: Any, *, loc: Any = None, ip: Any = None) -> Any:
    """Sets the address of the signals between cores."""
    return Operation.create("pto.set_ffts", operands=[ffts], loc=loc, ip=ip)


def _buffer(mnemonic: str, op_type: Any, buf_id: Any, mode: Any, loc: Any, ip: Any) -> Any:
    if isinstance(op_type, ENUM_CLASSES[PIPE]) or getattr(getattr(op_type, "_x", None), "kind", "") == "pipe":
        raise TypeError("op_type is a SyncOpType or a SyncOpTypeAttr, found a pipe")
    attributes = {
        "op_type": _wrapped(op_type, SYNC),
        "buf_id": _i32(buf_id, "buf_id"),
        "mode": _i32(mode, "mode"),
    }
    return Operation.create(mnemonic, attributes=attributes, loc=loc, ip=ip)


def get_buf(op_type: Any, buf_id: Any, mode: Any = 0, *, loc: Any = None, ip: Any = None) -> Any:
    """Takes a buffer id for a kind of operations."""
    return _buffer("pto.get_buf", op_type, buf_id, mode, loc, ip)


def rls_buf(op_type: Any, buf_id: Any, mode: Any = 0, *, loc: Any = None, ip: Any = None) -> Any:
    """Releases a buffer id of a kind of operations."""
    return _buffer("pto.rls_buf", op_type, buf_id, mode, loc, ip)


def ptrtoint(ptr: Any, *, loc: Any = None, ip: Any = None) -> Any:
    """Returns the address of a pointer."""
    return Operation.create("pto.ptrtoint", [wrap(xb.i64)], [ptr], loc=loc, ip=ip).result


def inttoptr(result_type: Any, addr: Any, *, loc: Any = None, ip: Any = None) -> Any:
    """Returns the pointer to an address."""
    return Operation.create("pto.inttoptr", [result_type], [addr], loc=loc, ip=ip).result


def load_scalar(result_type: Any, ptr: Any, offset: Any, *, loc: Any = None, ip: Any = None) -> Any:
    """Returns an element at an offset from a pointer."""
    return Operation.create("pto.load_scalar", [result_type], [ptr, offset], loc=loc, ip=ip).result


def store_scalar(ptr: Any, offset: Any, value: Any, *, loc: Any = None, ip: Any = None) -> Any:
    """Writes an element at an offset from a pointer."""
    return Operation.create("pto.store_scalar", [], [ptr, offset, value], loc=loc, ip=ip)


def register_dialect(context: Any = None, load: bool = True) -> None:
    """Does nothing: the dialect is known."""


def get_op_result_or_value(value: Any) -> Any:
    """Returns the value, or the only result of an operation."""
    return wrap_value(value_of(value))


class TileConfig:
    """Numbers of tile layouts."""

    alignedSize = 32
    fixedRowSize = 16
    fixedColSize = 16
    fixedMxRowSize = 16
    fixedMxColSize = 2
    fractalABSize = 512
    fractalCSize = 1024
    fractalMxSize = 32


FUNCTIONS: dict[str, Any] = {
    one.__name__: one
    for one in (
        record_event,
        wait_event,
        barrier,
        set_flag,
        wait_flag,
        set_flag_dyn,
        wait_flag_dyn,
        sync_set,
        sync_wait,
        sync_set_dyn,
        sync_wait_dyn,
        set_cross_block,
        wait_cross_block,
        set_intra_block,
        wait_intra_block,
        set_ffts,
        get_buf,
        rls_buf,
        ptrtoint,
        inttoptr,
        load_scalar,
        store_scalar,
        register_dialect,
        get_op_result_or_value,
    )
}
"""Functions that are not made by the rule, by name."""

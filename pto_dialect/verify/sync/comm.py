"""Rules of transfers between ranks, their signals, and asynchronous transfers."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import IntegerType, MemRefType
from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.analysis.type_facts import element_type, integer_attribute, space_of
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.types import (
    DYNAMIC,
    PartitionViewType,
    PtrType,
    TensorViewType,
    TileBufType,
    byte_width,
    element_name,
    shape_of,
    type_text,
)
from pto_dialect.ir.sync.comm import AsyncEventOp, CommTBroadcastOp, CommTNotifyOp, CommTReduceOp

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import STRUCTURE

_VIEWS = (TensorViewType, PartitionViewType)
Groups = dict[str, tuple[SSAValue, ...]]


def _groups(op: Operation) -> Groups:
    assert isinstance(op, PtoOp)
    return operand_groups(op)


# ------------------------------------------------------------ operands


def _view(op: Operation, ctx: Context, value: SSAValue, name: str, *, dynamic: bool = False) -> bool:
    type_ = value.type
    if not isinstance(type_, (*_VIEWS, MemRefType)) or space_of(type_) not in (None, "gm"):
        ctx.report("comm-types", op, f"{name} of {op.name} is a view in gm, found {type_text(type_)}", at=value)
        return False
    for dim in shape_of(type_):
        if dim == DYNAMIC and not (dynamic and isinstance(type_, PartitionViewType)):
            ctx.report("comm-types", op, f"{name} of {op.name} has a static shape, found {type_text(type_)}", at=value)
            return False
        if dim != DYNAMIC and dim <= 0:
            ctx.report("comm-types", op, f"{name} of {op.name} has positive dimensions, found {dim}", at=value)
            return False
    return True


def _tile(op: Operation, ctx: Context, value: SSAValue, name: str) -> bool:
    if isinstance(value.type, (TileBufType, MemRefType)) and space_of(value.type) == "ub":
        return True
    found = type_text(value.type)
    ctx.report("comm-types", op, f"{name} of {op.name} is a tile in vec, found {found}", at=value)
    return False


def _staging(op: Operation, ctx: Context, groups: Groups, names: tuple[str, str]) -> bool:
    ping, pong = groups[names[0]][0], groups[names[1]]
    good = _tile(op, ctx, ping, names[0])
    if pong:
        good = _tile(op, ctx, pong[0], names[1]) and good
        if good and pong[0].type != ping.type:
            found = f"{type_text(ping.type)} and {type_text(pong[0].type)}"
            ctx.report("comm-types", op, f"{names[0]} and {names[1]} have one type, found {found}", at=pong[0])
            return False
    return good


def _elements(op: Operation, ctx: Context, values: Iterable[tuple[str, SSAValue]]) -> None:
    (first_name, first), *others = values
    wanted = element_type(first.type)
    for name, value in others:
        element = element_type(value.type)
        if wanted is not None and element is not None and element != wanted:
            found = f"{element_name(wanted)} and {element_name(element)}"
            ctx.report("comm-types", op, f"{first_name} and {name} have elements of one type, found {found}", at=value)


# ------------------------------------------------------------ transfers


@checks(STRUCTURE, "pto.comm.tput", "pto.comm.tget")
def check_point_to_point(op: Operation, ctx: Context) -> None:
    """Checks the operands of a point-to-point transfer: one source, one destination."""
    groups = _groups(op)
    dst, src = groups["dst"][0], groups["src"][0]
    views = [_view(op, ctx, value, name, dynamic=True) for name, value in (("dst", dst), ("src", src))]
    staged = _staging(op, ctx, groups, ("ping", "pong"))
    if not all(views):
        return
    _elements(op, ctx, [("dst", dst), ("src", src)] + ([("ping", groups["ping"][0])] if staged else []))
    if len(shape_of(dst.type)) != len(shape_of(src.type)) or any(
        a != b and DYNAMIC not in (a, b) for a, b in zip(shape_of(dst.type), shape_of(src.type), strict=True)
    ):
        found = f"{type_text(dst.type)} and {type_text(src.type)}"
        ctx.report("comm-types", op, f"dst and src of {op.name} have one shape, found {found}", at=src)


_COLLECTIVES: dict[str, str] = {
    "pto.comm.tbroadcast": "src",
    "pto.comm.tscatter": "src",
    "pto.comm.tgather": "dst",
    "pto.comm.treduce": "dst",
}
"""The operand of each collective operation that is not the group."""


@checks(STRUCTURE, *_COLLECTIVES)
def check_collective(op: Operation, ctx: Context) -> None:
    """Checks the operands of a collective: one view, a group of views of one type, and staging tiles."""
    groups = _groups(op)
    name = _COLLECTIVES[op.name]
    own = groups[name][0]
    good = _view(op, ctx, own, name)
    reduces = isinstance(op, CommTReduceOp)
    staged = _staging(op, ctx, groups, ("recvPing", "recvPong") if reduces else ("ping", "pong"))
    members = groups["group"]
    root = integer_attribute(op, "root")
    if not members:
        ctx.report("comm-types", op, f"the group of {op.name} is empty")
        return
    for member in members:
        if not _view(op, ctx, member, "group"):
            return
        if member.type != members[0].type:
            found = f"{type_text(members[0].type)} and {type_text(member.type)}"
            ctx.report("comm-types", op, f"the members of a group have one type, found {found}", at=member)
            return
    if root is not None and not 0 <= root < len(members):
        ctx.report("comm-types", op, f"root names one of {len(members)} members, found {root}", at="root")
    if not good:
        return
    if isinstance(op, CommTBroadcastOp) and own.type != members[0].type:
        found = f"{type_text(own.type)} and {type_text(members[0].type)}"
        ctx.report("comm-types", op, f"src and the members of the group have one type, found {found}", at=own)
        return
    values = [(name, own), ("group", members[0])]
    if reduces:
        acc, ping = groups["acc"][0], groups["recvPing"][0]
        if _tile(op, ctx, acc, "acc") and staged and acc.type != ping.type:
            found = f"{type_text(acc.type)} and {type_text(ping.type)}"
            ctx.report("comm-types", op, f"acc and recvPing have one type, found {found}", at=ping)
        values.append(("acc", acc))
    elif staged:
        values.append(("ping", groups["ping"][0]))
    _elements(op, ctx, values)


@checks(STRUCTURE, "pto.comm.tnotify", "pto.comm.twait", "pto.comm.ttest")
def check_signal(op: Operation, ctx: Context) -> None:
    """Checks that a signal is a view of signless i32, compared with a 32-bit integer."""
    value = named(op, "signal")
    number = named(op, "value" if isinstance(op, CommTNotifyOp) else "cmpValue")
    if _view(op, ctx, value, "signal"):
        element = element_type(value.type)
        if element is not None and element_name(element) != "i32":
            ctx.report("comm-types", op, f"a signal holds i32, found {element_name(element)}", at=value)
    if not isinstance(number.type, IntegerType) or number.type.width.data != 32:
        found = type_text(number.type)
        ctx.report("comm-types", op, f"signals are compared with 32-bit integers, found {found}", at=number)


# ------------------------------------------------------------ asynchronous transfers


@checks(STRUCTURE, "pto.comm.tput_async", "pto.comm.tget_async")
def check_async_transfer(op: Operation, ctx: Context) -> None:
    """Checks the operands of an asynchronous transfer: two one-dimensional ranges of one type and length."""
    dst, src = named(op, "dst"), named(op, "src")
    if not all([_range(op, ctx, dst, "dst"), _range(op, ctx, src, "src")]):
        return
    _elements(op, ctx, [("dst", dst), ("src", src)])
    if shape_of(dst.type) != shape_of(src.type):
        found = f"{type_text(dst.type)} and {type_text(src.type)}"
        ctx.report("comm-async-1d", op, f"dst and src of {op.name} have one shape, found {found}", at=src)


@checks(STRUCTURE, "pto.comm.tput_async", "pto.comm.tget_async")
def check_event(op: Operation, ctx: Context) -> None:
    """Reports a transfer whose event nothing uses, unless another event of its session is waited for or tested."""
    if ctx.failed or op.results[0].first_use is not None:
        return
    session = named(op, "session")
    if not any(isinstance(use.operation, AsyncEventOp) for use in session.uses):
        help = "wait for its event before its memory is used again, or the kernel ends"
        ctx.report("comm-async-wait", op, f"nothing waits for the transfer of {op.name}", help=help)


@checks(STRUCTURE, "pto.tprefetch_async")
def check_prefetch(op: Operation, ctx: Context) -> None:
    """Checks that a prefetch has one range."""
    _range(op, ctx, named(op, "src"), "src")


def _range(op: Operation, ctx: Context, value: SSAValue, name: str) -> bool:
    type_ = value.type
    shape = shape_of(type_)
    if not isinstance(type_, (*_VIEWS, MemRefType)) or space_of(type_) not in (None, "gm"):
        problem = "is a view in gm"
    elif DYNAMIC in shape or not shape:
        problem = "has a static shape"
    elif any(dim != 1 for dim in shape[:-1]):
        problem = "has one dimension"
    else:
        return True
    ctx.report("comm-async-1d", op, f"{name} of {op.name} {problem}, found {type_text(type_)}", at=value)
    return False


_MINIMUM_SCRATCH = 8
_LIMITS: dict[str, tuple[int, int | None]] = {
    "sync_id": (0, 7),
    "block_bytes": (1, None),
    "comm_block_offset": (0, None),
    "queue_num": (1, None),
    "channel_group_idx": (0, 2**32 - 1),
}
"""Minimum and maximum of the integer attributes of a session."""


@checks(STRUCTURE, "pto.comm.build_async_session")
def check_session(op: Operation, ctx: Context) -> None:
    """Checks the scratch tile, workspace and integer attributes of a session."""
    scratch, workspace = named(op, "scratch"), named(op, "workspace")
    if _tile(op, ctx, scratch, "scratch"):
        size = _bytes(scratch.type)
        if size is None:
            ctx.report("comm-types", op, "scratch has a static shape", at=scratch)
        elif size < _MINIMUM_SCRATCH:
            ctx.report("comm-types", op, f"scratch has at least {_MINIMUM_SCRATCH} bytes, found {size}", at=scratch)
    _workspace(op, ctx, workspace)
    for name, (low, high) in _LIMITS.items():
        value = integer_attribute(op, name)
        if value is not None and (value < low or (high is not None and value > high)):
            allowed = f"at least {low}" if high is None else f"{low} to {high}"
            ctx.report("comm-types", op, f"{name} is {allowed}, found {value}", at=name)


@checks(STRUCTURE, "pto.make_prefetch_async_context")
def check_prefetch_context(op: Operation, ctx: Context) -> None:
    """Checks the workspace of prefetches."""
    _workspace(op, ctx, named(op, "workspace"))


def _workspace(op: Operation, ctx: Context, value: SSAValue) -> None:
    element = element_type(value.type)
    if not isinstance(value.type, (PtrType, MemRefType)) or space_of(value.type) not in (None, "gm"):
        ctx.report("comm-types", op, f"a workspace lies in gm, found {type_text(value.type)}", at=value)
    elif not isinstance(element, IntegerType) or element.width.data != 8:
        found = "no element type" if element is None else element_name(element)
        ctx.report("comm-types", op, f"a workspace holds 8-bit integers, found {found}", at=value)


def _bytes(type_: Attribute) -> int | None:
    element = element_type(type_)
    total = byte_width(element) if element is not None else None
    for dim in shape_of(type_):
        if dim == DYNAMIC or total is None:
            return None
        total *= dim
    return total

"""Custom forms of synchronization statements.

Source: docs/reference/language.md, "Shapes", "Attributes".
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation

from pto_dialect.ir.core.attributes import EnumAttr
from pto_dialect.ir.core.base import Shape

from ..workspaces import workspace_name
from .pto import Statement, prints
from .writer import Writer, checked, require

_OP_KINDS = ("pipe_event_type", "sync_op_type")


def _item(s: Statement, name: str) -> str:
    """Returns a bracketed item: pipes, events and the operation kind of a barrier stripped, other kinds in full."""
    enums = s.layout.attributes[name].kind.enums
    return s.stripped(name) if len(enums) == 1 else s.full(name)


@prints(Shape.SYNC_BRACKET)
def print_sync_bracket(writer: Writer, op: Operation) -> str:
    """Y1: ``name[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>] {dict}``, an event as a value instead where allowed."""
    s = Statement(writer, op)
    items = [_item(s, name) for name in s.layout.tokens]
    if s.layout.slots:
        items.append(writer.uses(s.flatten(s.layout.slots)))
    return f"{op.name}[{', '.join(items)}]{s.dictionary()}"


def _number(s: Statement, name: str, default: str | None = None) -> str | None:
    """Returns an integer in a keyword position, which has no type; ``default`` for an absent one."""
    value = s.attribute(name)
    if value is None:
        return default
    integer = checked(value, IntegerAttr)
    require(integer.type == s.layout.attributes[name].kind.integer)
    return str(integer.value.data)


def _one_of(*candidates: str | None) -> str:
    """Returns the only candidate that is present."""
    found = [candidate for candidate in candidates if candidate is not None]
    require(len(found) == 1)
    return found[0]


def _event_operand(s: Statement) -> str | None:
    return s.writer.uses(s.expect("event_id_dyn", 0, 1)) or None


def print_event(s: Statement) -> str:
    """Prints ``<PIPE_MTE3>, 0`` or ``<PIPE_MTE3>, %id``."""
    return f" {s.stripped('pipe')}, {_one_of(_number(s, 'event_id'), _event_operand(s))}"


def print_buffer(s: Statement) -> str:
    """Prints ``"PIPE_V", 0, 0`` for a pipe, ``[#pto.pipe_event_type<TVEC>, 0, 0]`` for an operation kind."""
    kind = checked(s.attribute("op_type"), EnumAttr).kind
    number = s.writer.uses(s.group("buf_id")) if "buf_id" in s.groups else checked(_number(s, "buf_id"), str)
    rest = f"{number}, {_number(s, 'mode', default='0')}"
    return f"[{s.full('op_type')}, {rest}]" if kind in _OP_KINDS else f" {s.quoted('op_type')}, {rest}"


_TOKENS: dict[str, Callable[[Statement], str]] = {
    "pto.barrier": lambda s: " " + s.stripped("pipe"),
    "pto.fence.barrier_all": lambda s: " " + s.stripped("scope"),
    "pto.mem_bar": lambda s: " " + s.quoted("kind"),
    "pto.dsb": lambda s: " " + s.quoted("mem"),
    **{f"pto.{name}": print_buffer for name in ("get_buf", "rls_buf", "get_buf_dyn", "rls_buf_dyn")},
}
"""Token part of the statements that are not a pipe and an event."""


@prints(Shape.SYNC_TOKEN)
def print_sync_token(writer: Writer, op: Operation) -> str:
    """Y2: ``name <PIPE_V>``, ``name "VV_ALL"``, ``name <PIPE_MTE3>, 0``, each with ``{dict}``."""
    s = Statement(writer, op)
    return f"{op.name}{_TOKENS.get(op.name, print_event)(s)}{s.dictionary()}"


@prints(Shape.SYNC_ALL)
def print_sync_all(writer: Writer, op: Operation) -> str:
    """Y3: ``name(%gm, %ub : types) mode = #.., core_type = #.. {dict}``."""
    s = Statement(writer, op)
    order = ("gm_workspace", "ub_workspace", "l1_workspace", "used_cores")
    for name in order:
        require(all(workspace_name(value) == name for value in s.group(name)))
    values = s.values(order)
    given = f"{writer.uses(values)} : {writer.types(values)}" if values else ""
    fields = f"mode = {s.full('mode')}, core_type = {s.full('core_type')}"
    return f"{op.name}({given}) {fields}{s.dictionary()}"


@prints(Shape.CACHE)
def print_cache(writer: Writer, op: Operation) -> str:
    """Y4: ``name all #..``, ``name %p single_cache_line : type`` or ``name %p "LINE", "DST" : type``."""
    s = Statement(writer, op)
    operands = s.flatten(s.layout.slots)
    if not operands:
        (token,) = s.layout.tokens
        return f"{op.name} all {s.full(token)}{s.dictionary()}"
    if "cache" not in s.layout.attributes:
        return f"{op.name} {writer.uses(operands)} single_cache_line : {writer.types(operands)}{s.dictionary()}"
    words = s.quoted("cache")
    if "dst" in op.attributes:
        words += f", {s.quoted('dst')}"
    return f"{op.name} {writer.uses(operands)} {words}{s.dictionary()} : {writer.types(operands)}"

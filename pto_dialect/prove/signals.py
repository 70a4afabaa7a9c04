"""What operations say about the order of the pipes. Source: docs/reference/execution.md, "Synchronisation"."""

from __future__ import annotations

from xdsl.ir import Operation

from pto_dialect.analysis.type_facts import enumerator, integer_attribute
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.facts.operation_form import form_of
from pto_dialect.ir.core.facts.pipe import Pipe
from pto_dialect.ir.core.placement import named_pipe
from pto_dialect.ir.core.roles import Role, has_role

from .expressions import Expr
from .model import Signal, UndecidedError
from .values import Numbers

ALL = frozenset(Pipe)


def signal_of(op: PtoOp, numbers: Numbers, arch: str) -> Signal | None:
    """Returns the signal that an operation is; ``None`` for those that only work. Raises :class:`UndecidedError`."""
    if has_role(op, Role.LOCK):
        return _lock(op, numbers)
    form = form_of(op, arch)
    if has_role(op, Role.PIPES) and has_role(op, Role.BARRIER):
        pipe = form.pipe
        if pipe is None:
            raise UndecidedError(op, "its pipe is not known")
        if pipe is Pipe.ALL:
            return Signal("join", Pipe.S, Pipe.S, drains=ALL)
        if pipe is Pipe.V and arch != "a2a3":
            # A barrier of V alone has no effect there.
            return None
        return Signal("barrier", pipe, pipe)
    if has_role(op, Role.PIPES):
        return _flag(op, numbers)
    if has_role(op, Role.JOINS) or form.self_ordered:
        drains = form.drains
        return Signal("join", Pipe.S, Pipe.S, drains=ALL if not drains or Pipe.ALL in drains else drains)
    return None


def _flag(op: PtoOp, numbers: Numbers) -> Signal:
    ends = ("src_pipe", "dst_pipe") if "src_pipe" in op.attributes else ("src_op", "dst_op")
    source, target = (named_pipe(op.attributes.get(name)) for name in ends)
    if source is None or target is None or Pipe.ALL in (source, target):
        raise UndecidedError(op, "its pipes are not known")
    kind = "set" if has_role(op, Role.SETS) else "wait"
    text = enumerator(op, "event_id").removeprefix("EVENT_ID")
    return Signal(kind, source, target, _number(op, text, numbers))


def _lock(op: PtoOp, numbers: Numbers) -> Signal:
    pipe = named_pipe(op.attributes.get("op_type"))
    if pipe is None or pipe is Pipe.ALL:
        raise UndecidedError(op, "its pipe is not known")
    if integer_attribute(op, "mode"):
        raise UndecidedError(op, "locks of another mode than 0 are not followed")
    stated = integer_attribute(op, "buf_id")
    kind = "get" if has_role(op, Role.SETS) else "release"
    return Signal(kind, pipe, pipe, _number(op, "" if stated is None else str(stated), numbers))


def _number(op: Operation, text: str, numbers: Numbers) -> Expr:
    if text.isdecimal():
        return Expr(int(text))
    found = [numbers.number(value) for value in op.operands]
    if len(found) != 1 or found[0] is None:
        raise UndecidedError(op, "its id is computed from values that the text does not determine")
    return found[0]

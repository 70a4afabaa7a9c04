"""Sessions of asynchronous transfers: which one a transfer takes, and a session of the dialect there.

A session of C++ is a number, 0 before it is built. Where a transfer does not see the call that builds its session, or
where one of several sessions reaches it, the session is built again: it has no state that a transfer depends on.
Source: docs/reference/execution.md, "Communication".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .statement import Named, dictionary, group
from .tiles import number_of, tile_of

if TYPE_CHECKING:
    from ..translate.interface import Call, Emitter, Group, Operand
    from .operands import Operands

_SESSION = "!pto.async_session"
_CONTEXT = "!pto.prefetch_async_context"
_WORKSPACE = "!pto.ptr<ui8, gm>"
_SETTINGS = ("sync_id", "block_bytes", "queue_num", "channel_group_idx")
_ANY_CHANNEL = 0xFFFFFFFF
_BUILT_BEFORE = "call BuildAsyncSession before the transfer, with one scratch tile and one workspace for all branches"


@dataclass(slots=True, eq=False)
class Session:
    """A session that a call builds: its number, its operands and the value that the call has made of them. ``scratch``
    is missing where the engine needs none, and there is a ``context`` then."""

    number: int
    call: Call
    scratch: Group | None
    workspace: Group
    attributes: dict[str, str]
    value: Named
    context: Named | None

    @property
    def settings(self) -> tuple[object, ...]:
        """What makes two sessions the same for a transfer, as far as the session can be built again."""
        scratch = None if self.scratch is None else (self.scratch.descriptor, *map(_identity, self.scratch.operands))
        return (scratch, _identity(self.workspace.operands[0]), *sorted(self.attributes.items()))


@dataclass(frozen=True, slots=True)
class Choice:
    """Sessions with the same settings, one of which a transfer takes where ``condition``, a number of 1 bit, holds."""

    session: Session
    condition: str


def build_session(call: Call, emitter: Emitter, known: Operands) -> str:
    """``BuildAsyncSession``: settings that are constant are attributes; the others only choose channels."""
    scratch = call.groups[0] if call.groups[0].kind == "tile" else None
    workspace, *rest = call.groups[scratch is not None :]
    attributes: dict[str, str] = {}
    for name, setting in zip(_SETTINGS, rest, strict=False) if scratch is not None else ():
        value = setting.operands[0].value
        if isinstance(value, int) and value not in (-1, _ANY_CHANNEL):
            kind = "i32" if name in ("sync_id", "queue_num", "channel_group_idx") else "i64"
            attributes[name] = f"{value} : {kind}"
    value, context = _built(scratch, workspace, attributes, call, emitter, known)
    sessions = _sessions(emitter)
    sessions.append(Session(len(sessions) + 1, call, scratch, workspace, attributes, value, context))
    return emitter.constant(len(sessions), "i64")


def _built(
    scratch: Group | None, workspace: Group, attributes: dict[str, str], call: Call, emitter: Emitter, known: Operands
) -> tuple[Named, Named | None]:
    """Emits what makes a session. One without a scratch tile is that of a prefetch context, which needs none."""
    if scratch is None:
        context = _context_of(workspace, emitter)
        text = f"pto.get_prefetch_async_session {context.name} : {_CONTEXT} -> {_SESSION}"
        return Named(emitter.define(text, "session"), _SESSION), context
    tile = known.value(tile_of(scratch, emitter), call)
    memory = Named(emitter.pointer(workspace.operands[0], "ui8"), _WORKSPACE)
    text = f"pto.comm.build_async_session({group([tile, memory])}){dictionary(attributes)} -> {_SESSION}"
    return Named(emitter.define(text, "session"), _SESSION), None


def _context_of(workspace: Group, emitter: Emitter) -> Named:
    memory = Named(emitter.pointer(workspace.operands[0], "ui8"), _WORKSPACE)
    context = emitter.define(f"pto.make_prefetch_async_context({group([memory])}) -> {_CONTEXT}", "context")
    return Named(context, _CONTEXT)


def context_at(number: Operand, emitter: Emitter) -> Named | None:
    """Returns a context for prefetches of a session; ``None`` where it is chosen at run time."""
    found = next((one for one in _sessions(emitter) if one.number == number.value), None)
    if found is None:
        return None
    if emitter.is_visible(found.call):
        return found.context or _context_of(found.workspace, emitter)
    return _context_of(found.workspace, emitter) if emitter.is_argument(found.workspace.operands[0]) else None


def _sessions(emitter: Emitter) -> list[Session]:
    found = emitter.state.setdefault("sessions", [])
    assert isinstance(found, list)
    return found


def session_at(number: Operand, call: Call, emitter: Emitter, known: Operands) -> Named | None:
    """Returns the session that a call takes; ``None`` where the number decides between sessions that differ."""
    if isinstance(number.value, int):
        found = next((one for one in _sessions(emitter) if one.number == number.value), None)
        if found is None:
            emitter.fail("the session is not built", _BUILT_BEFORE)
        return value_of(found, call, emitter, known)
    choices = choices_of(number, emitter)
    if len(choices) > 1:
        return None
    emitter.emit(f'cf.assert {choices[0].condition}, "the session is not built"')
    return value_of(choices[0].session, call, emitter, known)


def choices_of(number: Operand, emitter: Emitter) -> list[Choice]:
    """Returns the sessions that a number may stand for, those with the same settings as one."""
    by_settings: dict[tuple[object, ...], list[Session]] = {}
    for session in _sessions(emitter):
        by_settings.setdefault(session.settings, []).append(session)
    if not by_settings:
        emitter.fail("the session is not built", _BUILT_BEFORE)
    return [Choice(same[-1], _is_one_of(number, same, emitter)) for same in by_settings.values()]


def _is_one_of(number: Operand, sessions: list[Session], emitter: Emitter) -> str:
    value, found = emitter.cast(number, "i64"), ""
    for session in sessions:
        equal = emitter.define(f"arith.cmpi eq, {value}, {emitter.constant(session.number, 'i64')} : i64", "is")
        found = emitter.define(f"arith.ori {found}, {equal} : i1", "is") if found else equal
    return found


def prepare(session: Session, call: Call, emitter: Emitter, known: Operands) -> None:
    """Makes the handle of a scratch tile, so that branches do not."""
    if session.scratch is not None and not emitter.is_visible(session.call):
        known.value(tile_of(session.scratch, emitter), call)


def value_of(session: Session, call: Call, emitter: Emitter, known: Operands) -> Named:
    """Returns a session as a value, built again where the call that built it is not visible."""
    if emitter.is_visible(session.call):
        return session.value
    scratch, workspace = session.scratch, session.workspace
    sizes = scratch.operands if scratch is not None else ()
    fixed = all(isinstance(one, int) for one in map(_constant, sizes)) and emitter.is_argument(workspace.operands[0])
    if not fixed:
        emitter.fail("the session is chosen at run time", "build the session in the function that uses it")
    return _built(scratch, workspace, session.attributes, call, emitter, known)[0]


def _constant(operand: Operand) -> int | None:
    """Returns a constant, or the constant address that a tile is given."""
    given = operand.assigned.operands[1] if operand.assigned is not None else operand
    return number_of(given)


def _identity(operand: Operand) -> object:
    constant = _constant(operand) if operand.type != "ptr" else None
    return operand.name if constant is None else constant


__all__ = ["build_session", "choices_of", "context_at", "prepare", "session_at", "value_of"]

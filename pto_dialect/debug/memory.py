"""Places of memory that commands name. Source: docs/debugger.md, "Memory"."""

from __future__ import annotations

from typing import Any

import numpy as np

from pto_dialect.recording import Handle, Memory, RecordingError
from pto_dialect.recording.tiles import bytes_of, numbers_of, positions
from pto_dialect.runtime.memory.spaces import Array

from .expressions import Expression
from .session import DebugError, Session


def memory_of(session: Session, name: str) -> Memory:
    """Returns a memory by name: that of the current core where several have it. Raises ``DebugError``."""
    recording = session.recording
    try:
        if not session.end:
            return recording.memory(name)
        thread = session.around().thread
        try:
            return recording.memory(name, thread.block, thread.core)
        except KeyError:
            return recording.memory(name)
    except KeyError as error:
        raise DebugError(str(error.args[0])) from None


def target_of(session: Session, text: str) -> tuple[int, int, int]:
    """Returns the memory and the bytes [first, stop) of ``%NAME`` or ``MEMORY FIRST COUNT``. Raises ``DebugError``."""
    words = text.split()
    name = session.sources.value_name(text.strip())
    if len(words) == 1 and name.startswith("%"):
        handle = session.handle(name)
        if handle is None or handle.memory < 0:
            return _argument(session, name)
        if handle.form.kind == "pointer":
            return handle.memory, handle.address, session.recording.memories[handle.memory].size
        offsets = offsets_of(session, handle)
        return handle.memory, int(offsets.min()), int(offsets.max()) + handle.form.item_bytes
    if len(words) != 3:
        raise DebugError("a memory range is %NAME, or a memory, the first byte and the number of bytes")
    memory = memory_of(session, words[0])
    try:
        first, count = int(words[1], 0), int(words[2], 0)
    except ValueError:
        raise DebugError(f"'{words[1]} {words[2]}' are no numbers") from None
    if first < 0 or count <= 0 or first + count > memory.size:
        raise DebugError(f"{memory.name} has {memory.size} bytes")
    return memory.number, first, first + count


def _argument(session: Session, name: str) -> tuple[int, int, int]:
    for one in session.recording.arguments:
        if one.name == name.removeprefix("%") and one.memory >= 0:
            return one.memory, one.address, session.recording.memories[one.memory].size
    raise DebugError(f"there is no buffer {session.sources.shown_name(name)} here")


def offsets_of(session: Session, handle: Handle) -> Array:
    """Returns the first byte of each element of a tile (its valid region) or view."""
    try:
        return positions(handle, session.recording.memories[handle.memory].size)
    except RecordingError as error:
        raise DebugError(str(error)) from None


def values_at(content: bytes, element: str) -> Array:
    """Bytes as elements of a format. Raises ``DebugError``."""
    try:
        return numbers_of(np.frombuffer(content, np.uint8), element)
    except (RecordingError, ValueError) as error:
        raise DebugError(str(error)) from None


def change_of(session: Session, place: str, value: Any) -> tuple[str, int, bytes]:
    """Returns the memory, the first byte and the new bytes for ``%NAME[...]`` or ``MEMORY FIRST FORMAT`` with a new
    value.

    Raises ``DebugError``.
    """
    words = place.split()
    if not place.startswith("%") and not (session.sources.is_cpp and (len(words) == 1 or "[" in place)):
        if len(words) != 3:
            raise DebugError("set takes %NAME[...], or a memory, the first byte and a format")
        memory, first, _ = target_of(session, f"{words[0]} {words[1]} 1")
        return session.recording.memories[memory].name, first, _encoded(value, words[2])
    name, bracket, index = place.partition("[")
    handle = session.handle(session.sources.value_name(name.strip()))
    if handle is None or handle.memory < 0:
        raise DebugError(f"{name.strip()} is no tile, view or pointer here; numbers of the program cannot be changed")
    memory = session.recording.memories[handle.memory]
    if handle.form.kind == "pointer":
        offsets = np.arange(handle.address, memory.size - handle.form.item_bytes + 1, handle.form.item_bytes)
    else:
        offsets = offsets_of(session, handle)
    if bracket:
        # The index expression is evaluated on the offsets, which gives the offsets of the selected elements.
        offsets = Expression(f"_places[{index}").value(lambda _: offsets)
    offsets = np.atleast_1d(np.asarray(offsets)).reshape(-1)
    values = np.broadcast_to(np.asarray(value).reshape(-1), offsets.shape) if np.size(value) == 1 else np.asarray(value)
    if values.size != offsets.size:
        raise DebugError(f"{offsets.size} elements cannot get {values.size} values")
    encoded = np.frombuffer(_encoded(values.reshape(-1), handle.form.element), np.uint8)
    size = handle.form.item_bytes
    first, stop = int(offsets.min()), int(offsets.max()) + size
    position = session.position - 1
    old = session.recording.memory_at(position, memory.number, first=first, stop=stop)
    content = np.frombuffer(old, np.uint8).copy()
    content[(offsets[:, None] - first + np.arange(size)).reshape(-1)] = encoded
    return memory.name, first, content.tobytes()


def _encoded(value: Any, element: str) -> bytes:
    try:
        return bytes_of(value, element)
    except (RecordingError, ValueError, TypeError, OverflowError) as error:
        raise DebugError(str(error)) from None

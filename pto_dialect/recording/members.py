"""Members of the archive of a recording, whose sizes are checked before anything is unpacked.

Neither the sizes that the archive states nor those in the heads of arrays are trusted: a member is read up to the size
that is stated, and nothing larger than what was accounted for comes of it. Source: docs/recording.md, "Reading one".
"""

from __future__ import annotations

import math
import struct
import zipfile
import zlib
from io import BytesIO

import numpy as np

from pto_dialect.runtime.faults import format_size
from pto_dialect.runtime.memory.free import SHARE, free_memory
from pto_dialect.runtime.memory.spaces import Array

from .model import RecordingError

MOST_BYTES = 4 << 30
"""Memory that a recording may take unless its reader allows another size."""

_HEAD = 1 << 12
"""Bytes that the head of an array may have."""
_TEXT = 8
"""Memory that JSON takes, for each byte of its text."""
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class Members:
    """What the archive at ``path`` holds; ``limit`` is the memory that all of it may take."""

    def __init__(self, path: str, archive: zipfile.ZipFile, limit: int | None = None) -> None:
        self.path = path
        self.archive = archive
        if limit is None:
            free = free_memory()
            limit = MOST_BYTES if free is None else min(MOST_BYTES, int(free * SHARE))
        self.limit = limit
        self.taken = 0

    def take(self, size: int, what: str) -> None:
        """Accounts for memory. Raises ``RecordingError`` where that is too much."""
        if self.taken + size > self.limit:
            needed = format_size(self.taken + size)
            raise RecordingError(
                f"'{self.path}' would take {needed} of memory with its {what}, more than {format_size(self.limit)}"
            )
        self.taken += size

    def text(self, name: str) -> bytes:
        """Returns a member that holds JSON. Raises ``KeyError`` where there is none."""
        self.take(self._info(name).file_size * _TEXT, name)
        return self._content(name)

    def array(self, name: str, size: int | None = None) -> Array:
        """Returns the array in a member, which has ``size`` bytes if that is stated. Raises ``KeyError``."""
        stored = self._info(name).file_size
        if size is not None and not size <= stored <= size + _HEAD:
            raise RecordingError(f"'{self.path}' is damaged: {name} has another size than it should")
        self.take(stored, name)
        try:
            return _array_in(self._content(name))
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError, OverflowError) as error:
            raise RecordingError(f"'{self.path}' is damaged: {name}: {error}") from None

    def _info(self, name: str) -> zipfile.ZipInfo:
        info = self.archive.getinfo(name)
        if info.compress_type not in _PACKINGS:
            raise RecordingError(f"'{self.path}' is damaged: {name} is packed in another way than recordings are")
        return info

    def _content(self, name: str) -> bytes:
        info = self.archive.getinfo(name)
        try:
            with self.archive.open(info) as stream:
                # With a size, no more than that is unpacked; without one, as much as there is.
                content = stream.read(info.file_size)
                if len(content) != info.file_size or stream.read(1):
                    raise zipfile.BadZipFile(f"{name} has another size than the archive says")
        except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError) as error:
            raise RecordingError(f"'{self.path}' is damaged: {error}") from None
        except OSError as error:
            raise RecordingError(f"cannot read '{self.path}': {error.strerror or error}") from None
        return content


def _array_in(content: bytes) -> Array:
    """Returns the array whose ``.npy`` form ``content`` is; it shares its bytes. Raises ``ValueError``."""
    stream = BytesIO(content)
    form = np.lib.format
    version = form.read_magic(stream)
    read = form.read_array_header_1_0 if version == (1, 0) else form.read_array_header_2_0
    shape, fortran, dtype = read(stream)
    if dtype.hasobject or (fortran and len(shape) > 1):
        raise ValueError("it holds no numbers in order")
    if math.prod(shape) * dtype.itemsize != len(content) - stream.tell():
        raise ValueError("it has other bytes than its head says")
    return np.frombuffer(content, dtype, math.prod(shape), stream.tell()).reshape(shape)
